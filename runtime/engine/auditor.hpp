/// The judge of a step, from its messages alone: slow, exact, deterministic. The engine notices at once *that* a step broke a rule, while
/// messages are sent, and then asks the auditor *what* was broken first; so a healthy step never pays for it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/violation.hpp>

namespace torus {

/// All violations among the messages of one step (routes, ports, channels, queues), the same whatever the order of the messages. O(hops log
/// hops).
Violations audit(const Machine& machine, std::span<const Message* const> messages);

/// The node at the end of a route, or the offence that it is for this machine's shape and switching. O(legs).
struct RouteCheck {
  NodeId destination = 0;
  std::int32_t hops = 0;
  std::optional<Offence> offence;
};
RouteCheck check_route(const Machine& machine, NodeId from, RouteView route) noexcept;

}  // namespace torus
