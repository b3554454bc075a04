#include "algorithms/reduction/transfers.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/reduction/route_loads.hpp"

namespace torus::reduction {

Transfers::Transfers(const Rehearsal& rehearsal, const Placement& placement, Step begin) {
  const NodeId nodes = placement.nodes();
  const std::size_t buckets = placement.buckets();
  std::vector<bool> held(nodes * buckets, false), placed(buckets, begin == 0);
  if (begin == 0) {
    for (NodeId node = 0; node < nodes; ++node) {
      for (std::uint64_t i = 0; i < placement.initial_count(node); ++i)
        held[node * buckets + placement.bucket(placement.initial(node, i))] = true;
    }
  }
  for (const Rehearsal::Sent& sent : rehearsal.sent()) {
    if (sent.step < begin) continue;
    const std::size_t first = blocks_.size();
    for (const BlockId id : rehearsal.blocks(sent)) {
      const std::uint32_t bucket = placement.bucket(id);
      if (!placed[bucket]) placed[bucket] = held[sent.from * buckets + bucket] = true;
      if (held[sent.to * buckets + bucket]) continue;
      held[sent.to * buckets + bucket] = true;
      blocks_.push_back(id);
    }
    if (blocks_.size() == first) continue;
    const RouteView route = rehearsal.route(sent);
    sends_.push_back({sent.step - begin, sent.from, sent.to, static_cast<std::uint32_t>(legs_.size()),
                      static_cast<std::uint32_t>(route.size()), static_cast<std::uint32_t>(first),
                      static_cast<std::uint32_t>(blocks_.size() - first)});
    legs_.insert(legs_.end(), route.begin(), route.end());
    steps_ = std::max(steps_, sent.step - begin + 1);
  }
  order(nodes);
}

void Transfers::order(NodeId nodes) {
  std::stable_sort(sends_.begin(), sends_.end(),
                   [](const Send& a, const Send& b) { return std::pair(a.from, a.step) < std::pair(b.from, b.step); });
  start_.assign(std::size_t{nodes} + 1, 0);
  for (const Send& s : sends_) ++start_[std::size_t{s.from} + 1];
  for (std::size_t node = 0; node < nodes; ++node) start_[node + 1] += start_[node];
}

Transfers Transfers::backwards(const Topology& topology) const {
  Transfers out(*this);
  for (Send& s : out.sends_) {
    s.step = steps_ - 1 - s.step;
    std::swap(s.from, s.to);
    const auto first = out.legs_.begin() + s.first_leg;
    std::reverse(first, first + s.legs);
    for (auto leg = first; leg != first + s.legs; ++leg) leg->hops = topology.reverse(leg->dimension, leg->hops);
  }
  out.order(topology.nodes());
  return out;
}

Transfers Transfers::numbered_from(BlockId first) const {
  Transfers out(*this);
  for (BlockId& id : out.blocks_) id -= first;
  return out;
}

Transfers Transfers::bundled(NodeId nodes) const {
  std::vector<const Send*> into(nodes, nullptr), late;
  for (const Send& s : sends_) {
    into[s.to] = &s;
    late.push_back(&s);
  }
  std::stable_sort(late.begin(), late.end(), [](const Send* a, const Send* b) { return a->step > b->step; });
  std::vector<std::vector<BlockId>> subtree(nodes);
  Transfers out(*this);
  out.blocks_.clear();
  for (const Send* s : late) {  // what a node passes on is later than what it got
    std::vector<BlockId>& own = subtree[s->to];
    own.push_back(s->to);
    std::sort(own.begin(), own.end());
    Send& bundle = out.sends_[static_cast<std::size_t>(s - sends_.data())];
    bundle.first_block = static_cast<std::uint32_t>(out.blocks_.size());
    bundle.blocks = static_cast<std::uint32_t>(own.size());
    out.blocks_.insert(out.blocks_.end(), own.begin(), own.end());
    if (into[s->from] != nullptr) subtree[s->from].insert(subtree[s->from].end(), own.begin(), own.end());
    own = {};
  }
  return out;
}

Bytes Transfers::table_bytes() const noexcept {
  return sends_.size() * sizeof(Send) + start_.size() * sizeof(std::size_t) + legs_.size() * sizeof(Leg) + blocks_.size() * sizeof(BlockId);
}

Transfers::Load Transfers::load(const Topology& topology, const Placement& placement) const {
  RouteLoads channels(topology);
  std::vector<ByteSum> at_node(topology.nodes(), 0);
  std::vector<const Send*> by_step;
  for (const Send& s : sends_) by_step.push_back(&s);
  std::stable_sort(by_step.begin(), by_step.end(), [](const Send* a, const Send* b) { return a->step < b->step; });
  Load sum;
  for (auto first = by_step.begin(); first != by_step.end();) {
    const auto end = std::find_if(first, by_step.end(), [&](const Send* s) { return s->step != (*first)->step; });
    ByteSum received = 0;
    for (auto s = first; s != end; ++s) {
      ByteSum bytes = 0;
      for (const BlockId id : blocks(**s)) bytes += times_bytes(1, placement.bytes(id));
      channels.add((*s)->from, route(**s), bytes);
      received = std::max(received, at_node[(*s)->to] += bytes);
    }
    for (auto s = first; s != end; ++s) at_node[(*s)->to] = 0;
    const RouteLoads::Step step = channels.end_step();
    sum.channel += step.most;
    sum.received += received;
    sum.hops += step.hops;
    first = end;
  }
  return sum;
}

Machine Transfers::mirrored(const Machine& machine) {
  Machine mirror = machine;
  if (machine.switching == Switching::wormhole) std::reverse(mirror.routing.begin(), mirror.routing.end());
  return mirror;
}

Program follow(Node& self, const Transfers& transfers, Manner manner, Step begin, const char* phase) {
  for (const Transfers::Send& s : transfers.of(self.rank())) {
    while (self.now() < begin + s.step) co_await self.step();
    self.phase(phase);
    switch (manner) {
      case Manner::combine: self.forward(combine, transfers.route(s), transfers.blocks(s)); break;
      case Manner::give: self.forward(transfers.route(s), transfers.blocks(s)); break;
      case Manner::copy: self.send(transfers.route(s), transfers.blocks(s)); break;
    }
  }
}

}  // namespace torus::reduction
