// No cell is empty: every collective has an algorithm on every machine, with any ports and switching, with twists, dead links and dead
// nodes.
#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/judged.hpp"

using namespace torus;

namespace {

/// Calls f(machine, request) for each collective, each number of ports up to three and all, and each switching.
template <class F>
void each_cell(const Topology& topology, F&& f) {
  for (const CollectiveFacts& facts : collectives()) {
    for (int ports = 1; ports <= std::max(1, static_cast<int>(topology.max_ports()));
         ports = ports == 3 ? static_cast<int>(topology.max_ports()) : ports + 1) {
      for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit})
        f(Machine(topology, ports, switching), support::request_of_living(topology, facts.collective, 4096));
      if (ports >= static_cast<int>(topology.max_ports())) break;
    }
  }
}

/// The algorithms that take a cell.
std::vector<const Algorithm*> takers(const Machine& machine, const Request& request) {
  std::vector<const Algorithm*> out;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == request.collective && !refuses(*algorithm, machine, request)) out.push_back(algorithm);
  }
  return out;
}

void check_taken(const Topology& topology) {
  each_cell(topology, [&](const Machine& machine, const Request& request) {
    CAPTURE(topology.text(), name(request.collective), machine.ports, name(machine.switching), topology.faults().dead_nodes.size(),
            topology.faults().dead_links.size(), support::seed());
    CHECK(!takers(machine, request).empty());
  });
}

/// The shape with a few dead links and nodes, in one piece; whole after some tries in vain.
Topology with_holes(std::mt19937_64& random, const Topology& whole) {
  for (int tries = 0; tries < 20; ++tries) {
    try {
      return whole.with_faults(support::random_faults(random, whole, 3, 2, 1));
    } catch (const InputError&) {  // cut apart, or twice the same
    }
  }
  return whole;
}

}  // namespace

TEST_CASE("every collective has an algorithm on every small shape, with any ports and switching", "[conformance]") {
  std::vector<std::string> shapes;
  for (int n = 1; n <= 12; ++n) {
    for (const char* wiring : {"", "m", "c"}) shapes.push_back(std::to_string(n) + wiring);
  }
  for (int r = 2; r <= 8; ++r) {
    for (int c = 2; c <= 8; ++c) {
      for (const char* kind : {"", "mesh:"}) shapes.push_back(kind + std::to_string(r) + "x" + std::to_string(c));
    }
  }
  for (const char* shape : {"3x4x5", "mesh:5x5x5", "4x4x8t", "2x4t", "3x6t", "4x8t", "6x6c", "3cx4mx2", "hypercube:5", "12x12x12", "40x40",
                            "mesh:64x64", "4096", "40cx40m"})
    shapes.emplace_back(shape);
  support::Share share(4);
  for (const std::string& shape : shapes) {
    if (share.takes_turn()) check_taken(Topology::parse(shape));
  }
}

TEST_CASE("every collective has an algorithm around holes, with any ports and switching", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (int turn = 0; turn < 24; ++turn) check_taken(with_holes(random, support::random_topology(random, 150)));
  for (const char* shape : {"6x6", "mesh:8x8", "4x4x8t", "3x6t", "6x6c", "8x8x8", "mesh:16x32", "40x40", "mesh:33x33", "12x12x12",
                            "8x16x16t", "mesh:64x64", "40x40c"})
    check_taken(with_holes(random, Topology::parse(shape)));
}

TEST_CASE("in every cell drawn some algorithm is legal, complete and as predicted", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (int turn = 0; turn < 6; ++turn) {
    const Topology topology = with_holes(random, support::random_topology(random, 40));
    each_cell(topology, [&](const Machine& machine, const Request& request) {
      if (support::random_below(random, 8) > 0) return;
      const std::vector<const Algorithm*> all = takers(machine, request);
      REQUIRE(!all.empty());
      const Algorithm& algorithm = *all[support::random_below(random, all.size())];
      CAPTURE(topology.text(), algorithm.name, name(request.collective), machine.ports, name(machine.switching), support::seed());
      CHECK(support::judged(algorithm, machine, request).complaint == "");
    });
  }
}

TEST_CASE("above 1024 nodes what is drawn around holes and on twists is complete and as predicted", "[conformance]") {
  support::Share share(16);
  if (!share.takes_turn()) return;
  std::mt19937_64 random(support::seed());
  const auto drawn = [&](const auto& list) { return list[support::random_below(random, std::size(list))]; };
  const Topology whole = Topology::parse(drawn(std::array{"33x32", "mesh:33x32", "11x10x10", "8x8x17m", "8x8x16t", "36x30c"}));
  const Topology topology = with_holes(random, whole);
  const int ports = drawn(std::array{1, 2, 3, static_cast<int>(topology.max_ports())});
  const Machine machine(topology, ports, static_cast<Switching>(support::random_below(random, 3)));
  const Collective collective = drawn(std::array{Collective::multinode_broadcast, Collective::reduce_scatter, Collective::total_exchange});
  const Request request = support::request_of_living(topology, collective, 4);
  const Algorithm& algorithm =
      *find_algorithm(collective, collective == Collective::total_exchange ? std::string_view("by-load") : "tree-packing");
  CAPTURE(topology.text(), topology.faults().dead_links.size(), topology.faults().dead_nodes.size(), name(collective), ports,
          name(machine.switching), support::seed());
  if (const auto why = refuses(algorithm, machine, request)) {
    CHECK(topology.whole());  // equal blocks on a whole machine have other exchanges
    return;
  }
  const Run run = torus::run(algorithm, machine, request);
  CHECK(support::complaint(run) == "");
  CHECK(run.result.verified);
}

TEST_CASE("a large machine is searched last, and not with single blocks", "[conformance]") {
  for (const Collective collective : {Collective::multinode_broadcast, Collective::reduce_scatter}) {
    const Algorithm& algorithm = *find_algorithm(collective, "tree-packing");
    for (const char* shape : {"40x40", "16x16x16", "200c"}) {
      const Machine machine(Topology::parse(shape), 1, Switching::packet);
      Request request = support::request_of_living(machine.topology, collective, 64);
      CAPTURE(shape, name(collective));
      CHECK(algorithm.offer(machine, request).slow);
      request.parameters.set("chunk", 1);
      const auto refusal = refuses(algorithm, machine, request);
      REQUIRE(refusal);
      request.parameters.set("chunk", std::string_view(refusal->fix));
      CHECK(!refuses(algorithm, machine, request));
    }
    CHECK(!algorithm.offer(Machine(Topology::parse("32x32"), 1, Switching::packet), {}).slow);
  }
}
