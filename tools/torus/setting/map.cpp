#include "tools/torus/setting/map.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/lines.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/random.hpp"

namespace torus::command {
namespace {

std::vector<NodeId> read_file(std::string_view text, const std::string& path, const Topology& topology) {
  constexpr detail::Lines::Kind kind{"map", "a file with a node for each rank: ranks or coordinates 3,4", most_text};
  detail::Lines lines(path, kind);
  std::vector<NodeId> nodes;
  std::vector<bool> named(topology.nodes(), false);
  while (const auto line = lines.next()) {
    std::string_view left = *line;
    while (true) {
      const std::size_t first = left.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) break;
      const std::string_view word = left.substr(first, left.find_first_of(" \t\r", first) - first);
      left.remove_prefix(first + word.size());
      const NodeId node = parse_node("--map", word, topology);
      if (named[node]) lines.refuse(fmt::format("it names node {} twice; each rank has a node of its own", word));
      named[node] = true;
      nodes.push_back(node);
    }
  }
  if (nodes.size() != topology.nodes())
    throw InputError(fmt::format("--map '{}': it names {}, and {} has {}; name each once", text, counted(nodes.size(), "node"),
                                 topology.text(), topology.nodes()));
  return nodes;
}

/// Calls f(coordinates) for each node, row-major in the dimensions in this order.
template <class F>
void in_order(const Topology& topology, const std::vector<Dimension>& order, F&& f) {
  std::vector<std::int32_t> at(order.size(), 0);
  for (NodeId rank = 0; rank < topology.nodes(); ++rank) {
    f(at);
    for (std::size_t i = order.size(); i-- > 0;) {
      std::int32_t& coordinate = at[static_cast<std::size_t>(order[i])];
      if (++coordinate < topology.extent(order[i])) break;
      coordinate = 0;
    }
  }
}

std::vector<Dimension> parse_order(std::string_view text, std::string_view list, const Topology& topology) {
  std::vector<Dimension> order;
  for (const std::string_view part : split(list, ','))
    order.push_back(static_cast<Dimension>(whole_number(part).value_or(static_cast<std::uint64_t>(topology.dimensions()))));
  std::vector<Dimension> all(static_cast<std::size_t>(topology.dimensions()));
  std::iota(all.begin(), all.end(), 0);
  if (!std::is_permutation(order.begin(), order.end(), all.begin(), all.end())) {
    std::reverse(all.begin(), all.end());
    std::string fits;
    for (const Dimension d : all) fits += fmt::format("{}{}", fits.empty() ? "" : ",", d);
    refuse("--map", text, fmt::format("it must name every dimension of {} once; for instance axis:{}", topology.text(), fits));
  }
  return order;
}

}  // namespace

std::vector<NodeId> read_map(std::string_view text, const Topology& topology) {
  const std::string_view kind = text.substr(0, text.find(':')), rest = text.substr(std::min(text.size(), kind.size() + 1));
  if (kind == "file" && !rest.empty()) return read_file(text, std::string(rest), topology);
  std::vector<NodeId> nodes(topology.nodes());
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  if (text == "row-major") return nodes;
  auto next = nodes.begin();
  if (kind == "axis" && !rest.empty()) {
    in_order(topology, parse_order(text, rest, topology), [&](const auto& at) { *next++ = topology.rank(at); });
  } else if (text == "snake") {
    std::vector<Dimension> order(static_cast<std::size_t>(topology.dimensions()));
    std::iota(order.begin(), order.end(), 0);
    in_order(topology, order, [&](std::vector<std::int32_t> at) {
      std::int32_t turns = 0;
      for (std::size_t d = 0; d < at.size(); ++d) {
        const std::int32_t passed = at[d];
        if (turns % 2 != 0) at[d] = topology.extent(static_cast<Dimension>(d)) - 1 - at[d];
        turns = (turns * topology.extent(static_cast<Dimension>(d)) + passed) % 2;
      }
      *next++ = topology.rank(at);
    });
  } else if (const auto seed = kind == "random" ? whole_number(rest) : std::nullopt) {
    Random random(*seed);
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random.below(i)]);
  } else {
    static constexpr std::array<std::string_view, 5> kinds{"row-major", "snake", "axis", "random", "file"};
    refuse("--map", text, "it must be row-major, snake, axis:1,0, random:7 or file:FILE" + did_you_mean(kind, kinds));
  }
  return nodes;
}

}  // namespace torus::command
