#include "tools/torus/stress_holes.hpp"

#include <algorithm>
#include <optional>

#include <torus/error.hpp>

namespace torus::command {
namespace {

std::optional<Link> draw_link(Random& random, const Topology& shape) {
  const auto node = static_cast<NodeId>(random.below(shape.nodes()));
  std::vector<Link> links;
  shape.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { links.push_back({node, d, hop}); });
  return links.empty() ? std::nullopt : std::optional(random.one_of(links));
}

/// Where a node of the old shape is in the new one; none where it is beyond an end, or in a dimension that is gone.
std::optional<NodeId> moved(NodeId node, const Topology& old, const Topology& shape, const std::vector<Dimension>& kept) {
  std::vector<std::int32_t> x;
  for (Dimension d = 0; d < old.dimensions(); ++d) {
    const auto at = std::find(kept.begin(), kept.end(), d);
    const std::int32_t coordinate = old.coordinate(node, d);
    if (at == kept.end() && coordinate > 0) return std::nullopt;
    if (at == kept.end()) continue;
    if (coordinate >= shape.extent(static_cast<Dimension>(at - kept.begin()))) return std::nullopt;
    x.push_back(coordinate);
  }
  return shape.rank(x);
}

template <class T>
void without_one(const Faults& faults, std::vector<T> Faults::*kind, std::vector<Faults>& out) {
  for (std::size_t i = 0; i < (faults.*kind).size(); ++i) {
    out.push_back(faults);
    (out.back().*kind).erase((out.back().*kind).begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

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

Faults carried_over(const Topology& old, const Topology& shape, const std::vector<Dimension>& kept) {
  Faults faults;
  const auto carry = [&](const Link& link) -> std::optional<Link> {
    const auto at = std::find(kept.begin(), kept.end(), link.dimension);
    const auto node = moved(link.node, old, shape, kept);
    return at == kept.end() || !node ? std::nullopt : std::optional(Link{*node, static_cast<Dimension>(at - kept.begin()), link.hop});
  };
  for (const NodeId node : old.faults().dead_nodes) {
    if (const auto to = moved(node, old, shape, kept)) faults.dead_nodes.push_back(*to);
  }
  for (const Link& link : old.faults().dead_links) {
    if (const auto to = carry(link)) faults.dead_links.push_back(*to);
  }
  for (const SlowLink& slow : old.faults().slow_links) {
    if (const auto to = carry(slow.link)) faults.slow_links.push_back({*to, slow.factor});
  }
  return faults;
}

std::vector<Faults> fewer_faults(const Faults& faults) {
  std::vector<Faults> fewer;
  if (faults.empty()) return fewer;
  fewer.emplace_back();
  for (Faults less : {Faults{{}, faults.dead_links, faults.slow_links}, Faults{faults.dead_nodes, {}, faults.slow_links},
                      Faults{faults.dead_nodes, faults.dead_links, {}}}) {
    if (less != faults) fewer.push_back(std::move(less));
  }
  without_one(faults, &Faults::dead_nodes, fewer);
  without_one(faults, &Faults::dead_links, fewer);
  without_one(faults, &Faults::slow_links, fewer);
  return fewer;
}

}  // namespace torus::command
