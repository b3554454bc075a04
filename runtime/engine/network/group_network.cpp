#include "runtime/engine/network/group_network.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>

#include "runtime/base/figures.hpp"
#include "runtime/engine/network/outbox_policies.hpp"
#include "runtime/model/channel.hpp"

namespace torus::detail {
namespace {

/// Notes a message that is not sent, for no route of the machine stands for its own.
[[gnu::cold, gnu::noinline]] void note(const RunState& run, Worker& w, ViolationKind kind, RouteView route) {
  outbox::use_port(w);
  w.findings.suspect = true;
  w.findings.violations.add(kind, run.now, w.node.rank(), [&] {
    std::string legs;
    for (const Leg& leg : route.first(std::min<std::size_t>(route.size(), 8)))
      legs += (legs.empty() ? "[" : ",[") + std::to_string(leg.dimension) + "," + std::to_string(leg.hops) + "]";
    return "the route from " + node_text(run.machine.topology, w.node.rank()) + run.members.text_of_group(w.node.rank()) + " by [" + legs +
           (route.size() > 8 ? ",..]" : "]") +
           (kind == ViolationKind::unknown_dimension ? " names a dimension that the group does not have" : " leaves the group");
  });
}

}  // namespace

GroupNetwork::GroupNetwork(Fabric& fabric, const Groups& groups) noexcept : fabric_{fabric}, groups_{groups} {
  const Topology& topology = groups.topology();
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.wiring(d) != Wiring::ring || topology.extent(d) == 1) continue;  // a leg may leave the group
    for (const std::int32_t hops : {-1, +1}) {
      if (const auto leg = groups.leg_out(groups.member(0, 0), d, hops))
        hops_[static_cast<std::size_t>(4 * d + hops + 1)] = {*leg, fabric.run().channels.hop_slot(leg->dimension, leg->hops)};
    }
  }
}

const GroupNetwork::Hop& GroupNetwork::hop(Dimension dimension, std::int32_t hops) const noexcept {
  const auto row = static_cast<std::uint32_t>(dimension);
  const auto column = static_cast<std::uint32_t>(hops) + 1;  // of any hops without overflow
  return hops_[column < 3 && row < max_dimensions ? 4 * row + column : 3];
}

std::optional<RouteView> GroupNetwork::machine_route(Worker& w, RouteView route) {
  const auto violation = groups_.route_out(w.node.rank(), route, fabric_.run().machine.routing, w.out.group_route);
  if (groups_.carries()) {
    w.out.kept_route.clear();
    std::copy_if(route.begin(), route.end(), std::back_inserter(w.out.kept_route), [](const Leg& leg) { return leg.hops != 0; });
  }
  if (!violation) return RouteView(w.out.group_route);
  note(fabric_.run(), w, *violation, route);
  return std::nullopt;
}

void GroupNetwork::send(Node& node, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
  Worker& w = Fabric::worker();
  const auto way = machine_route(w, route);
  if (!way) return;
  if (groups_.carries()) return outbox::send_keeping(fabric_.run(), w, *way, blocks, header, release);
  fabric_.send(node, *way, blocks, header, release);
}

void GroupNetwork::send_partials(Node& node, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                                 std::uint8_t registers) {
  if (const auto way = machine_route(Fabric::worker(), route)) fabric_.send_partials(node, *way, blocks, header, release, registers);
}

void GroupNetwork::send_block(Node& node, Dimension dimension, std::int32_t hops, BlockId block) {
  Worker& w = Fabric::worker();
  if (const auto leg = groups_.leg_out(w.node.rank(), dimension, hops)) [[likely]]
    return outbox::send_block(fabric_.run(), w, leg->dimension, leg->hops, block);
  const Leg leg{dimension, hops};
  send(node, {&leg, 1}, {&block, 1}, {}, false);
}

void GroupNetwork::forward_block(Node& node, Dimension dimension, std::int32_t hops, BlockId block) {
  const Hop& own = hop(dimension, hops);
  if (own.slot == Channels::no_slot) [[unlikely]]
    return forward_leg(node, dimension, hops, block);
  outbox::forward_hop(fabric_.run(), Fabric::worker(), own.leg.dimension, own.leg.hops, block, [&] { return own.slot; });
}

void GroupNetwork::forward_leg(Node& node, Dimension dimension, std::int32_t hops, BlockId block) {
  Worker& w = Fabric::worker();
  if (const auto leg = groups_.leg_out(w.node.rank(), dimension, hops))
    return outbox::forward_block(fabric_.run(), w, leg->dimension, leg->hops, block);
  const Leg leg{dimension, hops};
  send(node, {&leg, 1}, {&block, 1}, {}, true);
}

void LocalArrivals::localise(const Groups& groups, Worker& w, NodeId rank, Message& m, MachineTerms& terms) {
  const NodeId source = m.source(), destination = m.destination();
  const std::span<Leg> legs = MessageArena::legs(m);
  terms = {source, legs[0]};
  if (destination != rank || legs.size() > 1) {
    w.in.further_terms.push_back({&m, destination});
    w.in.further_legs.insert(w.in.further_legs.end(), legs.begin() + 1, legs.end());
  }
  for (Leg& leg : legs) leg = groups.leg_in(source, destination, leg);
  MessageArena::set_source(m, groups.local(source));
  MessageArena::set_destination(m, groups.local(destination));
}

/// The route that the program of a message's sender named; empty: none is kept, or a fault has brought the message here.
RouteView LocalArrivals::kept_route(const RunState& run, const Worker& w, const Message& m) noexcept {
  const std::size_t arena = run.messages.arena_of(m);
  return w.all[arena / 2].out.arenas[arena % 2].kept(m);
}

void LocalArrivals::localise_all(const RunState& run, const Groups& groups, Worker& w, NodeId rank, std::span<Message*> arrived) {
  const auto route = [&](const Message& m) { return groups.carries() && m.destination() == rank ? kept_route(run, w, m) : RouteView(); };
  if (groups.by_routes() || groups.carries() || groups.turned()) {  // in the order of the group's own in-channels
    const auto place = [&](const Message* m) {
      const RouteView kept = route(*m);
      const Leg last = kept.empty() ? groups.leg_in(m->source(), m->destination(), m->route().back()) : kept.back();
      return std::pair(in_slot_of(groups.topology(), last), groups.local(m->source()));
    };
    std::stable_sort(arrived.begin(), arrived.end(), [&](const Message* a, const Message* b) { return place(a) < place(b); });
  }
  std::byte* to = nullptr;
  if (groups.carries()) {
    std::size_t size = 64;
    for (const Message* m : arrived) size += MessageArena::size_with(*m, route(*m));
    w.in.rewritten.resize(std::max(size, w.in.rewritten.size()));
    void* room = w.in.rewritten.data();
    to = static_cast<std::byte*>(std::align(64, 0, room, size));
  }
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    Message& m = *arrived[i];
    const RouteView kept = route(m);
    if (kept.empty()) {
      localise(groups, w, rank, m, w.in.machine_terms[i]);
      continue;
    }
    w.in.machine_terms[i] = {m.source(), m.route().front()};
    w.in.originals.emplace_back(&arrived[i], &m);
    arrived[i] = &MessageArena::rewrite(to, m, groups.local(m.source()), groups.local(rank), kept);
    to += MessageArena::size_with(m, kept);
  }
}

void LocalArrivals::put_back(Worker& w) noexcept {
  for (const auto& [at, original] : w.in.originals) {
    MessageArena::take_back(*original, **at);
    *at = original;
  }
  w.in.originals.clear();
}

void LocalArrivals::restore_rest(Worker& w) noexcept {
  const Leg* leg = w.in.further_legs.data();
  for (const FurtherTerms& terms : w.in.further_terms) {
    MessageArena::set_destination(*terms.message, terms.destination);
    for (Leg& each : MessageArena::legs(*terms.message).subspan(1)) each = *leg++;
  }
  w.in.further_terms.clear();
  w.in.further_legs.clear();
}

}  // namespace torus::detail
