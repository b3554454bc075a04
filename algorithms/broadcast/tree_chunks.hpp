/// What is where when, if a message or a vector goes down arc-disjoint trees from their root, or up to it, in chunks.
///
/// It is cut into (trees * chunks) segments; segment c * trees + r is chunk c of tree r. Down: a node at depth d sends chunk c to its
/// children in step c + d. Up: to its parent, combining, in step c + H - d, H the height of the highest tree: what its children sent has
/// come in the step before. No arc is in two trees, so a channel carries at most one segment a step.
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

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/common/arc_trees.hpp"

namespace torus::broadcast {

inline constexpr std::array tree_chunk_parameters{Parameter{"segments", "segments that each tree carries"}};

class TreeChunks {
 public:
  explicit TreeChunks(std::shared_ptr<const ArcTrees> trees) : trees_{std::move(trees)} {}

  const ArcTrees& trees() const noexcept { return *trees_; }
  /// Trees that a message is dealt out to: 1 where there is no tree.
  std::uint32_t shares() const noexcept { return std::max(1U, trees_->trees()); }
  std::uint32_t height() const noexcept { return trees_->height(); }

  /// Steps of one way, with so many chunks a tree.
  std::uint64_t steps(std::uint64_t chunks) const noexcept { return trees_->trees() == 0 ? 0 : height() + chunks - 1; }
  /// Sums over the steps of the most on a channel, up and down, and combined by a node, in units of which there are so many, if the first
  /// segments are one longer.
  ByteSum up(std::uint64_t units, std::uint64_t chunks) const;
  ByteSum down(std::uint64_t units, std::uint64_t chunks) const;
  ByteSum combined(NodeId nodes, std::uint64_t units, std::uint64_t chunks) const;

  /// The parameter `segments`, or else the chunks a tree that make time_s(chunks) least, of so many units that take so long each.
  template <class TimeS>
  std::uint32_t chunks(const Machine& machine, const Request& request, std::uint64_t units, double unit_s, TimeS&& time_s) const {
    if (const std::uint32_t asked = request.parameters.whole("segments"); asked > 0) return asked;
    const std::uint64_t holders = std::uint64_t{machine.topology.nodes()} * shares();
    return best_segments(std::max(1.0, static_cast<double>(height())) - 1, units / shares(),
                         static_cast<NodeId>(std::min<std::uint64_t>(holders, std::numeric_limits<NodeId>::max())), unit_s,
                         machine.cost.steps(1, 0, 1), time_s);
  }
  /// Rows for the report.
  std::vector<std::pair<std::string, std::string>> notes(std::uint32_t chunks) const;

  /// What a node sends in a step after the first of its way. `first`: the id of segment 0.
  void send_up(Node& self, std::uint32_t chunks, Step step) const;
  void send_down(Node& self, std::uint32_t chunks, Step step, BlockId first) const;

 private:
  /// The steps in which a chunk that is a unit longer is on its way: of a tree from first(its height) on.
  template <class First>
  ByteSum units_on_channels(std::uint64_t units, std::uint64_t chunks, First&& first) const;

  std::shared_ptr<const ArcTrees> trees_;
};

/// The parameter `segments` asks for more than the nodes can hold together, of at most so many trees.
std::optional<Refusal> too_many_chunks(std::string_view algorithm, const Topology& topology, const Request& request, std::uint32_t trees);

}  // namespace torus::broadcast
