#include "tools/torus/fault_notation.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <tuple>

#include <torus/error.hpp>

#include "runtime/model/detour.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/random.hpp"
#include "tools/torus/sources.hpp"

namespace torus::command {
namespace {

constexpr std::string_view example = "for instance 0:+1, 3,4:-0 or several with ; between";

/// What stands behind the node: `+0`, `-1`, `2@1`.
Link parse_link(std::string_view option, std::string_view text, const Topology& topology) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(option, text, fmt::format("it must be node:direction and dimension; {}", example));
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
           fmt::format("behind the node stands a direction and a dimension from 0 to {}; {}", topology.dimensions() - 1, example));
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

std::string counted(std::size_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

}  // namespace

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
             fmt::format("{} links can die before {} is cut apart, no more were found; for instance random:{}", added, topology.text(),
                         std::max<std::uint64_t>(1, added)));
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

std::string fault_options(const Faults& faults, const Topology& topology) {
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

std::string faults_text(const Faults& faults) {
  std::vector<std::string> parts;
  if (!faults.dead_links.empty()) parts.push_back(counted(faults.dead_links.size(), "dead link"));
  if (!faults.dead_nodes.empty()) parts.push_back(counted(faults.dead_nodes.size(), "dead node"));
  if (!faults.slow_links.empty()) parts.push_back(counted(faults.slow_links.size(), "slow link"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace torus::command
