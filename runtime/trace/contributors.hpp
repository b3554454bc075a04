/// Who has contributed to what each node of a trace holds: the judge's books of reductions and barriers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/trace/blocks.hpp"

namespace torus::detail {

/// Sets of nodes by cell, exact where they fit in a limit and in a quarter of the available memory. Else sums of random keys modulo 2^64:
/// they tell a wrong set from the right one at the end, with a chance of error of about 2^-64, but not on the way.
class NodeSets {
 public:
  static constexpr Bytes most = Bytes{1} << 29U;  ///< the limit: a few bytes of a header must not ask for more

  /// most_exact: the limit of exact sets. Throws InputError if not even the sums fit in `most`.
  NodeSets(std::uint64_t cells, std::uint64_t nodes, Bytes most_exact = most);

  bool exact() const noexcept { return exact_; }
  std::size_t words() const noexcept { return words_; }
  std::uint64_t* of(std::uint64_t cell) noexcept { return &sets_[cell * words_]; }
  /// Adds a node to a set, which must not have it.
  void add(std::uint64_t* set, NodeId node) const noexcept;

 private:
  static std::uint64_t fitting(std::uint64_t cells, std::uint64_t nodes);

  bool exact_;
  std::size_t words_;
  Zeros<std::uint64_t> sets_;
};

/// Follows the partials of a reduction; dead nodes contribute nothing. It knows a block by its id alone: register * S + segment.
class Contributors {
 public:
  using Report = std::function<void(std::string)>;

  /// report: takes what breaks a rule, without the step. node_text: a node for people. most_exact: see NodeSets.
  Contributors(const TraceHeader& header, Report report, std::function<std::string(NodeId)> node_text, Bytes most_exact = NodeSets::most);

  void sent(const TraceMessage& message);
  void end_step();
  /// Number of (node, block) pairs that lack a contributor or have another one; reports the first.
  std::uint64_t finish();

  bool exact() const noexcept { return sets_.exact(); }
  std::uint64_t combined() const noexcept { return combined_; }
  std::uint64_t most_combined_sum() const noexcept { return most_combined_sum_; }
  std::uint64_t unasked() const noexcept { return unasked_; }

 private:
  struct Arrival {
    std::uint64_t cell;  // of the receiver
    std::size_t set;     // words in coming_, as the sender's was when the step began
    std::uint64_t message;
    bool combines;
  };

  std::uint64_t cell(NodeId node, std::uint64_t block) const noexcept { return node * blocks_ + block; }
  bool holds(std::uint64_t cell) const noexcept { return (held_[cell / 64] >> (cell % 64) & 1U) != 0; }
  void hold(std::uint64_t cell, bool held) noexcept;
  void receive(std::uint64_t block, const Arrival& arrival);
  std::string text_of(std::uint64_t message) const;

  Report report_;
  std::function<std::string(NodeId)> node_text_;
  const std::string collective_;
  const Topology topology_;
  const NodeId nodes_;
  const NodeId root_;
  const std::uint64_t pieces_;    // blocks of an owner, in a reduce-scatter
  const std::uint64_t segments_;  // S
  const std::uint64_t blocks_;    // of a node: S * registers
  const unsigned registers_;
  const bool overlap_;
  NodeSets sets_;
  std::vector<std::uint64_t> held_;                  // a bit a cell: whether the node holds anything there
  std::vector<std::uint64_t> given_;                 // cells given away in this step
  std::vector<Arrival> arrivals_;                    // of this step
  std::vector<std::uint64_t> coming_;                // their sets
  std::vector<std::pair<NodeId, NodeId>> messages_;  // of this step: from, to
  std::uint64_t combined_ = 0, most_combined_sum_ = 0, unasked_ = 0;
};

/// Follows a barrier: a message carries the set of nodes that its sender had heard of when the step began.
class Heard {
 public:
  /// Dead nodes take no part. Throws InputError if the sets of all nodes do not fit in memory.
  explicit Heard(const Topology& topology);

  void sent(NodeId from, NodeId to);
  void end_step();
  /// Calls f(node, missing) for each node that has not heard of all, with the first that it has not heard of.
  void finish(const std::function<void(NodeId, NodeId)>& f) const;

 private:
  const Topology& topology_;
  NodeId nodes_;
  std::size_t words_;
  std::vector<std::uint64_t> heard_;                  // by node
  std::vector<std::pair<NodeId, std::size_t>> news_;  // receiver, words in coming_
  std::vector<std::uint64_t> coming_;
};

}  // namespace torus::detail
