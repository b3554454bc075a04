// Sizes of blocks by a rule or a table: pure functions of the seed and the block.
#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/placement.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

namespace {

std::vector<Bytes> all(const Sizes& sizes) {
  std::vector<Bytes> out;
  for (std::uint64_t i = 0; i < sizes.count(); ++i) out.push_back(sizes(i));
  return out;
}

Bytes sum(const std::vector<Bytes>& sizes) { return std::accumulate(sizes.begin(), sizes.end(), Bytes{0}); }

std::string refusal_of(const std::string& text, NodeId nodes = 4, bool pairs = false, Bytes mean = 8, Bytes unit = 1) {
  try {
    static_cast<void>(Sizes(SizeRule::parse(text), nodes, pairs, mean, unit));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the sizes of a rule have its mean, and none is above the longest", "[unit]") {
  for (const char* text : {"zipf:0", "zipf:1", "zipf:1.5", "zeros:0", "zeros:0.5", "zeros:0.9", "uniform:0:2000", "uniform:1000:1000"}) {
    for (const bool pairs : {true, false}) {
      CAPTURE(text, pairs);
      const Sizes sizes(SizeRule::parse(text), pairs ? 64 : 4096, pairs, 1000);
      const std::vector<Bytes> each = all(sizes);
      CHECK(static_cast<double>(sum(each)) / static_cast<double>(each.size()) == Approx(1000).epsilon(0.1));
      CHECK(*std::max_element(each.begin(), each.end()) <= sizes.longest());
      CHECK(each == all(Sizes(SizeRule::parse(text), pairs ? 64 : 4096, pairs, 1000)));
    }
  }
  const std::vector<Bytes> half = all(Sizes(SizeRule::parse("zeros:0.5"), 4096, false, 7));
  CHECK(std::count(half.begin(), half.end(), 0) == Approx(2048).epsilon(0.1));
  CHECK(sum(all(Sizes(SizeRule::parse("zeros:1"), 8, true, 1000))) == 0);
  CHECK(Sizes(SizeRule::parse("zeros:1"), 8, true, 1000).longest() == 0);
}

TEST_CASE("sizes by zipf name each place once, whatever the number of nodes", "[unit]") {
  for (const NodeId nodes : {1U, 2U, 3U, 5U, 16U, 17U, 100U, 1000U}) {
    CAPTURE(nodes);
    std::vector<Bytes> each = all(Sizes(SizeRule::parse("zipf:1"), nodes, false, 1000000));
    std::sort(each.rbegin(), each.rend());
    for (NodeId r = 0; r < nodes; ++r) CHECK(static_cast<double>(each[r]) == Approx(static_cast<double>(each[0]) / (r + 1)).margin(2));
  }
  SizeRule other = SizeRule::parse("zipf:1");
  other.seed = 2;
  CHECK(all(Sizes(other, 64, false, 1000)) != all(Sizes(SizeRule::parse("zipf:1"), 64, false, 1000)));
  const Sizes pairs(SizeRule::parse("zipf:2"), 16, true, 1000);  // of a pair the destination counts
  for (NodeId origin = 0; origin < 16; ++origin) {
    for (NodeId to = 0; to < 16; ++to)
      CHECK(static_cast<double>(pairs(origin * 16 + to)) == Approx(static_cast<double>(pairs(to))).margin(1));
  }
}

TEST_CASE("sizes of elements are whole, and those of a table stand as they are", "[unit]") {
  for (const char* text : {"zipf:1", "zeros:0.3", "uniform:3:1001"}) {
    for (const Bytes size : all(Sizes(SizeRule::parse(text), 100, false, 800, 8))) CHECK(size % 8 == 0);
  }
  for (const Bytes size : all(Sizes(SizeRule::parse("uniform:5:13"), 100, false, 8, 4))) CHECK((size == 8 || size == 12));
  CHECK(SizeRule::parse("uniform:5:13").mean(4) == 12);  // of 8 and 12, rounded up
  CHECK(SizeRule::parse("uniform:4:4").mean(4) == 4);
  CHECK(refusal_of("uniform:1:3", 4, false, 4, 4)
            .find("no whole number of elements of 4 bytes has from 1 to 3 bytes; for instance "
                  "uniform:0:4") != std::string::npos);
  CHECK(refusal_of("uniform:5:7", 4, false, 8, 4).find("for instance uniform:4:8") != std::string::npos);
  const support::Folder folder;
  const std::string file = folder.file("sizes");
  std::ofstream(file) << "1 2 # two of four\n\n0\n4611686018427387904\n";
  const SizeRule table = SizeRule::parse(file);
  CHECK(table.fixed());
  CHECK(table.mean() == (Bytes{1} << 60U) + 1);
  CHECK(all(Sizes(table, 4, false, 0)) == std::vector<Bytes>{1, 2, 0, Bytes{1} << 62U});
  CHECK(SizeRule::parse("uniform:0:3").mean() == 2);
  CHECK_FALSE(SizeRule::parse("zipf:1").fixed());
  CHECK(refusal_of(file, 5).find("it has 4 sizes, and 5 nodes need 5: one for each node") != std::string::npos);
  CHECK(refusal_of(file, 4, true).find("4 nodes need 16: a row of sizes for each origin") != std::string::npos);
  CHECK(refusal_of(file, 4, false, 0, 4).find("1 byte is no whole number of elements of 4") != std::string::npos);
  std::ofstream(file) << "4611686018427387904 4611686018427387904\n";
  CHECK(refusal_of(file, 2).find("sum up to 2^63 bytes or more") != std::string::npos);
  std::ofstream(file) << "1 -1\n";
  CHECK(refusal_of(file, 2).find("line 1: '-1' is no whole number of bytes") != std::string::npos);
}

TEST_CASE("of an exchange of some sources, the blocks of all others are nothing", "[unit]") {
  const std::vector<NodeId> sources{1, 3};
  const Sizes even(SizeRule::even_of_sources(), 4, true, 10, 1, sources);
  CHECK(all(even) == std::vector<Bytes>{0, 0, 0, 0, 10, 10, 10, 10, 0, 0, 0, 0, 10, 10, 10, 10});
  CHECK(even.longest() == 10);
  CHECK(Sizes(SizeRule::even_of_sources(), 4, true, 10).longest() == 0);
  SizeRule drawn = SizeRule::parse("uniform:5:99");
  const std::vector<Bytes> whole = all(Sizes(drawn, 4, true, 52));
  drawn.of_sources = true;
  const std::vector<Bytes> some = all(Sizes(drawn, 4, true, 52, 1, sources));
  for (std::size_t i = 0; i < 16; ++i) CHECK(some[i] == (i / 4 % 2 == 1 ? whole[i] : 0));
}

TEST_CASE("a rule that cannot be read says what would do", "[unit]") {
  for (const char* text : {"", "zipf", "zipf:", "zipf:x", "zipf:-1", "zipf:17", "zeros:2", "zeros:nan", "uniform:5", "uniform:5:4",
                           "uniform:a:b", "gauss:1", "no/such/file"}) {
    CAPTURE(text);
    CHECK(refusal_of(text).find("sizes '" + std::string(text) + "': ") == 0);
  }
  CHECK(refusal_of("zipf:2", 1000, false, Bytes{1} << 62U).find("the largest has 2^63 bytes or more") != std::string::npos);
}

TEST_CASE("blocks have the sizes of their nodes or pairs, divided by segments", "[unit]") {
  const support::Folder folder;
  const std::string file = folder.file("sizes");
  std::ofstream(file) << "7 0 9\n";
  const Topology ring = Topology::parse("3");
  const Sizes nodes(SizeRule::parse(file), 3, false, 0);
  const Placement cut = Placement::replicated(ring, {0, 1, 2}, 6, 2).with_sizes(nodes);
  std::vector<Bytes> each;
  for (BlockId id = 0; id < 6; ++id) each.push_back(cut.bytes(id));
  CHECK(each == std::vector<Bytes>{4, 3, 0, 0, 5, 4});
  CHECK(cut.longest() == 5);
  CHECK_FALSE(cut.uniform());
  CHECK(cut.empty(2));
  CHECK_FALSE(cut.empty(1));
  const Placement gathered = Placement::gathered(ring, 1, 6).with_sizes(nodes);
  CHECK(gathered.bytes(2) == 9);
  std::ofstream(file) << "8 0 16\n";
  const Placement owned =
      Placement::contributed(ring, {.wanted = Contributions::Wanted::at_owner, .bytes = 8, .segments = 3, .registers = 2})
          .with_sizes(Sizes(SizeRule::parse(file), 3, false, 8, 4));
  each.clear();
  for (BlockId id = 0; id < 18; ++id) each.push_back(owned.bytes(id));
  CHECK(each == std::vector<Bytes>{4, 4, 0, 0, 0, 0, 8, 4, 4, 4, 4, 0, 0, 0, 0, 8, 4, 4});
  CHECK(owned.first_element(0) == 0);
  CHECK(owned.first_element(3) == 2);
  CHECK(owned.first_element(7) == 4);
  std::ofstream(file) << "0 0 0\n";
  CHECK(Placement::scattered(ring, 0, 6).with_sizes(Sizes(SizeRule::parse(file), 3, false, 0)).longest() == 0);
}

TEST_CASE("a file of sizes may begin with a mark of UTF-8, holds no byte 0, and ends", "[unit]") {
  const support::Folder folder;
  CHECK(refusal_of(folder.write("sizes",
                                "\xef\xbb\xbf"
                                "1 2\n3 4\n"))
            .empty());
  CHECK(
      refusal_of(folder.write("sizes", std::string("1 2 3 4\n\0 5", 11))).find("the file holds a byte of value 0, as no text does; for") !=
      std::string::npos);
  CHECK(refusal_of("/dev/zero").find("the file holds a byte of value 0") != std::string::npos);
}
