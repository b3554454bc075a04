// run(): algorithms of the catalogue and of a user, what it refuses, what it checks, and the hops that it predicts.
#include <cmath>
#include <limits>
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
  CHECK(steps.failure == "4 steps, where the formula n - 1 says 5 (Plan::steps)");
  CHECK_FALSE(steps.surprise);
  const Check bytes = run(own<0, 1>(), ring("5"), request).check;
  CHECK_FALSE(bytes.failure);
  CHECK(bytes.surprise == "400 bytes on the fullest channels, summed over the steps, where 401 were predicted (Plan::channel_bytes)");
}

TEST_CASE("a check finds steps, bytes and model time below the bounds", "[conformance]") {
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
  RunResult fast = ran.result;
  fast.model_time_s = ran.bounds.model_time_s(machine.cost) * 0.99;
  REQUIRE(check(machine, request, ran.plan, ran.bounds, fast).surprise);
  CHECK(check(machine, request, ran.plan, ran.bounds, fast).surprise->find(" s, less than the lower bound ") != std::string::npos);
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

TEST_CASE("a prediction that cannot be is refused by the algorithm's name, before anything runs", "[conformance]") {
  const Machine machine = ring("5");
  const Request request = support::broadcast_request(0, 100);
  const Bounds bounds = lower_bounds(machine, request);
  const Algorithm algorithm = own();
  const auto refused = [&](auto&& change) -> std::string {
    Plan plan = algorithm.plan(machine, request);
    change(plan);
    try {
      check_prediction(algorithm, machine, request, plan, bounds);
    } catch (const PredictionError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refused([](Plan&) {}) == "");
  CHECK(refused([](Plan& plan) { plan.steps = 1; }) ==
        "once-around predicts 1 step (Plan::steps), less than the lower bound 2: " + bounds.steps_reason);
  CHECK(refused([](Plan& plan) { plan.steps_estimate = 1; }).find("once-around predicts 1 step (Plan::steps), less than") == 0);
  CHECK(
      refused([](Plan& plan) { plan.channel_bytes = 49; }) ==
      "once-around predicts 49 bytes on the fullest channels, summed over the steps (Plan::channel_bytes), less than the lower bound 50: " +
          bounds.bytes_reason);
  CHECK(refused([](Plan& plan) { plan.channel_bytes = -1; }).find("predicts -1 bytes") != std::string::npos);
  CHECK(refused([](Plan& plan) { plan.channel_bytes = std::nan(""); }).find("where a prediction is a number of 0 or more") !=
        std::string::npos);
  CHECK(refused([](Plan& plan) { plan.combined_bytes = std::numeric_limits<double>::infinity(); }).find("predicts inf bytes combined") !=
        std::string::npos);
  CHECK(refused([](Plan& plan) { plan.combined_bytes = 0; }) == "");
  CHECK(refused([](Plan& plan) { plan.route_hops = 1; }).find("predicts 1 hop of the longest routes") != std::string::npos);
  CHECK(refused([](Plan& plan) {
          plan.steps = 2;
          plan.channel_bytes = 50;
        }).find("s of model time, less than the lower bound") != std::string::npos);  // few steps and few bytes exclude each other
  CHECK(refused([](Plan& plan) {
          plan.formula = "";  // nothing is predicted
          plan.channel_bytes = -1;
        }) == "");

  Plan large = algorithm.plan(machine, request);
  large.channel_bytes = 0x1p64;
  CHECK_THROWS_WITH(check_prediction(algorithm, machine, request, large, bounds),
                    "once-around predicts 1.8446744073709552e+19 bytes on the fullest channels, summed over the steps "
                    "(Plan::channel_bytes) for 100 bytes, and "
                    "predictions count up to 2^63; fewer bytes would do");
}

TEST_CASE("a prediction that is left out is not checked, and a note names its field", "[conformance]") {
  Machine machine = ring("5");
  Request request;
  request.collective = Collective::allreduce;
  request.bytes = 100;
  Algorithm algorithm = *find_algorithm(Collective::allreduce, "exchange");
  algorithm.name = "no-bytes";
  algorithm.plan = [](const Machine& m, const Request& r) {
    Plan plan = find_algorithm(Collective::allreduce, "exchange")->plan(m, r);
    plan.combined_bytes = 0;
    return plan;
  };
  Run without = run(algorithm, machine, request);
  CHECK(without.plan.predicts());
  CHECK(without.check.good());
  CHECK(without.check.surprise == std::nullopt);
  machine.cost.combine_s = 1e-9;  // now the model time needs it
  without = run(algorithm, machine, request);
  CHECK_FALSE(without.plan.predicts());
  CHECK(without.check.good());
  REQUIRE_FALSE(without.plan.notes.empty());
  CHECK(without.plan.notes.back().first == "not predicted");
  CHECK(without.plan.notes.back().second.ends_with(" and leaves out combined_bytes"));
  algorithm.plan = [](const Machine& m, const Request& r) {
    Plan plan = find_algorithm(Collective::allreduce, "exchange")->plan(m, r);
    plan.channel_bytes = 0;
    return plan;
  };
  machine.cost.combine_s = 0;
  without = run(algorithm, machine, request);
  CHECK_FALSE(without.plan.predicts());
  CHECK(without.check.good());
  REQUIRE_FALSE(without.plan.notes.empty());
  CHECK(without.plan.notes.back().second.ends_with(" and leaves out channel_bytes"));
}

TEST_CASE("all that make plans check their predictions", "[conformance]") {
  Algorithm modest = own();
  modest.plan = [](const Machine& machine, const Request& request) {
    Plan plan = own().plan(machine, request);
    plan.channel_bytes = 1;
    return plan;
  };
  const Machine machine = ring("5");
  const Request request = support::broadcast_request(0, 100);
  CHECK_THROWS_AS(make_plan(modest, machine, request), PredictionError);
  CHECK_THROWS_AS(run(modest, machine, request), PredictionError);
}

TEST_CASE("what predictions cannot count is refused before it is planned", "[conformance]") {
  const Machine machine(Topology("1024x1024"), all_ports, Switching::packet);
  Request request;
  request.collective = Collective::reduce_scatter;
  request.bytes = Bytes{1} << 50U;
  const Algorithm& rings = *find_algorithm(Collective::reduce_scatter, "rings");
  CHECK(why_not(rings, machine, request) ==
        "bytes 1125899906842624: a reduce-scatter on 1024x1024 asks for 1048576 times as many, and predictions count up to 2^63 bytes; "
        "8796093022208 would do");
  request.bytes = Bytes{8} << 40U;
  CHECK(why_not(rings, machine, request) == "");
  const double bytes = make_plan(rings, machine, request).channel_bytes;
  CHECK(bytes >= lower_bounds(machine, request).channel_bytes);
  CHECK(bytes < 1.01 * lower_bounds(machine, request).channel_bytes);
}

TEST_CASE("a limit on the steps holds for the sources that there are, whatever is expected", "[conformance]") {
  const Machine machine(Topology("3x16"));
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.bytes = 64;
  for (NodeId node = 0; node < 16; ++node) request.sources.push_back(node);
  request.expected_sources = 2;
  for (const char* name : {"joint-swath", "swaths", "edst"}) {
    CAPTURE(name);
    request.parameters.set("variant", std::string_view(name) == "edst" ? "pipelined" : "");
    const Run ran = run(*find_algorithm(Collective::multinode_broadcast, name), machine, request);
    CHECK_FALSE(ran.plan.steps_exact);
    CHECK(ran.result.steps <= ran.plan.steps);
    CHECK(ran.check.good());
  }
}

TEST_CASE("a shape too large for a dry run has no prediction of hops", "[conformance]") {
  const Machine machine = ring("65537");
  const Request request = support::broadcast_request(0, 8);
  CHECK_FALSE(count_hops(machine, request, make_plan(own(), machine, request)));
}
