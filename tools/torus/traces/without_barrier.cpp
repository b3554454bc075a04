#include "tools/torus/traces/without_barrier.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace torus::command {

void BlockingSends::message(const TraceMessage& m) {
  if (m.step != circle_.step && !circle_.nodes.empty()) return;
  if (m.step != circle_.step) {
    circle_.nodes = circle_of_step();
    if (!circle_.nodes.empty()) return;
    circle_.step = m.step;
    receivers_.clear();
  }
  receivers_[m.source].push_back(m.destination);
}

Circle BlockingSends::circle() const { return circle_.nodes.empty() ? Circle{circle_.step, circle_of_step()} : circle_; }

std::vector<NodeId> BlockingSends::circle_of_step() const {
  enum class Seen { on_the_way, done };
  std::map<NodeId, Seen> seen;
  std::vector<std::pair<NodeId, std::size_t>> way;  // a node, and how many of its receivers were looked at
  for (const auto& [first, of_first] : receivers_) {
    if (!seen.contains(first)) way.emplace_back(first, 0);
    while (!way.empty()) {
      auto& [node, looked] = way.back();
      seen[node] = Seen::on_the_way;
      const auto receivers = receivers_.find(node);  // none: it sends nothing, and so receives
      if (receivers == receivers_.end() || looked == receivers->second.size()) {
        seen[node] = Seen::done;
        way.pop_back();
        continue;
      }
      const NodeId next = receivers->second[looked++];
      if (const auto at = seen.find(next); at == seen.end()) {
        way.emplace_back(next, 0);
      } else if (at->second == Seen::on_the_way) {
        std::vector<NodeId> circle;
        for (const auto& [on_it, _] : way)
          if (!circle.empty() || on_it == next) circle.push_back(on_it);
        return circle;
      }
    }
  }
  return {};
}

WithoutBarrier::WithoutBarrier(const TraceHeader& header) : topology_{header.machine.topology}, buffers_{header} {}

void WithoutBarrier::message(const TraceMessage& m) {
  buffers_.message(m);
  sends_.message(m);
  const Topology& topology = topology_;
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
  const auto dimensions = static_cast<std::size_t>(topology_.dimensions());
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

}  // namespace torus::command
