#include "algorithms/multinode_broadcast/machine_fit.hpp"

#include <algorithm>

namespace torus::multinode {

refusal::Refusal refuses_torus(std::string_view name, const Machine& machine, Switching needed) {
  return refusal::first_of(refusal::of_torus(name, machine), refusal::of_ports_but_all(name, machine),
                           refusal::of_switching(name, machine, needed));
}

refusal::Refusal refuses_routing(std::string_view name, const Machine& machine) {
  if (machine.switching != Switching::wormhole || machine.ascending_routing()) return std::nullopt;
  return std::string(name) + " routes the dimensions in ascending order: leave --routing out, or --switching circuit would do";
}

refusal::Refusal refuses_all_but_squares(std::string_view name, const Machine& machine) {
  const Topology& topology = machine.topology;
  if (topology.dimensions() == 2 && topology.is_square_torus()) return std::nullopt;
  const std::uint64_t side = std::max<std::uint64_t>(2, refusal::side_of_cube(2, topology.nodes()));
  return std::string(name) + " is for square 2-D tori: " + topology.text() + " is none, --on " + refusal::cube(2, side) + " would do";
}

}  // namespace torus::multinode
