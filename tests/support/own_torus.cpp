/// The command with algorithms of its own, good and bad ones, as a user might write them.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <torus/error.hpp>
#include <torus/main.hpp>

using namespace torus;

namespace {

/// Everybody passes the message on along dimension 0, then, from the nodes of that ring, along the later ones. No node of a higher rank
/// than `deaf` gets it.
Program relay(Node& self, NodeId source, NodeId deaf) {
  Dimension later = 0;
  if (self.rank() != source) {
    const Arrivals came = co_await self.arrival();
    later = came.front().dimension();
  }
  for (Dimension d = later; d < self.dimensions(); ++d) {
    const auto next = self.neighbour({d, +1});
    if (self.extent(d) == 1 || !next || *next > deaf) continue;
    if (self.topology().coordinate(*next, d) != self.topology().coordinate(source, d)) self.send({{d, +1}}, self.blocks());
  }
}

Plan plan_relay(const Machine& machine, const Request& request) {
  return {.start = [source = request.sources.front(), deaf = machine.topology.nodes()](Node& self) { return relay(self, source, deaf); }};
}

/// Once round a ring: the last node tells the source what it has.
Program round(Node& self, NodeId source) {
  if (self.rank() != source) co_await self.arrival();
  if (self.extent(0) > 1) self.send({{0, +1}}, self.blocks());
}

Plan plan_wasteful(const Machine&, const Request& request) {
  return {.start = [source = request.sources.front()](Node& self) { return round(self, source); }};
}

Plan plan_predicted(const Machine& machine, const Request& request) {
  Plan plan = plan_relay(machine, request);
  plan.formula = "sum of n_d - 1";
  for (const DimensionShape& d : machine.topology.shape()) plan.steps += static_cast<std::uint64_t>(d.extent - 1);
  plan.channel_bytes = times_bytes(plan.steps, request.bytes);
  return plan;
}

/// One step more than it takes.
Plan plan_boastful(const Machine& machine, const Request& request) {
  Plan plan = plan_predicted(machine, request);
  ++plan.steps;
  return plan;
}

/// A byte, whatever the message.
Plan plan_modest(const Machine& machine, const Request& request) {
  Plan plan = plan_predicted(machine, request);
  plan.channel_bytes = 1;
  return plan;
}

/// Where channels are shared, fewer bytes than its messages have; only the judge minds.
Plan plan_thrifty(const Machine& machine, const Request& request) {
  if (machine.contention != Contention::share) return plan_relay(machine, request);
  Plan plan = plan_predicted(machine, request);
  plan.channel_bytes *= 0.9;
  return plan;
}

/// Loses its way beyond rank 6.
Plan plan_lossy(const Machine&, const Request& request) {
  return {.start = [source = request.sources.front()](Node& self) { return relay(self, source, 6); }};
}

Plan plan_throws(const Machine& machine, const Request& request) {
  if (machine.topology.nodes() > 4 || request.bytes > 100) throw std::logic_error("no way\nbeyond four nodes");
  return plan_relay(machine, request);
}

Plan plan_throws_anything(const Machine&, const Request&) { throw 7; }

Plan plan_searches(const Machine& machine, const Request&) { throw RunError("searches finds nothing on " + machine.topology.text()); }

/// Sleeps for longer than any test gives it, and has a plan then.
Plan plan_endless(const Machine& machine, const Request& request) {
  if (request.bytes > 64) std::this_thread::sleep_for(std::chrono::seconds(15));
  return plan_relay(machine, request);
}

/// Where channels are shared, its first plan in a process is good, and the later ones lose their way, as with a memory that has a wrong
/// key.
Plan plan_forgetful(const Machine& machine, const Request& request) {
  static std::atomic<int> plans = 0;
  if (machine.contention != Contention::share) return plan_relay(machine, request);
  return plans++ > 0 ? plan_lossy(machine, request) : plan_relay(machine, request);
}

Program crash(Node&) { std::abort(); }

/// Crashes where channels are shared.
Plan plan_crashes(const Machine& machine, const Request& request) {
  if (machine.contention != Contention::share) return plan_relay(machine, request);
  return {.start = [](Node& self) { return crash(self); }};
}

Plan plan_empty(const Machine&, const Request&) { return {}; }

constexpr Algorithm broadcast(std::string_view name, Plan (*plan)(const Machine&, const Request&)) {
  return {.name = name,
          .collective = Collective::broadcast,
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
          .plan = plan};
}

/// Says that it lives with holes, and does not.
constexpr Algorithm careless_of(Algorithm algorithm) {
  algorithm.name = "careless";
  algorithm.needs.lives_with_holes = true;
  return algorithm;
}

constexpr Algorithm relays = broadcast("relay", plan_relay), predicted = broadcast("relay-predicted", plan_predicted),
                    boastful = broadcast("boastful", plan_boastful), modest = broadcast("modest", plan_modest),
                    thrifty = broadcast("thrifty", plan_thrifty), lossy = broadcast("lossy", plan_lossy),
                    throws = broadcast("throws", plan_throws), throws_anything = broadcast("throws-anything", plan_throws_anything),
                    searches = broadcast("searches", plan_searches), endless = broadcast("endless", plan_endless),
                    empty = broadcast("empty", plan_empty), forgetful = broadcast("forgetful", plan_forgetful),
                    crashes = broadcast("crashes", plan_crashes),
                    wasteful = {.name = "wasteful",
                                .collective = Collective::broadcast,
                                .needs = {.shape = Requirements::Shape::torus, .dimensions = 1},
                                .plan = plan_wasteful},
                    careless = careless_of(relays);

}  // namespace

TORUS_MAIN(relays, predicted, boastful, modest, thrifty, lossy, throws, throws_anything, searches, endless, empty, forgetful, crashes,
           wasteful, careless)
