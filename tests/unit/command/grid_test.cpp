#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/spec.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("sizes come in lists and in ranges that have both ends", "[unit]") {
  using Sizes = std::vector<Bytes>;
  CHECK(parse_sizes("--bytes", "0") == Sizes{0});
  CHECK(parse_sizes("--bytes", "4KiB,64,64") == Sizes{64, 4096});
  CHECK(parse_sizes("--bytes", "1KiB:16KiB") == Sizes{1024, 4096, 16384});
  CHECK(parse_sizes("--bytes", "1:9") == Sizes{1, 4, 9});
  CHECK(parse_sizes("--bytes", "1:8:x2,3") == Sizes{1, 2, 3, 4, 8});
  CHECK(parse_sizes("--bytes", "1:8:+3") == Sizes{1, 4, 7, 8});
  CHECK(parse_sizes("--bytes", "1KiB:3KiB:+1KiB") == Sizes{1024, 2048, 3072});
  CHECK(parse_sizes("--bytes", "1:9223372036854775807:x1048576").size() == 5);
  for (const char* bad : {"", ",", "64,", "4:", ":4", "0:4", "4:4", "8:4", "1:2:3", "1:8:x1", "1:8:x", "1:8:+0", "1:8:+", "1:1GiB:+1",
                          "1:8:2", "1:2:x2:x2", "1:4Kb"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_sizes("--bytes", bad), InputError);
  }
}

TEST_CASE("shapes, ports and algorithms come in lists, each once", "[unit]") {
  const auto shapes = parse_shapes("8x8,mesh:4x6,8x8,2^3");
  REQUIRE(shapes.size() == 3);
  CHECK(shapes[1].text() == Topology::parse("4mx6m").text());
  CHECK_THROWS_AS(parse_shapes("8x8,"), InputError);
  CHECK(parse_port_counts("4,1,all,4") == std::vector<int>{4, 1, 0});
  for (const char* bad : {"", "0", "1,,2", "some"}) CHECK_THROWS_AS(parse_port_counts(bad), InputError);
}

TEST_CASE("algorithms are taken in the order of the catalogue", "[unit]") {
  const auto chosen = parse_algorithms("--algorithms", "wang-tseng,flood,flood", Collective::broadcast, catalogue());
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0]->name == "flood");
  for (const Algorithm* algorithm : parse_algorithms("--algorithms", "all", Collective::total_exchange, catalogue()))
    CHECK(algorithm->collective == Collective::total_exchange);
  for (const char* bad : {"", "flud", "flood,", "a2"})
    CHECK_THROWS_AS(parse_algorithms("--algorithms", bad, Collective::broadcast, catalogue()), InputError);
}
