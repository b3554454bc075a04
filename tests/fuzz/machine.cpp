// A machine by its options. Eight lines: a machine's name (empty: none), a shape (empty: that machine's), ports, switching, contention,
// routing, T_s, and T_c or the bandwidth of each dimension; empty: left out.
#include <algorithm>
#include <cmath>

#include <torus/machine.hpp>

#include "tests/fuzz/target.hpp"
#include "tools/torus/machines/presets.hpp"
#include "tools/torus/setting/notation.hpp"

using namespace torus;
using namespace torus::command;

namespace {

std::vector<double> speeds(std::string_view text) {
  std::vector<double> speeds;
  for (const std::string_view part : split(text, ','))
    speeds.push_back(part.ends_with("/s") ? parse_byte_time("--bandwidth", part) : parse_seconds("--tc", part));
  return speeds;
}

Machine read_machine(std::string_view rest) {
  const std::string_view named = fuzz::next_line(rest), on = fuzz::next_line(rest), ports = fuzz::next_line(rest);
  const std::string_view switching = fuzz::next_line(rest), contention = fuzz::next_line(rest), routing = fuzz::next_line(rest);
  const std::string_view start_up = fuzz::next_line(rest), byte_time = fuzz::next_line(rest);
  const Preset* const preset = named.empty() ? nullptr : &preset_called(named);
  const Topology shape = Topology::parse(on.empty() && preset != nullptr ? preset->shape : on);
  if (preset != nullptr) check_shape(*preset, shape);
  CostModel cost = preset != nullptr ? preset->cost() : CostModel{};
  if (!start_up.empty()) cost.start_up_s = parse_seconds("--ts", start_up);
  if (!byte_time.empty()) {
    cost.dimension_byte_s = speeds(byte_time);
    cost.byte_s = cost.dimension_byte_s.front();
    if (cost.dimension_byte_s.size() == 1) cost.dimension_byte_s.clear();
  }
  return Machine(shape, ports.empty() ? all_ports : parse_port_counts(ports).front(),
                 switching.empty() ? Switching::wormhole : parse_switching(switching),
                 contention.empty() ? Contention::forbid : parse_contention(contention),
                 routing.empty() ? std::vector<Dimension>{} : parse_routing(routing), cost);
}

void check(const Machine& machine) {
  const Topology& topology = machine.topology;
  const std::string text = topology.text();
  if (machine.ports < 1 || machine.ports > topology.max_ports()) fuzz::broken("ports are 1 to those of a node", text);
  std::vector<Dimension> order = machine.routing;
  std::sort(order.begin(), order.end());
  for (std::size_t d = 0; d < order.size(); ++d) {
    if (order[d] != static_cast<Dimension>(d)) fuzz::broken("routing is a permutation", text);
  }
  if (order.size() != static_cast<std::size_t>(topology.dimensions())) fuzz::broken("routing names every dimension", text);
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const double byte_s = machine.cost.byte_s_of(d);
    if (!(byte_s >= 0 && byte_s <= 1e6)) fuzz::broken("T_c is 0 to 1e6 seconds", text);
    if (topology.extent(d) > 1 && byte_s > machine.cost.byte_s) fuzz::broken("T_c is that of the slowest channel", text);
  }
  if (!std::isfinite(machine.cost.step(Bytes{1} << 62U, 1U << 20U))) fuzz::broken("a step takes a finite time", text);
  if (!(Topology::parse(text) == topology)) fuzz::broken("a shape reads back", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accepts([&] { check(read_machine(fuzz::text(data, size))); });
  return 0;
}
