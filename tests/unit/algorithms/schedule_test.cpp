// A schedule: built send by send, reversed, bundled, merged, and followed on every node.
#include <memory>
#include <string>
#include <vector>

#include <torus/run.hpp>
#include <torus/schedule.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/judged.hpp"

using namespace torus;

namespace {

/// A broadcast of block 0 from node 0 of the ring of 4: both ways round, then on to node 2.
Schedule broadcast_on_a_ring() {
  Schedule schedule(4);
  const BlockId block[] = {0};
  const Leg up[] = {{0, +1}}, down[] = {{0, -1}};
  schedule.add(1, 1, 2, up, block, Manner::copy);
  schedule.add(0, 0, 1, up, block, Manner::copy);
  schedule.add(0, 0, 3, down, block, Manner::copy);
  schedule.sort();
  schedule.name_phase("broadcast");
  return schedule;
}

/// "0: 2 -> 1 by -1, 0" for the sends of all nodes.
std::vector<std::string> lines_of(const Schedule& schedule) {
  std::vector<std::string> lines;
  for (NodeId node = 0; node < schedule.nodes(); ++node) {
    for (const Schedule::Send& s : schedule.of(node)) {
      CHECK(s.from == node);
      std::string line = std::to_string(s.step) + ": " + std::to_string(s.from) + " -> " + std::to_string(s.to) + " by " +
                         std::to_string(schedule.route(s)[0].hops) + ",";
      for (const BlockId id : schedule.blocks(s)) line += " " + std::to_string(id);
      lines.push_back(line);
    }
  }
  return lines;
}

Plan allreduce_by_schedule(const Machine& machine, const Request& request) {
  const Schedule down = broadcast_on_a_ring();
  auto both = std::make_shared<Schedule>(down.backwards(machine.topology));
  both->name_phase("reduce");
  both->merge(down, both->steps());
  Plan plan;
  plan.start = [both](Node& self) { return follow(self, *both); };
  plan.steps = both->steps();
  plan.formula = "4";
  const Schedule::Loads loads = both->loads(machine.topology, placement_of(machine, request, plan));
  plan.channel_bytes = loads.channel;
  plan.combined_bytes = loads.combined;
  plan.route_hops = loads.hops;
  return plan;
}

}  // namespace

TEST_CASE("a schedule has the sends of each node in the order of their steps", "[unit]") {
  const Schedule schedule = broadcast_on_a_ring();
  CHECK(lines_of(schedule) == std::vector<std::string>{"0: 0 -> 1 by 1, 0", "0: 0 -> 3 by -1, 0", "1: 1 -> 2 by 1, 0"});
  CHECK(schedule.steps() == 2);
  CHECK(schedule.arrivals() == 3);
  CHECK(schedule.of(2).empty());
  CHECK(Schedule(4).steps() == 0);
}

TEST_CASE("a broadcast backwards combines, and twice backwards is the broadcast", "[unit]") {
  const Topology ring = Topology::parse("4");
  const Schedule schedule = broadcast_on_a_ring(), reduction = schedule.backwards(ring);
  CHECK(lines_of(reduction) == std::vector<std::string>{"1: 1 -> 0 by -1, 0", "0: 2 -> 1 by -1, 0", "1: 3 -> 0 by 1, 0"});
  for (const Schedule::Send& s : reduction.sends()) CHECK(s.manner == Manner::combine);
  CHECK(lines_of(reduction.backwards(ring)) == lines_of(schedule));
}

TEST_CASE("a bundled broadcast gives each node the blocks of all that it informs", "[unit]") {
  const Schedule scatter = broadcast_on_a_ring().bundled();
  CHECK(lines_of(scatter) == std::vector<std::string>{"0: 0 -> 1 by 1, 1 2", "0: 0 -> 3 by -1, 3", "1: 1 -> 2 by 1, 2"});
  for (const Schedule::Send& s : scatter.sends()) CHECK(s.manner == Manner::give);
  CHECK(lines_of(scatter.renumbered([](BlockId id) { return id + 5; })).front() == "0: 0 -> 1 by 1, 6 7");
}

TEST_CASE("merged schedules keep their steps and the names of their phases", "[unit]") {
  const Schedule down = broadcast_on_a_ring();
  Schedule both = down.backwards(Topology::parse("4"));
  CHECK(both.phase(0) == nullptr);
  both.name_phase("reduce");
  both.merge(down, both.steps());
  CHECK(both.steps() == 4);
  CHECK(both.arrivals() == 6);
  CHECK(std::string(both.phase(1)) == "reduce");
  CHECK(std::string(both.phase(2)) == "broadcast");
  CHECK(lines_of(both) == std::vector<std::string>{"2: 0 -> 1 by 1, 0", "2: 0 -> 3 by -1, 0", "1: 1 -> 0 by -1, 0", "3: 1 -> 2 by 1, 0",
                                                   "0: 2 -> 1 by -1, 0", "1: 3 -> 0 by 1, 0"});
}

TEST_CASE("the loads of a schedule are sums over its steps of the fullest channel, the busiest receiver and the longest route", "[unit]") {
  const Topology ring = Topology::parse("4");
  const auto three = [](BlockId) { return 3; };
  const Schedule::Loads down = broadcast_on_a_ring().loads(ring, three), up = broadcast_on_a_ring().backwards(ring).loads(ring, three);
  CHECK(down.channel == 6);
  CHECK(down.combined == 0);
  CHECK(down.hops == 2);
  CHECK(up.channel == 6);
  CHECK(up.combined == 3 + 6);
}

TEST_CASE("nodes that follow a schedule and its reversal all-reduce as predicted", "[unit]") {
  const Algorithm algorithm{.name = "scheduled", .collective = Collective::allreduce, .plan = allreduce_by_schedule};
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  const Run run = support::emulate(algorithm, machine, support::reduction_request(Collective::allreduce, 16));
  CHECK(support::complaint(run) == "");
  CHECK(run.result.verified);
  REQUIRE(run.result.phases.size() == 2);
  CHECK(std::string(run.result.phases[0].phase) == "reduce");
  CHECK(std::string(run.result.phases[1].phase) == "broadcast");
}
