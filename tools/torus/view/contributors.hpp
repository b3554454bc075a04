/// How much of what they want the nodes of a reduction have, step by step; of a barrier, whom they have heard of. For the page, figures,
/// `run --steps` and exports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/collective.hpp>
#include <torus/trace_reader.hpp>

#include "runtime/trace/contributors.hpp"
#include "tools/torus/view/trace_groups.hpp"

namespace torus::command {

/// Counts the contributors of partials. That each is there exactly once is not looked at: `torus verify` does.
///
/// A node wants all contributors of some segments: the root, or each node, of all; an owner of its pieces; in a scan those of the nodes up
/// to itself. Dead nodes contribute nothing and want nothing. All this is of a node's group. A segment's count is the most that the node
/// has had so far, so that what a node has never falls. In a barrier a node wants to hear of each node, itself included.
class ContributorCounts {
 public:
  static constexpr std::uint64_t max_partials = 1ULL << 25;  ///< nodes x segments x registers: 8 bytes each in memory
  static constexpr std::uint64_t max_pairs = 1ULL << 30;     ///< of nodes, in a barrier: a bit each, and as much for a step

  /// True for reductions and barriers.
  static bool follows(std::string_view collective);
  /// Why such a run is not followed; none if it is.
  static std::optional<std::string> too_large(const TraceHeader& header);

  /// A run that follows(), and is not too_large().
  explicit ContributorCounts(const TraceHeader& header);

  /// Contributors of all segments that the node wants, each segment's by themselves; of a barrier: nodes.
  std::uint64_t wanted(NodeId node) const noexcept { return wanted_segments(node) * contributors(node); }
  /// Those of the wanted that it has had.
  std::uint64_t had(NodeId node) const noexcept { return had_[node]; }
  /// Nodes that want something and have had all of it.
  std::uint64_t complete() const noexcept { return complete_; }

  /// What a message did.
  struct Effect {
    std::uint64_t gained = 0;  ///< contributors that its receiver wants and had not had
    Bytes combined = 0;        ///< bytes that its receiver combined with what it held; blocks of a message count alike
  };
  /// A message of the step. A block that its sender does not hold does nothing.
  void sent(const TraceMessage& message);
  /// Ends the step: the senders' partials are as they were when it began, and gone before others arrive. The effects by message, in the
  /// order of sent(); valid until the next call.
  const std::vector<Effect>& end_step();
  /// The maximum of the bytes that a node combined in the last step.
  Bytes most_combined() const noexcept { return most_combined_; }

 private:
  using Wanted = CollectiveFacts::Wanted;
  struct Sent {
    NodeId destination;
    Bytes bytes;
    std::uint64_t blocks;
  };
  struct Arrival {
    std::uint32_t cell;
    std::uint32_t count;
    std::uint32_t message;
    bool combines;
  };

  void hear_of_itself(NodeId node);
  std::uint64_t arrive(const Arrival& arrival, std::uint64_t& combined);
  std::uint64_t gain(NodeId node, std::uint64_t more);
  /// 1 in a barrier.
  std::uint64_t wanted_segments(NodeId node) const noexcept;
  std::optional<std::uint64_t> wanted_index(NodeId node, std::uint64_t segment) const noexcept;

  /// Living nodes whose contribution the node wants, of each segment.
  std::uint32_t contributors(NodeId node) const noexcept {
    return facts_.wanted == Wanted::of_prefix ? living_up_to_[node] : living_in_group(node);
  }
  std::uint32_t living_in_group(NodeId node) const noexcept;
  /// The segments of the whole vector of the node's group; 0 for a node in none.
  std::uint64_t segments(NodeId node) const noexcept;
  bool follows(NodeId node) const noexcept { return topology_.living(node) && groups_.place(node).group != TraceGroups::none; }

  const CollectiveFacts& facts_;
  const Topology topology_;
  const TraceGroups groups_;
  const NodeId nodes_;
  std::vector<std::uint32_t> living_up_to_;  // by node: living nodes of ranks up to its own
  const NodeId root_;                        // a rank
  const std::uint64_t pieces_;               // segments of an owner
  const std::uint64_t segments_;             // of the largest group's vector
  const std::uint32_t registers_;
  const std::uint64_t blocks_;       // of a node, at most
  std::vector<std::uint32_t> now_;   // contributors by node and block; 0: none held
  std::vector<std::uint32_t> most_;  // the most so far, by wanted_index()
  std::vector<std::uint64_t> had_;   // by node
  std::uint64_t complete_ = 0;

  std::optional<detail::Heard> heard_;  // of a barrier

  std::vector<Sent> messages_;  // of this step
  std::vector<std::uint32_t> given_;
  std::vector<Arrival> arrivals_;
  std::vector<Effect> effects_;
  Bytes most_combined_ = 0;
};

}  // namespace torus::command
