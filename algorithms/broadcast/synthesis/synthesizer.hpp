/// Finds a broadcast in the number of steps that counting requires: on a torus L = ceil(log_{ports+1} N), on a mesh, whose border nodes
/// have fewer channels, at times more.
///
/// It works backwards from all nodes: of the nodes informed after a step it chooses those informed before it, evenly spread, and a maximum
/// flow decides whether one step leads from these to those. The last, dense choice is a quasi-lattice; the earlier, sparse ones are
/// balanced partitions. Where neither succeeds, simulated annealing moves members. A choice may take more nodes than the minimum, as long
/// as earlier steps can reach them: the slack of N below (ports+1)^L is spread over the steps, which keeps the search short.
/// A line needs no search: see line_broadcast().
/// Deterministic: effort is counted, not timed, and so is the same for every run and platform.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "algorithms/broadcast/circuit/circuit_flow.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"

namespace torus::broadcast {

class Synthesizer {
 public:
  /// A torus, a mesh or a mix, with holes or without, which must outlive the synthesizer. On a whole torus all roots are alike, and any
  /// will do.
  Synthesizer(const Topology& topology, std::int32_t ports, NodeId root = 0);

  /// The bound by counting: in a step a node informs at most as many others as it has ports and channels. On a line, the minimum.
  std::uint32_t least_steps() const noexcept { return static_cast<std::uint32_t>(reach_.size()) - 1; }

  /// Circuits of each step, as if all nodes were moved so that the root is node 0 (across borders, where a dimension is a line). None if
  /// the search finds none. Where the bound is out of reach, as on some meshes, it usually ends at most_looks(). On a line, none if and
  /// only if none exists; else the minimum number of steps, if that is less.
  std::optional<std::vector<std::vector<Circuit>>> broadcast_in(std::uint32_t steps);

  /// A broadcast step by step from the root, each step a flow to as many new nodes as it can serve: it exists on every machine that is not
  /// cut apart, but takes more steps than the search where that succeeds.
  std::vector<std::vector<Circuit>> greedy_broadcast();

  /// Flows solved so far.
  std::uint64_t flows() const noexcept { return flows_; }
  /// Channels that the flows have examined so far: their cost, the same on every computer.
  std::uint64_t looks() const noexcept { return flow_.looks(); }
  /// Looks after which a search gives up: about a second for some thousand nodes.
  static std::uint64_t most_looks(const Topology& topology);

 private:
  using Nodes = std::vector<NodeId>;

  /// A choice that fails, and by how much: the start of the repair.
  struct NearMiss {
    Nodes before;
    std::size_t unserved;
  };

  bool gives_up(std::uint32_t step) const;
  /// Finds the nodes informed before `step`, given those after it, and all earlier steps.
  bool choose(std::uint32_t step, const Nodes& after);
  bool find_origin(const Nodes& after);
  /// Whether one step leads from `before` to `after`, and earlier steps to `before`.
  bool attempt(std::uint32_t step, const Nodes& chosen, const Nodes& after, NearMiss& best);
  bool attempt_spreads(std::uint32_t step, std::size_t size, bool last, const Nodes& after, NearMiss& best);
  bool repair(std::uint32_t step, const Nodes& after, const NearMiss& best);
  bool last_resorts(std::uint32_t step, std::size_t size, const Nodes& after, NearMiss best);

  std::vector<std::size_t> sizes(std::uint32_t step, std::size_t after) const;
  std::size_t unserved(const Nodes& before, const Nodes& after);
  Nodes with_root(Nodes nodes) const;
  Nodes stretched_lattice(std::size_t count);
  std::optional<NodeId> near(NodeId node, std::uint64_t hops, const std::vector<std::uint8_t>& free);
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  const Topology& topology_;
  std::int32_t ports_;
  NodeId root_;
  bool torus_;                        // whole: the same from every node
  std::size_t living_;                // nodes
  std::vector<std::uint64_t> reach_;  // by step: most nodes that can be informed before it; the last is N
  CircuitFlow flow_;
  std::mt19937_64 random_{1};
  std::vector<std::vector<Circuit>> circuits_;                                           // by step
  std::vector<std::uint32_t> dead_ends_;                                                 // by step: choices that no earlier steps reach
  std::map<std::pair<std::size_t, std::uint64_t>, std::vector<Multipliers>> stretched_;  // by dimension and rows less: the nearest ones
  NodeId origin_ = 0;
  std::uint64_t flows_ = 0;
  std::uint64_t last_look_ = 0;  // where the present search ends
};

}  // namespace torus::broadcast
