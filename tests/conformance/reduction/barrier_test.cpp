// Barriers: no node is done before it has heard of every other. A run that lacks a message names a node, and one that it has not heard of.
#include <algorithm>
#include <random>
#include <string>

#include <torus/catalogue.hpp>

#include "algorithms/barrier_witness.hpp"
#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Request barrier = support::reduction_request(Collective::barrier, 0);

/// Along a line to and fro, but for one message: node `silent` does not speak to the next in that direction.
template <NodeId silent, int direction>
Program to_and_fro(Node& self) {
  const NodeId n = self.topology().living_nodes();
  for (NodeId step = 0; step + 1 < n; ++step) {
    if (self.rank() == step && !(direction > 0 && self.rank() == silent)) self.send({{0, +1}}, {});
    co_await self.step();
  }
  for (NodeId step = n - 1; step > 0; --step) {
    if (self.rank() == step && !(direction < 0 && self.rank() == silent)) self.send({{0, -1}}, {});
    co_await self.step();
  }
}

constexpr NodeId nobody = 0xffffffff;

template <NodeId silent, int direction>
Algorithm own() {
  return {.name = "to-and-fro",
          .collective = Collective::barrier,
          .source = "tests",
          .shapes = "line",
          .steps = "2 (N - 1)",
          .native = {.switching = Switching::packet},
          .plan = [](const Machine& machine, const Request&) {
            Plan plan;
            plan.start = to_and_fro<silent, direction>;
            plan.steps = 2 * (machine.topology.living_nodes() - 1);
            plan.formula = "2 (N - 1)";
            return plan;
          }};
}

Machine line(const char* shape) { return Machine(Topology::parse(shape), 0, Switching::packet); }

}  // namespace

TEST_CASE("flood and exchange are barriers in as many steps as the diameter, on every shape", "[conformance]") {
  for (const char* name : {"flood", "exchange"}) {
    const Algorithm& algorithm = *find_algorithm(Collective::barrier, name);
    for (const Topology& topology : support::telling_shapes()) {
      CAPTURE(name, topology.text());
      const auto [run, complaint] = support::judged(algorithm, Machine(topology, 0, Switching::packet), barrier);
      CHECK(complaint == "");
      CHECK(run.result.steps == static_cast<std::uint64_t>(topology.diameter()));
      CHECK(run.result.channel_bytes_sum == 0);
    }
  }
}

TEST_CASE("windows are a barrier in ceil(log_{p+1} N) steps", "[conformance]") {
  const Algorithm& windows = *find_algorithm(Collective::barrier, "windows");
  for (const Topology& topology : support::telling_shapes()) {
    for (const int ports : {1, 2, 0}) {
      if (ports > topology.max_ports()) continue;
      const Machine machine(topology, ports, Switching::wormhole, Contention::share);
      CAPTURE(topology.text(), machine.ports);
      const auto [run, complaint] = support::judged(windows, machine, barrier);
      CHECK(complaint == "");
      CHECK(run.result.steps == ceil_log(static_cast<std::uint64_t>(std::min(machine.ports, 8)) + 1, topology.nodes()));
    }
  }
}

TEST_CASE("the diagonal is a barrier without shared channels", "[conformance]") {
  const Algorithm& diagonal = *find_algorithm(Collective::barrier, "diagonal");
  for (const Switching switching : {Switching::wormhole, Switching::circuit}) {
    for (std::int32_t n = 1; n <= 12; ++n) {
      CAPTURE(n, name(switching));
      const Machine machine(Topology(std::vector<DimensionShape>(2, DimensionShape{n, Wiring::ring})), 0, switching);
      CHECK(support::judged(diagonal, machine, barrier).complaint == "");
    }
  }
}

TEST_CASE("a barrier that lacks a message fails, and names a node and one that it has not heard of", "[conformance]") {
  const auto failure = [](const Algorithm& algorithm) {
    const Run ran = run(algorithm, line("5m"), barrier);
    CHECK(ran.result.verified == !ran.check.failure.has_value());
    return ran.check.failure.value_or("");
  };
  CHECK(failure(own<nobody, +1>()) == "");
  CHECK(failure(own<0, +1>()) == "wrong delivery after step 8: node (1) has not heard of node (0)");
  CHECK(failure(own<3, +1>()) == "wrong delivery after step 8: node (4) has not heard of node (0)");
  CHECK(failure(own<1, -1>()) == "wrong delivery after step 8: node (0) has not heard of node (1)");
  CHECK(failure(own<4, -1>()) == "wrong delivery after step 8: node (0) has not heard of node (4)");
}

TEST_CASE("each message that a barrier needs is missed, whoever sends it and whenever", "[conformance]") {
  // Every message of an exchange on 3 x 4, left out in turn; the judge of traces finds the same.
  const Machine machine(Topology::parse("3x4"), 0, Switching::packet);
  const Algorithm& exchange = *find_algorithm(Collective::barrier, "exchange");
  std::vector<TraceMessage> messages;
  const auto replay = [&](const TraceMessage* left_out) {
    Judge judge({.machine = machine, .collective = "barrier"});
    for (const TraceMessage& m : messages) {
      if (&m != left_out) judge.message(m);
    }
    return judge.finish().ok;
  };
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.on_messages = [&](std::span<const Message* const> step) {
    for (const Message* m : step) messages.emplace_back().assign(*m);
  };
  const Plan plan = exchange.plan(machine, barrier);
  CHECK(run(exchange, machine, barrier, options).check.good());
  CHECK(replay(nullptr));
  unsigned missed = 0;
  for (const TraceMessage& left_out : messages) {
    RunOptions witnessed;
    witnessed.executor = ExecutorKind::serial;
    BarrierWitness witness(machine.topology);
    witnessed.on_messages = [&](std::span<const Message* const> step) {
      std::vector<const Message*> left;
      for (const Message* m : step) {
        if (m->step() != left_out.step || m->source() != left_out.source || m->route()[0] != left_out.path[0]) left.push_back(m);
      }
      witness.step(left);
    };
    RunResult result = make_engine(machine, barrier, plan, witnessed).run(plan.start);
    witness.judge(result);
    CHECK(result.verified == replay(&left_out));
    missed += !result.verified;
  }
  CHECK(missed == messages.size());  // an exchange sends nothing that it does not need
}

TEST_CASE("on more nodes than sets are kept for, evenly spaced nodes are followed", "[conformance]") {
  const Machine machine = line("5001m");
  CHECK(run(own<nobody, +1>(), machine, barrier).check.good());
  const Run ran = run(own<2500, +1>(), machine, barrier);
  REQUIRE(ran.check.failure);
  CHECK(*ran.check.failure == "wrong delivery after step 10000: node (2501) has not heard of node (0)");
  CHECK_FALSE(ran.result.verified);
  CHECK(BarrierWitness::proof(5001) == "every node has heard of each of 512 evenly spaced ones");
}

TEST_CASE("a barrier that a fault has struck is not called verified", "[conformance]") {
  RunOptions options;
  options.fault = Fault{.kind = FaultKind::drop, .step = 1, .node = 1};
  const Run ran = run(own<nobody, +1>(), line("5m"), barrier, options);
  REQUIRE(ran.result.fault);
  CHECK_FALSE(ran.result.verified);
  REQUIRE(ran.check.failure);
  CHECK(ran.check.failure->find("step 1: the message from (1) to (2) is dropped") != std::string::npos);
}

TEST_CASE("dead nodes take no part in a barrier", "[conformance]") {
  const Topology holed = Topology::parse("6").with_faults({.dead_nodes = {5}});
  const Machine machine(holed, 0, Switching::packet);
  Algorithm algorithm = own<nobody, +1>();
  algorithm.needs.lives_with_holes = true;
  CHECK(support::judged(algorithm, machine, barrier).complaint == "");
}

TEST_CASE("the barrier by flooding goes around dead links and nodes in as many steps as the diameter", "[conformance]") {
  const Algorithm& flood = *find_algorithm(Collective::barrier, "flood");
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 150; ++i) {
    const Topology whole = support::random_topology(random, 60);
    if (whole.nodes() < 2) continue;
    try {
      const Topology topology = whole.with_faults(support::random_faults(random, whole, 4, 2, 0));
      CAPTURE(support::seed(), i, topology.text());
      const Machine machine(topology, all_ports, Switching::packet);
      const support::Judged judged = support::judged(flood, machine, barrier);
      REQUIRE(judged.complaint == "");
      std::int32_t diameter = 0;
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        if (topology.living(node)) diameter = std::max(diameter, topology.eccentricity(node));
      }
      REQUIRE(judged.run.plan.steps == static_cast<std::uint64_t>(diameter));
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 50);
}

TEST_CASE("where one of the two links of a ring of two is dead, the barrier by flooding takes the other", "[conformance]") {
  for (const std::int32_t hop : {+1, -1}) {
    const Topology topology = Topology("2x3").with_faults({.dead_links = {{0, 0, hop}, {2, 0, -hop}}});
    CHECK(support::judged(*find_algorithm(Collective::barrier, "flood"), Machine(topology), barrier).complaint == "");
  }
}

TEST_CASE("a barrier whose verification is turned off is not called verified", "[conformance]") {
  RunOptions options;
  options.verify = false;
  CHECK_FALSE(run(own<0, +1>(), line("5m"), barrier, options).result.verified);
}
