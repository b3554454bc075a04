// Machines with holes: who does not live with them refuses.
#include <set>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"

using namespace torus;

TEST_CASE("all other algorithms refuse a machine with holes in one line, and take slow links", "[conformance]") {
  const Topology holes = Topology("4x4").with_faults({.dead_links = {{0, 0, 1}}});
  const Topology slow = Topology("4x4").with_faults({.slow_links = {{{0, 0, 1}, 2}}});
  for (const Algorithm* algorithm : catalogue()) {
    CAPTURE(algorithm->name);
    Request request = support::broadcast_request(0, 64);
    request.collective = algorithm->collective;
    const bool along = algorithm->name == "tree-of-broadcast";  // along `synthesized`, on circuits
    const Switching switching = along ? Switching::circuit : algorithm->native.switching;
    const auto why = [&](const Topology& topology) {
      return why_not(*algorithm, Machine(topology, std::min(algorithm->native.ports, 4), switching, algorithm->native.contention), request);
    };
    CHECK(why(slow) == why(Topology("4x4")));
    if (algorithm->needs.lives_with_holes) {
      CHECK(why(holes) == "");
    } else {
      CHECK(why(holes) == "faults 1 dead link, 0 dead nodes: " + std::string(algorithm->name) + " needs every link and node alive");
    }
  }
}

TEST_CASE("every collective has an algorithm for dead links and nodes, whatever the ports", "[conformance]") {
  const Topology holes = Topology("4x4").with_faults({.dead_nodes = {5}, .dead_links = {{0, 0, 1}}});
  const auto lived_with = [&](int ports) {
    std::set<Collective> lived;
    for (const Algorithm* algorithm : catalogue()) {
      Request request = support::broadcast_request(0, 64);
      request.collective = algorithm->collective;
      request.reduction.type = ElementType::u32;
      if (!refuses(*algorithm, Machine(holes, ports, algorithm->native.switching, algorithm->native.contention), request))
        lived.insert(algorithm->collective);
    }
    return lived;
  };
  for (const int ports : {1, 2, 3, all_ports}) CHECK(lived_with(ports).size() == collectives().size());
}
