#include "algorithms/broadcast/edst_broadcast.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/broadcast/segment_count.hpp"

namespace torus::broadcast {
namespace {

constexpr std::array parameters{Parameter{"segments", "segments that each tree carries"}};

/// Sends a segment to the children in its tree.
void pass_on(Node& self, const RootedTrees& trees, BlockId segment, std::uint32_t segments) {
  for (unsigned to = trees.onward(self.topology(), self.rank(), segment, segments); to != 0; to &= to - 1) {
    self.send({trees.leg(static_cast<Direction>(std::countr_zero(to)))}, {&segment, 1});
  }
}

/// The height of the highest of the first 1, 2, .. trees.
std::vector<std::uint64_t> heights_of_first(const SpanningTrees& trees) {
  std::vector<std::uint64_t> heights(trees.trees(), 0);
  const std::vector<std::uint32_t> depths = trees.depths();  // by node and tree
  for (std::size_t i = 0; i < depths.size(); ++i)
    heights[i % heights.size()] = std::max<std::uint64_t>(heights[i % heights.size()], depths[i]);
  for (std::size_t r = 1; r < heights.size(); ++r) heights[r] = std::max(heights[r], heights[r - 1]);
  return heights;
}

/// The steps of K segments a tree, and the bytes on a step's busiest channel, summed over the steps.
struct Cost {
  Bytes bytes;
  std::vector<std::uint64_t> heights;  ///< of the first trees; none: a single node

  std::uint64_t steps(std::uint64_t each) const { return heights.empty() ? 0 : heights.back() + each - 1; }
  ByteSum channel_bytes(std::uint64_t each) const {
    if (heights.empty()) return 0;
    // The longer segments go first, the last of them in some of the trees only. A step costs the longer size while one is on its way.
    const std::uint64_t segments = each * heights.size(), longer = bytes % segments;
    const std::uint64_t in_all = longer / heights.size(), in_some = longer % heights.size();
    std::uint64_t longer_steps = in_all > 0 ? steps(in_all) : 0;
    if (in_some > 0) longer_steps = std::max(longer_steps, in_all + heights[in_some - 1]);
    return times_bytes(steps(each), bytes / segments) + times_bytes(longer_steps, 1);
  }
};

std::uint32_t trees_on(const Machine& machine) { return RootedTrees::shares(machine.topology); }

/// The segments that a tree may carry, since all nodes hold all of them in the end.
std::uint64_t most_segments(const Machine& machine) { return most_blocks / (std::uint64_t{machine.topology.nodes()} * trees_on(machine)); }

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  if (auto refusal = RootedTrees::refuses("edst-broadcast", machine.topology)) return refusal;
  const std::uint32_t each = request.parameters.whole("segments");
  if (each <= most_segments(machine)) return std::nullopt;
  return Refusal{
      Refusal::About::parameter, std::to_string(each),
      "edst-broadcast on " + machine.topology.text() + " would hold more than " + std::to_string(most_blocks) + " segments in the end",
      std::to_string(most_segments(machine)), "segments"};
}

Plan plan(const Machine& machine, const Request& request) {
  const auto trees = std::make_shared<const RootedTrees>(machine.topology);
  const Cost cost{request.bytes, heights_of_first(trees->of_node_0())};
  std::uint32_t each = request.parameters.whole("segments");
  if (each == 0) {
    const std::uint64_t holders = std::uint64_t{machine.topology.nodes()} * trees_on(machine);
    each = best_segments(std::max(1.0, static_cast<double>(trees->height())) - 1, request.bytes / trees_on(machine),
                         static_cast<NodeId>(std::min<std::uint64_t>(holders, std::numeric_limits<NodeId>::max())), machine.cost.byte_s,
                         machine.cost.steps(1, 0, 1), [&](std::uint32_t k) {
                           const auto steps = static_cast<double>(cost.steps(k));
                           return machine.cost.steps(steps, cost.channel_bytes(k), steps);
                         });
  }
  Plan plan;
  plan.segments = each * trees_on(machine);
  plan.steps = cost.steps(each);
  plan.formula = "height of the trees + K-1 (height D + 2 for n x n, n >= 4)";
  plan.channel_bytes = cost.channel_bytes(each);
  plan.route_hops = plan.steps;
  plan.table_bytes = trees->table_bytes();
  plan.notes = {{"trees", std::to_string(trees->trees())},
                {"height of the trees", std::to_string(trees->height())},
                {"segments a tree", std::to_string(each)}};
  plan.start = [trees, root = request.sources.front(), segments = plan.segments](Node& self) {
    return edst_broadcast_program(self, *trees, root, segments);
  };
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return RootedTrees::planning_bytes(machine.topology); }

}  // namespace

Program edst_broadcast_program(Node& self, const RootedTrees& trees, NodeId root, std::uint32_t segments) {
  if (trees.trees() == 0) co_return;
  if (self.rank() == root) {
    for (std::uint32_t next = 0;;) {
      for (std::uint32_t tree = 0; tree < trees.trees(); ++tree) pass_on(self, trees, BlockId{root} * segments + next++, segments);
      if (next == segments) co_return;
      co_await self.step();
    }
  }
  for (std::uint32_t held = 0; held < segments;) {
    for (const Message& m : co_await self.arrival()) {
      pass_on(self, trees, m.blocks()[0], segments);
      ++held;
    }
  }
}

const Algorithm edst_broadcast{
    .name = "edst-broadcast",
    .collective = Collective::broadcast,
    .source = "arc-disjoint spanning trees of this project, pipelined after Johnsson & Ho; long messages near the byte bound",
    .shapes = "torus of any dimension up to 8, any sides",
    .steps = "height of the trees + K-1, K segments a tree: D + 1 + K for n x n, n >= 4",
    .native = {.switching = Switching::packet},
    .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::broadcast
