#include <algorithm>
#include <bit>
#include <charconv>

#include <torus/requirements.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "runtime/base/figures.hpp"

namespace torus {
namespace {

using About = Refusal::About;
using Shape = Requirements::Shape;

std::optional<Refusal> unmet_shape(const Requirements& needs, const std::string& algorithm, const Topology& topology) {
  const auto refuse = [&](std::string rule, const Topology& fix) {
    return Refusal{About::shape, topology.text(), algorithm + " " + std::move(rule), fix.text()};
  };
  if (topology.twisted() && !needs.takes_twists) return refuse("needs wraps without a twist", changed(topology, [](DimensionShape&) {}));
  if (needs.dimensions != 0 && topology.dimensions() != needs.dimensions) {
    const auto side = static_cast<std::int32_t>(std::max<std::uint64_t>(2, root_below(needs.dimensions, topology.nodes())));
    return refuse("needs " + std::to_string(needs.dimensions) + " dimensions",
                  Topology(std::vector<DimensionShape>(static_cast<std::size_t>(needs.dimensions), {side, Wiring::ring})));
  }
  if (needs.shape == Shape::rings_and_lines && !is_torus_or_mesh(topology)) {
    return refuse("takes rings and lines, no complete dimension", changed(topology, [](DimensionShape& d) {
                    if (d.wiring == Wiring::complete) d.wiring = Wiring::ring;
                  }));
  }
  if (needs.shape == Shape::torus && !is_torus(topology))
    return refuse("needs a torus: every dimension a ring", changed(topology, [](DimensionShape& d) { d.wiring = Wiring::ring; }));
  if (needs.shape == Shape::equal_torus && !is_square_torus(topology)) {
    const auto side = static_cast<std::int32_t>(root_below(topology.dimensions(), topology.nodes()));
    return refuse("needs a torus of equal extents", changed(topology, [side](DimensionShape& d) { d = {side, Wiring::ring}; }));
  }
  const auto power_below = [](std::int32_t n) { return static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(n))); };
  for (const DimensionShape& dimension : topology.shape()) {
    if (needs.powers_of_two && dimension.extent != power_below(dimension.extent))
      return refuse("needs extents that are powers of two",
                    changed(topology, [&](DimensionShape& d) { d.extent = power_below(d.extent); }));
    const std::int32_t unit = needs.multiples_of;
    if (dimension.extent > 1 && dimension.extent % unit != 0) {
      return refuse("needs extents that are multiples of " + std::to_string(unit), changed(topology, [unit](DimensionShape& d) {
                      if (d.extent > 1) d.extent = ceil_div<std::int32_t>(d.extent, unit) * unit;
                    }));
    }
  }
  return std::nullopt;
}

bool several_hops(const DimensionShape& d) { return d.extent > 2 && d.wiring != Wiring::complete; }

std::optional<Refusal> unmet_rules(const Requirements& needs, const std::string& algorithm, const Machine& machine) {
  const auto shape = machine.topology.shape();
  if (std::none_of(shape.begin(), shape.end(), [&](const DimensionShape& d) { return d.extent >= needs.overlaps_from; }))
    return std::nullopt;
  const bool one_hop = needs.one_dimension_a_route && std::none_of(shape.begin(), shape.end(), several_hops);
  if (!one_hop && !allows(machine.switching, needs.switching)) {
    return Refusal{About::switching, std::string(name(machine.switching)),
                   algorithm + " needs " + std::string(name(needs.switching)) + " switching", std::string(name(needs.switching))};
  }
  if (needs.shared_channels && machine.contention != Contention::share) {
    return Refusal{About::contention, std::string(name(machine.contention)), algorithm + " sends several messages over a channel in a step",
                   std::string(name(Contention::share))};
  }
  return std::nullopt;
}

std::string_view subject_of(About about, std::string_view parameter) noexcept {
  switch (about) {
    case About::shape: return "shape";
    case About::ports: return "ports";
    case About::switching: return "switching";
    case About::contention: return "contention";
    case About::routing: return "routing";
    case About::bytes: return "bytes";
    case About::sizes: return "sizes";
    case About::reduction: return "reduction";
    case About::faults: return "faults";
    case About::parameter: break;
  }
  return parameter;
}

}  // namespace

std::string_view Refusal::subject() const noexcept { return subject_of(about, parameter); }
std::string_view Refusal::Change::subject() const noexcept { return subject_of(about, parameter); }

std::string text(const Refusal& refusal) {
  const std::string said = std::string(refusal.subject()) + " " + refusal.value + ": " + refusal.rule;
  if (refusal.fix.empty()) return said + (refusal.about == About::parameter ? "; leave it out" : "");
  std::string beside;
  for (const Refusal::Change& change : refusal.beside)
    beside += (beside.empty() ? " with " : ", ") + std::string(change.subject()) + " " + change.value;
  return said + "; " + refusal.fix + beside + " would do";
}

void Parameters::set(std::string_view name, std::string_view value) {
  if (value.empty() || value == "0")
    values_.erase(std::string(name));
  else
    values_.insert_or_assign(std::string(name), std::string(value));
}

std::uint32_t Parameters::whole(std::string_view name) const {
  const std::string_view text = word(name);
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view Parameters::word(std::string_view name) const noexcept {
  const auto at = values_.find(name);
  return at == values_.end() ? std::string_view{} : std::string_view(at->second);
}

std::optional<Refusal> unmet(const Requirements& needs, std::string_view algorithm, const Machine& machine) {
  const std::string name(algorithm);
  if (!machine.topology.whole() && !needs.lives_with_holes) {
    return Refusal{About::faults, dead_text(machine.topology.faults()), name + " needs every link and node alive", ""};
  }
  if (auto why = unmet_shape(needs, name, machine.topology)) return why;
  if (auto why = unmet_rules(needs, name, machine)) return why;
  const int ports = std::min(needs.ports, static_cast<int>(machine.topology.max_ports()));
  if (machine.ports < ports) {
    return Refusal{
        About::ports, std::to_string(machine.ports),
        name + (needs.ports == Requirements::all_ports ? " uses all channels at once"
                                                       : " sends " + counted(static_cast<std::uint64_t>(ports), "message") + " a step"),
        std::to_string(ports)};
  }
  if (needs.ascending_routing && machine.switching == Switching::wormhole && !machine.ascending_routing()) {
    std::string order, ascending;
    for (std::size_t d = 0; d < machine.routing.size(); ++d) {
      order += (d > 0 ? "," : "") + std::to_string(machine.routing[d]);
      ascending += (d > 0 ? "," : "") + std::to_string(d);
    }
    return Refusal{About::routing, order, name + " routes the dimensions in ascending order", ascending};
  }
  return std::nullopt;
}

std::uint64_t root_below(int exponent, std::uint64_t value) noexcept {
  const auto fits = [&](std::uint64_t side) {
    std::uint64_t rest = value;
    for (int d = 0; d < exponent; ++d) rest /= side;
    return rest > 0;  // dividing downwards step by step is dividing downwards by the power
  };
  std::uint64_t low = 1;
  for (std::uint64_t high = value; low < high;) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace torus
