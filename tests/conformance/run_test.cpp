// run(): algorithms of the catalogue and of a user, what it refuses, what it checks, and the hops that it predicts.
#include <string>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"

using namespace torus;

namespace {

/// Once around a ring in the + direction.
Program once_around(Node& self) {
  if (self.rank() != 0) co_await self.arrival();
  if (self.neighbour({0, +1}) != NodeId{0}) self.send({{0, +1}}, self.blocks());
}

template <int extra_steps, int extra_bytes>
Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = once_around;
  plan.steps = machine.topology.nodes() - 1U + extra_steps;
  plan.formula = "n - 1";
  plan.channel_bytes = static_cast<double>((machine.topology.nodes() - 1) * request.bytes + extra_bytes);
  return plan;
}

template <int extra_steps = 0, int extra_bytes = 0>
Algorithm own() {
  return {.name = "once-around",
          .collective = Collective::broadcast,
          .source = "tests",
          .shapes = "ring",
          .steps = "n - 1",
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::torus},
          .plan = plan<extra_steps, extra_bytes>};
}

Machine ring(const char* shape, CostModel cost = {}) {
  return Machine(Topology::parse(shape), 0, Switching::packet, Contention::forbid, {}, cost);
}

}  // namespace

TEST_CASE("run() plans, runs and checks an algorithm of the catalogue", "[conformance]") {
  const Run ran = run(*find_algorithm(Collective::broadcast, "flood"), ring("9"), support::broadcast_request(2, 64));
  CHECK(ran.check.good());
  CHECK(ran.result.verified);
  CHECK(ran.result.steps == 4);
  CHECK(ran.plan.steps == 4);
  CHECK(ran.bounds.steps == 4);
}

TEST_CASE("run() takes an algorithm of a user's own", "[conformance]") {
  const Run ran = run(own(), ring("5"), support::broadcast_request(0, 100));
  CHECK(ran.check.good());
  CHECK(ran.result.steps == 4);
}

TEST_CASE("run() refuses what does not apply, in the algorithm's words", "[conformance]") {
  CHECK_THROWS_WITH(run(own(), ring("5m"), support::broadcast_request(0, 100)),
                    "shape mesh:5: once-around needs a torus: every dimension a ring; 5 would do");
  Request request = support::broadcast_request(0, 100);
  request.parameters.set("segments", 2);
  CHECK_THROWS_AS(run(own(), ring("5"), request), InputError);
}

TEST_CASE("a check tells a wrong number of steps from a surprising number of bytes", "[conformance]") {
  const Request request = support::broadcast_request(0, 100);
  const Check steps = run(own<1, 0>(), ring("5"), request).check;
  CHECK(steps.failure == "4 steps, where the formula n - 1 says 5");
  CHECK_FALSE(steps.surprise);
  const Check bytes = run(own<0, 1>(), ring("5"), request).check;
  CHECK_FALSE(bytes.failure);
  CHECK(bytes.surprise == "400 bytes on the fullest channels, summed over the steps, where 401 were predicted");
}

TEST_CASE("a check finds steps and bytes below the bounds", "[conformance]") {
  const Machine machine = ring("5");
  const Request request = support::broadcast_request(0, 100);
  const Run ran = run(own(), machine, request);
  Bounds bounds = ran.bounds;
  bounds.steps = 5;
  bounds.steps_reason = "five";
  CHECK(check(machine, request, ran.plan, bounds, ran.result).surprise == "4 steps, fewer than the lower bound 5: five");
  bounds = ran.bounds;
  bounds.channel_bytes = 1000;
  CHECK(check(machine, request, ran.plan, bounds, ran.result).surprise->find("fewer than the lower bound 1000: ") != std::string::npos);
}

TEST_CASE("where hops cost something, a dry run predicts those that the plan does not state", "[conformance]") {
  const CostModel cost{1e-6, 1e-10, 1e-7};
  CHECK(run(own(), ring("7", cost), support::broadcast_request(0, 8)).plan.model_time_s(cost) == Approx(6 * (1e-6 + 8e-10 + 1e-7)));
  CHECK_FALSE(run(own(), ring("7"), support::broadcast_request(0, 8)).plan.route_hops);
  struct Case {
    Collective collective;
    const char *algorithm, *shape;
    Switching switching;
  };
  for (const Case& c : {Case{Collective::broadcast, "wang-tseng", "7x7", Switching::wormhole},
                        Case{Collective::broadcast, "span", "12x12", Switching::circuit},
                        Case{Collective::broadcast, "dimension-wise", "6x9", Switching::wormhole},
                        Case{Collective::broadcast, "pipeline", "4x5", Switching::wormhole},
                        Case{Collective::total_exchange, "direct", "8x4", Switching::wormhole},
                        Case{Collective::total_exchange, "a2", "5x5", Switching::packet}}) {
    const Algorithm& algorithm = *find_algorithm(c.collective, c.algorithm);
    const Topology topology = Topology::parse(c.shape);
    const Machine machine(topology, std::min<int>(algorithm.native.ports, topology.max_ports()), c.switching, algorithm.native.contention,
                          {}, cost);
    Request request = support::broadcast_request(topology.nodes() / 3, 240);
    request.collective = c.collective;
    CAPTURE(c.algorithm);
    const Run ran = run(algorithm, machine, request);
    CHECK(ran.check.good());
    CHECK(count_hops(machine, request, ran.plan) == ran.result.route_hops_sum);
    CHECK(ran.plan.model_time_s(cost) == Approx(ran.result.model_time_s));
  }
}

TEST_CASE("the dry run of a multi-node broadcast is a limit for any sources", "[conformance]") {
  const Machine machine(Topology::parse("6x6"), 0, Switching::wormhole, Contention::forbid, {}, {1e-6, 1e-10, 1e-7});
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.bytes = 24;
  for (const char* name : {"ring", "log", "edst", "hierarchical", "aggregate-distribute"}) {
    CAPTURE(name);
    request.sources = {3, 7, 20};
    const Run ran = run(*find_algorithm(Collective::multinode_broadcast, name), machine, request);
    CHECK(ran.check.good());
    CHECK(count_hops(machine, request, ran.plan) >= ran.result.route_hops_sum);
  }
}

TEST_CASE("a shape too large for a dry run has no prediction of hops", "[conformance]") {
  const Machine machine = ring("65537");
  const Request request = support::broadcast_request(0, 8);
  CHECK_FALSE(count_hops(machine, request, make_plan(own(), machine, request)));
}
