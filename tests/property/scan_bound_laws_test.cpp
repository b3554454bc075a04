// The bounds of a scan: how many partials must enter a set of nodes, against all ways on small machines; and that no scan of the catalogue
// takes less time than its bound.
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

using Contributors = std::uint32_t;  // a bit each
/// By node, by set of contributors: whether the node can make a partial of just these.
using Knowledge = std::vector<std::vector<bool>>;

/// Whether a channel counts: the node before it, the hops and the node behind.
using Counted = std::function<bool(NodeId, std::int32_t, NodeId)>;

/// All ways in which partials can go over the links of a machine of a few nodes.
class AllWays {
 public:
  explicit AllWays(const Topology& topology) : topology_{topology}, sets_{Contributors{1} << topology.nodes()} {}

  /// Whether `messages` partials over channels that are counted, and any number of messages over others, are enough for a scan.
  bool enough(const Counted& counted, int messages) const {
    Knowledge all(topology_.nodes(), std::vector<bool>(sets_));
    for (NodeId node = 0; node < topology_.nodes(); ++node) all[node][Contributors{1} << node] = true;
    return enough(counted, messages, all);
  }

 private:
  bool enough(const Counted& counted, int messages, Knowledge known) const {
    spread(counted, known);
    bool done = true;
    for (NodeId node = 0; node < topology_.nodes(); ++node) done = done && known[node][(Contributors{2} << node) - 1];
    if (done || messages == 0) return done;
    for (NodeId from = 0; from < topology_.nodes(); ++from) {
      bool found = false;
      topology_.each_link(from, [&](Dimension, std::int32_t hops, NodeId to) {
        for (Contributors partial = 1; partial < sets_ && counted(from, hops, to) && !found; ++partial) {
          if (!known[from][partial] || known[to][partial]) continue;
          Knowledge more = known;
          more[to][partial] = true;
          found = enough(counted, messages - 1, std::move(more));
        }
      });
      if (found) return true;
    }
    return false;
  }
  /// Everything that messages over the other channels can tell: to know more does no harm.
  void spread(const Counted& counted, Knowledge& known) const {
    for (bool changed = true; changed;) {
      changed = false;
      const auto learn = [&](NodeId node, Contributors partial) {
        changed = changed || !known[node][partial];
        known[node][partial] = true;
      };
      for (NodeId node = 0; node < topology_.nodes(); ++node) {
        for (Contributors a = 1; a < sets_; ++a) {
          if (!known[node][a]) continue;
          for (Contributors b = a + 1; b < sets_; ++b) {
            if ((a & b) == 0 && known[node][b]) learn(node, a | b);
          }
          topology_.each_link(node, [&](Dimension, std::int32_t hops, NodeId to) {
            if (!counted(node, hops, to)) learn(to, a);
          });
        }
      }
    }
  }

  const Topology topology_;
  const Contributors sets_;
};

/// The runs of a set in the order of ranks that have others before them.
int runs(Contributors set, NodeId nodes) {
  int count = 0;
  for (NodeId node = 1; node < nodes; ++node) count += (set >> node & 1U) != 0 && (set >> (node - 1) & 1U) == 0;
  return count;
}

}  // namespace

TEST_CASE("as many partials enter a set of nodes as it has runs with others before them, by all ways that there are", "[property]") {
  int met = 0;
  for (const char* shape : {"mesh:2x2", "4", "mesh:5", "2x2m", "mesh:2x3", "4c"}) {
    const Topology topology = Topology::parse(shape);
    const AllWays ways(topology);
    for (Contributors set = 1; set + 1 < Contributors{1} << topology.nodes(); ++set) {
      const int needed = runs(set, topology.nodes());
      const Counted enters = [&](NodeId from, std::int32_t, NodeId to) { return (set >> from & 1U) == 0 && (set >> to & 1U) != 0; };
      CAPTURE(shape, set);
      if (needed > 0) CHECK_FALSE(ways.enough(enters, needed - 1));
      if (needed == 1) met += ways.enough(enters, 1);
    }
  }
  CHECK(met > 20);
}

TEST_CASE("as many partials come up between columns or into those behind by other channels as there are rows and cuts, by all ways",
          "[property]") {
  for (const char* shape : {"4", "5", "2x2", "2x3", "4c", "2x3c", "mesh:2x3"}) {
    const Topology topology = Topology::parse(shape);
    const auto n = static_cast<NodeId>(topology.shape().back().extent), rows = topology.nodes() / n;
    const bool line = topology.shape().back().wiring == Wiring::line;
    const NodeId cuts = line ? 1 : n / 2;
    // Cuts before the columns 1, 3, ..
    const Counted counted = [&](NodeId from, std::int32_t, NodeId to) {
      const NodeId a = from % n, b = to % n;
      return a < b && (b > a + 1 || b % 2 != 0) && (!line || b == 1);
    };
    const AllWays ways(topology);
    const auto needed = static_cast<int>(cuts * rows);
    CAPTURE(shape, needed);
    CHECK_FALSE(ways.enough(counted, needed - 1));
    if (topology.nodes() == 4 && rows == 1) CHECK(ways.enough(counted, needed));
  }
}

TEST_CASE("no scan takes fewer bytes or less time than its bound, on any machine", "[property]") {
  std::mt19937_64 random(support::seed());
  for (int turn = 0; turn < 60; ++turn) {
    const Topology topology = support::random_topology(random, 64);
    const auto most = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(topology.max_ports()));
    const Machine machine(topology, static_cast<int>(1 + support::random_below(random, most)),
                          std::array{Switching::packet, Switching::wormhole, Switching::circuit}[support::random_below(random, 3)]);
    const Request request = support::reduction_request(Collective::scan, Bytes{4} << support::random_below(random, 18));
    const Bounds bounds = lower_bounds(machine, request);
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective != Collective::scan || refuses(*algorithm, machine, request)) continue;
      CAPTURE(topology.text(), algorithm->name, machine.ports, name(machine.switching), request.bytes, support::seed());
      const auto [run, complaint] = support::judged(*algorithm, machine, request);
      CHECK(complaint == "");
      CHECK(static_cast<double>(run.result.channel_bytes_sum) >= bounds.channel_bytes * (1 - 1e-9));
      CHECK(run.result.steps >= bounds.steps);
      CHECK(run.result.model_time_s >= bounds.model_time_s(machine.cost) * (1 - 1e-9));
    }
  }
}
