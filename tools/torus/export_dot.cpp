/// A trace as a graph for Graphviz.
#include <fmt/format.h>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "tools/torus/export.hpp"

namespace torus::command {
namespace {

/// A quoted string of the DOT language.
std::string quoted(std::string_view text) {
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

/// Nodes that have data before the first step. Elsewhere than from sources, all have some of their own and are to hear of others.
std::vector<bool> informed_first(const TraceHeader& header) {
  std::vector<bool> informed(header.machine.topology.nodes());
  if (header.collective == "broadcast" || header.collective == "multinode-broadcast" || header.collective == "scatter") {
    for (const NodeId source : header.sources) informed[source] = true;
  }
  return informed;
}

}  // namespace

Note export_dot(TraceSteps& steps, std::optional<Step> step, OutputFile& file) {
  const TraceHeader& header = steps.header();
  const Topology& topology = header.machine.topology;
  if (topology.nodes() > max_dot_edges)
    throw InputError(fmt::format("the machine has {} nodes; a graph has at most {}; choose a smaller run", grouped(topology.nodes()),
                                 grouped(max_dot_edges)));
  const std::string what = step ? fmt::format("step {}", *step) : "the first data of each node";
  file.write(fmt::format("digraph {} {{\n  node [shape=box];\n",
                         quoted(fmt::format("{} by {} on {}: {}", header.collective, header.algorithm, topology.text(), what))));
  std::vector<bool> informed = informed_first(header);
  std::vector<bool> named(topology.nodes());
  const auto name_node = [&](NodeId node) {
    if (!named[node]) file.write(fmt::format("  n{} [label={}];\n", node, quoted(node_text(topology, node))));
    named[node] = true;
  };
  for (const NodeId source : header.sources) {
    if (!step && informed[source]) name_node(source);
  }
  std::uint64_t edges = 0;
  std::vector<TraceMessage> messages;
  while (steps.next(messages)) {
    if (step && messages.front().step > *step) break;
    if (step && messages.front().step < *step) continue;
    for (const TraceMessage& m : messages) {
      if (!step && (m.blocks.empty() || informed[m.destination])) continue;
      informed[m.destination] = true;
      if (++edges > max_dot_edges)
        throw InputError(
            fmt::format("step {} has more than {} messages, and a graph at most so many edges; choose another step or a smaller run",
                        m.step, grouped(max_dot_edges)));
      name_node(m.source);
      name_node(m.destination);
      file.write(fmt::format("  n{} -> n{} [label={}{}];\n", m.source, m.destination, quoted(step ? path_text(m) : std::to_string(m.step)),
                             m.blocks.empty() ? ", style=dashed" : ""));
    }
  }
  file.write("}\n");
  return fmt::format("{}: {} {}", what, grouped(edges), edges == 1 ? "edge" : "edges");
}

}  // namespace torus::command
