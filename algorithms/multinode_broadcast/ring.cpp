/// Multi-node broadcast by dimension-wise all-gather: k parts of every message go round the k dimensions' rings, then change dimensions.
///
/// All links carry something in every step. If every node is a source and the sides are odd and equal it moves no byte more than any
/// scheme must; for few sources the fullest row decides.
/// Machine  torus of any dimension and sides, packet (single hops), all ports, no channel shared.   Memory  O(s k) words a node.
/// Steps    k floor(longest side / 2), whatever the sources.   Header  none.
/// Source   folklore (ring all-gather).

#include "algorithms/multinode_broadcast/ring.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast {
namespace {

/// What a node passes on of one part: what it got last by each direction of travel.
struct Passing {
  Bundle up, down;
};

std::size_t axis_of(const RingGather& rings, std::int32_t phase, std::size_t part) noexcept {
  return (part + static_cast<std::size_t>(phase)) % rings.axes.size();
}

void send_step(Node& self, const RingGather& rings, std::int32_t phase, std::int32_t step, const std::vector<Passing>& passing,
               const Station* station) {
  for (std::size_t part = 0; part < passing.size(); ++part) {
    const std::size_t axis = axis_of(rings, phase, part);
    const std::int32_t length = rings.lengths[axis];
    if (step > length / 2) continue;
    std::span<const BlockId> up = passing[part].up, down = passing[part].down;
    if (2 * step == length) {  // both ways lead to the same node: half by each
      up = up.first((up.size() + 1) / 2);
      down = down.subspan((down.size() + 1) / 2);
    }
    send_bundle(self, {on_machine(station, {rings.axes[axis], +rings.unit})}, up);
    send_bundle(self, {on_machine(station, {rings.axes[axis], -rings.unit})}, down);
  }
}

/// The part that goes along the dimension by which a message has come.
std::size_t part_of(const RingGather& rings, std::int32_t phase, std::size_t parts, const Message& m) {
  for (std::size_t part = 0; part < parts; ++part) {
    if (rings.axes[axis_of(rings, phase, part)] == m.dimension()) return part;
  }
  unexpected(m, "no part goes along this dimension in this phase");
}

void take_step(const RingGather& rings, std::int32_t phase, const Arrivals& came, std::vector<Passing>& passing,
               std::vector<Bundle>& bundles) {
  for (Passing& p : passing) {
    p.up.clear();
    p.down.clear();
  }
  for (const Message& m : came) {
    const std::size_t part = part_of(rings, phase, passing.size(), m);
    append(m.direction() > 0 ? passing[part].up : passing[part].down, m);
    append(bundles[part], m);
  }
}

/// Bytes of the first half of all blocks of `messages` messages, each cut into `blocks` of them.
double first_half(double messages, Bytes message, std::size_t blocks) {
  const double half = std::ceil(messages * static_cast<double>(blocks) / 2), whole = std::floor(half / static_cast<double>(blocks));
  const auto rest = static_cast<std::size_t>(half - whole * static_cast<double>(blocks));
  return whole * static_cast<double>(message) + static_cast<double>(bytes_of_segments(message, blocks, 0, rest));
}

}  // namespace

std::int32_t RingGather::steps_of(std::int32_t phase) const noexcept {
  if (together) return lengths[static_cast<std::size_t>(phase)] / 2;
  std::int32_t longest = 0;
  for (const std::int32_t length : lengths) longest = std::max(longest, length / 2);
  return longest;
}

std::int32_t RingGather::steps() const noexcept {
  std::int32_t sum = 0;
  for (std::int32_t phase = 0; phase < phases; ++phase) sum += steps_of(phase);
  return sum;
}

double RingGather::channel_bytes(Bytes message, double messages, double share, double members) const noexcept {
  double sum = 0;
  const std::size_t cuts = together ? 1 : axes.size();
  std::vector<double> held(cuts, messages);    // by part: a bundle's messages
  std::vector<double> bundles(cuts, members);  // how many different bundles there are
  for (std::int32_t phase = 0; phase < phases; ++phase) {
    for (std::int32_t step = 1; step <= steps_of(phase); ++step) {
      double most = 0;
      for (std::size_t part = 0; part < cuts; ++part) {
        const std::int32_t length = lengths[axis_of(*this, phase, part)];
        if (step > length / 2) continue;
        const double full = fullest(held[part] * share, bundles[part], held[part]);
        const Bytes bytes = message / cuts + (part < message % cuts ? 1 : 0);
        const std::size_t blocks = together ? axes.size() : 1;
        most = std::max(most, 2 * step == length ? first_half(full, bytes, blocks) : full * static_cast<double>(bytes));
      }
      sum += most;
    }
    for (std::size_t part = 0; part < cuts; ++part) {
      held[part] *= lengths[axis_of(*this, phase, part)];
      bundles[part] /= lengths[axis_of(*this, phase, part)];
    }
  }
  return sum;
}

RingGather whole_rings(const Topology& topology, const char* label) {
  RingGather rings{label, {}, {}, 1, 0};
  rings.axes = linked_dimensions(topology);
  for (const Dimension d : rings.axes) rings.lengths.push_back(topology.extent(d));
  rings.phases = rings.parts();
  return rings;
}

std::vector<Bundle> split_parts(std::span<const BlockId> bundle, std::size_t parts) {
  std::vector<Bundle> split(parts);
  for (const BlockId id : bundle) split[id % parts].push_back(id);
  return split;
}

Program ring_gather(Node& self, const RingGather& rings, bool member, std::vector<Bundle>& bundles, const Station* station) {
  std::vector<Passing> passing(bundles.size());
  for (std::int32_t phase = 0; phase < rings.phases; ++phase) {
    if (rings.together) std::sort(bundles[0].begin(), bundles[0].end());  // halves have as much of either part
    for (std::size_t part = 0; part < passing.size(); ++part) passing[part].up = passing[part].down = bundles[part];
    for (std::int32_t step = 1; step <= rings.steps_of(phase); ++step) {
      self.phase(rings.label);
      if (member) send_step(self, rings, phase, step, passing, station);
      const Arrivals came = co_await self.step();
      take_step(rings, phase, came, passing, bundles);
    }
  }
}

Program ring_gather(Node& self, const RingGather& rings, bool member, const Bundle& bundle, std::vector<Bundle>& parts,
                    const Station* station) {
  parts = rings.together ? std::vector<Bundle>{bundle} : split_parts(bundle, rings.axes.size());
  co_await ring_gather(self, rings, member, parts, station);
  if (rings.together) parts = split_parts(parts.front(), rings.axes.size());
}

namespace ring {
namespace {

Program program(Node& self, const RingGather& rings) {
  if (rings.axes.empty()) co_return;
  std::vector<Bundle> parts = split_parts(self.blocks(), rings.axes.size());
  co_await ring_gather(self, rings, true, parts);
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request), nodes = machine.topology.nodes();
  const auto rings = std::make_shared<const RingGather>(whole_rings(machine.topology, "rings"));
  Plan plan;
  plan.segments = static_cast<std::uint32_t>(std::max(1, rings->parts()));
  plan.start = [rings](Node& self) { return program(self, *rings); };
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
    std::vector<Bundle> none;
    make(ring_gather(self, *rings, true, none));
  });
  plan.steps = static_cast<std::uint64_t>(rings->steps());
  plan.route_hops = plan.steps;
  plan.formula = "k floor(longest side / 2)";
  plan.channel_bytes = rings->channel_bytes(request.bytes, 1, s / nodes, nodes);
  // What it has, by part, and by part and way what it passes on.
  plan.node_bytes += bytes_of_lists(3 * rings->axes.size(), request.sources.size() * plan.segments);
  plan.message_bytes += 2 * sizeof(BlockId) * request.sources.size() * plan.segments;  // each block comes to a node once
  plan.notes = {{"sources assumed by the prediction", decimal(s)}};
  return plan;
}

constexpr Algorithm ring{
    .name = "ring",
    .collective = Collective::multinode_broadcast,
    .source = "folklore: dimension-wise ring all-gather, every link busy",
    .shapes = "torus of any dimension and sides",
    .steps = "k floor(longest side / 2), k dimensions wider than 1",
    .idea = {.first = "Each message is cut into one part a dimension, and each part goes round the rings of a dimension of its own, both "
                      "ways at once.",
             .then = "When all nodes of a ring have what it held, the parts change dimensions and take along all that they have gathered, "
                     "until each has been in all.",
             .good = "All channels carry something in every step, and with all nodes as sources hardly a byte moves that need not; but the "
                     "steps are as many for few sources as for many."},
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .plan = plan,
};

}  // namespace

extern const Entries entries{ring};

}  // namespace ring

}  // namespace torus::multinode_broadcast
