#include "algorithms/broadcast/synthesis/search.hpp"

#include <algorithm>
#include <cmath>

#include <torus/error.hpp>

#include "algorithms/broadcast/axes.hpp"

namespace torus::broadcast {
namespace {

using Circuits = std::vector<Circuit>;

/// The dimension of more than one node; the first where there is none.
Dimension dimension_of_line(const Topology& topology) {
  Dimension d = 0;
  while (d + 1 < topology.dimensions() && topology.extent(d) == 1) ++d;
  return d;
}

Circuit circuit(Dimension d, NodeId from, NodeId to) {
  return {from, to, {Leg{d, static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from)}}};
}

std::vector<Circuits> by_halves(Dimension d, NodeId nodes, NodeId root) {
  std::vector<Circuits> steps;
  std::vector<Part> parts{whole_row(nodes, root)};
  while (parts.size() < nodes) {
    Circuits& step = steps.emplace_back();
    halve_all(parts, Target::near, [&](const Halves& halves) { step.push_back(circuit(d, halves.kept.holder, halves.given.holder)); });
  }
  return steps;
}

std::vector<Circuits> by_gaps(Dimension d, NodeId nodes, NodeId root) {
  std::vector<Circuits> steps;
  std::vector<NodeId> informed{root};  // ascending
  while (informed.size() < nodes) {
    Circuits& step = steps.emplace_back();
    std::vector<NodeId> more;
    const auto inform = [&](NodeId from, NodeId to) {
      step.push_back(circuit(d, from, to));
      more.push_back(to);
    };
    // At an end, the inner gap gets twice the nodes of the outer one, since it is closed from both sides.
    const auto inner = [](NodeId gap) { return 2 * (gap - 1) / 3; };
    if (const NodeId gap = informed.front(); gap > 0) inform(gap, gap - 1 - inner(gap));
    for (std::size_t i = 0; i < informed.size(); ++i) {
      const NodeId left = informed[i];
      more.push_back(left);
      if (i + 1 == informed.size()) {
        if (const NodeId gap = nodes - 1 - left; gap > 0) inform(left, left + 1 + inner(gap));
        break;
      }
      const NodeId right = informed[i + 1];
      const NodeId gap = right - left - 1;
      if (gap == 1) inform(left, left + 1);
      if (gap <= 1) continue;
      const NodeId third = (gap - 2) / 3;
      inform(left, left + 1 + third);
      inform(right, right - 1 - (gap - 2 - third) / 2);
    }
    informed = std::move(more);
  }
  return steps;
}

}  // namespace

bool is_line(const Topology& topology) {
  const Dimension d = dimension_of_line(topology);
  return topology.wiring(d) == Wiring::line && static_cast<NodeId>(topology.extent(d)) == topology.nodes();
}

std::vector<Circuits> line_broadcast(const Topology& topology, std::int32_t ports, NodeId root) {
  TORUS_ASSERT(is_line(topology));
  return ports == 1 ? by_halves(dimension_of_line(topology), topology.nodes(), root)
                    : by_gaps(dimension_of_line(topology), topology.nodes(), root);
}

std::optional<Refusal> too_large_to_search(std::string_view algorithm, const Topology& topology) {
  constexpr NodeId most_nodes = NodeId{1} << 20U;
  if (topology.nodes() <= most_nodes) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " searches machines of up to " + std::to_string(most_nodes) + " nodes", "1024x1024"};
}

bool anneal(std::size_t unserved_before, std::size_t unserved_after, std::mt19937_64& random) {
  constexpr double temperature = 0.35;  // unserved nodes
  constexpr std::uint64_t certain = 1U << 30U;
  if (unserved_after <= unserved_before) return true;
  const auto worse = static_cast<double>(unserved_after - unserved_before);
  return static_cast<double>(random() % certain) < std::exp(-worse / temperature) * static_cast<double>(certain);
}

}  // namespace torus::broadcast
