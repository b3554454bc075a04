/// The largest flow between two nodes of a network with whole capacities, and the narrowest cut that proves it.
///
/// Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970: flows along shortest paths, level
/// by level. O(nodes^2 arcs) at worst; on a torus some passes over its arcs. A network is built once and asked many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torus {

class MaxFlow {
 public:
  explicit MaxFlow(std::size_t nodes) : arcs_of_(nodes) {}

  /// An arc each way. Returns a number for set().
  std::size_t add(std::size_t from, std::size_t to);
  /// Its capacities, 0 or more, and no flow over it. Each run() wants all arcs set anew.
  void set(std::size_t arc, std::int64_t there, std::int64_t back) noexcept {
    arcs_[arc].left = there;
    arcs_[arc ^ 1U].left = back;
  }
  /// The value of a maximum flow between two different nodes. The sum of the capacities that leave `source` must fit.
  std::int64_t run(std::size_t source, std::size_t sink);
  /// After run(): whether the node is on the source's side of the narrowest cut nearest to the source.
  bool before_cut(std::size_t node) const noexcept { return level_[node] >= 0; }

 private:
  struct Arc {
    std::size_t to;
    std::int64_t left;  // capacity without the flow
  };
  /// Distances from the source over arcs with capacity left; whether the sink has one.
  bool find_levels(std::size_t source, std::size_t sink);
  /// Sends at most so much on to the sink along ascending levels.
  std::int64_t push(std::size_t node, std::size_t sink, std::int64_t most);

  std::vector<Arc> arcs_;  // 2i and 2i+1 are each other's way back
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::int32_t> level_;
  std::vector<std::size_t> next_, queue_;
};

}  // namespace torus
