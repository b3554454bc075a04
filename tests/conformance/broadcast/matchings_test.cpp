// Schedules grown by matchings, with few ports: broadcasts and barriers in the fewest steps, long messages near the bounds.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Machine packets(const Topology& topology, int ports) {
  return Machine(topology, std::min(ports, static_cast<int>(topology.max_ports())), Switching::packet);
}

/// A plan, and a run of it that nobody complains of.
Plan planned(const char* algorithm, Collective collective, const Topology& topology, int ports, Bytes bytes, bool run = true) {
  const Machine machine = packets(topology, ports);
  const Request request = support::request_of_living(topology, collective, bytes);
  const Algorithm& named = *find_algorithm(collective, algorithm);
  CAPTURE(algorithm, name(collective), topology.text(), ports, bytes);
  if (run) CHECK(support::judged(named, machine, request).complaint == "");
  return make_plan(named, machine, request);
}

}  // namespace

TEST_CASE("one segment takes the fewest steps that there are on small machines", "[conformance]") {
  // By a SAT solver.
  for (const auto& [shape, ports, steps] : {std::tuple("5", 1, 3),
                                            {"6", 1, 3},
                                            {"7", 1, 4},
                                            {"8", 1, 4},
                                            {"9", 1, 5},
                                            {"3x3", 1, 4},
                                            {"3x4", 1, 4},
                                            {"3x4", 2, 3},
                                            {"4x4", 1, 4},
                                            {"4x5", 1, 5},
                                            {"4x5", 2, 4},
                                            {"5x5", 1, 5},
                                            {"4x6", 1, 5},
                                            {"2x2x3", 1, 4},
                                            {"3x3x3", 1, 5},
                                            {"hypercube:3", 1, 3}}) {
    CAPTURE(shape, ports);
    CHECK(planned("matchings", Collective::broadcast, Topology::parse(shape), ports, 4).steps == static_cast<std::uint64_t>(steps));
  }
}

TEST_CASE("a broadcast and a reduce with few ports stay within twice the bound, whatever their size", "[conformance]") {
  for (const auto& [shape, faults] : {std::pair<const char*, Faults>("8x8", {}),
                                      {"mesh:8x8", {}},
                                      {"15", {}},
                                      {"3x4x5", {}},
                                      {"4x4x8t", {}},
                                      {"6x6", {.dead_links = {{3, 0, 1}}}},
                                      {"6x6", {.dead_nodes = {7}}}}) {
    const Topology topology = Topology::parse(shape).with_faults(faults);
    for (const int ports : {1, 2, 3}) {
      if (ports >= static_cast<int>(topology.max_ports())) continue;
      for (const Bytes bytes : {Bytes{4}, Bytes{1} << 16U, Bytes{1} << 20U}) {
        const Machine machine = packets(topology, ports);
        const Request broadcast = support::request_of_living(topology, Collective::broadcast, bytes);
        const double bound_s = lower_bounds(machine, broadcast).model_time_s(machine.cost);
        CAPTURE(shape, ports, bytes);
        CHECK(planned("matchings", Collective::broadcast, topology, ports, bytes, bytes < 1U << 20U).model_time_s(machine.cost) <=
              2 * bound_s);
        CHECK(planned("tree-of-broadcast", Collective::reduce, topology, ports, bytes, bytes < 1U << 20U).model_time_s(machine.cost) <=
              2 * bound_s);
      }
    }
  }
}

TEST_CASE("no half or double number of segments would be better than the one that is chosen", "[conformance]") {
  for (const char* shape : {"8x8", "4x9", "mesh:8x8", "15", "3x4x5"}) {
    const Topology topology = Topology::parse(shape);
    for (const int ports : {1, 2, static_cast<int>(topology.max_ports())}) {
      for (const Bytes bytes : {Bytes{1} << 14U, Bytes{1} << 17U}) {
        const Machine machine = packets(topology, ports);
        const Algorithm& matchings = *find_algorithm(Collective::broadcast, "matchings");
        Request request = support::request_of_living(topology, Collective::broadcast, bytes);
        const Plan chosen = make_plan(matchings, machine, request);
        for (const std::uint32_t segments : {chosen.segments / 2, chosen.segments * 2}) {
          if (segments == 0) continue;
          request.parameters.set("segments", segments);
          if (refuses(matchings, machine, request)) continue;
          CAPTURE(shape, ports, bytes, chosen.segments, segments);
          CHECK(make_plan(matchings, machine, request).model_time_s(machine.cost) >= chosen.model_time_s(machine.cost));
        }
      }
    }
  }
}

TEST_CASE("a broadcast on circuits runs backwards around a dead node", "[conformance]") {
  const Topology topology = Topology("4x4").with_faults({.dead_nodes = {3}});
  Request request = support::request_of_living(topology, Collective::reduce, 64);
  request.parameters.set("along", "synthesized");
  const Machine machine(topology, all_ports, Switching::circuit);
  CHECK(support::judged(*find_algorithm(Collective::reduce, "tree-of-broadcast"), machine, request).complaint == "");
}

TEST_CASE("an all-gather of long blocks with few ports takes hardly more steps than a node has blocks to get", "[conformance]") {
  for (const auto& [shape, ports, more] : {std::tuple("8x8", 1, 1),
                                           {"8x8", 2, 1},
                                           {"8x8", 3, 2},
                                           {"7x9", 1, 1},
                                           {"5x5", 1, 1},
                                           {"3x4x5", 5, 2},
                                           {"6x6c", 3, 1},
                                           {"4x4x8t", 1, 1}}) {
    const Topology topology = Topology::parse(shape);
    const std::uint64_t least = (topology.nodes() - 1 + static_cast<std::uint64_t>(ports) - 1) / static_cast<std::uint64_t>(ports);
    CAPTURE(shape, ports);
    for (const Collective collective : {Collective::multinode_broadcast, Collective::reduce_scatter}) {
      const Plan plan = planned("tree-packing", collective, topology, ports, Bytes{1} << 26U, false);
      CHECK(plan.steps <= least + static_cast<std::uint64_t>(more));
    }
  }
}

TEST_CASE("a barrier by matchings takes the diameter with all ports and hardly more with two", "[conformance]") {
  for (const char* shape : {"8", "8x8", "mesh:5x9", "4x4x4", "4x4x8t", "6x6c"}) {
    const Topology topology = Topology::parse(shape);
    const auto diameter = static_cast<std::uint64_t>(topology.diameter());
    CAPTURE(shape);
    CHECK(planned("matchings", Collective::barrier, topology, topology.max_ports(), 0).steps == diameter);
    CHECK(planned("matchings", Collective::barrier, topology, 2, 0).steps <= diameter + 2);
    CHECK(planned("matchings", Collective::barrier, topology, 1, 0).steps <= 2 * diameter + 4);
  }
}
