/// Multi-node broadcast over the DDNs and DCNs with ring pipelines: the paper's partition, all links in use, and no prefix sum.
///
/// Each message is k parts, or k for each of h pieces. Messages gather on the nodes whose coordinates are congruent modulo h (aggregate),
/// are distributed over the h DDNs by a rank computed from the coordinates (tune; left out with --prefix none), or a piece of each to every
/// DDN (--prefix split: as many steps, and all DDNs have as much for any sources; the choice follows from how many are assumed), and go
/// round the DDNs' rings, part t along dimension t first (ddn-rings). Then each DDN node has its DDN's whole bundle, sorts it, and
///   --dcn scatter    cuts part t over the window of h^(k-1) nodes across dimension t (scatter), and the h x .. x h torus modulo h gathers
///                    it again over all dimensions (dcn-rings): 1 + 2/h of the byte bound, and O(sqrt n) steps for h ~ sqrt(n);
///   --dcn broadcast  (2-D) spreads part 0 along the row and part 1 along the column (dcn-broadcast), then both go round the rings
///                    modulo h of the other dimension: fewer steps, more bytes.
/// Messages go round the rings in parts; on unequal sides whole, one dimension after the other (together), where that is faster. 2-D tori
/// take an h that does not divide every side, too, see below. By default nothing is tuned if all nodes are assumed to be sources, or if
/// that is faster even with all messages in one DDN.
/// Machine  torus of any dimension, h | every side (2-D: any h up to the shorter), wormhole in any routing order, all ports, no channel
///          shared.
/// Memory   O(s k) words a node, split: O(s k h).
/// Steps    L5(h) [k > 2: (k-1) L3(h)] + tune + k floor(longest q / 2) + (k-1) L3(h) + k floor(h/2)
///          --dcn broadcast: the last two terms are L3(h) + floor(h/2). Together: the sum of floor(q / 2) for k floor(longest q / 2).
///          h = 1: k floor(longest side / 2), k the dimensions wider than 1; a single ring allows no other h.
/// Header   see tune; none for h <= 5.   Source  this project, on the partition of Chen, Chen & Tseng.
///
/// Any h, on 2-D tori of which it does not divide both sides (uneven): the phases run on the grid of stations (partition.hpp), all but the
/// first and the last.
///   join                                  each spare node hands its messages to a station beside it
///   aggregate, tune, ddn-rings, scatter   on the grid
///   dcn-broadcast, dcn-rings              from the grid to all places (windows.hpp)
/// Steps    1 + L5(h) + tune + 2 floor(longest q / 2) + L3(h) + 2 floor(g/2), q = floor(n/h), g the most places between two stations of a
///          class, less than 2h + 1; --dcn broadcast: the last two are L3(g), at times 1 more, + floor(g/2).

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hierarchical/scheme.hpp"
#include "algorithms/multinode_broadcast/hierarchical/windows.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::hierarchical {
namespace {

bool in_a_ddn(const Node& self, std::int32_t h) {
  for (Dimension d = 1; d < self.dimensions(); ++d) {
    if (self.coordinate(d) % h != self.coordinate(0) % h) return false;
  }
  return true;
}

/// All copies of a bundle are then cut alike.
void sort_each(std::vector<Bundle>& parts) {
  for (Bundle& part : parts) std::sort(part.begin(), part.end());
}

/// No two spare places are neighbours. The two ways keep nodes that are spare in one dimension and in both off each other's channels.
Program join(Node& self, const Station& station, Bundle& bundle) {
  self.phase("join");
  if (!station.member()) {
    const bool both = !station.stands(0) && !station.stands(1);
    Route route;
    for (const Dimension d : self.machine().routing) {
      if (!station.stands(d)) route.push_back({d, both ? +1 : -1});
    }
    send_bundle(self, RouteView(route), bundle);
    bundle.clear();
  }
  for (const Message& m : co_await self.step()) append(bundle, m);
}

Program uneven_program(Node& self, const Hierarchy& scheme) {
  const Station station(self, scheme.class_windows().stations());
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  co_await join(self, station, bundle);
  co_await gather_to_diagonal(self, scheme.strip(), DiagonalSite::in_grid(station, scheme.h), "aggregate", bundle);
  if (scheme.tunes()) {
    const std::uint32_t rank = hashed_rank(station.coordinates(), scheme.h);
    co_await tune(self, scheme.tuning(), rank, scheme.parts(), bundle, scheme.pieces(), &station);
  }
  std::vector<Bundle> parts;
  co_await ring_gather(self, scheme.ddn_rings, station.member() && (station.coordinate(0) - station.coordinate(1)) % scheme.h == 0, bundle,
                       parts, &station);
  sort_each(parts);  // on the grid, too
  if (scheme.dcn == Hierarchy::Dcn::broadcast) {
    co_await spread_classes(self, scheme.class_windows(), station, parts);
  } else {
    co_await scatter_windows(self, scheme.window(), parts, &station);
  }
  co_await gather_classes(self, scheme.class_windows(), station, scheme.dcn == Hierarchy::Dcn::broadcast ? 1 : 2, parts);
}

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
    co_await gather_to_diagonal(self, scheme.strip(), strip, "aggregate", bundle);
  } else if (scheme.h > 1) {
    co_await gather_windows(self, scheme.window(), bundle);
  }
  if (scheme.tunes()) {
    const std::uint32_t rank = hashed_rank(self.coordinates(), scheme.h);
    co_await tune(self, scheme.tuning(), rank, scheme.parts(), bundle, scheme.pieces());
  }
  std::vector<Bundle> parts;
  co_await ring_gather(self, scheme.ddn_rings, in_a_ddn(self, scheme.h), bundle, parts);
  if (scheme.h == 1) co_return;
  sort_each(parts);
  if (scheme.dcn == Hierarchy::Dcn::broadcast) {
    co_await broadcast_cross(self, scheme.window(), parts);
  } else {
    co_await scatter_windows(self, scheme.window(), parts);
  }
  co_await ring_gather(self, scheme.dcn_rings, true, parts);
}

namespace {

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto why = needs_plane(machine.topology, request)) return why;
  return needs_partition("hierarchical", machine.topology, request);
}

/// The frames of the programs that a node's program calls.
Bytes called_frames(const Machine& machine, const Hierarchy& scheme) {
  if (scheme.ddn_rings.axes.empty()) return 0;
  return frames_of_calls(machine, [&](Node& self) {
    Bundle none;
    std::vector<Bundle> parts;
    std::optional<Program> outer;
    if (scheme.uneven()) outer.emplace(uneven_program(self, scheme));
    {
      const Program rings = ring_gather(self, scheme.ddn_rings, true, none, parts);
      make(ring_gather(self, scheme.ddn_rings, true, parts));
    }
    if (scheme.tunes()) make(tune(self, scheme.tuning(), 0, scheme.parts(), none, scheme.pieces()));
    if (scheme.h == 1) return;
    const bool broadcast = scheme.dcn == Hierarchy::Dcn::broadcast;
    if (scheme.dimensions == 2)
      make(gather_to_diagonal(self, scheme.strip(), {}, "", none));
    else
      make(gather_windows(self, scheme.window(), none));
    if (!broadcast) make(scatter_windows(self, scheme.window(), parts));
    if (!scheme.uneven()) {
      if (broadcast) make(broadcast_cross(self, scheme.window(), parts));
      return;
    }
    const Station station(self, scheme.class_windows().stations());
    make(join(self, station, none));
    if (broadcast) make(spread_classes(self, scheme.class_windows(), station, parts));
    make(gather_classes(self, scheme.class_windows(), station, 1, parts));
  });
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const Hierarchy>(choose_hierarchy(machine, request, s));
  Plan plan;
  plan.segments = std::max(1U, scheme->parts() * scheme->pieces());
  plan.start = [scheme](Node& self) { return hierarchical_program(self, *scheme); };
  plan.node_bytes += called_frames(machine, *scheme);
  plan.steps = static_cast<std::uint64_t>(scheme->steps());
  plan.formula = scheme->formula();
  const bool counted = scheme->uneven() && s >= scheme->nodes && !scheme->tunes();
  plan.channel_bytes = counted ? uneven_bytes_of_all(*scheme, request.bytes) : scheme->channel_bytes(s, request.bytes);
  if (!scheme->uneven())
    plan.observe = subnetwork_loads(machine, request, plan.segments, scheme->h, scheme->aggregation_steps(),
                                    scheme->aggregation_steps() + scheme->balancing_steps());
  const std::uint64_t blocks = request.sources.size() * plan.segments;
  plan.node_bytes += bytes_of_lists(3 * scheme->ddn_rings.axes.size() + 1, blocks);
  plan.message_bytes = bytes_of_messages(std::min<std::uint64_t>(blocks, static_cast<std::uint64_t>(machine.topology.max_ports()))) +
                       2 * sizeof(BlockId) * blocks;
  if (scheme->uneven()) plan.node_bytes += 2 * static_cast<Bytes>(scheme->h) * sizeof(Bundle);  // a list a class and part
  plan.notes = {{"h", std::to_string(scheme->h)},
                {"dcn", std::string(dcn_words[static_cast<std::size_t>(scheme->dcn)])},
                {"prefix", std::string(balance_words[static_cast<std::size_t>(scheme->balance)])},
                {"rings", scheme->ddn_rings.together ? "together" : "in parts"},
                {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

constexpr std::array parameters{Parameter{"h", partition_meaning, {}, possible_any_partitions}, Parameter{"dcn", dcn_meaning, dcn_words},
                                Parameter{"prefix", balancing_meaning, balance_words}};
constexpr std::array former_names{FormerName{"hierarchical-log", "--dcn broadcast"}};

constexpr std::array terms{
    Term{"n", "extent of the longest side"}, Term{"h", "width of the partition: every h-th node of a line is in the same coarse torus"},
    Term{"tune", "steps that deal the messages out evenly"}, Term{"g", "longest gap between two nodes of one class"}};

constexpr Algorithm hierarchical{
    .name = "hierarchical",
    .collective = Collective::multinode_broadcast,
    .source = "after Chen, Chen & Tseng: their partition with ring pipelines; the DCNs by scatter and all-gather, or by broadcast",
    .shapes = "torus of any dimension, any h that divides every side, in 2-D any h up to the shorter side; one ring: h = 1",
    .steps =
        "2-D: L5(h) + tune + 2 floor(n/2h) + L3(h) + 2 floor(h/2), by broadcast floor(h/2), n the longest side; k-D: 2(k-1) L3(h) + tune + "
        "k "
        "floor(n/2h) + k floor(h/2); h = 1: k floor(n/2), k dimensions wider than 1; h that does not divide the sides: 1 more, by "
        "broadcast "
        "at times 2, and g for h in the terms after the rings, g <= 2h the longest gap between nodes of a class; unequal sides: at times "
        "the sum of floor(n_d/2h) for k floor(n/2h)",
    .idea = {.first = "Nodes whose coordinates agree modulo a width h form coarse tori, and each message first goes to a node of one of "
                      "them, dealt out so that all coarse tori get about as much.",
             .then = "The messages go round the rings of all coarse tori at the same time, and then each small block of nodes shares out "
                     "what its nodes of the coarse tori hold.",
             .good = "The coarse rings are h times shorter and use all links together, so that a middle h takes far fewer steps than whole "
                     "rings do, for somewhat more bytes."},
    .terms = terms,
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .former_names = former_names,
};

}  // namespace

extern const Entries entries{hierarchical};

}  // namespace torus::multinode_broadcast::hierarchical