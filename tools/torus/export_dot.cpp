/// A trace as a graph for Graphviz.
#include <fmt/format.h>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "tools/torus/export.hpp"
#include "tools/torus/spanning_tree.hpp"

namespace torus::command {
namespace {

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
  Graph(OutputFile& file, const TraceHeader& header, const std::string& what)
      : file_{file}, topology_{header.machine.topology}, named_(topology_.nodes()) {
    file_.write(fmt::format("digraph {} {{\n  node [shape=box];\n",
                            in_quotes(fmt::format("{} by {} on {}: {}", header.collective, header.algorithm, topology_.text(), what))));
  }
  void node(NodeId node) {
    if (!named_[node]) file_.write(fmt::format("  n{} [label={}];\n", node, in_quotes(node_text(topology_, node))));
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
  const Topology& topology_;
  std::vector<bool> named_;
  std::uint64_t edges_ = 0;
};

}  // namespace

Note export_dot(TraceSteps& steps, std::optional<Step> step, std::optional<NodeId> origin, OutputFile& file) {
  const TraceHeader& header = steps.header();
  const Topology& topology = header.machine.topology;
  if (topology.nodes() > max_dot_edges)
    throw InputError(fmt::format("the machine has {} nodes; a graph has at most {}; choose a smaller run", grouped(topology.nodes()),
                                 grouped(max_dot_edges)));
  std::vector<TraceMessage> messages;
  const auto note = [](const std::string& what, std::uint64_t edges) {
    return fmt::format("{}: {} {}", what, grouped(edges), edges == 1 ? "edge" : "edges");
  };
  if (!step) {
    SpanningTree tree(header, origin);
    while (steps.next(messages)) tree.step(messages);
    Graph graph(file, header, tree.meaning());
    graph.node(tree.root());
    for (const SpanningTree::Edge& e : tree.edges()) graph.edge(e.from, e.to, std::to_string(e.step), e.data);
    graph.end();
    return note(tree.meaning(), graph.edges());
  }
  const std::string what = fmt::format("step {}", *step);
  Graph graph(file, header, what);
  while (steps.next(messages) && messages.front().step <= *step) {
    if (messages.front().step < *step) continue;
    if (messages.size() > max_dot_edges)
      throw InputError(fmt::format("step {} has {} messages, and a graph at most {} edges; choose another step or a smaller run", *step,
                                   grouped(messages.size()), grouped(max_dot_edges)));
    for (const TraceMessage& m : messages) graph.edge(m.source, m.destination, path_text(m), !m.blocks.empty());
  }
  graph.end();
  return note(what, graph.edges());
}

}  // namespace torus::command
