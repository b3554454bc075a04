// The engine follows routes by a way of its own, since it must be fast. What it takes for legal, and where it says that a route ends, is
// what the auditor's slow rules and a walk hop by hop say.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <torus/engine.hpp>
#include <torus/route.hpp>

#include "runtime/engine/rules/auditor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

using Random = std::mt19937_64;

std::int32_t between(std::int32_t least, std::int32_t most, Random& random) {
  return least + static_cast<std::int32_t>(support::random_below(random, static_cast<std::uint64_t>(most - least) + 1));
}

Machine random_machine(Topology topology, Random& random) {
  const auto switching = static_cast<Switching>(between(0, 2, random));
  std::vector<Dimension> routing(static_cast<std::size_t>(topology.dimensions()));
  std::iota(routing.begin(), routing.end(), 0);
  std::shuffle(routing.begin(), routing.end(), random);
  return Machine(std::move(topology), 0, switching, between(0, 1, random) == 0 ? Contention::forbid : Contention::share,
                 std::move(routing));
}

/// Mostly legal legs; some of 0 hops, too long, over a border or in a dimension that there is not.
std::vector<Leg> random_route(const Machine& machine, Random& random) {
  std::vector<Leg> route;
  std::vector<Dimension> dimensions = machine.routing;
  if (between(0, 3, random) == 0) std::shuffle(dimensions.begin(), dimensions.end(), random);
  for (const Dimension d : dimensions) {
    if (between(0, 2, random) > 0) continue;
    const std::int32_t n = machine.topology.extent(d);
    const bool packet = machine.switching == Switching::packet;
    const std::int32_t most = packet ? 1 : between(0, 4, random) == 0 ? n + 1 : n - 1;
    route.push_back({d, between(machine.topology.wiring(d) == Wiring::complete ? -1 : -most, most, random)});
  }
  const auto any = [&] { return route.begin() + between(0, static_cast<std::int32_t>(route.size()), random); };
  if (between(0, 19, random) == 0) route.insert(any(), {machine.topology.dimensions(), 1});
  if (between(0, 19, random) == 0) route.insert(any(), {-1, 1});
  if (between(0, 5, random) == 0 && !route.empty()) route.insert(any(), route.front());
  return route;
}

std::string text_of(const std::vector<Leg>& route) {
  std::string text;
  for (const Leg& leg : route) text += "[" + std::to_string(leg.dimension) + "," + std::to_string(leg.hops) + "]";
  return text;
}

/// Whether a route without any other violation crosses a channel twice.
bool crosses_twice(const Topology& topology, NodeId at, const std::vector<Leg>& route) {
  std::set<std::tuple<NodeId, Dimension, std::int32_t>> crossed;
  for (const Leg& leg : route) {
    const bool complete = topology.wiring(leg.dimension) == Wiring::complete;
    const std::int32_t hop = complete ? leg.hops : leg.hops > 0 ? 1 : -1;
    for (std::int32_t left = complete ? std::min(leg.hops, 1) : std::abs(leg.hops); left > 0; --left) {
      if (!crossed.insert({at, leg.dimension, hop}).second) return true;
      at = *topology.neighbour(at, leg.dimension, hop);
    }
  }
  return false;
}

}  // namespace

TEST_CASE("the engine and the auditor agree on every route", "[property]") {
  CAPTURE(support::seed());
  Random random(support::seed());
  std::vector<Topology> shapes = support::telling_shapes();
  for (int i = 0; i < 60; ++i) shapes.push_back(support::random_topology(random, 300));
  std::size_t legal = 0;
  std::size_t illegal = 0;
  for (const Topology& topology : shapes) {
    if (topology.nodes() > 5000) continue;
    const Machine machine = random_machine(topology, random);
    CAPTURE(topology.text(), name(machine.switching), name(machine.contention), machine.routing);
    std::optional<NodeId> destination;
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.verify = false;
    options.on_messages = [&](std::span<const Message* const> messages) { destination = messages.front()->destination(); };
    Engine engine(machine, Placement::replicated(topology, {0}, 8), options);
    for (int i = 0; i < 60; ++i) {
      const std::vector<Leg> route = random_route(machine, random);
      const auto source = static_cast<NodeId>(between(0, static_cast<std::int32_t>(topology.nodes()) - 1, random));
      CAPTURE(source, text_of(route));
      const RouteCheck check = check_route(machine, source, route);
      destination.reset();
      const RunResult result = engine.run([&](Node& node) {
        return [](Node& self, NodeId sender, RouteView way) -> Program {
          if (self.rank() == sender) self.send(way, {}, {1});
          co_return;
        }(node, source, route);
      });
      if (!check.violation && !crosses_twice(topology, source, route)) {
        ++legal;
        if (!result.violations.empty()) FAIL(result.violations.front().text);
        CHECK(result.hops == static_cast<std::uint64_t>(check.hops));
        CHECK(destination == check.destination);
      } else {
        ++illegal;
        const ViolationKind kind = check.violation.value_or(ViolationKind::channel_crossed_twice);
        CHECK(std::any_of(result.violations.begin(), result.violations.end(), [&](const Violation& v) { return v.kind == kind; }));
      }
    }
  }
  CHECK(legal > 500);
  CHECK(illegal > 500);
}
