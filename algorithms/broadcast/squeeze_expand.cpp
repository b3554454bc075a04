#include "algorithms/broadcast/squeeze_expand.hpp"

#include <algorithm>

#include "algorithms/broadcast/circuit/closing.hpp"
#include "algorithms/broadcast/circuit/squeeze_variants.hpp"

namespace torus::broadcast {
namespace {

constexpr Requirements needs{.shape = Requirements::Shape::torus, .switching = Switching::circuit, .ports = 3};

/// The variants of that name; all, if it is empty.
std::vector<SqueezeVariant> variants_of(std::string_view name, const Machine& machine) {
  const Topology& topology = machine.topology;
  auto variants =
      wide_dimensions(topology).size() == 2 ? planar_variants(topology, machine.ports) : solid_variants(topology, machine.ports);
  if (!name.empty()) std::erase_if(variants, [&](const SqueezeVariant& variant) { return variant.name != name; });
  return variants;
}

/// A torus of so many wide dimensions, and a variant of that name, or of any, whose closing is small enough. Even extents keep it small.
std::optional<Refusal> requires_variant(std::string_view algorithm, std::string_view variant, std::size_t min_wide, std::size_t max_wide,
                                        const Machine& machine) {
  const Topology& topology = machine.topology;
  const std::string name(algorithm);
  const std::size_t wide = wide_dimensions(topology).size();
  if (wide < min_wide || wide > max_wide) {
    const std::string count = min_wide == max_wide ? "two" : min_wide == 2 ? "two or more" : "three or more";
    return Refusal{Refusal::About::shape, topology.text(), name + " needs a torus of " + count + " dimensions wider than 1",
                   min_wide == 2 ? "8x12" : "6x8x12"};
  }
  if (closing_nodes(topology) <= max_closing_nodes || !variants_of(variant, machine).empty()) return std::nullopt;
  std::vector<DimensionShape> even(topology.shape().begin(), topology.shape().end());
  for (DimensionShape& dimension : even) dimension.extent -= dimension.extent > 1 ? dimension.extent % 2 : 0;
  return Refusal{Refusal::About::shape, topology.text(),
                 name + " searches its last steps among " + std::to_string(closing_nodes(topology)) + " nodes, of at most " +
                     std::to_string(max_closing_nodes),
                 Topology(std::move(even)).text()};
}

/// The variant of that name with the fewest steps; of any name, if it is empty.
Plan plan_variant(std::string_view name, const Machine& machine, const Request& request) {
  auto variants = variants_of(name, machine);
  std::stable_sort(variants.begin(), variants.end(),
                   [](const SqueezeVariant& a, const SqueezeVariant& b) { return a.min_steps < b.min_steps; });
  CircuitSchedule schedule = variants.front().build();
  const SqueezeVariant* chosen = &variants.front();
  for (const SqueezeVariant& variant : variants) {
    if (variant.min_steps >= schedule.steps()) break;
    if (&variant == chosen) continue;
    CircuitSchedule other = variant.build();
    if (other.steps() >= schedule.steps()) continue;
    schedule = std::move(other);
    chosen = &variant;
  }
  Plan plan = schedule_plan(request, std::move(schedule), chosen->formula + ", L = ceil(log_" + std::to_string(machine.ports + 1) + ")");
  plan.notes = {{"variant", chosen->name}};
  return plan;
}

}  // namespace

const Algorithm squeeze_expand{
    .name = "squeeze-expand",
    .collective = Collective::broadcast,
    .source = "Wang, Tseng, Ni & Sheu, sections 3.2, 4.2 and 5, theorems 3, 4, 7, 8, 9",
    .shapes = "torus of any sides, two or more of them wider than 1",
    .steps =
        "2D: min over a of L(m)+L(n_b)+(n_a mod 2), m = n_a less n_a mod 2; kD: at most 1+sum L(floor(n_d/2))+closing; L = "
        "ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .needs = needs,
    .also_requires = [](const Machine& machine,
                        const Request&) { return requires_variant("squeeze-expand", "", 2, max_dimensions, machine); },
    .plan = [](const Machine& machine, const Request& request) { return plan_variant("", machine, request); },
};

const Algorithm two_line{
    .name = "two-line",
    .collective = Collective::broadcast,
    .source = "this project, after Wang, Tseng, Ni & Sheu, section 3.2",
    .shapes = "torus n_1 x n_2, any sides wider than 1",
    .steps = "min over a of L(m)+L(n_b)+(n_a mod 2), m = n_a less n_a mod 2, L = ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .needs = needs,
    .also_requires = [](const Machine& machine, const Request&) { return requires_variant("two-line", "two-line", 2, 2, machine); },
    .plan = [](const Machine& machine, const Request& request) { return plan_variant("two-line", machine, request); },
};

const Algorithm pairs{
    .name = "pairs",
    .collective = Collective::broadcast,
    .source = "this project, after Wang, Tseng, Ni & Sheu, section 5",
    .shapes = "torus of any sides, three or more of them wider than 1",
    .steps = "1+sum L(floor(n_d/2))+closing, closing = L(2^(k-1)), at times one or two more, L = ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .needs = needs,
    .also_requires = [](const Machine& machine, const Request&) { return requires_variant("pairs", "pairs", 3, max_dimensions, machine); },
    .plan = [](const Machine& machine, const Request& request) { return plan_variant("pairs", machine, request); },
};

}  // namespace torus::broadcast
