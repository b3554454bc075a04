#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <torus/error.hpp>
#include <torus/machine.hpp>

#include "runtime/base/figures.hpp"

namespace torus {
namespace {

/// Makes one T_c of equal ones, and byte_s the largest.
CostModel settled(CostModel cost, const Topology& topology) {
  std::vector<double>& speeds = cost.dimension_byte_s;
  if (speeds.empty() && !topology.has_slow_links()) return cost;
  if (speeds.empty()) speeds.assign(static_cast<std::size_t>(topology.dimensions()), cost.byte_s);
  const auto dimensions = static_cast<std::size_t>(topology.dimensions());
  if (speeds.size() != dimensions) {
    throw InputError("T_c of " + counted(speeds.size(), "dimension") + ": " + topology.text() + " has " + std::to_string(dimensions) +
                     "; give one value for all or one a dimension");
  }
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const double byte_s = speeds[static_cast<std::size_t>(d)];
    if (!(byte_s >= 0)) throw InputError("a T_c of " + number_text(byte_s) + ": it must be 0 or more; for instance 1e-10");
    if (topology.extent(d) == 1) continue;
    least = std::min(least, byte_s);
    most = std::max(most, byte_s);
  }
  cost.byte_s = least <= most ? most : speeds.front();
  if (least >= most && !topology.has_slow_links()) speeds.clear();
  for (const SlowLink& slow : topology.faults().slow_links)
    cost.byte_s = std::max(cost.byte_s, slow.factor * speeds[static_cast<std::size_t>(slow.link.dimension)]);
  return cost;
}

}  // namespace

Machine::Machine(Topology shape, int port_count, Switching switching_mode, Contention contention_rule, std::vector<Dimension> routing_order,
                 CostModel costs)
    : topology(std::move(shape)),
      ports(port_count == all_ports ? topology.max_ports() : port_count),
      switching(switching_mode),
      contention(contention_rule),
      routing(std::move(routing_order)),
      cost(settled(std::move(costs), topology)) {
  if (ports < 1 || ports > topology.max_ports()) {
    throw InputError("ports " + std::to_string(port_count) + ": a node of " + topology.text() + " has 1 to " +
                     std::to_string(topology.max_ports()) + " ports; leave it out for all of them");
  }
  std::vector<Dimension> ascending(static_cast<std::size_t>(topology.dimensions()));
  std::iota(ascending.begin(), ascending.end(), 0);
  if (routing.empty()) routing = ascending;
  std::vector<Dimension> sorted = routing;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != ascending) {
    std::string given;
    for (const Dimension d : routing) given += (given.empty() ? "" : ",") + std::to_string(d);
    std::string wanted;
    for (const Dimension d : ascending) wanted += (wanted.empty() ? "" : ",") + std::to_string(d);
    throw InputError("routing '" + given + "': it must name every dimension of " + topology.text() + " once; for instance " + wanted);
  }
}

Machine Machine::make(MachineSpec spec) {
  return Machine(std::move(spec.topology), spec.ports, spec.switching, spec.contention, std::move(spec.routing), spec.cost);
}

bool Machine::ascending_routing() const noexcept { return std::is_sorted(routing.begin(), routing.end()); }

std::string_view name(Switching switching) noexcept {
  switch (switching) {
    case Switching::packet: return "packet";
    case Switching::wormhole: return "wormhole";
    case Switching::circuit: return "circuit";
  }
  return "";
}

std::string_view name(Contention contention) noexcept { return contention == Contention::forbid ? "forbid" : "share"; }

Switching parse_switching(std::string_view text) {
  for (const Switching s : {Switching::packet, Switching::wormhole, Switching::circuit}) {
    if (text == name(s)) return s;
  }
  throw InputError("switching '" + std::string(text) + "': it must be packet (store and forward), wormhole or circuit");
}

Contention parse_contention(std::string_view text) {
  for (const Contention c : {Contention::forbid, Contention::share}) {
    if (text == name(c)) return c;
  }
  throw InputError("contention '" + std::string(text) + "': it must be forbid or share");
}

}  // namespace torus
