#include "tools/torus/traces/without_barrier.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace torus::command {

WithoutBarrier::WithoutBarrier(const TraceHeader& header) : header_{header} {}

void WithoutBarrier::message(const TraceMessage& m) {
  const Topology& topology = header_.machine.topology;
  std::optional<Crossing> held;
  NodeId at = m.source;
  for (const Leg& leg : m.path) {
    const bool complete = topology.wiring(leg.dimension) == Wiring::complete;
    const std::int32_t direction = complete ? modulo(leg.hops, topology.extent(leg.dimension)) : leg.hops > 0 ? 1 : -1;
    if (direction == 0) return;
    // A walk once round a ring and one hop more has the cycle that any longer one has.
    const std::int64_t hops = complete ? 1 : std::min<std::int64_t>(std::abs(std::int64_t{leg.hops}), topology.circle(leg.dimension) + 1);
    bool over_the_end = false;
    for (std::int64_t i = 0; i < hops; ++i) {
      const auto next = topology.neighbour(at, leg.dimension, direction);
      if (!next) return;
      const Crossing asked{{at, leg.dimension, direction}, over_the_end};
      if (held) edges_.try_emplace({*held, asked}, Dependence{held->channel, asked.channel, m.step, m.source, m.destination});
      held = asked;
      const std::int32_t to = topology.coordinate(at, leg.dimension) + direction;
      if (!complete && (to < 0 || to >= topology.extent(leg.dimension))) over_the_end = true;
      at = *next;
    }
  }
  if (m.blocks.empty()) return;
  const bool alike = header_.sizes.empty() || !header_.groups.empty();
  for (const std::uint64_t block : m.blocks) {
    const Bytes bytes = alike || block >= header_.sizes.size() ? m.bytes / m.blocks.size() : header_.sizes[block];
    if (const auto node = waits_.find(m.source); node != waits_.end()) {
      if (const auto wait = node->second.find(block); wait != node->second.end()) wait->second.until = m.step;
    }
    waits_[m.destination].try_emplace(block, Wait{m.step, m.step, bytes});
  }
}

std::vector<Dependence> WithoutBarrier::cycle(const std::vector<bool>& datelines) const {
  const auto channel_of = [&](Crossing c) {
    const auto d = static_cast<std::size_t>(c.channel.dimension);
    c.over_the_end = c.over_the_end && d < datelines.size() && datelines[d];
    return c;
  };
  std::map<Crossing, std::map<Crossing, const Dependence*>> asked_by;
  std::map<Crossing, std::uint64_t> holders;  // dependences that ask for a channel
  for (const auto& [edge, dependence] : edges_) {
    const Crossing held = channel_of(edge.first), asked = channel_of(edge.second);
    holders.try_emplace(held, 0);
    if (asked_by[held].try_emplace(asked, &dependence).second) ++holders[asked];
  }
  // Channels that nobody waits for while holding another can be left out, and then others: a cycle remains.
  std::deque<Crossing> free;
  for (const auto& [channel, count] : holders)
    if (count == 0) free.push_back(channel);
  for (; !free.empty(); free.pop_front()) {
    holders.erase(free.front());
    for (const auto& [asked, dependence] : asked_by[free.front()])
      if (--holders[asked] == 0) free.push_back(asked);
  }
  if (holders.empty()) return {};
  // Each channel that remains is asked for by the holder of another that does: back along these, a channel comes again.
  std::map<Crossing, Crossing> before;
  for (const auto& [held, rest] : asked_by)
    for (const auto& [asked, dependence] : rest)
      if (holders.contains(held)) before.try_emplace(asked, held);
  Crossing start = holders.begin()->first;
  for (std::set<Crossing> seen; seen.insert(start).second;) start = before.at(start);
  // The shortest way from there back to it.
  std::map<Crossing, std::pair<Crossing, const Dependence*>> reached;
  std::deque<Crossing> next{start};
  for (; !reached.contains(start); next.pop_front())
    for (const auto& [asked, dependence] : asked_by[next.front()])
      if (reached.try_emplace(asked, next.front(), dependence).second) next.push_back(asked);
  std::vector<Dependence> cycle;
  Crossing at = start;
  do {
    const auto& [held, dependence] = reached.at(at);
    cycle.push_back(*dependence);
    at = held;
  } while (at != start);
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

std::optional<std::vector<Dimension>> WithoutBarrier::datelines() const {
  const auto dimensions = static_cast<std::size_t>(header_.machine.topology.dimensions());
  std::vector<bool> chosen(dimensions, true);
  if (!cycle(chosen).empty()) return std::nullopt;
  for (std::size_t d = 0; d < dimensions; ++d) {
    chosen[d] = false;
    chosen[d] = !cycle(chosen).empty();
  }
  std::vector<Dimension> needed;
  for (std::size_t d = 0; d < dimensions; ++d)
    if (chosen[d]) needed.push_back(static_cast<Dimension>(d));
  return needed;
}

Buffered WithoutBarrier::buffered() const {
  Buffered most;
  for (const auto& [node, waits] : waits_) {
    std::map<Step, Buffered> come, gone;
    for (const auto& [block, wait] : waits) {
      if (wait.until <= wait.since) continue;
      ++come[wait.since].blocks;
      come[wait.since].bytes += wait.bytes;
      ++gone[wait.until].blocks;
      gone[wait.until].bytes += wait.bytes;
    }
    Buffered now;
    auto leaves = gone.begin();
    for (const auto& [step, arrived] : come) {
      for (; leaves != gone.end() && leaves->first <= step; ++leaves) {
        now.blocks -= leaves->second.blocks;
        now.bytes -= leaves->second.bytes;
      }
      now.blocks += arrived.blocks;
      now.bytes += arrived.bytes;
      most.blocks = std::max(most.blocks, now.blocks);
      most.bytes = std::max(most.bytes, now.bytes);
    }
  }
  return most;
}

}  // namespace torus::command
