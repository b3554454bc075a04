#include "tools/torus/fault_notation.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <torus/error.hpp>

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
  Random random(seed, 0xdead);
  for (std::uint64_t added = 0, tries = 0; added < *count; ++tries) {
    if (tries > 20 * *count + 100)
      refuse(option, text,
             fmt::format("{} links can die before {} is cut apart, no more were found; for instance random:{}", added, topology.text(),
                         std::max<std::uint64_t>(1, added)));
    const auto node = static_cast<NodeId>(random.below(topology.nodes()));
    std::vector<Link> links;
    topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { links.push_back({node, d, hop}); });
    if (links.empty()) continue;
    Faults more = faults;
    more.dead_links.push_back(random.one_of(links));
    try {
      const Topology broken = topology.with_faults(more);
      if (!faults.empty() && broken.channels() == topology.with_faults(faults).channels()) continue;  // dead already
    } catch (const InputError&) {
      continue;
    }
    faults = std::move(more);
    ++added;
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
