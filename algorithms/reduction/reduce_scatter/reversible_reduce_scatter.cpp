#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction {
namespace {

// Plain functions, so that the lists of a step are not in the frame of the node.
void send(Node& self, const ReversibleReduceScatter& half, std::uint64_t step) {
  self.phase("reduce-scatter");
  Sends out;
  half.sends(self, step, out);
  for (const Sends::RoutedBlocks& send : out) {
    if (!send.blocks.empty()) self.forward(combine, send.route, send.blocks);
  }
}

void send_back(Node& self, const ReversibleReduceScatter& half, std::uint64_t step, bool holds_all) {
  self.phase("all-gather");
  Sends out;
  half.mirrored_sends(self, step, out);
  for (Sends::RoutedBlocks& send : out) {
    if (!holds_all) std::erase_if(send.blocks, [&](BlockId id) { return !self.holds(id); });
    if (!send.blocks.empty()) self.send(send.route, send.blocks);
  }
}

Program reduce_scatter(Node& self, const ReversibleReduceScatter& half) {
  for (std::uint64_t step = 0; step < half.steps(); ++step) {
    send(self, half, step);
    co_await self.step();
  }
}

Program all_gather(Node& self, const ReversibleReduceScatter& half, bool holds_all) {
  for (std::uint64_t step = half.steps(); step-- > 0;) {
    send_back(self, half, step, holds_all);
    co_await self.step();
  }
}

Program program(Node& self, const ReversibleReduceScatter& half, Collective collective) {
  const bool gathers = collective != Collective::reduce_scatter, reduces = collective != Collective::multinode_broadcast;
  if (reduces) co_await reduce_scatter(self, half);
  if (gathers) co_await all_gather(self, half, reduces);
}

bool both(const Request& request) { return request.collective == Collective::allreduce; }

/// Whether the prediction is for blocks of all nodes.
bool all_send(const Machine& machine, const Request& request) {
  return request.collective != Collective::multinode_broadcast ||
         multinode_broadcast::assumed_sources(machine, request) >= machine.topology.living_nodes();
}

ByteSum channel_bytes(const Machine& machine, const Request& request, const ReversibleReduceScatter& half, std::uint64_t blocks,
                      const SegmentBytes& segment) {
  if (request.collective != Collective::multinode_broadcast || half.steps() == 0) return segment.of((both(request) ? 2 : 1) * blocks);
  // A bundle carries the messages of those of its owners that are sources: all of them, or about a share. The pieces of a message are there
  // together, or none is.
  const double nodes = machine.topology.living_nodes(), steps = static_cast<double>(half.steps());
  const double share = multinode_broadcast::assumed_sources(machine, request) / nodes;
  if (share >= 1) return segment.of(blocks);
  const double pieces = half.pieces(), bundle = static_cast<double>(blocks) / steps / pieces, ports = machine.topology.max_ports();
  const double whole = steps * multinode_broadcast::fullest(bundle * share, ports * nodes, bundle) * pieces;
  // The median of a few messages on many channels is none; a node with the fewest channels takes all of them.
  const double least = std::ceil(nodes * share * pieces /
                                 static_cast<double>(senders(machine.topology, static_cast<std::uint64_t>(machine.ports)).rbegin()->first));
  return std::max(whole, least) * static_cast<double>(segment.longest);
}

}  // namespace

Plan plan_reversible(const Machine& machine, const Request& request, std::shared_ptr<const ReversibleReduceScatter> half,
                     const std::string& formula, std::optional<std::uint64_t> hops) {
  Plan plan;
  plan.segments = both(request) ? half->vector_blocks(machine.topology) : half->pieces();
  const SegmentBytes segment(request, plan.segments);
  plan.steps = (both(request) ? 2 : 1) * half->steps();
  plan.formula = (both(request) ? "2 " : "") + formula;
  if (hops) plan.route_hops = plan.steps * *hops;
  const ReversibleReduceScatter::Load load = half->load();
  plan.channel_bytes = channel_bytes(machine, request, *half, load.channel, segment);
  if (!machine.cost.one_speed() && load.channel_byte_s > 0 && all_send(machine, request))
    plan.channel_time_s = (both(request) ? 2 : 1) * load.channel_byte_s * static_cast<double>(segment.longest);
  plan.combined_bytes = facts_of(request.collective).combines ? segment.of(load.combined) : 0;
  plan.bytes_exact = segment.equal;
  const Bytes list_of_worker = Bytes{machine.topology.nodes()} * half->pieces() * sizeof(BlockId);  // for the node that it runs
  plan.table_bytes = half->table_bytes() + list_of_worker;
  plan.start = [half, collective = request.collective](Node& self) { return program(self, *half, collective); };
  // Messages of two steps list a block once or, where they go farther, at times once more. To neighbours go few, where the sources are few.
  const std::uint64_t ports = static_cast<std::uint64_t>(machine.topology.max_ports());
  const std::uint64_t blocks =
      half->pieces() * (request.collective == Collective::multinode_broadcast ? request.sources.size() : machine.topology.nodes());
  if (machine.contention == Contention::share) plan.message_bytes = bytes_of_messages(std::min(ports, blocks));
  if (request.collective == Collective::multinode_broadcast && machine.switching == Switching::packet)
    plan.message_bytes = std::min({plan.message_bytes, bytes_of_messages(1) / 2 * blocks,  // each comes to a node once
                                   static_cast<Bytes>(std::ceil(load.messages * static_cast<double>(bytes_of_messages(1) * blocks)))});
  if (facts_of(request.collective).combines)
    plan.message_bytes += (machine.switching == Switching::packet ? 2 : 3) * sizeof(BlockId) * blocks;
  else if (machine.switching == Switching::packet)
    plan.message_bytes += std::min(64 * ports, 2 * sizeof(BlockId) * (blocks - std::min<std::uint64_t>(blocks, half->pieces())));
  else
    plan.message_bytes += 2 * sizeof(BlockId) * blocks;
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
    if (facts_of(request.collective).combines) make(reduce_scatter(self, *half));
    if (request.collective != Collective::reduce_scatter) make(all_gather(self, *half, true));
  });
  if (request.collective == Collective::multinode_broadcast)
    plan.notes = {
        {"sources assumed by the prediction", multinode_broadcast::decimal(multinode_broadcast::assumed_sources(machine, request))}};
  return plan;
}

Sends::Blocks& Sends::by(const Route& route) {
  const auto same = [&](const RoutedBlocks& send) { return std::equal(send.route.begin(), send.route.end(), route.begin(), route.end()); };
  const auto found = std::find_if(begin(), end(), same);
  return found != end() ? found->blocks : add(route);
}

}  // namespace torus::reduction
