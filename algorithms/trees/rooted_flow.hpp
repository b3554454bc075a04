/// A message that goes down arc-disjoint trees from their root, or a vector that goes up to it and is combined on the way, in chunks.
///
/// It is split into trees * K segments; segment c * trees + r is chunk c of tree r. Down: in step c the root sends chunk c of every tree; a
/// node passes a segment on in the step after it came, so at depth d in step c + d. Up: a node at depth d sends chunk c to its parent in
/// step c + H - d, H the height of the highest tree: what its children sent has come in the step before. No channel is in two trees, so it
/// carries at most one segment a step, and no segment ever waits. A channel of several copies carries one for each of its trees, together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/trees/arc_trees.hpp"

namespace torus {

/// The way down. Segment 0 has the id `first`, `segments` of them in all, both multiples of the trees. `phase` names the steps, if it is
/// not null. The trees must outlive the run.
Program send_down_trees(Node& self, const ArcTrees& trees, NodeId root, BlockId first, std::uint32_t segments, const char* phase);

/// What flows along the trees of one root: its steps and bytes, with K chunks a tree.
class RootedFlow {
 public:
  RootedFlow(std::shared_ptr<const ArcTrees> trees, const Machine& machine, NodeId root);

  const ArcTrees& trees() const noexcept { return *trees_; }
  NodeId root() const noexcept { return root_; }

  /// Steps of one way.
  std::uint64_t steps(std::uint64_t chunks) const noexcept { return trees_->trees() == 0 ? 0 : trees_->height() + chunks - 1; }
  /// Sums over the steps of the most units on a channel, where the first segments are one unit longer than the others.
  ByteSum up(std::uint64_t units, std::uint64_t chunks) const;
  ByteSum down(std::uint64_t units, std::uint64_t chunks) const;
  /// Sums over the steps of the byte terms, where channels differ in speed, if a unit has so many bytes.
  double up_s(std::uint64_t units, std::uint64_t chunks, Bytes unit) const;
  double down_s(std::uint64_t units, std::uint64_t chunks, Bytes unit) const;
  /// Sum over the steps of the most units that a node combines.
  ByteSum combined(const WayUp& way_up, std::uint64_t units, std::uint64_t chunks) const;

  /// K: the parameter `segments`, or else what makes time_s(K) least for that many units of `unit` bytes.
  template <class TimeS>
  std::uint32_t chunks(const Machine& machine, const Request& request, std::uint64_t units, Bytes unit, TimeS&& time_s) const {
    if (const std::uint32_t asked = request.parameters.whole("segments"); asked > 0) return asked;
    const std::uint64_t holders = std::uint64_t{nodes_} * trees_->shares();
    return best_segments(std::max(1.0, static_cast<double>(trees_->height())) - 1, units / trees_->shares(),
                         static_cast<NodeId>(std::min<std::uint64_t>(holders, std::numeric_limits<NodeId>::max())),
                         fullest_byte_s_ * static_cast<double>(unit), machine.cost.steps(1, 0, 1), time_s);
  }
  /// Rows for the report.
  std::vector<std::pair<std::string, std::string>> notes(std::uint32_t chunks) const;

 private:
  /// `first`: maps the height of a tree to the step from which a chunk of it is on its way.
  template <class First>
  ByteSum units_on_channels(std::uint64_t units, std::uint64_t chunks, First&& first) const;

  /// A channel that is in trees.
  struct Used {
    struct By {
      std::uint32_t tree, depth;  ///< of the end
    };
    double byte_s;
    std::vector<By> by;
  };
  /// Sums over the steps of the most units on a channel, and of the most of them times T_c. `first`: maps the depth of an arc's end to the
  /// step from which a chunk goes over it.
  struct Terms {
    ByteSum units = 0;
    double byte_s = 0;
  };
  template <class First>
  Terms terms(std::uint64_t units, std::uint64_t chunks, First&& first) const;
  /// Steps before which a channel or node may begin or end to carry segments, or longer ones; 0 and the steps among them.
  std::vector<std::uint64_t> bends(std::uint64_t chunks, std::uint64_t longer) const;

  std::shared_ptr<const ArcTrees> trees_;
  NodeId nodes_, root_;
  double fullest_byte_s_;   // T_c of a channel times the trees that it is in
  std::vector<Used> used_;  // where channels differ in speed
};

/// The way up. All nodes end after flow.steps(chunks) steps.
Program send_up_trees(Node& self, const RootedFlow& flow, const WayUp& way_up, std::uint32_t chunks, const char* phase);

inline constexpr std::array rooted_flow_parameters{Parameter{"segments", "segments that each tree carries"}};

/// Refuses a parameter `segments` with which all nodes together would hold more blocks than a run may have. `trees`: the most there can be.
std::optional<Refusal> too_many_chunks(std::string_view algorithm, const Topology& topology, const Request& request, std::uint32_t trees);

}  // namespace torus
