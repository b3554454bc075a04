// Every algorithm on every kind of shape, with any ports, switching, speeds, faults, sizes, sources and parameters that it does not refuse:
// legal, complete, every byte right, in the steps, bytes and hops predicted, and in no fewer than the bounds.
#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/judged.hpp"

using namespace torus;

namespace {

std::vector<Topology> shapes() {
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* twisted : {"2x4t", "4x8t", "2x2x4t", "4x2x2t"}) shapes.push_back(Topology::parse(twisted));
  return shapes;
}

void check_cell(const support::Cell& cell) {
  CAPTURE(cell.text, support::seed());
  const auto [run, complaint] = support::judged(*cell.algorithm, cell.machine, cell.request);
  CHECK(complaint == "");
  // A run holds no bytes of a multi-node broadcast against the prediction, which is for a number of sources: here it is for all. What
  // `hierarchical` says of messages in parts is a mean.
  const bool from_all =
      cell.request.collective == Collective::multinode_broadcast && cell.request.sources.size() == cell.machine.topology.living_nodes();
  if (from_all && run.plan.predicts() && run.plan.steps_exact && cell.algorithm->name != "hierarchical")
    CHECK(run.plan.bytes_agree(static_cast<double>(run.result.channel_bytes_sum), run.plan.channel_bytes));
}

}  // namespace

TEST_CASE("every algorithm is legal, complete and as predicted on the telling shapes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  support::Share share(12, 10);
  for (const Algorithm* algorithm : catalogue()) {
    unsigned runs = 0;
    for (const Topology& shape : shapes()) {
      if (!share.takes_turn() && runs > 0) continue;  // each algorithm runs
      for (int draws = 0; draws < 3; ++draws) {
        const auto cell = support::draw_cell(random, *algorithm, shape, 8, false);
        if (!cell) break;
        check_cell(*cell);
        ++runs;
      }
    }
    CAPTURE(algorithm->name);
    CHECK(runs > 0);
  }
}

TEST_CASE("every algorithm is legal, complete and as predicted on random shapes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  support::Share share(12, 4);
  for (const Algorithm* algorithm : catalogue()) {
    for (int turn = 0; turn < 20; ++turn) {
      const Topology shape = support::random_topology(random, 60);
      if (!share.takes_turn()) continue;
      if (const auto cell = support::draw_cell(random, *algorithm, shape, 8, false)) check_cell(*cell);
    }
  }
}

TEST_CASE("what lives with holes goes around every single dead link and dead node", "[conformance]") {
  std::mt19937_64 random(support::seed());
  support::Share share(16, 16);
  for (const Algorithm* algorithm : catalogue()) {
    if (!algorithm->needs.lives_with_holes) continue;
    for (const char* text : {"4x4", "3x3x3", "mesh:3x4", "5", "2x3", "3x6t", "6x6", "4x3c"}) {
      const Topology whole(text);
      const auto check_with = [&](const Faults& faults) {
        if (!share.takes_turn()) return;
        try {
          const Topology topology = whole.with_faults(faults);
          CAPTURE(topology.text(), faults.dead_nodes, faults.dead_links.size());
          for (int draws = 0; draws < 4; ++draws) {
            const auto cell = support::draw_any(random, *algorithm, topology);
            if (!cell || refuses(*algorithm, cell->machine, cell->request)) continue;
            check_cell(*cell);
            break;
          }
        } catch (const InputError&) {  // cut apart
        }
      };
      for (NodeId node = 0; node < whole.nodes(); ++node) {
        check_with({.dead_nodes = {node}});
        whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
          if (hop > 0) check_with({.dead_links = {{node, d, hop}}});
        });
      }
    }
  }
}
