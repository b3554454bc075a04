/// The auditor: finds the violations of a step from its messages alone. Slow, exact and deterministic. While messages are sent, the engine
/// notices only *that* a rule was broken; it then asks the auditor *which*. Steps without violations never pay for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/violation.hpp>

#include "runtime/engine/members.hpp"
#include "runtime/engine/processes/slab.hpp"
#include "runtime/engine/rules/violations.hpp"
#include "runtime/model/channel.hpp"

namespace torus {

/// All violations among the messages of one step: routes, ports, channels, queues, and partials that meet one that replaces. The order of
/// the messages does not matter. O(hops log hops). Answers for the nodes of a slab, and for the channels that leave them: each part of a
/// machine is asked for its own, with all messages that touch it.
Violations audit(const Machine& machine, const detail::Members& members, const detail::Slab& own, std::span<const Message* const> messages);

/// The node at the end of a route, and the rule of this machine's shape or switching that the route breaks, if any. O(legs).
struct RouteCheck {
  NodeId destination = 0;
  std::int32_t hops = 0;
  std::optional<ViolationKind> violation;
};
/// Whether the auditor follows a route that breaks such a rule, or none: it has an end, and channels.
inline bool leads_somewhere(const std::optional<ViolationKind>& violation) noexcept {
  return !violation || *violation == ViolationKind::not_dimension_ordered || *violation == ViolationKind::more_than_one_hop;
}
RouteCheck check_route(const Machine& machine, NodeId from, RouteView route) noexcept;

// As violations name them.

/// "[[0,2],[1,-1]]".
std::string route_text(RouteView route);
/// "(3,1) dimension 0 direction +1".
std::string channel_text(const Topology& topology, const ChannelName& channel);

}  // namespace torus
