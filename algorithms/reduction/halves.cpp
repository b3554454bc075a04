#include "algorithms/reduction/halves.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction {
namespace {

/// What the running node sends. Programs do not pause while they send, so all nodes that a thread runs share its memory; it is cleared
/// before each use. In the frames of the nodes it would be out of the cache: 5 to 8 % of a reduce-scatter by rings or halving on 1024
/// nodes.
thread_local Gifts gifts;

void give(Node& self, const Halves& halves, std::uint64_t step) {
  self.phase("reduce-scatter");
  gifts.clear();
  halves.gives(self, step, gifts);
  for (const Gift& gift : gifts) {
    if (!gift.blocks.empty()) self.forward(combine, gift.route, gift.blocks);
  }
}

void give_back(Node& self, const Halves& halves, std::uint64_t step, bool holds_all) {
  self.phase("all-gather");
  gifts.clear();
  halves.returns(self, step, gifts);
  for (Gift& gift : gifts) {
    if (!holds_all) std::erase_if(gift.blocks, [&](BlockId id) { return !self.holds(id); });
    if (!gift.blocks.empty()) self.send(gift.route, gift.blocks);
  }
}

Program reduce_scatter(Node& self, const Halves& halves) {
  for (std::uint64_t step = 0; step < halves.steps(); ++step) {
    give(self, halves, step);
    co_await self.step();
  }
}

Program all_gather(Node& self, const Halves& halves, bool holds_all) {
  for (std::uint64_t step = halves.steps(); step-- > 0;) {
    give_back(self, halves, step, holds_all);
    co_await self.step();
  }
}

Program program(Node& self, const Halves& halves, Collective collective) {
  const bool gathers = collective != Collective::reduce_scatter, reduces = collective != Collective::multinode_broadcast;
  if (reduces) co_await reduce_scatter(self, halves);
  if (gathers) co_await all_gather(self, halves, reduces);
}

bool both(const Request& request) { return request.collective == Collective::allreduce; }

SegmentBytes segment_of(const Machine& machine, const Request& request, const Halves& halves) {
  return {request, both(request) ? halves.vector_blocks(machine.topology) : halves.pieces()};
}

}  // namespace

double channel_bytes(const Machine& machine, const Request& request, const Halves& halves, const Halves::Load& load) {
  const SegmentBytes segment = segment_of(machine, request, halves);
  const std::uint64_t blocks = load.channel;
  if (request.collective != Collective::multinode_broadcast || halves.steps() == 0) return segment.of((both(request) ? 2 : 1) * blocks);
  // A bundle carries the messages of those of its owners that are sources: all of them, or about a share. The pieces of a message are there
  // together, or none is.
  const double nodes = machine.topology.living_nodes(), steps = static_cast<double>(halves.steps());
  const double share = multinode::assumed_sources(machine, request) / nodes;
  if (share >= 1) return segment.of(blocks);
  const double pieces = halves.pieces(), bundle = static_cast<double>(blocks) / steps / pieces, ports = machine.topology.max_ports();
  return steps * multinode::fullest(bundle * share, ports * nodes, bundle) * pieces * static_cast<double>(segment.longest);
}

Plan plan_halves(const Machine& machine, const Request& request, std::shared_ptr<const Halves> halves, const std::string& formula,
                 std::optional<std::uint64_t> hops) {
  const SegmentBytes segment = segment_of(machine, request, *halves);
  Plan plan;
  plan.segments = both(request) ? halves->vector_blocks(machine.topology) : halves->pieces();
  plan.steps = (both(request) ? 2 : 1) * halves->steps();
  plan.formula = (both(request) ? "2 " : "") + formula;
  if (hops) plan.route_hops = plan.steps * *hops;
  const Halves::Load load = halves->load();
  plan.channel_bytes = channel_bytes(machine, request, *halves, load);
  plan.combined_bytes = reduces(request.collective) ? segment.of(load.combined) : 0;
  plan.bytes_exact = segment.equal;
  plan.table_bytes = halves->table_bytes();
  plan.node_bytes = Bytes{machine.topology.nodes()} * halves->pieces() * sizeof(BlockId);
  plan.start = [halves, collective = request.collective](Node& self) { return program(self, *halves, collective); };
  if (request.collective == Collective::multinode_broadcast)
    plan.notes = {{"sources assumed by the prediction", multinode::decimal(multinode::assumed_sources(machine, request))}};
  return plan;
}

std::vector<BlockId>& Gifts::add(const Route& route) {
  if (size_ == gifts_.size()) gifts_.emplace_back();
  Gift& gift = gifts_[size_++];
  gift.route = route;
  gift.blocks.clear();
  return gift.blocks;
}

std::vector<BlockId>& Gifts::of(const Route& route) {
  const auto same = [&](const Gift& gift) { return std::equal(gift.route.begin(), gift.route.end(), route.begin(), route.end()); };
  Gift* const found = std::find_if(begin(), end(), same);
  return found != end() ? found->blocks : add(route);
}

}  // namespace torus::reduction
