/// Broadcast on tori of any sides: squeeze the informed nodes into a lattice spread evenly over the machine, then expand it, dimension by
/// dimension, by refining all gaps at once.
///
/// Machine  circuit, 3 ports or more, a torus of two or more dimensions wider than 1. Variants with closing steps: up to 2^22 nodes, an
///          even extent counted as 2.
/// Choice   `variant`, one of those of circuit/squeeze_variants.hpp. Without it the one of the fewest steps.
/// Steps    the minimum of the variants. Never more than theorems 3 and 4 (2D, 4 and 3 ports) and 7 to 9 (3D, 3 to 6 ports) promise.
/// Header   one word, the root's rank: a node's part follows from its place relative to the root. None in the last step.
/// Memory   O(1) a node beside the payload. Shared tables, of which every node can compute its rows from shape and ports: O(sum of n_d) a
///          step. Where extents are odd in 3D and more, also the circuits of the closing steps: a global schedule, from one maximum flow.
/// Errors   plan() throws RunError if a closing step can inform no node; no such torus is known.
/// Source   Wang, Tseng, Ni & Sheu, Circuit-switched broadcasting in multi-port multi-dimensional torus networks, sections 3.2, 4.2 and 5.

#include <algorithm>
#include <array>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/circuit/squeeze_variants.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"

namespace torus::broadcast::squeeze_expand {

namespace {

constexpr std::array<std::string_view, 5> variants{"two-line", "paper2d", "pairs", "plan-a", "plan-b"};
constexpr std::array parameters{parameter::variant(variants)};

/// The variants that a machine and a request allow: all, if the request names none.
std::vector<SqueezeVariant> variants_for(const Machine& machine, const Request& request) {
  const std::string_view name = request.parameters.word("variant");
  const Topology& topology = machine.topology;
  auto possible =
      wide_dimensions(topology).size() == 2 ? planar_variants(topology, machine.ports) : solid_variants(topology, machine.ports);
  if (!name.empty()) std::erase_if(possible, [&](const SqueezeVariant& variant) { return variant.name != name; });
  return possible;
}

/// The variants need two wide dimensions, or more than two, and a closing that is small enough. Even extents keep it small.
std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::string_view variant = request.parameters.word("variant");
  const bool planar = variant == "two-line" || variant == "paper2d", solid = !variant.empty() && !planar;
  const std::string name = "squeeze-expand" + (variant.empty() ? "" : " as " + std::string(variant));
  const std::size_t wide = wide_dimensions(topology).size();
  const bool of_three = variant == "plan-a" || variant == "plan-b";
  if (wide < (solid ? 3 : 2) || (planar && wide > 2) || (of_three && wide > 3)) {
    const std::string count = planar ? "two" : of_three ? "three" : solid ? "three or more" : "two or more";
    return Refusal{Refusal::About::shape, topology.text(), name + " needs a torus of " + count + " dimensions wider than 1",
                   solid ? "6x8x12" : "8x12"};
  }
  if (variant == "plan-b" && machine.ports > 4)
    return Refusal{Refusal::About::ports, std::to_string(machine.ports), name + " sends at most 4 messages a step", "4"};
  if (closing_nodes(topology) <= max_closing_nodes || !variants_for(machine, request).empty()) return std::nullopt;
  std::vector<DimensionShape> even(topology.shape().begin(), topology.shape().end());
  for (DimensionShape& dimension : even) dimension.extent -= dimension.extent > 1 ? dimension.extent % 2 : 0;
  return Refusal{Refusal::About::shape, topology.text(),
                 name + " searches its last steps among " + std::to_string(closing_nodes(topology)) + " nodes, of at most " +
                     std::to_string(max_closing_nodes),
                 Topology(std::move(even)).text()};
}

/// The variant with the fewest steps.
Plan plan(const Machine& machine, const Request& request) {
  auto possible = variants_for(machine, request);
  std::stable_sort(possible.begin(), possible.end(),
                   [](const SqueezeVariant& a, const SqueezeVariant& b) { return a.min_steps < b.min_steps; });
  CircuitSchedule schedule = possible.front().build();
  const SqueezeVariant* chosen = &possible.front();
  for (const SqueezeVariant& variant : possible) {
    if (variant.min_steps >= schedule.steps()) break;
    if (&variant == chosen) continue;
    CircuitSchedule other = variant.build();
    if (other.steps() >= schedule.steps()) continue;
    schedule = std::move(other);
    chosen = &variant;
  }
  Plan plan = schedule_plan(request, std::make_shared<const CircuitSchedule>(std::move(schedule)),
                            chosen->formula + ", L = ceil(log_" + std::to_string(machine.ports + 1) + ")");
  plan.notes = {{"variant", chosen->name}};
  return plan;
}

constexpr std::array former_names{FormerName{"two-line", "--variant two-line"}, FormerName{"pairs", "--variant pairs"}};

constexpr std::array terms{Term{"L", "L(x): log of x to the base ports + 1, rounded up"},
                           Term{"m", "extent of the dimension that is squeezed first, less 1 if it is odd"},
                           Term{"n_a", "extent of the one dimension"},
                           Term{"n_b", "extent of the other dimension"},
                           Term{"n_1", "shortest extent"},
                           Term{"n_2", "next longer extent"},
                           Term{"n_3", "longest extent of three"},
                           Term{"closing", "steps for the nodes that are left at the end, where sides are odd"}};

const Algorithm squeeze_expand{
    .name = "squeeze-expand",
    .collective = Collective::broadcast,
    .source = "Wang, Tseng, Ni & Sheu, sections 3.2, 4.2 and 5, theorems 3, 4, 7, 8, 9",
    .shapes = "torus of any sides, two or more of them wider than 1",
    .steps =
        "2D: min over a of L(m)+L(n_b)+(n_a mod 2), m = n_a less n_a mod 2; kD: at most 1+sum L(floor(n_d/2))+closing; L = "
        "ceil(log_{ports+1})",
    .idea = {.first = "The source first informs a small lattice of nodes, squeezed so that it spreads evenly over the machine.",
             .then = "The lattice expands: dimension by dimension all gaps between informed nodes are split in the same step, until "
                     "no gap is left, and where sides are odd a last step closes the rest.",
             .good =
                 "Evenly spread nodes have equal gaps, so that nearly all ports find a node to inform in each step, on tori of any sides."},
    .terms = terms,
    .native = {.switching = Switching::circuit},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::circuit, .ports = 3},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .former_names = former_names,
};

}  // namespace

extern const Entries entries{squeeze_expand};

}  // namespace torus::broadcast::squeeze_expand
