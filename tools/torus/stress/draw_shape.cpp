#include "tools/torus/stress/draw_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>

namespace torus::command {
namespace {

std::int32_t draw_extent(Random& random, std::int32_t most) {
  static constexpr std::array<std::int32_t, 24> telling{1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17, 20, 25, 27, 31, 32, 50};
  const std::int32_t n = random.chance(0.7) ? random.one_of(telling) : random.between(1, std::max(1, most));
  return std::clamp(n, 1, std::max(1, most));
}

Wiring draw_wiring(Random& random) {
  const double x = random.fraction();
  return x < 0.5 ? Wiring::ring : x < 0.8 ? Wiring::line : Wiring::complete;
}

/// The largest power of `base` whose k-th power fits, or a smaller one.
std::int32_t draw_power(Random& random, std::int32_t base, std::int32_t k, std::uint64_t most_nodes) {
  std::int32_t n = base;
  while (std::pow(static_cast<double>(n) * base, k) <= static_cast<double>(most_nodes) && random.chance(0.6)) n *= base;
  return n;
}

std::vector<DimensionShape> equal_sides(Random& random, std::int32_t k, std::uint64_t most_nodes, Wiring wiring) {
  const auto most = static_cast<std::int32_t>(std::pow(static_cast<double>(most_nodes), 1.0 / k) + 1e-9);
  return std::vector<DimensionShape>(static_cast<std::size_t>(k), DimensionShape{draw_extent(random, most), wiring});
}

std::uint64_t nodes_of(const std::vector<DimensionShape>& shape) {
  std::uint64_t nodes = 1;
  for (const DimensionShape& d : shape) nodes *= static_cast<std::uint64_t>(d.extent);
  return nodes;
}

/// A twisted torus; none if it would have too many nodes.
std::optional<Topology> draw_twisted(Random& random, std::uint64_t most_nodes) {
  const std::int32_t k = random.between(2, 5);
  std::vector<DimensionShape> shape{{k, Wiring::ring}, {2 * k, Wiring::ring}};
  if (random.chance(0.6)) shape.push_back({random.chance(0.5) ? k : 2 * k, Wiring::ring});
  std::swap(shape[random.below(shape.size())], shape.front());
  if (nodes_of(shape) > most_nodes) return std::nullopt;
  return Topology(std::move(shape), true);
}

std::optional<Link> draw_link(Random& random, const Topology& shape) {
  const auto node = static_cast<NodeId>(random.below(shape.nodes()));
  std::vector<Link> links;
  shape.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { links.push_back({node, d, hop}); });
  return links.empty() ? std::nullopt : std::optional(random.one_of(links));
}

/// The shape with another dimension before dimension `at`, and the faults of each copy of it.
Topology stacked(const Topology& shape, std::size_t at, const DimensionShape& more) {
  std::vector<DimensionShape> sides(shape.shape().begin(), shape.shape().end());
  sides.insert(sides.begin() + static_cast<std::ptrdiff_t>(at), more);
  const Topology whole(std::move(sides));
  const Faults& faults = shape.faults();
  Faults all;
  const auto moved = [at](Dimension d) { return d + (static_cast<std::size_t>(d) >= at ? 1 : 0); };
  for (std::int32_t layer = 0; layer < more.extent; ++layer) {
    const auto rank_of = [&](NodeId node) {
      const Coordinates inside = shape.coordinates(node);
      std::vector<std::int32_t> coordinates(inside.begin(), inside.end());
      coordinates.insert(coordinates.begin() + static_cast<std::ptrdiff_t>(at), layer);
      return whole.rank(coordinates);
    };
    for (const NodeId node : faults.dead_nodes) all.dead_nodes.push_back(rank_of(node));
    for (const Link& link : faults.dead_links) all.dead_links.push_back({rank_of(link.node), moved(link.dimension), link.hop});
    for (const SlowLink& slow : faults.slow_links)
      all.slow_links.push_back({{rank_of(slow.link.node), moved(slow.link.dimension), slow.link.hop}, slow.factor});
  }
  return whole.with_faults(std::move(all));
}

}  // namespace

std::optional<std::pair<Machine, std::string>> draw_around(Random& random, const Machine& group, std::uint64_t most_nodes) {
  const Topology& shape = group.topology;
  if (shape.twisted() || shape.nodes() * std::uint64_t{2} > most_nodes) return std::nullopt;
  const auto copies = static_cast<std::int32_t>(2 + random.below(std::min<std::uint64_t>(3, most_nodes / shape.nodes() - 1)));
  std::vector<DimensionShape> sides(shape.shape().begin(), shape.shape().end());
  std::vector<Dimension> routing = group.routing;
  CostModel cost = group.cost;
  const auto line = std::find_if(sides.begin(), sides.end(), [](const DimensionShape& d) { return d.wiring == Wiring::line; });
  std::optional<Topology> whole;
  std::string groups;
  if (line != sides.end() && shape.faults().empty() && random.chance(0.5)) {
    groups = "slice:";
    for (const DimensionShape& d : sides) groups += (groups.back() == ':' ? "" : "x") + std::to_string(d.extent);
    *line = {line->extent * copies, random.chance(0.5) ? Wiring::ring : Wiring::line};
    whole.emplace(std::move(sides));
  } else if (group.contention == Contention::share && group.switching != Switching::packet && shape.faults().empty() &&
             sides.front().wiring != Wiring::complete) {
    groups = "stride:" + std::to_string(copies);
    for (std::size_t d = 1; d < sides.size(); ++d) groups += "x1";
    sides.front().extent *= copies;
    whole.emplace(std::move(sides));
  } else if (sides.size() < max_dimensions) {
    const auto at = static_cast<std::size_t>(random.below(sides.size() + 1));
    groups = "axis:";
    for (std::size_t d = 0; d <= sides.size(); ++d) {
      if (d != at) groups += (groups.back() == ':' ? "" : ",") + std::to_string(d);
    }
    whole = stacked(shape, at, {copies, draw_wiring(random)});
    for (Dimension& d : routing) d += static_cast<std::size_t>(d) >= at ? 1 : 0;
    routing.insert(routing.begin() + static_cast<std::ptrdiff_t>(random.below(routing.size() + 1)), static_cast<Dimension>(at));
    if (!cost.one_speed()) cost.dimension_byte_s.insert(cost.dimension_byte_s.begin() + static_cast<std::ptrdiff_t>(at), 2e-10);
  }
  if (!whole || whole->nodes() > most_nodes) return std::nullopt;
  const int ports = group.all_port() && random.chance(0.5) ? all_ports : group.ports;
  return std::pair(Machine(*whole, ports, group.switching, group.contention, std::move(routing), std::move(cost)), std::move(groups));
}

Topology draw_shape(Random& random, std::uint64_t most_nodes) {
  if (random.chance(0.06)) {
    if (auto twisted = draw_twisted(random, most_nodes)) return *std::move(twisted);
  }
  std::vector<DimensionShape> shape;
  const std::int32_t k = random.chance(0.6) ? 2 : random.between(1, 6);
  switch (random.below(8)) {
    case 0:
    case 1: shape = equal_sides(random, k, most_nodes, Wiring::ring); break;
    case 2: shape = equal_sides(random, k, most_nodes, draw_wiring(random)); break;
    case 3: {  // sides that are powers, or twice powers, of small numbers
      static constexpr std::array<std::int32_t, 4> bases{2, 3, 5, 7};
      std::int32_t n = draw_power(random, random.chance(0.3) ? 2 * k + 1 : random.one_of(bases), k, most_nodes);
      if (random.chance(0.2)) n *= 2;
      shape.assign(static_cast<std::size_t>(k), DimensionShape{n, Wiring::ring});
      if (random.chance(0.2)) shape.push_back({draw_extent(random, 16), Wiring::ring});
      break;
    }
    case 4: {  // sides with a common divisor
      for (std::int32_t d = 0; d < k; ++d) shape.push_back({4 * random.between(1, 4), Wiring::ring});
      break;
    }
    case 5: {  // long and thin
      shape.push_back({random.between(1, 3), draw_wiring(random)});
      shape.push_back({random.between(1, static_cast<std::int32_t>(std::min<std::uint64_t>(most_nodes, 200))),
                       random.chance(0.5) ? Wiring::ring : Wiring::line});
      if (random.chance(0.5)) std::swap(shape[0], shape[1]);
      break;
    }
    case 6: {  // all lines, or all rings, of unequal sides
      const Wiring wiring = random.chance(0.5) ? Wiring::ring : Wiring::line;
      for (std::int32_t d = 0; d < k; ++d) shape.push_back({draw_extent(random, 32), wiring});
      break;
    }
    default:
      for (std::int32_t d = 0; d < k; ++d) shape.push_back({draw_extent(random, 32), draw_wiring(random)});
  }
  while (nodes_of(shape) > most_nodes) {
    // Halve the longest side; where all sides were equal, all of them.
    const bool equal = std::all_of(shape.begin(), shape.end(), [&](const DimensionShape& d) { return d.extent == shape.front().extent; });
    auto longest = std::max_element(shape.begin(), shape.end(), [](const auto& a, const auto& b) { return a.extent < b.extent; });
    const std::int32_t n = longest->extent;
    for (DimensionShape& d : shape) {
      if (equal || &d == &*longest) d.extent = std::max(1, n / 2);
    }
  }
  return Topology(std::move(shape));
}

Topology with_possible(const Topology& shape, const Faults& faults) {
  Topology possible = shape;
  Faults chosen;
  const auto add = [&](auto kind) {
    for (const auto& fault : faults.*kind) {
      (chosen.*kind).push_back(fault);
      try {
        possible = shape.with_faults(chosen);
      } catch (const InputError&) {
        (chosen.*kind).pop_back();
      }
    }
  };
  add(&Faults::dead_nodes);
  add(&Faults::dead_links);
  add(&Faults::slow_links);
  return possible;
}

Topology draw_faults(Random& random, const Topology& shape, bool holes) {
  Faults faults;
  const auto some = [&](double probability, std::int32_t most) { return random.chance(probability) ? random.between(1, most) : 0; };
  for (std::int32_t left = some(holes ? 0.5 : 0, 4); left > 0; --left) {
    if (const auto link = draw_link(random, shape)) faults.dead_links.push_back(*link);
  }
  for (std::int32_t left = some(holes ? 0.3 : 0, 3); left > 0; --left)
    faults.dead_nodes.push_back(static_cast<NodeId>(random.below(shape.nodes())));
  for (std::int32_t left = some(0.1, 3); left > 0; --left) {
    if (const auto link = draw_link(random, shape)) faults.slow_links.push_back({*link, static_cast<double>(random.between(2, 5))});
  }
  return with_possible(shape, faults);
}

}  // namespace torus::command
