#include "tools/torus/notation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <torus/error.hpp>

#include "runtime/host/host_memory.hpp"
#include "runtime/model/figures.hpp"
#include "tools/torus/random.hpp"

namespace torus::command {
namespace {

constexpr std::array<std::pair<std::string_view, unsigned>, 6> units{
    {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

/// The digits at the start of a text as a number, and what follows them.
std::optional<std::uint64_t> leading_number(std::string_view text, std::string_view& rest) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::string_view rest;
  const auto value = leading_number(text, rest);
  return value && rest.empty() ? value : std::nullopt;
}

[[noreturn]] void refuse(std::string_view option, std::string_view text, const std::string& rule) {
  throw InputError(fmt::format("{} '{}': {}", option, text, rule));
}

/// Refuses to list so many sources that the list and the copies that a plan makes of it do not fit into the memory.
void refuse_too_many(std::string_view option, std::string_view text, std::uint64_t count) {
  constexpr std::uint64_t unasked = 1U << 20U;  // so many need not be asked for: the memory at hand is read from files
  constexpr Bytes copies = 4;
  if (count <= unasked) return;
  if (const Bytes needed = count * sizeof(NodeId) * copies; needed > usable_memory()) {
    refuse(option, text,
           fmt::format("to list {} nodes and to plan with them takes {}, and {} may be used; choose fewer, or a smaller --on",
                       grouped(count), bytes_text(needed), bytes_text(usable_memory())));
  }
}

std::vector<NodeId> all_nodes(const Topology& topology) {
  std::vector<NodeId> nodes(topology.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
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

/// The nodes whose coordinates are all below the extents given.
std::vector<NodeId> corner(std::string_view option, std::string_view text, std::string_view extents, const Topology& topology) {
  const auto parts = split(extents, 'x');
  std::vector<std::int32_t> sides;
  for (std::size_t d = 0; d < parts.size() && parts.size() == static_cast<std::size_t>(topology.dimensions()); ++d) {
    const auto side = whole_number(parts[d]);
    if (!side || *side < 1 || *side > static_cast<std::uint64_t>(topology.extent(static_cast<Dimension>(d)))) break;
    sides.push_back(static_cast<std::int32_t>(*side));
  }
  if (sides.size() != static_cast<std::size_t>(topology.dimensions())) {
    std::string example;
    for (Dimension d = 0; d < topology.dimensions(); ++d) example += (d > 0 ? "x" : "") + std::to_string((topology.extent(d) + 1) / 2);
    refuse(option, text,
           fmt::format("a block has a side for each dimension of {}, none longer than the extent; for instance block:{}", topology.text(),
                       example));
  }
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    bool inside = true;
    for (Dimension d = 0; d < topology.dimensions(); ++d)
      inside = inside && topology.coordinate(node, d) < sides[static_cast<std::size_t>(d)];
    if (inside) nodes.push_back(node);
  }
  return nodes;
}

/// Distance between words in insertions, deletions, replacements and swaps of neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Bytes parse_bytes(std::string_view option, std::string_view text) {
  std::string_view unit;
  const auto number = leading_number(text, unit);
  if (number) {
    for (const auto& [name, shift] : units) {
      if (unit == name && *number <= std::numeric_limits<Bytes>::max() >> (shift + 1)) return *number << shift;
    }
  }
  refuse(option, text, "a size is a whole number below 2^63, plain or with B, KiB, MiB, GiB or TiB; for instance 64 or 4KiB");
}

std::string bytes_option(Bytes bytes) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const Bytes size = Bytes{1} << unit->second;
    if (unit->second > 0 && bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + std::string(unit->first);
  }
  return std::to_string(bytes);
}

std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  const auto value = whole_number(text);
  if (!value || *value < least || *value > most) {
    refuse(option, text,
           fmt::format("it must be a whole number from {} to {}; for instance {}", least, most, std::clamp<std::uint64_t>(1, least, most)));
  }
  return *value;
}

double parse_real(std::string_view option, std::string_view text, double least, double most, std::string_view example) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
    refuse(option, text, fmt::format("it must be a number from {} to {}; for instance {}", least, most, example));
  }
  return value;
}

double parse_seconds(std::string_view option, std::string_view text) { return parse_real(option, text, 0, 1e6, "1e-6"); }

std::vector<Dimension> parse_routing(std::string_view text) {
  std::vector<Dimension> order;
  for (const std::string_view part : split(text, ',')) {
    const auto d = whole_number(part);
    if (!d || *d >= max_dimensions) refuse("--routing", text, "it must name every dimension once, with commas between; for instance 1,0");
    order.push_back(static_cast<Dimension>(*d));
  }
  return order;
}

NodeId parse_node(std::string_view option, std::string_view text, const Topology& topology) {
  const auto k = static_cast<std::size_t>(topology.dimensions());
  const auto parts = split(text, ',');
  if (parts.size() == 1) {
    const auto rank = whole_number(text);
    if (rank && *rank < topology.nodes()) return static_cast<NodeId>(*rank);
  } else if (parts.size() == k) {
    std::vector<std::int32_t> coordinates;
    for (std::size_t d = 0; d < k; ++d) {
      const auto x = whole_number(parts[d]);
      if (!x || *x >= static_cast<std::uint64_t>(topology.extent(static_cast<Dimension>(d)))) break;
      coordinates.push_back(static_cast<std::int32_t>(*x));
    }
    if (coordinates.size() == k) return topology.rank(coordinates);
  }
  const NodeId last = topology.nodes() - 1;
  std::string example = node_text(topology, last);
  refuse(option, text,
         fmt::format("a node of {} is a rank from 0 to {} or {} coordinates below the extents; for instance {}", topology.text(), last, k,
                     example.substr(1, example.size() - 2)));
}

std::vector<NodeId> parse_sources(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed) {
  const NodeId nodes = topology.nodes();
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (text == "all") {
    refuse_too_many(option, text, nodes);
    return all_nodes(topology);
  }
  if (text == "none") return {};
  if (text == "random") return random_nodes(topology, 1, seed);
  if (kind == "random") {
    const auto count = whole_number(value);
    if (!count || *count > nodes)
      refuse(option, text, fmt::format("{} has {} nodes to draw from; for instance random:{}", topology.text(), nodes, (nodes + 1) / 2));
    refuse_too_many(option, text, *count);
    return random_nodes(topology, *count, seed);
  }
  const NodeId columns = static_cast<NodeId>(topology.extent(topology.dimensions() - 1));
  if (kind == "row" || kind == "column") {
    const NodeId lines = kind == "row" ? nodes / columns : topology.stride(0);
    const auto line = whole_number(value);
    if (!line || *line >= lines)
      refuse(option, text, fmt::format("{} has {}s 0 to {}; for instance {}:0", topology.text(), kind, lines - 1, kind));
    std::vector<NodeId> chosen;
    if (kind == "row") {
      for (NodeId j = 0; j < columns; ++j) chosen.push_back(static_cast<NodeId>(*line) * columns + j);
    } else {
      for (NodeId node = static_cast<NodeId>(*line); node < nodes; node += lines) chosen.push_back(node);
    }
    return chosen;
  }
  if (text == "diagonal") {
    std::int32_t shortest = topology.extent(0);
    for (Dimension d = 1; d < topology.dimensions(); ++d) shortest = std::min(shortest, topology.extent(d));
    std::vector<NodeId> chosen;
    for (std::int32_t i = 0; i < shortest; ++i)
      chosen.push_back(topology.rank(std::vector<std::int32_t>(static_cast<std::size_t>(topology.dimensions()), i)));
    return chosen;
  }
  if (kind == "block") return corner(option, text, value, topology);
  if (kind == "density") {
    double density = -1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), density);
    if (value.empty() || error != std::errc{} || end != value.data() + value.size() || !(density >= 0 && density <= 1)) {
      refuse(option, text, "a density is a number from 0 to 1; for instance density:0.1");
    }
    Random random(seed, 0x51);
    std::vector<NodeId> chosen;
    for (NodeId node = 0; node < nodes; ++node) {
      if (random.chance(density)) chosen.push_back(node);
    }
    return chosen;
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
  if (const auto twice = std::adjacent_find(chosen.begin(), chosen.end()); twice != chosen.end()) {
    refuse(option, text, fmt::format("it names node {} twice; name each source once", node_text(topology, *twice)));
  }
  return chosen;
}

std::string sources_option(const Topology& topology, std::span<const NodeId> sources) {
  if (sources.empty()) return "none";
  if (sources.size() == topology.nodes() && topology.nodes() > 1) return "all";
  std::string text;
  for (const NodeId source : sources) text += (text.empty() ? "" : ";") + std::to_string(source);
  return text;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    const std::size_t distance = edits(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

}  // namespace torus::command
