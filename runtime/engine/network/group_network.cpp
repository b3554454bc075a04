#include "runtime/engine/network/group_network.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "runtime/base/figures.hpp"
#include "runtime/engine/network/outbox_policies.hpp"

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

std::optional<RouteView> GroupNetwork::machine_route(Worker& w, RouteView route) {
  const auto violation = groups_.route_out(w.node.rank(), route, fabric_.run().machine.routing, w.out.group_route);
  if (!violation) return RouteView(w.out.group_route);
  note(fabric_.run(), w, *violation, route);
  return std::nullopt;
}

void GroupNetwork::send(Node& node, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
  if (const auto way = machine_route(Fabric::worker(), route)) fabric_.send(node, *way, blocks, header, release);
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
  Worker& w = Fabric::worker();
  if (const auto leg = groups_.leg_out(w.node.rank(), dimension, hops)) [[likely]]
    return outbox::forward_block(fabric_.run(), w, leg->dimension, leg->hops, block);
  const Leg leg{dimension, hops};
  send(node, {&leg, 1}, {&block, 1}, {}, true);
}

LocalArrivals::LocalArrivals(const Groups& groups, Worker& w, const Node& node, ArrivedMessages& arrived)
    : worker_{w}, first_{arrived.room.data()}, size_{arrived.size} {
  if (groups.by_routes()) {  // in the order of the group's own in-channels
    const auto offset = [&](const Message* m) { return groups.leg_in(m->source(), m->destination(), {}).hops; };
    std::stable_sort(arrived.room.data(), arrived.room.data() + size_,
                     [&](const Message* a, const Message* b) { return offset(a) < offset(b); });
  }
  w.in.machine_terms.clear();
  w.in.machine_legs.clear();
  for (std::size_t i = 0; i < size_; ++i) {
    Message& m = *first_[i];
    const NodeId source = m.source(), destination = m.destination();
    w.in.machine_terms.push_back(MessageArena::addresses(m));
    for (Leg& leg : MessageArena::legs(m)) {
      w.in.machine_legs.push_back(leg);
      leg = groups.leg_in(source, destination, leg);
    }
    MessageArena::readdress(m, {MessageArena::step_and_source(m.step(), groups.local(source)),
                                destination == w.node.rank() ? node.rank() : groups.local(destination)});
  }
}

LocalArrivals::~LocalArrivals() {
  const Leg* leg = worker_.in.machine_legs.data();
  for (std::size_t i = 0; i < size_; ++i) {
    Message& m = *first_[i];
    MessageArena::readdress(m, worker_.in.machine_terms[i]);
    for (Leg& each : MessageArena::legs(m)) each = *leg++;
  }
}

}  // namespace torus::detail
