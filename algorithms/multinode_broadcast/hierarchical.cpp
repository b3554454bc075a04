#include "algorithms/multinode_broadcast/hierarchical.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/machine_fit.hpp"
#include "algorithms/multinode_broadcast/prefix.hpp"
#include "algorithms/multinode_broadcast/subnetwork_loads.hpp"
#include "algorithms/multinode_broadcast/window_spread.hpp"

namespace torus::multinode {
namespace {

/// The greatest h that every side allows; 1 for a single ring, whose DDNs would share its links.
std::int32_t greatest_h(const Topology& topology) {
  if (topology.dimensions() < 2) return 1;
  std::int32_t g = 0;
  for (Dimension d = 0; d < topology.dimensions(); ++d) g = std::gcd(g, topology.extent(d));
  return g;
}

std::optional<std::string> refuses_any(std::string_view name, const Machine& machine, const Request& request) {
  if (auto why = refusal::first_of(refuses_torus(name, machine, Switching::wormhole), refusal::of_segments_at_all(name, request))) {
    return why;
  }
  const auto most = static_cast<std::uint32_t>(greatest_h(machine.topology));
  if (request.parameters.whole("h") != 0 && most % request.parameters.whole("h") != 0) {
    return "--h " + std::to_string(request.parameters.whole("h")) + " does not divide every side of " + machine.topology.text() +
           " (two dimensions at least), --h " + std::to_string(most) + " would do";
  }
  const std::optional<Prefix> prefix = parse_prefix(request.parameters.word("prefix"));
  if (!request.parameters.word("prefix").empty() && prefix != Prefix::hash && prefix != Prefix::none) {
    return std::string(name) + " balances by hash or none: --prefix " + std::string(request.parameters.word("prefix")) +
           " is neither, --prefix hash would do";
  }
  return std::nullopt;
}

std::optional<std::string> refuses_scatter(const Machine& machine, const Request& request) {
  return refuses_any("hierarchical", machine, request);
}

std::optional<std::string> refuses_log(const Machine& machine, const Request& request) {
  if (machine.topology.dimensions() != 2) {
    return "hierarchical-log is for 2-D tori: " + machine.topology.text() + " has " + std::to_string(machine.topology.dimensions()) +
           " dimensions, 8x8 would do";
  }
  return refuses_any("hierarchical-log", machine, request);
}

Hierarchy choose(const Machine& machine, const Request& request, Hierarchy::Dcn dcn, double s) {
  const bool tuned = request.parameters.word("prefix") != name(Prefix::none);
  if (request.parameters.whole("h") != 0) return {machine.topology, static_cast<std::int32_t>(request.parameters.whole("h")), dcn, tuned};
  std::int32_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int32_t h : divisors(greatest_h(machine.topology))) {
    const Hierarchy scheme(machine.topology, h, dcn, tuned);
    const double time = machine.cost.steps(scheme.steps(), scheme.channel_bytes(s, request.bytes), scheme.route_hops());
    if (time < least) {
      least = time;
      best = h;
    }
  }
  return {machine.topology, best, dcn, tuned};
}

Plan plan_any(const Machine& machine, const Request& request, Hierarchy::Dcn dcn) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const Hierarchy>(choose(machine, request, dcn, s));
  Plan plan;
  plan.segments = std::max(1U, scheme->parts());
  plan.start = [scheme](Node& self) { return hierarchical_program(self, *scheme); };
  plan.steps = static_cast<std::uint64_t>(scheme->steps());
  plan.route_hops = static_cast<std::uint64_t>(scheme->route_hops());
  plan.formula = scheme->h == 1                      ? "k floor(n/2)"
                 : dcn == Hierarchy::Dcn::log        ? "L5(h) + tune + 2 floor(n/2h) + L3(h) + floor(h/2)"
                 : machine.topology.dimensions() > 2 ? "(k-1) L3(h) + tune + k floor(n/2h) + (k-1) L3(h) + k floor(h/2)"
                                                     : "L5(h) + tune + 2 floor(n/2h) + L3(h) + 2 floor(h/2)";
  plan.channel_bytes = scheme->channel_bytes(s, request.bytes);
  plan.observe = subnetwork_loads(machine, request, plan.segments, scheme->h, scheme->aggregation_steps(),
                                  scheme->aggregation_steps() + scheme->balancing_steps());
  plan.node_bytes = 5 * sizeof(BlockId) * request.sources.size() * plan.segments;
  plan.notes = {
      {"h", std::to_string(scheme->h)}, {"prefix", scheme->tunes ? "hash" : "none"}, {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

Plan plan_scatter(const Machine& machine, const Request& request) { return plan_any(machine, request, Hierarchy::Dcn::scatter); }
Plan plan_log(const Machine& machine, const Request& request) { return plan_any(machine, request, Hierarchy::Dcn::log); }

RingGather ddn_rings_of(const Topology& topology, std::int32_t h) {
  RingGather rings = whole_rings(topology, "ddn-rings");
  for (std::int32_t& length : rings.lengths) length /= h;
  rings.unit = h;
  return rings;
}

RingGather dcn_rings_of(const Topology& topology, std::int32_t h, Hierarchy::Dcn dcn) {
  RingGather rings = whole_rings(topology, "dcn-rings");
  std::fill(rings.lengths.begin(), rings.lengths.end(), h);
  if (dcn == Hierarchy::Dcn::log) rings.phases = std::min(1, rings.phases);
  return rings;
}

bool in_a_ddn(const Node& self, std::int32_t h) {
  for (Dimension d = 1; d < self.dimensions(); ++d) {
    if (self.coordinate(d) % h != self.coordinate(0) % h) return false;
  }
  return true;
}

constexpr std::array<std::string_view, 2> hashed_or_none{"hash", "none"};
constexpr std::array parameters{Parameter{"h", "partition into h x h subnetworks", {}, nullptr},
                                Parameter{"prefix", "how messages are balanced over the subnetworks", hashed_or_none, nullptr}};

}  // namespace

Hierarchy::Hierarchy(const Topology& topology, std::int32_t partition, Dcn dcn_kind, bool tuned)
    : nodes{static_cast<double>(topology.nodes())},
      dimensions{topology.dimensions()},
      h{partition},
      dcn{dcn_kind},
      tunes{tuned && h > 1},
      strip{LineTree::window(5, h)},
      window{LineTree::window(3, h)},
      tuning{h, h <= 5 ? 5 : 3},
      ddn_rings{ddn_rings_of(topology, h)},
      dcn_rings{dcn_rings_of(topology, h, dcn)} {}

std::int32_t Hierarchy::aggregation_steps() const noexcept { return dimensions == 2 ? strip.levels() : (dimensions - 1) * window.levels(); }

std::int32_t Hierarchy::balancing_steps() const noexcept { return tunes ? tuning.steps() : 0; }

std::int32_t Hierarchy::steps() const noexcept {
  if (h == 1) return ddn_rings.steps();
  const std::int32_t spreading = dcn == Dcn::log ? window.levels() : (dimensions - 1) * window.levels();
  return aggregation_steps() + balancing_steps() + ddn_rings.steps() + spreading + dcn_rings.steps();
}

std::int32_t Hierarchy::route_hops() const {
  if (h == 1) return ddn_rings.hops();
  const std::int32_t aggregation = dimensions == 2 ? strip.hops() : (dimensions - 1) * window.hops();
  const std::int32_t spreading = dcn == Dcn::log ? window.hops() : (dimensions - 1) * window.hops();
  return aggregation + (tunes ? dimensions * tuning.places() : 0) + ddn_rings.hops() + spreading + dcn_rings.hops();
}

double Hierarchy::channel_bytes(double s, Bytes m) const {
  if (ddn_rings.axes.empty()) return 0;
  const double share = s / nodes, message = static_cast<double>(m), part = static_cast<double>((m + parts() - 1) / parts());
  const double crowd = std::pow(h, dimensions - 1);  // nodes that a DDN node gathers, itself included
  const double members = nodes / crowd;
  if (h == 1) return ddn_rings.channel_bytes(m, 1, share, members);
  double bytes = 0;
  const LineTree& gathering = dimensions == 2 ? strip : window;
  for (Dimension d = 1; d < dimensions; ++d) {
    for (const std::int32_t size : gathering.level_sizes()) {
      const double cap = size * std::pow(h, d - 1);
      bytes += message * fullest(cap * share, nodes / std::pow(h, d - 1), cap);
    }
  }
  if (tunes) {
    for (const TuneMoves::Move& move : tuning.moves) {
      const double cap = move.worst * crowd / h;
      bytes += (message + (move.last_digit ? 0 : 4)) * fullest(cap * share, 2 * members, cap);
    }
  }
  bytes += ddn_rings.channel_bytes(m, crowd, share, members);
  const double bundle = fullest(s / h, h, nodes / h);  // messages of the fullest DDN
  if (dcn == Dcn::log) {
    bytes += part * bundle * window.levels();
    return bytes + dcn_rings.channel_bytes(m, nodes / h, share, h);
  }
  double run = bundle;
  for (Dimension d = 1; d < dimensions; ++d) {
    for (const std::int32_t size : window.level_sizes()) bytes += part * std::ceil(run * size / h);
    run /= h;
  }
  return bytes + dcn_rings.channel_bytes(m, nodes / (h * crowd), share, h * crowd);
}

Program hierarchical_program(Node& self, const Hierarchy& scheme) {
  if (scheme.ddn_rings.axes.empty()) co_return;
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  if (scheme.h > 1 && scheme.dimensions == 2) {
    const DiagonalSite strip = DiagonalSite::in_torus(self, scheme.h);
    co_await gather_to_diagonal(self, scheme.strip, strip, "aggregate", bundle);
  } else if (scheme.h > 1) {
    co_await gather_windows(self, scheme.window, bundle);
  }
  if (scheme.tunes) {
    const std::uint32_t rank = hashed_rank(self.coordinates(), scheme.h);
    co_await tune(self, scheme.tuning, rank, scheme.parts(), bundle);
  }
  std::vector<Bundle> parts = split_parts(bundle, scheme.parts());
  co_await ring_gather(self, scheme.ddn_rings, in_a_ddn(self, scheme.h), parts);
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
    .shapes = "torus of any dimension, any h that divides every side; one ring: h = 1",
    .ports = "all",
    .steps =
        "2-D: L5(h) + tune + 2 floor(n/2h) + L3(h) + 2 floor(h/2), n the longest side; k-D: 2(k-1) L3(h) + tune + k floor(n/2h) + k "
        "floor(h/2); h = 1: k floor(n/2), k dimensions wider than 1",
    .native = {},
    .parameters = parameters,
    .refuses = refuses_scatter,
    .plan = plan_scatter,
};

const Algorithm hierarchical_log{
    .name = "hierarchical-log",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their partition with ring pipelines, the DCNs by broadcast and one pass of the rings",
    .shapes = "2-D torus, any h that divides both sides",
    .ports = "all",
    .steps = "L5(h) + tune + 2 floor(n/2h) + L3(h) + floor(h/2), n the longer side",
    .native = {},
    .parameters = parameters,
    .refuses = refuses_log,
    .plan = plan_log,
};

}  // namespace torus::multinode
