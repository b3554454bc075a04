#include <algorithm>
#include <utility>

#include <torus/error.hpp>
#include <torus/schedule.hpp>

#include "algorithms/schedule/route_loads.hpp"

namespace torus {
namespace {

/// Sends in the order of `before`, which compares two of them; equal ones in the order of the list.
template <class Before>
std::vector<const Schedule::Send*> sorted(std::span<const Schedule::Send> sends, Before before) {
  std::vector<const Schedule::Send*> out;
  out.reserve(sends.size());
  for (const Schedule::Send& s : sends) out.push_back(&s);
  std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) { return before(*a, *b); });
  return out;
}

Manner reversed(Manner manner) {
  TORUS_ASSERT(manner != Manner::share);
  return manner == Manner::copy ? Manner::combine : manner == Manner::combine ? Manner::copy : manner;
}

}  // namespace

Schedule::Schedule(const Rehearsal& rehearsal, const Placement& placement, Step begin) : Schedule(placement.nodes()) {
  const std::size_t buckets = placement.buckets();
  std::vector<bool> held(nodes() * buckets, false), placed(buckets, begin == 0);
  if (begin == 0) {
    for (NodeId node = 0; node < nodes(); ++node) {
      for (std::uint64_t i = 0; i < placement.initial_count(node); ++i)
        held[node * buckets + placement.bucket(placement.initial(node, i))] = true;
    }
  }
  std::vector<BlockId> first_time;
  for (const Rehearsal::Sent& sent : rehearsal.sent()) {
    if (sent.step < begin) continue;
    first_time.clear();
    for (const BlockId id : rehearsal.blocks(sent)) {
      const std::uint32_t bucket = placement.bucket(id);
      if (!placed[bucket]) placed[bucket] = held[sent.from * buckets + bucket] = true;
      if (held[sent.to * buckets + bucket]) continue;
      held[sent.to * buckets + bucket] = true;
      first_time.push_back(id);
    }
    if (!first_time.empty()) add(sent.step - begin, sent.from, sent.to, rehearsal.route(sent), first_time, Manner::copy);
  }
  sort();
}

void Schedule::add(Step step, NodeId from, NodeId to, RouteView route, std::span<const BlockId> blocks, Manner manner,
                   std::uint8_t registers) {
  sends_.push_back({step, from, to, static_cast<std::uint32_t>(legs_.size()), blocks_.size(), static_cast<std::uint32_t>(blocks.size()),
                    static_cast<std::uint16_t>(route.size()), manner, registers});
  legs_.insert(legs_.end(), route.begin(), route.end());
  blocks_.insert(blocks_.end(), blocks.begin(), blocks.end());
  steps_ = std::max(steps_, step + 1);
}

void Schedule::sort() {
  std::stable_sort(sends_.begin(), sends_.end(),
                   [](const Send& a, const Send& b) { return std::pair(a.from, a.step) < std::pair(b.from, b.step); });
  std::fill(start_.begin(), start_.end(), 0);
  for (const Send& s : sends_) ++start_[std::size_t{s.from} + 1];
  for (std::size_t node = 0; node < nodes(); ++node) start_[node + 1] += start_[node];
}

Schedule Schedule::backwards(const Topology& topology) const {
  Schedule out(*this);
  for (Send& s : out.sends_) {
    s.step = steps_ - 1 - s.step;
    s.manner = reversed(s.manner);
    std::swap(s.from, s.to);
    const auto first = out.legs_.begin() + s.first_leg;
    std::reverse(first, first + s.legs);
    for (auto leg = first; leg != first + s.legs; ++leg) leg->hops = topology.reverse(leg->dimension, leg->hops);
  }
  out.phases_.clear();
  out.sort();
  return out;
}

Schedule Schedule::bundled() const {
  std::vector<const Send*> into(nodes(), nullptr);
  for (const Send& s : sends_) into[s.to] = &s;
  std::vector<std::vector<BlockId>> subtree(nodes());
  Schedule out(*this);
  out.blocks_.clear();
  for (const Send* s : sorted(sends_, [](const Send&a, const Send&b) { return a.step > b.step; })) {  // a node sends after it receives
    std::vector<BlockId>& own = subtree[s->to];
    own.push_back(s->to);
    std::sort(own.begin(), own.end());
    Send& bundle = out.sends_[static_cast<std::size_t>(s - sends_.data())];
    bundle.manner = Manner::give;
    bundle.first_block = out.blocks_.size();
    bundle.blocks = static_cast<std::uint32_t>(own.size());
    out.blocks_.insert(out.blocks_.end(), own.begin(), own.end());
    if (into[s->from] != nullptr) subtree[s->from].insert(subtree[s->from].end(), own.begin(), own.end());
    own = {};
  }
  return out;
}

Schedule Schedule::renumbered(const std::function<BlockId(BlockId)>& f) const {
  Schedule out(*this);
  for (BlockId& id : out.blocks_) id = f(id);
  return out;
}

void Schedule::merge(const Schedule& other, Step begin) {
  sends_.reserve(sends_.size() + other.sends_.size());
  blocks_.reserve(blocks_.size() + other.blocks_.size());
  for (const Send& s : other.sends_) add(begin + s.step, s.from, s.to, other.route(s), other.blocks(s), s.manner, s.registers);
  for (const Phase& phase : other.phases_) phases_.push_back({begin + phase.begin, phase.name});
  std::stable_sort(phases_.begin(), phases_.end(), [](const Phase& a, const Phase& b) { return a.begin < b.begin; });
  sort();
}

const char* Schedule::phase(Step step) const noexcept {
  const char* name = nullptr;
  for (const Phase& phase : phases_) {
    if (phase.begin <= step) name = phase.name;
  }
  return name;
}

Bytes Schedule::table_bytes() const noexcept {
  return sends_.size() * sizeof(Send) + start_.size() * sizeof(std::size_t) + legs_.size() * sizeof(Leg) + blocks_.size() * sizeof(BlockId);
}

Schedule::Loads Schedule::loads(const Topology& topology, const std::function<ByteSum(BlockId)>& bytes_of) const {
  RouteLoads channels(topology);
  std::vector<ByteSum> at_node(topology.nodes(), 0);
  const std::vector<const Send*> by_step = sorted(sends_, [](const Send& a, const Send& b) { return a.step < b.step; });
  Loads sum;
  for (auto first = by_step.begin(); first != by_step.end();) {
    const auto end = std::find_if(first, by_step.end(), [&](const Send* s) { return s->step != (*first)->step; });
    ByteSum combined = 0;
    for (auto s = first; s != end; ++s) {
      ByteSum bytes = 0;
      for (const BlockId id : blocks(**s)) bytes += bytes_of(id);
      channels.add((*s)->from, route(**s), bytes);
      if ((*s)->manner == Manner::combine || (*s)->manner == Manner::share) combined = std::max(combined, at_node[(*s)->to] += bytes);
    }
    for (auto s = first; s != end; ++s) at_node[(*s)->to] = 0;
    const RouteLoads::StepLoad step = channels.end_step();
    sum.channel += step.most;
    sum.combined += combined;
    sum.hops += step.hops;
    first = end;
  }
  return sum;
}

Schedule::Loads Schedule::loads(const Topology& topology, const Placement& placement) const {
  return loads(topology, [&](BlockId id) { return times_bytes(1, placement.bytes(id)); });
}

Machine Schedule::mirrored(const Machine& machine) {
  Machine mirror = machine;
  if (machine.switching == Switching::wormhole) std::reverse(mirror.routing.begin(), mirror.routing.end());
  return mirror;
}

void send(Node& self, RouteView route, std::span<const BlockId> blocks, Manner manner, std::uint8_t registers) {
  switch (manner) {
    case Manner::copy: self.send(route, blocks); break;
    case Manner::give: self.forward(route, blocks); break;
    case Manner::combine: self.forward(Combine{registers}, route, blocks); break;
    case Manner::share: self.send(Combine{registers}, route, blocks); break;
  }
}

Program follow(Node& self, const Schedule& schedule, Step begin) {
  for (const Schedule::Send& s : schedule.of(self.rank())) {
    while (self.now() < begin + s.step) co_await self.step();
    if (const char* phase = schedule.phase(s.step); phase != nullptr) self.phase(phase);
    send(self, schedule.route(s), schedule.blocks(s), s.manner, s.registers);
  }
}

}  // namespace torus
