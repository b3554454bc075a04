#include "tools/torus/sources.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "runtime/host/host_memory.hpp"
#include "runtime/model/figures.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/random.hpp"

namespace torus::command {
namespace {

/// Refuses a list of sources that does not fit into the memory with the copies that a plan makes of it.
void refuse_too_many(std::string_view option, std::string_view text, std::uint64_t count) {
  constexpr std::uint64_t always_fits = 1U << 20U;  // asking for the available memory reads files
  constexpr Bytes copies = 4;
  if (count <= always_fits) return;
  if (const Bytes needed = count * sizeof(NodeId) * copies; needed > usable_memory()) {
    refuse(option, text,
           fmt::format("to list {} nodes and to plan with them takes {}, and {} may be used; choose fewer, or a smaller --on",
                       grouped(count), bytes_text(needed), bytes_text(usable_memory())));
  }
}

/// `count` different nodes (Floyd's algorithm).
std::vector<NodeId> random_nodes(const Topology& topology, std::uint64_t count, std::uint64_t seed) {
  Random random(seed, 0x50);
  std::vector<bool> chosen(topology.nodes());
  std::vector<NodeId> nodes;
  for (std::uint64_t j = topology.nodes() - count; j < topology.nodes(); ++j) {
    const std::uint64_t drawn = random.below(j + 1);
    nodes.push_back(static_cast<NodeId>(chosen[drawn] ? j : drawn));
    chosen[nodes.back()] = true;
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// A whole number for each dimension, from `first` to the extent - 1 + `first`; none if the text is something else.
std::optional<std::vector<std::int32_t>> numbers(std::string_view text, char separator, const Topology& topology, std::uint64_t first) {
  std::vector<std::int32_t> out;
  for (const std::string_view part : split(text, separator)) {
    const auto number = whole_number(part);
    if (out.size() == static_cast<std::size_t>(topology.dimensions()) || !number || *number < first) return std::nullopt;
    if (*number - first >= static_cast<std::uint64_t>(topology.extent(static_cast<Dimension>(out.size())))) return std::nullopt;
    out.push_back(static_cast<std::int32_t>(*number));
  }
  return out.size() == static_cast<std::size_t>(topology.dimensions()) ? std::optional(out) : std::nullopt;
}

/// The nodes from `first` on, `count` of them, `step` apart.
std::vector<NodeId> line_of(NodeId first, NodeId count, NodeId step) {
  std::vector<NodeId> nodes(count);
  for (NodeId i = 0; i < count; ++i) nodes[i] = first + i * step;
  return nodes;
}

template <class Chosen>
std::vector<NodeId> nodes_where(const Topology& topology, Chosen&& chosen) {
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (chosen(node)) nodes.push_back(node);
  }
  return nodes;
}

std::vector<NodeId> diagonal(const Topology& topology) {
  std::int32_t shortest = topology.extent(0);
  NodeId step = 0;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    shortest = std::min(shortest, topology.extent(d));
    step += topology.stride(d);
  }
  return line_of(0, static_cast<NodeId>(shortest), step);
}

std::vector<NodeId> corner(std::string_view option, std::string_view text, std::string_view extents, const Topology& topology) {
  const auto sides = numbers(extents, 'x', topology, 1);
  if (!sides) {
    std::string example;
    for (Dimension d = 0; d < topology.dimensions(); ++d) example += (d > 0 ? "x" : "") + std::to_string((topology.extent(d) + 1) / 2);
    refuse(option, text,
           fmt::format("a block has a side for each dimension of {}, none longer than the extent; for instance block:{}", topology.text(),
                       example));
  }
  return nodes_where(topology, [&](NodeId node) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      if (topology.coordinate(node, d) >= (*sides)[static_cast<std::size_t>(d)]) return false;
    }
    return true;
  });
}

}  // namespace

NodeId parse_node(std::string_view option, std::string_view text, const Topology& topology) {
  if (const auto rank = whole_number(text); rank && *rank < topology.nodes()) return static_cast<NodeId>(*rank);
  if (const auto coordinates = numbers(text, ',', topology, 0); coordinates && coordinates->size() > 1) return topology.rank(*coordinates);
  const NodeId last = topology.nodes() - 1;
  const std::string example = node_text(topology, last);
  refuse(option, text,
         fmt::format("a node of {} is a rank from 0 to {} or {} coordinates below the extents; for instance {}", topology.text(), last,
                     topology.dimensions(), example.substr(1, example.size() - 2)));
}

std::vector<NodeId> parse_sources(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed) {
  const NodeId nodes = topology.nodes();
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (text == "all") {
    refuse_too_many(option, text, nodes);
    return line_of(0, nodes, 1);
  }
  if (text == "none") return {};
  if (text == "random") return random_nodes(topology, 1, seed);
  if (text == "diagonal") return diagonal(topology);
  if (kind == "random") {
    const auto count = whole_number(value);
    if (!count || *count > nodes)
      refuse(option, text, fmt::format("{} has {} nodes to draw from; for instance random:{}", topology.text(), nodes, (nodes + 1) / 2));
    refuse_too_many(option, text, *count);
    return random_nodes(topology, *count, seed);
  }
  if (kind == "row" || kind == "column") {
    const NodeId columns = static_cast<NodeId>(topology.extent(topology.dimensions() - 1));
    const NodeId lines = kind == "row" ? nodes / columns : topology.stride(0);
    const auto line = whole_number(value);
    if (!line || *line >= lines)
      refuse(option, text, fmt::format("{} has {}s 0 to {}; for instance {}:0", topology.text(), kind, lines - 1, kind));
    const NodeId number = static_cast<NodeId>(*line);
    return kind == "row" ? line_of(number * columns, columns, 1) : line_of(number, nodes / lines, lines);
  }
  if (kind == "block") return corner(option, text, value, topology);
  if (kind == "density") {
    const auto density = real_number(value);
    if (!density || *density < 0 || *density > 1) refuse(option, text, "a density is a number from 0 to 1; for instance density:0.1");
    Random random(seed, 0x51);
    return nodes_where(topology, [&](NodeId) { return random.chance(*density); });
  }
  if (!text.empty() && text.find_first_not_of("0123456789,;") != std::string_view::npos) {
    static constexpr std::array<std::string_view, 8> kinds{"random", "all", "none", "row", "column", "diagonal", "block", "density"};
    refuse(option, text,
           "sources are nodes 0,0;3,4 or one of random:S, all, none, row:i, column:i, diagonal, block:AxB, density:0.1" +
               did_you_mean(kind, kinds));
  }
  std::vector<NodeId> chosen;
  for (const std::string_view part : split(text, ';')) chosen.push_back(parse_node(option, part, topology));
  std::sort(chosen.begin(), chosen.end());
  if (const auto twice = std::adjacent_find(chosen.begin(), chosen.end()); twice != chosen.end())
    refuse(option, text, fmt::format("it names node {} twice; name each source once", node_text(topology, *twice)));
  return chosen;
}

std::string sources_option(const Topology& topology, std::span<const NodeId> sources) {
  if (sources.empty()) return "none";
  if (sources.size() == topology.nodes() && topology.nodes() > 1) return "all";
  return fmt::format("{}", fmt::join(sources, ";"));
}

}  // namespace torus::command
