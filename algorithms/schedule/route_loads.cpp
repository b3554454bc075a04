#include "algorithms/schedule/route_loads.hpp"

#include <algorithm>
#include <utility>

namespace torus {

RouteLoads::RouteLoads(const Topology& topology)
    : topology_{&topology}, changes_(static_cast<std::size_t>(topology.nodes()) * static_cast<std::size_t>(topology.channel_slots())) {}

Bytes RouteLoads::bytes(const Topology& topology) noexcept {
  return Bytes{topology.nodes()} * static_cast<Bytes>(topology.channel_slots()) * sizeof(double);
}

void RouteLoads::add(NodeId from, RouteView route, double more) {
  std::int32_t crossed = 0;
  for (const auto [d, hops] : route) {
    const std::int32_t n = topology_->extent(d);
    if (n == 1 || hops == 0) continue;
    crossed += hops_of(*topology_, {d, hops});
    const NodeId to = *topology_->neighbour(from, d, hops);
    if (topology_->wiring(d) == Wiring::complete) {
      change(from, topology_->slot(d, modulo(hops, n))) += more;
    } else if (topology_->twisted()) {  // beyond the end it goes on in another line
      const std::int32_t hop = hops > 0 ? 1 : -1;
      for (std::int32_t done = 0; done != hops; done += hop) {
        change(from, topology_->slot(d, hop)) += more;
        if (topology_->coordinate(from, d) + 1 < n) change(*topology_->neighbour(from, d, 1), topology_->slot(d, hop)) -= more;
        from = *topology_->neighbour(from, d, hop);
      }
    } else {
      // The channels of places from .. to - 1 going up, from .. to + 1 going down. Round the border: the whole line, less what is between.
      const std::int32_t slot = topology_->slot(d, hops);
      const std::int32_t x = topology_->coordinate(from, d), last = x + hops - (hops > 0 ? 1 : -1);
      const NodeId zero = *topology_->neighbour(from, d, -x);
      const std::int32_t low = std::min(x, last), high = std::max(x, last);
      const auto span = [&, d = d](std::int32_t first, std::int32_t end) {
        change(*topology_->neighbour(zero, d, first), slot) += more;
        if (end < n) change(*topology_->neighbour(zero, d, end), slot) -= more;
      };
      if (low < 0) {
        span(low + n, n);
        span(0, high + 1);
      } else if (high >= n) {
        span(low, n);
        span(0, high - n + 1);
      } else {
        span(low, high + 1);
      }
    }
    from = to;
  }
  longest_ = std::max(longest_, crossed);
}

double RouteLoads::most_of_line(NodeId first, Dimension d, std::int32_t direction) {
  const std::int32_t slot = topology_->slot(d, direction);
  double load = 0, most = 0;
  for (std::int32_t x = 0; x < topology_->extent(d); ++x) {
    load += change(*topology_->neighbour(first, d, x), slot);
    most = std::max(most, load);
  }
  return most;
}

RouteLoads::StepLoad RouteLoads::end_step() {
  double most = 0;
  for (NodeId node = 0; node < topology_->nodes(); ++node) {
    for (Dimension d = 0; d < topology_->dimensions(); ++d) {
      const std::int32_t n = topology_->extent(d);
      if (n == 1) continue;
      if (topology_->wiring(d) == Wiring::complete) {
        for (std::int32_t offset = 1; offset < n; ++offset) most = std::max(most, change(node, topology_->slot(d, offset)));
      } else if (topology_->coordinate(node, d) == 0) {
        most = std::max({most, most_of_line(node, d, +1), most_of_line(node, d, -1)});
      }
    }
  }
  std::fill(changes_.begin(), changes_.end(), 0);
  return {most, static_cast<std::uint64_t>(std::exchange(longest_, 0))};
}

}  // namespace torus
