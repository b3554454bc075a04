/// Who has contributed to what each node of a trace holds: the judge's books of reductions and barriers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/trace/blocks.hpp"

namespace torus::detail {

/// Sets of nodes, each counted by its users: blocks that travel together have the same contributors, and share one set.
///
/// Sets are exact where one a cell fits in a limit and in a quarter of the available memory. Else a set is a sum of random keys modulo
/// 2^64: it tells a wrong set from the right one at the end, with a chance of error of about 2^-64, but not on the way.
class NodeSets {
 public:
  using Id = std::uint32_t;
  static constexpr Id none = 0;                   ///< the empty set
  static constexpr Bytes most = Bytes{1} << 29U;  ///< the limit: a few bytes of a header must not ask for more

  /// cells: that hold a set each. most_exact: the limit of exact sets. Throws InputError if not even the sums fit in `most`.
  NodeSets(std::uint64_t cells, NodeId nodes, Bytes most_exact = most);

  bool exact() const noexcept { return exact_; }
  /// The set of a node alone, which is always there.
  static Id of(NodeId node) noexcept { return 1 + node; }

  /// One user more, or one fewer: without users, a set is gone.
  void use(Id set) noexcept { ++users_[set]; }
  void drop(Id set);

  /// The union of two sets, or the sum of their keys, with a new user; and the lowest node that is in both.
  struct Union {
    Id set = none;
    std::optional<NodeId> twice;
  };
  Union united(Id a, Id b);
  /// The lowest node of a set that is not in another; none by sums.
  std::optional<NodeId> lowest_beyond(Id set, Id other) const;

  /// A new set of living nodes, with a user.
  Id all_living(const Participants& participants);
  /// A new set, with a user: another's nodes and one more.
  Id with(Id set, NodeId node);
  bool equal(Id a, Id b) const noexcept { return a == b || std::equal(words(a), words(a) + words_, words(b)); }

 private:
  const std::uint64_t* words(Id set) const noexcept { return &sets_[set * words_]; }
  Id make();
  void add(Id set, NodeId node) noexcept;

  bool exact_;
  std::size_t words_;
  std::vector<std::uint64_t> sets_;
  std::vector<std::uint32_t> users_;
  std::vector<Id> free_;
  Id last_a_ = none, last_b_ = none;  // the last two that were united, with this as a user: blocks in a row mostly repeat them
  Union last_;
};

/// Calls f(block, combines) for each place in which a block of a message arrives. The receiver has `registers` partials of each of
/// `segments` segments.
template <class F>
void each_place(const TraceMessage& m, std::uint64_t block, unsigned registers, std::uint64_t segments, F&& f) {
  if (m.registers == 0) f(block, false);
  for (unsigned r = 0; r < registers; ++r) {
    if ((unsigned{m.registers} >> r & 1U) != 0) f(r * segments + block % segments, true);
  }
}

/// Follows the partials of a reduction; dead nodes contribute nothing. It knows a block by its id alone: register * S + segment.
class Contributors {
 public:
  using Report = std::function<void(std::string)>;

  /// report: takes what breaks a rule, without the step. node_text: a node for people. most_exact: see NodeSets.
  Contributors(const TraceHeader& header, Participants participants, Report report, std::function<std::string(NodeId)> node_text,
               Bytes most_exact = NodeSets::most);

  /// source, destination: of the message, by the participants' ranks.
  void sent(NodeId source, NodeId destination, const TraceMessage& message);
  /// Returns how many blocks a node has combined in the step at most.
  std::uint64_t end_step();
  /// Number of (node, block) pairs that lack a contributor or have another one; reports the first.
  std::uint64_t finish();

  /// S, and the blocks that a node may hold.
  std::uint64_t segments() const noexcept { return segments_; }
  std::uint64_t blocks() const noexcept { return blocks_; }
  bool exact() const noexcept { return sets_.exact(); }
  std::uint64_t combined() const noexcept { return combined_; }
  std::uint64_t unasked() const noexcept { return unasked_; }

 private:
  /// What a node holds for a block.
  struct Cell {
    std::uint32_t held = 0;  // 0: as at the beginning; else a set + 1
    std::uint32_t last = 0;  // the step in which something came last, doubled; + 1 if it was combined
  };
  struct Arrival {
    std::uint64_t block;
    NodeSets::Id set;  // the sender's when the step began, with this as a user
    std::uint32_t message;
    bool combines;
  };
  struct Work {
    std::uint32_t step = 0, combined = 0;
  };

  Cell& cell(NodeId node, std::uint64_t block) noexcept { return cells_[node * blocks_ + block]; }
  NodeSets::Id held(NodeId node, std::uint64_t block) const noexcept;
  void hold(NodeId node, std::uint64_t block, NodeSets::Id set);
  void receive(const Arrival& arrival);
  std::string text_of(std::uint32_t message) const;

  Report report_;
  std::function<std::string(NodeId)> node_text_;
  const std::string collective_;
  const Participants participants_;
  const NodeId nodes_;
  const NodeId root_;
  const std::uint64_t pieces_;    // blocks of an owner, in a reduce-scatter
  const std::uint64_t segments_;  // S
  const std::uint64_t blocks_;    // of a node: S * registers
  const unsigned registers_;
  const bool overlap_;
  const std::vector<Bytes> sizes_;  // of segments; none: all have bytes
  NodeSets sets_;
  Zeros<Cell> cells_;                                         // by node and block
  std::vector<Work> work_;                                    // by node
  std::uint32_t step_ = 1;                                    // of those with messages, from 1
  std::uint32_t most_combined_ = 0;                           // by a node in this step
  std::vector<std::pair<NodeId, std::uint64_t>> given_away_;  // in this step: node, block
  std::vector<Arrival> arrivals_;                             // of this step
  std::vector<std::pair<NodeId, NodeId>> messages_;           // of this step: from, to
  std::vector<std::uint64_t> sorted_;                         // the blocks of a message that does not name them in order
  std::uint64_t combined_ = 0, unasked_ = 0;
};

/// Follows a barrier: a message tells all that its sender had heard of when the step began. For the judge, for runs, whose engine knows
/// blocks and a barrier has none, and for pages.
class Heard {
 public:
  /// followed: the others that a node's set has room for, by their numbers from 0.
  Heard(NodeId nodes, NodeId followed);
  /// Every participant follows all. Dead ones take no part: all count as having heard of them.
  explicit Heard(const Participants& participants);
  /// Throws InputError if the sets of `nodes` nodes, each a set of all nodes, do not fit in memory.
  static void check_memory(NodeId nodes);

  void hear(NodeId node, NodeId of) noexcept { heard_[node * words_ + of / 64] |= std::uint64_t{1} << (of % 64); }
  void sent(NodeId from, NodeId to);
  /// How many others its receiver hears of for the first time, by message in the order of sent(); valid until the next call.
  const std::vector<std::uint64_t>& end_step();
  /// The lowest number that the node has not heard of.
  std::optional<NodeId> unheard(NodeId node) const noexcept;

 private:
  struct News {
    NodeId from, to;
    std::size_t set;  // the sender's, in coming_
  };

  NodeId followed_;
  std::size_t words_;                 // of a set
  std::vector<std::uint64_t> heard_;  // by node
  std::vector<News> news_;            // of this step, as are the next
  std::vector<std::uint64_t> coming_, gained_;
};

}  // namespace torus::detail
