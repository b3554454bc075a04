/// The spanning tree of a run: how the data of one node spread, or how the data of all came to one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

namespace torus::command {

/// Follows a trace step by step.
///
/// - Broadcast and scatter: for each node the first message that brought it data. The root is the source.
/// - Reduce and gather: for each node the last message by which it sent data on. The root is the collective's.
/// - All others: for each node the first message that brought it news of the origin: a block of it, a partial with its contribution, or
///   in a barrier a message of one that had heard of it. The root is the origin.
///
/// Where a collective is complete, each node but the root has one edge, and edges lead from earlier steps to later ones: it is a tree.
class SpanningTree {
 public:
  static constexpr std::uint64_t max_partials = 1ULL << 28;  ///< nodes x blocks of a node, in reductions: a bit each

  /// The origin is taken only by collectives that have several; none: the first source. Throws InputError for others, and where a
  /// reduction has too many blocks.
  SpanningTree(const TraceHeader& header, std::optional<NodeId> origin);

  struct Edge {
    NodeId from = 0, to = 0;
    Step step = 0;
    bool data = true;  ///< false: control alone
  };
  NodeId root() const noexcept { return root_; }
  /// What an edge is, in words.
  const std::string& meaning() const noexcept { return meaning_; }

  /// The messages of a step. Each is taken to arrive when the step ends.
  void step(const std::vector<TraceMessage>& messages);
  /// The edges so far: in the order of their steps.
  std::vector<Edge> edges() const;

 private:
  enum class Follows : std::uint8_t { first_data, last_data, blocks, partials, hearing };

  bool tells(const TraceMessage& message) const;
  void move_partials(const std::vector<TraceMessage>& messages);

  Follows follows_ = Follows::first_data;
  NodeId root_ = 0;
  std::string meaning_;
  NodeId nodes_ = 0;
  std::uint64_t blocks_of_origin_ = 1;        // blocks with numbers from origin * this on are the origin's
  std::uint64_t segments_ = 0;                // of a reduction's register
  std::uint64_t blocks_ = 0;                  // of a reduction's node
  std::vector<bool> knows_;                   // by node, when the step begins
  std::vector<bool> partial_;                 // by node and block: the origin has contributed
  std::vector<std::optional<Edge>> edge_of_;  // by the node that is not nearer to the root
};

}  // namespace torus::command
