// What the stress draws. Groups are named in its commands. Faults leave the machine in one piece, are kept where a smaller shape has their
// place, and left out one by one.
#include <algorithm>
#include <optional>
#include <string>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/stress/draw.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("faults are drawn for many shapes, of every kind, the same for the same numbers", "[unit]") {
  int links = 0, nodes = 0, slow = 0, none = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    Random random(7, number), again(7, number);
    const Topology shape = draw_shape(random, 64);
    static_cast<void>(draw_shape(again, 64));
    const Topology drawn = draw_faults(random, shape, true);
    CHECK(drawn == draw_faults(again, shape, true));
    const Faults& faults = drawn.faults();
    CHECK(drawn.text() == shape.text());
    links += !faults.dead_links.empty();
    nodes += !faults.dead_nodes.empty();
    slow += !faults.slow_links.empty();
    none += faults.empty();
    CHECK(draw_faults(random, shape, false).whole());
  }
  for (const int count : {links, nodes, slow, none}) CHECK(count > 15);
}

TEST_CASE("of faults that a shape cannot have together, those that come first are kept", "[unit]") {
  const Topology line = Topology::parse("mesh:4");
  const Topology possible = with_possible(line, {{3, 9}, {{0, 0, +1}, {0, 0, +1}}, {{{1, 0, +1}, 2}, {{2, 0, -1}, 3}}});
  CHECK(possible.faults() == Faults{{3}, {}, {{{1, 0, +1}, 2}}});  // no node 9; a cut; a link that is slow already
}

TEST_CASE("faults stay at their coordinates in a smaller shape", "[unit]") {
  const Topology whole = Topology::parse("4x4");
  const Topology old = whole.with_faults({{1, 15}, {{4, 0, +1}, {4, 1, +1}}, {{{0, 1, -1}, 2}}});
  const Topology shorter = Topology::parse("2x3");
  CHECK(carried_over(old, shorter, {0, 1}) == Faults{{1}, {{3, 0, +1}, {3, 1, +1}}, {{{0, 1, -1}, 2}}});
  const Topology flat = Topology::parse("4");  // dimension 1 alone: what lies at 0 in the other
  CHECK(carried_over(old, flat, {1}) == Faults{{1}, {}, {{{0, 0, -1}, 2}}});
}

TEST_CASE("fewer faults are none, those of one kind less, and each without one", "[unit]") {
  CHECK(fewer_faults({}).empty());
  const Faults faults{{1}, {{4, 0, +1}, {4, 1, +1}}, {}};
  const std::vector<Faults> fewer = fewer_faults(faults);
  const auto has = [&](const Faults& wanted) { return std::find(fewer.begin(), fewer.end(), wanted) != fewer.end(); };
  CHECK(has({}));
  CHECK(has({{1}, {}, {}}));
  CHECK(has({{}, {{4, 0, +1}, {4, 1, +1}}, {}}));
  CHECK(has({{1}, {{4, 0, +1}}, {}}));
  CHECK(has({{1}, {{4, 1, +1}}, {}}));
  CHECK_FALSE(has(faults));
}

TEST_CASE("the command of a random setting names its groups", "[unit]") {
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "rings");
  Random random(support::seed(), 2);
  int grouped = 0;
  for (int i = 0; i < 200; ++i) {
    const std::optional<Setting> setting = draw_setting(random, algorithm, StressBudget{});
    REQUIRE(setting);
    const std::string command = command_line(*setting);
    CAPTURE(command, support::seed());
    if (setting->grouped()) ++grouped;
    CHECK((command.find(" --groups ") != std::string::npos) == setting->grouped());
    CHECK((command.find(" --map ") != std::string::npos) == setting->map.has_value());
    if (setting->grouped()) CHECK(command.find(" --groups " + setting->groups->text()) != std::string::npos);
  }
  CHECK(grouped > 0);
}

TEST_CASE("the command of a random exchange names its sources where these are not all nodes", "[unit]") {
  const Algorithm& algorithm = *find_algorithm(Collective::total_exchange, "dimension-wise");
  Random random(support::seed(), 4);
  int of_sources = 0;
  for (int i = 0; i < 200; ++i) {
    const std::optional<Setting> setting = draw_setting(random, algorithm, StressBudget{});
    REQUIRE(setting);
    CAPTURE(command_line(*setting), support::seed());
    const bool some = setting->request.sources.size() < setting->machine.topology.living_nodes();
    of_sources += some ? 1 : 0;
    CHECK(setting->request.exchanges_of_sources() == some);
    CHECK((command_line(*setting).find(" --sources ") != std::string::npos) == some);
  }
  CHECK(of_sources > 0);
}

TEST_CASE("the sources of a random setting live, also where a map has laid them out anew", "[unit]") {
  const Algorithm& algorithm = *find_algorithm(Collective::multinode_broadcast, "tree-packing");
  Random random(support::seed(), 5);
  int mapped_with_holes = 0;
  while (mapped_with_holes < 15) {
    const std::optional<Setting> setting = draw_setting(random, algorithm, StressBudget{.nodes = 64});
    REQUIRE(setting);
    if (!setting->map || setting->machine.topology.faults().dead_nodes.empty()) continue;
    ++mapped_with_holes;
    CAPTURE(command_line(*setting), support::seed());
    for (const NodeId source : setting->request.sources) CHECK(setting->machine.topology.living(source));
  }
}

TEST_CASE("where only small machines and different sizes are asked for, nothing else is drawn", "[unit]") {
  for (const Collective collective : {Collective::total_exchange, Collective::gather, Collective::reduce_scatter}) {
    const auto all = catalogue();
    const Algorithm& algorithm = **std::find_if(all.begin(), all.end(), [&](const Algorithm* a) { return a->collective == collective; });
    CAPTURE(std::string(algorithm.name), support::seed());
    Random random(support::seed(), 3);
    int drawn = 0;
    for (int i = 0; i < 50; ++i) {
      const std::optional<Setting> setting = draw_setting(random, algorithm, {.nodes = 32, .uneven = true});
      if (!setting) continue;
      ++drawn;
      CHECK(sizes_differ(setting->machine.topology, setting->request));
      CHECK(setting->machine.topology.nodes() <= 32);
    }
    CHECK(drawn > 25);
  }
}
