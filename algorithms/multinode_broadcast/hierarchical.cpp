#include "algorithms/multinode_broadcast/hierarchical.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hierarchy_choice.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/multinode_broadcast/prefix.hpp"
#include "algorithms/multinode_broadcast/subnetwork_loads.hpp"
#include "algorithms/multinode_broadcast/uneven.hpp"
#include "algorithms/multinode_broadcast/window_spread.hpp"

namespace torus::multinode {
namespace {

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return needs_partition("hierarchical", machine.topology, request);
}
std::optional<Refusal> also_requires_log(const Machine& machine, const Request& request) {
  return needs_partition("hierarchical-log", machine.topology, request);
}

Plan plan_any(const Machine& machine, const Request& request, Hierarchy::Dcn dcn) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const Hierarchy>(choose_hierarchy(machine, request, dcn, s));
  Plan plan;
  plan.segments = std::max(1U, scheme->parts() * scheme->pieces());
  plan.start = [scheme](Node& self) { return hierarchical_program(self, *scheme); };
  plan.steps = static_cast<std::uint64_t>(scheme->steps());
  plan.formula = scheme->formula();
  const bool counted = scheme->uneven() && s >= scheme->nodes && !scheme->tunes();
  plan.channel_bytes = counted ? uneven_bytes_of_all(*scheme, request.bytes) : scheme->channel_bytes(s, request.bytes);
  if (!scheme->uneven())
    plan.observe = subnetwork_loads(machine, request, plan.segments, scheme->h, scheme->aggregation_steps(),
                                    scheme->aggregation_steps() + scheme->balancing_steps());
  plan.node_bytes = 5 * sizeof(BlockId) * request.sources.size() * plan.segments;
  if (scheme->uneven()) plan.node_bytes += 2 * static_cast<Bytes>(scheme->h) * sizeof(Bundle);  // a list a class and part
  plan.notes = {{"h", std::to_string(scheme->h)},
                {"prefix", std::string(balances[static_cast<std::size_t>(scheme->balance)])},
                {"rings", scheme->ddn_rings.together ? "together" : "in parts"},
                {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

Plan plan_scatter(const Machine& machine, const Request& request) { return plan_any(machine, request, Hierarchy::Dcn::scatter); }
Plan plan_log(const Machine& machine, const Request& request) { return plan_any(machine, request, Hierarchy::Dcn::log); }

bool in_a_ddn(const Node& self, std::int32_t h) {
  for (Dimension d = 1; d < self.dimensions(); ++d) {
    if (self.coordinate(d) % h != self.coordinate(0) % h) return false;
  }
  return true;
}

constexpr std::array parameters{Parameter{"h", partition_meaning, {}, possible_any_partitions},
                                Parameter{"prefix", balancing_meaning, balances}};

}  // namespace

Program hierarchical_program(Node& self, const Hierarchy& scheme) {
  if (scheme.ddn_rings.axes.empty()) co_return;
  if (scheme.uneven()) {
    co_await uneven_program(self, scheme);
    co_return;
  }
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  if (scheme.h > 1 && scheme.dimensions == 2) {
    const DiagonalSite strip = DiagonalSite::in_torus(self, scheme.h);
    co_await gather_to_diagonal(self, scheme.strip, strip, "aggregate", bundle);
  } else if (scheme.h > 1) {
    co_await gather_windows(self, scheme.window, bundle);
  }
  if (scheme.tunes()) {
    const std::uint32_t rank = hashed_rank(self.coordinates(), scheme.h);
    co_await tune(self, scheme.tuning, rank, scheme.parts(), bundle, scheme.pieces());
  }
  std::vector<Bundle> parts;
  co_await ring_gather(self, scheme.ddn_rings, in_a_ddn(self, scheme.h), bundle, parts);
  if (scheme.h == 1) co_return;
  for (Bundle& part : parts) std::sort(part.begin(), part.end());  // every copy is cut alike
  if (scheme.dcn == Hierarchy::Dcn::log) {
    co_await broadcast_cross(self, scheme.window, parts);
  } else {
    co_await scatter_windows(self, scheme.window, parts);
  }
  co_await ring_gather(self, scheme.dcn_rings, true, parts);
}

const Algorithm hierarchical{
    .name = "hierarchical",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their partition with ring pipelines, the DCNs by scatter and all-gather",
    .shapes = "torus of any dimension, any h that divides every side, in 2-D any h up to the shorter side; one ring: h = 1",
    .steps =
        "2-D: L5(h) + tune + 2 floor(n/2h) + L3(h) + 2 floor(h/2), n the longest side; k-D: 2(k-1) L3(h) + tune + k floor(n/2h) + k "
        "floor(h/2); h = 1: k floor(n/2), k dimensions wider than 1; h that does not divide the sides: 1 more, and g for h in the last "
        "term, g <= 2h the longest gap between nodes of a class; unequal sides: at times the sum of floor(n_d/2h) for k floor(n/2h)",
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan_scatter,
};

const Algorithm hierarchical_log{
    .name = "hierarchical-log",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their partition with ring pipelines, the DCNs by broadcast and one pass of the rings",
    .shapes = "2-D torus, any h up to the shorter side",
    .steps =
        "L5(h) + tune + 2 floor(n/2h) + L3(h) + floor(h/2), n the longer side; h that does not divide both: 1 more, at times 2, and g for "
        "h in the last two terms, g as for hierarchical; unequal sides: at times the sum of floor(n_d/2h) for 2 floor(n/2h)",
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .dimensions = 2, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires_log,
    .plan = plan_log,
};

}  // namespace torus::multinode
