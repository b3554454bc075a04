#include "runtime/engine/rules/auditor.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/figures.hpp"
#include "runtime/engine/payload/partials.hpp"

namespace torus {

std::string route_text(RouteView route) {
  std::string text = "[";
  for (const Leg& leg : route) {
    if (text.size() > 60) return text + ",..]";
    text += (text.size() > 1 ? "," : "") + ("[" + std::to_string(leg.dimension) + "," + std::to_string(leg.hops) + "]");
  }
  return text + "]";
}

std::string channel_text(const Topology& topology, const ChannelName& channel) {
  return node_text(topology, channel.from) + " dimension " + std::to_string(channel.dimension) + " direction " +
         (channel.hop > 0 ? "+" : "") + std::to_string(channel.hop);
}

namespace {

std::string text_of(const Topology& topology, const detail::Members& members, const Message& m) {
  std::string text = node_text(topology, m.source()) + members.text_of_group(m.source()) + " by " + route_text(m.route());
  text +=
      m.blocks().empty() ? ", control only" : ", " + counted(m.blocks().size(), "block") + " from " + std::to_string(m.blocks().front());
  return text;
}

std::string text_of_ports(int ports) { return counted(static_cast<std::uint64_t>(ports), "port"); }

/// The messages of one node, among messages in trace_order().
std::span<const Message* const> sent_by(std::span<const Message* const> messages, NodeId node) {
  const auto begin = std::partition_point(messages.begin(), messages.end(), [node](const Message* m) { return m->source() < node; });
  return {begin, std::find_if(begin, messages.end(), [node](const Message* m) { return m->source() != node; })};
}

std::string_view words(ViolationKind kind) {
  switch (kind) {
    case ViolationKind::empty_route: return "has no hop";
    case ViolationKind::unknown_dimension: return "names a dimension that the machine does not have";
    case ViolationKind::leaves_the_machine: return "leaves the machine";
    case ViolationKind::dead_channel: return "crosses a dead channel";
    case ViolationKind::more_than_one_hop: return "takes more than one hop, under packet switching";
    case ViolationKind::not_dimension_ordered: return "is not dimension-ordered, under wormhole switching";
    case ViolationKind::channel_crossed_twice: return "crosses a channel twice";
    default: return "is not allowed";
  }
}

}  // namespace

std::string_view name(ViolationKind kind) noexcept {
  switch (kind) {
    case ViolationKind::empty_route: return "empty route";
    case ViolationKind::unknown_dimension: return "unknown dimension";
    case ViolationKind::leaves_the_machine: return "route leaves the machine";
    case ViolationKind::dead_channel: return "route over a dead channel";
    case ViolationKind::more_than_one_hop: return "more than one hop";
    case ViolationKind::not_dimension_ordered: return "not dimension-ordered";
    case ViolationKind::channel_crossed_twice: return "channel crossed twice by one message";
    case ViolationKind::channel_used_twice: return "channel used twice";
    case ViolationKind::too_many_sends: return "too many sends";
    case ViolationKind::too_many_receives: return "too many receives";
    case ViolationKind::block_not_held: return "block not held";
    case ViolationKind::queue_overflow: return "queue overflow";
    case ViolationKind::replaced_and_more: return "replaced and more";
    case ViolationKind::leaves_the_group: return "message leaves its group";
  }
  return "";
}

RouteCheck check_route(const Machine& machine, NodeId from, RouteView route) noexcept {
  const Topology& topology = machine.topology;
  RouteCheck check{from, 0, std::nullopt};
  std::uint64_t total = 0;
  std::int32_t last_position = -1;  // in the machine's routing order
  for (const Leg& leg : route) {
    if (leg.dimension < 0 || leg.dimension >= topology.dimensions()) {
      check.violation = ViolationKind::unknown_dimension;
      return check;
    }
    if (leg.hops == 0) continue;
    const std::int32_t n = topology.extent(leg.dimension);
    const bool complete = topology.wiring(leg.dimension) == Wiring::complete;
    if (n == 1 || (complete && (leg.hops < 1 || leg.hops >= n))) {
      check.violation = ViolationKind::leaves_the_machine;
      return check;
    }
    const auto next = topology.neighbour(check.destination, leg.dimension, leg.hops);
    if (!next) {
      check.violation = ViolationKind::leaves_the_machine;
      return check;
    }
    check.destination = *next;
    total += complete ? 1 : static_cast<std::uint64_t>(std::abs(std::int64_t{leg.hops}));
    if (machine.switching == Switching::wormhole) {
      std::int32_t position = 0;
      while (machine.routing[static_cast<std::size_t>(position)] != leg.dimension) ++position;
      if (position <= last_position) check.violation = ViolationKind::not_dimension_ordered;
      last_position = position;
    }
    if (!complete && std::abs(std::int64_t{leg.hops}) > topology.circle(leg.dimension)) {  // more than one full circle
      check.violation = ViolationKind::channel_crossed_twice;
      return check;
    }
  }
  check.hops = static_cast<std::int32_t>(total);
  if (total == 0) check.violation = ViolationKind::empty_route;
  if (total > 1 && machine.switching == Switching::packet) check.violation = ViolationKind::more_than_one_hop;
  if (!topology.whole()) {
    each_channel(topology, from, route, [&](const ChannelName& c) {
      if (!topology.passes(c.from, c.dimension, c.hop)) check.violation = ViolationKind::dead_channel;
    });
  }
  return check;
}

namespace {

/// What is said of a node that sends more than it has ports: how many messages, and where to.
std::string text_of_sends(const Machine& machine, const detail::Members& members, std::span<const Message* const> sent) {
  constexpr std::size_t most = 4;
  const NodeId node = sent.front()->source();
  std::string text = "node " + node_text(machine.topology, node) + members.text_of_group(node) + " sends " + std::to_string(sent.size()) +
                     " messages on " + text_of_ports(members.seen().ports) + ":";
  for (const Message* m : sent.first(std::min(sent.size(), most))) {
    const RouteCheck route = check_route(machine, node, m->route());
    if (leads_somewhere(route.violation)) text += " to " + node_text(machine.topology, route.destination);
    text += " by " + route_text(m->route()) + (m == sent.back() ? "" : ",");
  }
  return text + (sent.size() > most ? " .." : "");
}

}  // namespace

/// Partials that meet at a node in one step where one of them takes the place of what is held.
void audit_partials(const Topology& topology, const detail::Members& members, NodeId node, std::span<const Message* const> arrived,
                    Violations& found) {
  std::map<BlockId, const Message*> first;
  std::set<BlockId> named;
  const auto arrive = [&](const Message& m, BlockId id) {
    const auto [at, alone] = first.try_emplace(id, &m);
    if (alone || (m.combines() && at->second->combines()) || !named.insert(id).second) return;
    found.add(ViolationKind::replaced_and_more, m.step(), node, std::array{at->second, &m}, [&, before = at->second] {
      return "node " + node_text(topology, node) + members.text_of_group(node) + " gets block " + std::to_string(id) + " twice, " +
             (m.combines() || before->combines() ? "replaced and combined in one step" : "replaced twice in one step") + ": from " +
             text_of(topology, members, *before) + "; and from " + text_of(topology, members, m);
    });
  };
  for (const Message* m : arrived) {
    for (const BlockId id : m->blocks()) detail::each_target(members.placement(), *m, id, [&](BlockId target) { arrive(*m, target); });
  }
}

Violations audit(const Machine& machine, const detail::Members& members, const detail::Slab& own,
                 std::span<const Message* const> unordered) {
  const Topology& topology = machine.topology;
  const int ports = members.seen().ports;
  std::vector<const Message*> messages(unordered.begin(), unordered.end());
  std::sort(messages.begin(), messages.end(), trace_order);
  Violations found;
  std::map<NodeId, int> sent;
  std::map<NodeId, std::vector<const Message*>> received;
  std::map<ChannelName, const Message*> owner;
  std::map<ChannelName, std::vector<const Message*>> queues;  // keyed by the receiver, with the dimension and direction of travel
  for (const Message* m : messages) {
    const RouteCheck route = check_route(machine, m->source(), m->route());
    if (own.owns(m->source()) && ++sent[m->source()] == ports + 1) {
      const auto all = sent_by(messages, m->source());
      found.add(ViolationKind::too_many_sends, m->step(), m->source(), all, [&] { return text_of_sends(machine, members, all); });
    }
    if (route.violation && own.owns(m->source())) {
      found.add(*route.violation, m->step(), m->source(), std::array{m},
                [&] { return "the route from " + text_of(topology, members, *m) + " " + std::string(words(*route.violation)); });
    }
    if (!leads_somewhere(route.violation)) continue;
    if (own.owns(route.destination)) received[route.destination].push_back(m);
    if (own.owns(route.destination) && machine.contention == Contention::share) {
      const Leg last = m->route().back();
      const bool complete = topology.wiring(last.dimension) == Wiring::complete;
      queues[{route.destination, last.dimension, complete ? last.hops : last.hops > 0 ? 1 : -1}].push_back(m);
    }
    std::set<ChannelName> crossed;
    bool twice = false;  // reported once: a route may cross its channels thousands of times
    each_channel(topology, m->source(), m->route(), [&](const ChannelName& channel) {
      if (!crossed.insert(channel).second) {
        if (std::exchange(twice, true) || !own.owns(m->source())) return;
        found.add(ViolationKind::channel_crossed_twice, m->step(), m->source(), std::array{m}, [&] {
          return "the message from " + text_of(topology, members, *m) + " crosses channel " + channel_text(topology, channel) + " twice";
        });
        return;
      }
      if (!own.owns(channel.from)) return;
      const auto [at, first] = owner.try_emplace(channel, m);
      if (!first && machine.contention == Contention::forbid) {
        found.add(ViolationKind::channel_used_twice, m->step(), m->source(), std::array{at->second, m}, [&, carried = at->second] {
          return "channel " + channel_text(topology, channel) + " carries two messages: from " + text_of(topology, members, *carried) +
                 "; and from " + text_of(topology, members, *m);
        });
      }
    });
  }
  for (const auto& [node, arrived] : received) {
    if (members.placement().reduces()) audit_partials(topology, members, node, arrived, found);
    if (arrived.size() <= static_cast<std::size_t>(ports)) continue;
    found.add(ViolationKind::too_many_receives, arrived[0]->step(), node, arrived, [&, at = node, &all = arrived] {
      return "node " + node_text(topology, at) + " receives " + std::to_string(all.size()) + " messages on " + text_of_ports(ports) +
             ": from " + text_of(topology, members, *all[0]) + "; from " + text_of(topology, members, *all[1]);
    });
  }
  for (const auto& [channel, arrived] : queues) {
    if (arrived.size() <= static_cast<std::size_t>(shared_queue_depth)) continue;
    found.add(ViolationKind::queue_overflow, arrived[0]->step(), channel.from, std::array{arrived.back()},
              [&, &at = channel, &all = arrived] {
                return "the queue of channel " + channel_text(topology, at) + " at its end holds " + std::to_string(shared_queue_depth) +
                       " messages, and " + std::to_string(all.size()) + " arrive: the last from " + text_of(topology, members, *all.back());
              });
  }
  return found;
}

}  // namespace torus
