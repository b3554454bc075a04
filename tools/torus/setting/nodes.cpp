#include "tools/torus/setting/nodes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <tuple>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/model/detour.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/random.hpp"

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

constexpr std::string_view link_example = "for instance 0:+1, 3,4:-0 or several with ; between";

/// What stands behind the node: `+0`, `-1`, `2@1`.
Link parse_link(std::string_view option, std::string_view text, const Topology& topology) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(option, text, fmt::format("it must be node:direction and dimension; {}", link_example));
  Link link{parse_node(option, text.substr(0, colon), topology), 0, 0};
  std::string_view way = text.substr(colon + 1);
  const std::size_t at = way.find('@');
  std::string_view dimension = way;
  if (at != std::string_view::npos) {
    link.hop = static_cast<std::int32_t>(whole_number(way.substr(0, at)).value_or(0) & 0x7fffffffU);
    dimension = way.substr(at + 1);
  } else if (way.starts_with('+') || way.starts_with('-')) {
    link.hop = way.front() == '+' ? +1 : -1;
    dimension = way.substr(1);
  }
  const auto d = whole_number(dimension);
  if (link.hop == 0 || !d || *d >= static_cast<std::uint64_t>(topology.dimensions())) {
    refuse(option, text,
           fmt::format("behind the node stands a direction and a dimension from 0 to {}; {}", topology.dimensions() - 1, link_example));
  }
  link.dimension = static_cast<Dimension>(*d);
  return link;
}

/// Faults that grow link by link and never cut the machine apart. The machine may have millions of nodes, so that each link is looked at
/// from near by; where that does not say whether it may die, the whole machine is searched, and only so often.
class Breakage {
 public:
  Breakage(const Topology& topology, Faults& faults) : shape_{topology}, before_{topology.with_faults(faults)}, faults_{faults} {}

  /// Adds a link to the faults, if it is alive and its nodes stay connected without it. False too where that would take too long to say.
  bool kill(const Link& link) {
    if (!alive(link)) return false;
    const NodeId other = *shape_.neighbour(link.node, link.dimension, link.hop);
    const Link back{other, link.dimension, shape_.reverse(link.dimension, link.hop)};
    dead_.insert({key(link), key(back)});
    faults_.dead_links.push_back(link);
    const auto each_neighbour = [&](NodeId node, auto&& f) {
      shape_.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
        if (alive({node, d, hop})) f(to);
      });
    };
    const auto near = connected_nearby(link.node, other, most_nodes_nearby, each_neighbour);
    if (near ? *near : connected()) return true;
    dead_.erase(key(link));
    dead_.erase(key(back));
    faults_.dead_links.pop_back();
    return false;
  }

 private:
  static constexpr std::size_t most_nodes_nearby = 4096;
  static constexpr std::uint64_t most_nodes_searched = std::uint64_t{1} << 27U;
  using Key = std::tuple<NodeId, Dimension, std::int32_t>;
  static Key key(const Link& channel) { return {channel.node, channel.dimension, channel.hop}; }
  bool alive(const Link& channel) const {
    return before_.passes(channel.node, channel.dimension, channel.hop) && !dead_.contains(key(channel));
  }
  bool connected() {
    searched_ += shape_.nodes();
    if (searched_ > most_nodes_searched) return false;
    try {
      static_cast<void>(shape_.with_faults(faults_));
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  const Topology& shape_;
  Topology before_;
  Faults& faults_;
  std::set<Key> dead_;  // channels that were added
  std::uint64_t searched_ = 0;
};

}  // namespace

NodeId parse_node(std::string_view option, std::string_view text, const Topology& topology) {
  if (const auto rank = whole_number(text); rank && *rank < topology.nodes()) return static_cast<NodeId>(*rank);
  if (const auto coordinates = numbers(text, ',', topology, 0); coordinates && coordinates->size() > 1) return topology.rank(*coordinates);
  const NodeId last = topology.nodes() - 1;
  const std::string example = node_text(topology, last);
  refuse(option, text,
         fmt::format("a node of {} is a rank from 0 to {} or {} below {}; for instance {}", topology.text(), last,
                     counted(static_cast<std::uint64_t>(topology.dimensions()), "coordinate"),
                     topology.dimensions() == 1 ? "the extent" : "the extents", example.substr(1, example.size() - 2)));
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
      refuse(option, text,
             fmt::format("{} has {} to draw from; for instance random:{}", topology.text(), counted(nodes, "node"), (nodes + 1) / 2));
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

std::vector<Link> parse_links(std::string_view option, std::string_view text, const Topology& topology) {
  std::vector<Link> links;
  for (const std::string_view part : split(text, ';')) links.push_back(parse_link(option, part, topology));
  return links;
}

std::vector<SlowLink> parse_slow_links(std::string_view option, std::string_view text, const Topology& topology) {
  std::vector<SlowLink> links;
  for (const std::string_view part : split(text, ';')) {
    const std::size_t colon = part.rfind(':');
    const auto factor = colon == std::string_view::npos ? std::nullopt : real_number(part.substr(colon + 1));
    if (!factor || part.find(':') == colon) refuse(option, part, "it must be a link and a factor; for instance 3,4:+0:2");
    links.push_back({parse_link(option, part.substr(0, colon), topology), *factor});
  }
  return links;
}

void add_random_dead_links(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed, Faults& faults) {
  constexpr std::uint64_t most = 1000;
  const auto count = text.starts_with("random:") ? whole_number(text.substr(7)) : std::nullopt;
  if (!count || *count < 1 || *count > most)
    refuse(option, text, fmt::format("it must be random:1 to random:{}; for instance random:5", most));
  Breakage breakage(topology, faults);
  Random random(seed, 0xdead);
  for (std::uint64_t added = 0, tries = 0; added < *count; ++tries) {
    if (tries > 20 * *count + 100)
      refuse(option, text,
             fmt::format("{} can die before {} is cut apart, no more were found; for instance random:{}", counted(added, "link"),
                         topology.text(), std::max<std::uint64_t>(1, added)));
    const auto node = static_cast<NodeId>(random.below(topology.nodes()));
    std::vector<Link> links;
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { links.push_back({node, d, hop}); });
    if (!links.empty() && breakage.kill(random.one_of(links))) ++added;
  }
}

std::string link_text(const Link& link, const Topology& topology) {
  if (topology.wiring(link.dimension) == Wiring::complete) return fmt::format("{}:{}@{}", link.node, link.hop, link.dimension);
  return fmt::format("{}:{}{}", link.node, link.hop > 0 ? '+' : '-', link.dimension);
}

std::string damage_options(const Faults& faults, const Topology& topology) {
  std::string text;
  std::vector<std::string> links;
  for (const Link& link : faults.dead_links) links.push_back(link_text(link, topology));
  if (!links.empty()) text += fmt::format(" --dead-link '{}'", fmt::join(links, ";"));
  if (!faults.dead_nodes.empty()) text += fmt::format(" --dead-node '{}'", fmt::join(faults.dead_nodes, ";"));
  links.clear();
  for (const SlowLink& slow : faults.slow_links) links.push_back(fmt::format("{}:{}", link_text(slow.link, topology), slow.factor));
  if (!links.empty()) text += fmt::format(" --slow-link '{}'", fmt::join(links, ";"));
  return text;
}

std::string damage_text(const Faults& faults) {
  std::vector<std::string> parts;
  if (!faults.dead_links.empty()) parts.push_back(counted(faults.dead_links.size(), "dead link"));
  if (!faults.dead_nodes.empty()) parts.push_back(counted(faults.dead_nodes.size(), "dead node"));
  if (!faults.slow_links.empty()) parts.push_back(counted(faults.slow_links.size(), "slow link"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace torus::command
