#include "algorithms/total_exchange/bundled_exchange.hpp"

#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::total_exchange;

TEST_CASE("a bundle takes each class as far as it has moves, those that move longest first", "[unit]") {
  const Topology ring = Topology::parse("7");
  Timetable table(ring);
  table.begin_stage(3);
  table.add_bundle({0, +1}, [](NodeId delta) { return delta <= 3 ? static_cast<std::int32_t>(delta) : -1; });

  REQUIRE(table.stages().size() == 1);
  const Stage& stage = table.stages().front();
  CHECK(stage.moves == 3);
  REQUIRE(stage.bundles.size() == 1);
  CHECK(stage.bundles[0].leg == Leg{0, +1});
  CHECK(stage.bundles[0].moving == std::vector<std::uint32_t>{3, 2, 1});
  CHECK(stage.bundles[0].departing == std::vector<RelativeBlock>{{0, 3}, {0, 2}, {0, 1}});
  CHECK(table.steps() == 3);
  CHECK(blocks_on_busiest_channel({&table, 1}, LongLegs::overlap) == 3 + 2 + 1);

  for (const NodeId delta : {1U, 2U, 3U}) CHECK(table.where(delta) == RelativeBlock{7 - delta, 0});
  for (const NodeId delta : {0U, 4U, 5U, 6U}) CHECK(table.where(delta) == RelativeBlock{0, delta});
}

TEST_CASE("a later bundle finds each class where the earlier ones left it", "[unit]") {
  const Topology torus = Topology::parse("3x4");
  Timetable table(torus);
  table.begin_stage(1);
  table.add_bundle({0, -1}, [&](NodeId delta) { return torus.coordinate(delta, 0) == 2 ? 1 : 0; });
  table.begin_stage(1);
  table.add_bundle({1, +2}, [&](NodeId delta) { return torus.coordinate(delta, 1) >= 2 ? 1 : 0; });

  // Class (2, 3): after -1 in dimension 0 its block comes from (+1, 0) and goes to (0, 3); after +2 in dimension 1 from (1, 2) to (0, 1).
  CHECK(table.stages()[1].bundles[0].departing.back() == RelativeBlock{torus.rank(Coordinates{1, 0}), torus.rank(Coordinates{0, 3})});
  CHECK(table.where(torus.rank(Coordinates{2, 3})) == RelativeBlock{torus.rank(Coordinates{1, 2}), torus.rank(Coordinates{0, 1})});
  // A leg of two hops that every node sends along puts two messages on every channel; one that every other node sends along, one.
  CHECK(blocks_on_busiest_channel({&table, 1}, LongLegs::overlap) == 4 + 2 * 6);
  CHECK(blocks_on_busiest_channel({&table, 1}, LongLegs::tile) == 4 + 6);
}

TEST_CASE("stages without a move and bundles without a class leave no trace", "[unit]") {
  const Topology pair = Topology::parse("2");
  Timetable table(pair);
  table.begin_stage(1);
  table.add_bundle({0, +1}, [](NodeId delta) { return static_cast<std::int32_t>(delta); });
  table.begin_stage(0);
  table.add_bundle({0, -1}, [](NodeId) { return 0; });
  CHECK(table.stages().size() == 1);
  CHECK(table.stages()[0].bundles.size() == 1);
  CHECK(table.table_bytes() > 0);
}
