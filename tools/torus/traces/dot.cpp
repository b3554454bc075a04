/// A trace as a graph for Graphviz: the messages of a step, or the tree by which data spread or came together.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include <torus/collective.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/trace/contributors.hpp"
#include "tools/torus/traces/formats.hpp"
#include "tools/torus/view/by_node.hpp"

namespace torus::command {
namespace {

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
  SpanningTree(const TraceSteps& steps, std::optional<NodeId> origin);

  struct Edge {
    NodeId from = 0, to = 0;
    Step step = 0;
    bool data = true;  ///< false: control alone
  };
  NodeId root() const noexcept { return root_; }
  /// What an edge is, in words.
  const std::string& meaning() const noexcept { return meaning_; }

  /// The messages of a step. Each is taken to arrive when the step ends.
  void step(std::vector<TraceMessage>& messages);
  /// The edges so far: in the order of their steps.
  std::vector<Edge> edges() const;

 private:
  enum class Follows : std::uint8_t { first_data, last_data, blocks, partials, hearing };

  bool tells(const TraceMessage& message) const;
  void move_partials(const std::vector<TraceMessage>& messages);

  const ByNode by_node_;
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

/// A quoted string of the DOT language.
std::string in_quotes(std::string_view text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe + "\"";
}

std::string path_text(const TraceMessage& message) {
  std::string text;
  for (const Leg& leg : message.path) text += fmt::format("{}{}:{:+}", text.empty() ? "" : " ", leg.dimension, leg.hops);
  return text;
}

/// The graph as it is written. A node is named before its first edge.
class Graph {
 public:
  Graph(OutputFile& file, const TraceSteps& steps, const std::string& what)
      : file_{file}, groups_{steps.groups()}, named_(steps.header().machine.topology.nodes()) {
    const TraceHeader& header = steps.header();
    file_.write(fmt::format(
        "digraph {} {{\n  node [shape=box];\n",
        in_quotes(fmt::format("{} by {} on {}: {}", header.collective, header.algorithm, header.machine.topology.text(), what))));
  }
  void node(NodeId node) {
    if (!named_[node]) file_.write(fmt::format("  n{} [label={}];\n", node, in_quotes(groups_.name(node))));
    named_[node] = true;
  }
  void edge(NodeId from, NodeId to, const std::string& label, bool data) {
    node(from);
    node(to);
    file_.write(fmt::format("  n{} -> n{} [label={}{}];\n", from, to, in_quotes(label), data ? "" : ", style=dashed"));
    ++edges_;
  }
  std::uint64_t edges() const noexcept { return edges_; }
  void end() { file_.write("}\n"); }

 private:
  OutputFile& file_;
  const TraceGroups& groups_;
  std::vector<bool> named_;
  std::uint64_t edges_ = 0;
};

}  // namespace

SpanningTree::SpanningTree(const TraceSteps& steps, std::optional<NodeId> origin)
    : by_node_{steps.header()}, nodes_{steps.header().machine.topology.nodes()}, knows_(nodes_), edge_of_(nodes_) {
  const TraceHeader& header = by_node_.header();
  const CollectiveFacts& facts = facts_of(header.collective);
  if (facts.from_sources() && header.sources.empty())
    throw InputError("the run has no source, and a tree begins at one; choose a run with a source, for instance --sources 0");
  root_ = origin.value_or(header.sources.empty() ? 0 : header.sources.front());
  if (facts.rooted() && origin)
    throw InputError(fmt::format("--origin {}: a {} has one root, {}; leave the option out", *origin, header.collective,
                                 steps.groups().name(header.sources.front())));
  if (facts.from_sources() && std::find(header.sources.begin(), header.sources.end(), root_) == header.sources.end())
    throw InputError(fmt::format("--origin {}: the node is no source; for instance --origin {}", root_, header.sources.front()));
  knows_[root_] = true;
  const std::string name = steps.groups().name(root_);
  if (facts.wanted == CollectiveFacts::Wanted::at_root) {
    follows_ = Follows::last_data;
    meaning_ = "the last data that each node sent";
  } else if (facts.rooted()) {
    meaning_ = "the first data of each node";
  } else if (!facts.carries_bytes()) {
    follows_ = Follows::hearing;
    meaning_ = "how each node first heard of " + name;
  } else if (!facts.combines) {
    follows_ = Follows::blocks;
    blocks_of_origin_ = facts.of_pairs() ? nodes_ : header.segments;
    meaning_ = "how each node first got a block of " + name;
  } else {
    follows_ = Follows::partials;
    segments_ = std::uint64_t{header.segments} * (facts.takes_sizes() ? nodes_ : 1);
    blocks_ = segments_ * header.registers;
    if (static_cast<double>(nodes_) * static_cast<double>(blocks_) > static_cast<double>(max_partials))
      throw InputError(
          fmt::format("each of {} nodes may hold {} partials, and at most {} in all are followed; choose a smaller run, or a --step",
                      grouped(nodes_), grouped(blocks_), grouped(max_partials)));
    partial_.resize(nodes_ * blocks_);
    std::fill_n(partial_.begin() + static_cast<std::ptrdiff_t>(root_ * blocks_), segments_, true);
    meaning_ = "how each node first got a partial with the contribution of " + name;
  }
}

bool SpanningTree::tells(const TraceMessage& m) const {
  switch (follows_) {
    case Follows::first_data: return !m.blocks.empty() && knows_[m.source];
    case Follows::last_data: return !m.blocks.empty();
    case Follows::hearing: return knows_[m.source];
    case Follows::blocks:
      return knows_[m.source] &&
             std::any_of(m.blocks.begin(), m.blocks.end(), [&](std::uint64_t block) { return block / blocks_of_origin_ == root_; });
    case Follows::partials:
      return std::any_of(m.blocks.begin(), m.blocks.end(),
                         [&](std::uint64_t block) { return block < blocks_ && partial_[m.source * blocks_ + block]; });
  }
  return false;
}

/// Senders have what they had when the step began; what they give away is gone before anything arrives.
void SpanningTree::move_partials(const std::vector<TraceMessage>& messages) {
  std::vector<std::pair<std::uint64_t, bool>> arrivals;  // where, and whether the origin has contributed to what comes
  std::vector<std::uint64_t> given, replaced;
  for (const TraceMessage& m : messages) {
    for (const std::uint64_t block : m.blocks) {
      if (block >= blocks_) continue;
      const std::uint64_t from = m.source * blocks_ + block, to = m.destination * blocks_;
      if (m.releases) given.push_back(from);
      detail::each_place(m, block, static_cast<unsigned>(blocks_ / segments_), segments_, [&](std::uint64_t at, bool combines) {
        arrivals.emplace_back(to + at, partial_[from]);
        if (!combines) replaced.push_back(to + at);
      });
    }
  }
  for (const std::uint64_t at : given) partial_[at] = false;
  for (const std::uint64_t at : replaced) partial_[at] = false;
  for (const auto& [at, has] : arrivals) {
    if (has) partial_[at] = true;
  }
}

void SpanningTree::step(std::vector<TraceMessage>& messages) {
  std::vector<NodeId> informed;
  for (TraceMessage& m : messages) by_node_.rename(m);
  for (const TraceMessage& m : messages) {
    if (!tells(m)) continue;
    const Edge edge{m.source, m.destination, m.step, !m.blocks.empty()};
    if (follows_ == Follows::last_data) {
      if (m.source == root_) continue;
      std::optional<Edge>& last = edge_of_[m.source];
      if (!last || last->step < m.step) last = edge;
    } else if (m.destination != root_ && !edge_of_[m.destination]) {
      edge_of_[m.destination] = edge;
      informed.push_back(m.destination);
    }
  }
  for (const NodeId node : informed) knows_[node] = true;
  if (follows_ == Follows::partials) move_partials(messages);
}

std::vector<SpanningTree::Edge> SpanningTree::edges() const {
  std::vector<Edge> edges;
  for (const std::optional<Edge>& edge : edge_of_) {
    if (edge) edges.push_back(*edge);
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.step < b.step; });
  return edges;
}

Note export_dot(TraceSteps& steps, std::optional<Step> step, std::optional<NodeId> origin, OutputFile& file) {
  const TraceHeader& header = steps.header();
  const Topology& topology = header.machine.topology;
  if (topology.nodes() > max_dot_edges)
    throw InputError(fmt::format("the machine has {} nodes; a graph has at most {}; choose a smaller run", grouped(topology.nodes()),
                                 grouped(max_dot_edges)));
  std::vector<TraceMessage> messages;
  const auto note = [](const std::string& what, std::uint64_t edges) { return fmt::format("{}: {}", what, counted(edges, "edge")); };
  if (!step) {
    SpanningTree tree(steps, origin);
    while (steps.next(messages)) tree.step(messages);
    Graph graph(file, steps, tree.meaning());
    graph.node(tree.root());
    for (const SpanningTree::Edge& e : tree.edges()) graph.edge(e.from, e.to, std::to_string(e.step), e.data);
    graph.end();
    return note(tree.meaning(), graph.edges());
  }
  const std::string what = fmt::format("step {}", *step);
  Graph graph(file, steps, what);
  Step last = 0;  // of those read
  while (last < *step && steps.next(messages)) {
    last = messages.front().step;
    if (last != *step) continue;
    if (messages.size() > max_dot_edges)
      throw InputError(fmt::format("step {} has {} messages, and a graph at most {} edges; choose another step or a smaller run", *step,
                                   grouped(messages.size()), grouped(max_dot_edges)));
    for (const TraceMessage& m : messages) graph.edge(m.source, m.destination, path_text(m), !m.blocks.empty());
  }
  if (last < *step) throw InputError(fmt::format("--step {}: the run has steps 0 to {}", *step, last));
  graph.end();
  return note(what, graph.edges());
}

}  // namespace torus::command
