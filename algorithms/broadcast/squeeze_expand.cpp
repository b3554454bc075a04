#include "algorithms/broadcast/squeeze_expand.hpp"

#include <algorithm>

#include "algorithms/broadcast/circuit/closing.hpp"
#include "algorithms/broadcast/circuit/squeeze_variants.hpp"
#include "algorithms/common/refusal.hpp"

namespace torus::broadcast {
namespace {

using refusal::Refusal;

Refusal of_ports(std::string_view name, const Machine& machine) {
  if (machine.ports >= 3) return std::nullopt;
  return std::string(name) + " needs 3 ports or more: --ports " + std::to_string(machine.ports) +
         " is what dimension-wise is for, --ports 3 would do";
}

/// Tori of at least and at most so many dimensions wider than 1.
Refusal of_shape(std::string_view name, const Machine& machine, std::size_t least, std::size_t most) {
  const std::size_t wide = wide_dimensions(machine.topology).size();
  if (machine.topology.is_torus() && wide >= least && wide <= most) return std::nullopt;
  return std::string(name) + " needs a torus of " +
         (most == 2    ? "two"
          : least == 3 ? "three or more"
                       : "two or more") +
         " dimensions wider than 1, not " + machine.topology.text() + (least == 3 ? "; 6x8x12 would do" : "; 8x12 would do");
}

/// The variants of that name; all, if it is empty.
std::vector<SqueezeVariant> variants_of(std::string_view name, const Machine& machine) {
  const Topology& topology = machine.topology;
  auto variants =
      wide_dimensions(topology).size() == 2 ? planar_variants(topology, machine.ports) : solid_variants(topology, machine.ports);
  if (!name.empty()) std::erase_if(variants, [&](const SqueezeVariant& variant) { return variant.name != name; });
  return variants;
}

/// Every variant would have a closing, and one of too many nodes. Even extents keep it small.
Refusal of_closing(std::string_view name, std::string_view variant, const Machine& machine) {
  if (closing_nodes(machine.topology) <= most_closing_nodes || !variants_of(variant, machine).empty()) return std::nullopt;
  std::vector<DimensionShape> even(machine.topology.shape().begin(), machine.topology.shape().end());
  for (DimensionShape& dimension : even) dimension.extent -= dimension.extent > 1 ? dimension.extent % 2 : 0;
  return std::string(name) + " seeks its last steps by flow among " + std::to_string(closing_nodes(machine.topology)) + " nodes of " +
         machine.topology.text() + ", of at most " + std::to_string(most_closing_nodes) + "; " + Topology(std::move(even)).text() +
         " would do";
}

/// `variant`: the only one that will do; empty: any.
Refusal of_all(std::string_view name, std::string_view variant, const Machine& machine, const Request& request, std::size_t least,
               std::size_t most) {
  if (auto why_not = refusal::first_of(of_shape(name, machine, least, most), of_ports(name, machine),
                                       refusal::of_switching(name, machine, Switching::circuit), refusal::of_segments(name, request)))
    return why_not;
  return of_closing(name, variant, machine);  // the rest must hold before there are variants
}

Refusal refuses(const Machine& machine, const Request& request) {
  return of_all("squeeze-expand", "", machine, request, 2, max_dimensions);
}
Refusal refuses_two_line(const Machine& machine, const Request& request) { return of_all("two-line", "two-line", machine, request, 2, 2); }
Refusal refuses_pairs(const Machine& machine, const Request& request) {
  return of_all("pairs", "pairs", machine, request, 3, max_dimensions);
}

/// The variant of that name with the fewest steps; of any name, if it is empty.
Plan plan_variant(std::string_view name, const Machine& machine, const Request& request) {
  auto variants = variants_of(name, machine);
  std::stable_sort(variants.begin(), variants.end(),
                   [](const SqueezeVariant& a, const SqueezeVariant& b) { return a.least_steps < b.least_steps; });
  auto schedule = std::make_shared<const CircuitSchedule>(variants.front().build());
  const SqueezeVariant* chosen = &variants.front();
  for (const SqueezeVariant& variant : variants) {
    if (variant.least_steps >= schedule->steps()) break;
    if (&variant == chosen) continue;
    auto other = std::make_shared<const CircuitSchedule>(variant.build());
    if (other->steps() >= schedule->steps()) continue;
    schedule = std::move(other);
    chosen = &variant;
  }

  Plan plan;
  plan.steps = schedule->steps();
  plan.formula = chosen->formula + ", L = ceil(log_" + std::to_string(machine.ports + 1) + ")";
  plan.channel_bytes = schedule->channel_bytes(request.bytes);
  if (machine.cost.hop_s > 0) plan.route_hops = schedule->route_hops(machine.topology);
  plan.table_bytes = schedule->table_bytes();
  plan.notes = {{"variant", chosen->name}};
  plan.start = [schedule](Node& self) { return follow_schedule(self, *schedule); };
  return plan;
}

Plan plan(const Machine& machine, const Request& request) { return plan_variant("", machine, request); }
Plan plan_two_line(const Machine& machine, const Request& request) { return plan_variant("two-line", machine, request); }
Plan plan_pairs(const Machine& machine, const Request& request) { return plan_variant("pairs", machine, request); }

}  // namespace

const Algorithm squeeze_expand{
    .name = "squeeze-expand",
    .collective = Collective::broadcast,
    .source = "Wang, Tseng, Ni & Sheu, sections 3.2, 4.2 and 5, theorems 3, 4, 7, 8, 9",
    .shapes = "torus of any sides, two or more of them wider than 1",
    .ports = "3 or more",
    .steps =
        "2D: min over a of L(m)+L(n_b)+(n_a mod 2), m = n_a less n_a mod 2; kD: at most 1+sum L(floor(n_d/2))+closing; L = "
        "ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

const Algorithm two_line{
    .name = "two-line",
    .collective = Collective::broadcast,
    .source = "this project, after Wang, Tseng, Ni & Sheu, section 3.2",
    .shapes = "torus n_1 x n_2, any sides wider than 1",
    .ports = "3 or 4",
    .steps = "min over a of L(m)+L(n_b)+(n_a mod 2), m = n_a less n_a mod 2, L = ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .refuses = refuses_two_line,
    .plan = plan_two_line,
};

const Algorithm pairs{
    .name = "pairs",
    .collective = Collective::broadcast,
    .source = "this project, after Wang, Tseng, Ni & Sheu, section 5",
    .shapes = "torus of any sides, three or more of them wider than 1",
    .ports = "3 or more",
    .steps = "1+sum L(floor(n_d/2))+closing, closing = L(2^(k-1)), at times one or two more, L = ceil(log_{ports+1})",
    .native = {.switching = Switching::circuit},
    .refuses = refuses_pairs,
    .plan = plan_pairs,
};

}  // namespace torus::broadcast
