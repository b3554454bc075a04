// Broadcasts on machines with holes: complete at all living nodes, judged, not below the bounds; everything else refuses.
#include <random>
#include <set>
#include <string>

#include <torus/judge.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Runs what lives with holes, with the judge looking on.
void check_broadcasts(const Topology& topology, int ports, Bytes bytes) {
  const NodeId source = support::living_from(topology, topology.nodes() / 3);
  for (const Algorithm* algorithm : {&support::broadcast("flood"), &support::broadcast("synthesized")}) {
    const Machine machine(topology, algorithm == &support::broadcast("synthesized") ? ports : all_ports, algorithm->native.switching);
    const Request request = support::broadcast_request(source, bytes);
    if (refuses(*algorithm, machine, request)) continue;  // complete dimensions
    CAPTURE(algorithm->name, topology.text(), machine.ports, source);
    const Plan plan = make_plan(*algorithm, machine, request);
    Judge judge({machine, "broadcast", request.sources, plan.segments, bytes / plan.segments, "", 0});
    TraceMessage line;
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.on_messages = [&](std::span<const Message* const> messages) {
      for (const Message* m : messages) {
        line.assign(*m);
        judge.message(line);
      }
    };
    const RunResult result = make_engine(machine, request, plan, options).run(plan.start);
    const Verdict verdict = judge.finish();
    CHECK((verdict.violations.empty() ? "" : verdict.violations.front()) == "");
    CHECK(verdict.channel_time_s == result.channel_time_s);
    CHECK(result.verified);
    const Bounds bounds = lower_bounds(machine, request);
    const Check found = check(machine, request, plan, bounds, result);
    CHECK(found.failure.value_or(found.surprise.value_or("")) == "");
    CHECK(result.model_time_s >= bounds.model_time_s(machine.cost) * (1 - 1e-9));
  }
}

}  // namespace

TEST_CASE("every single dead link and node is lived with", "[conformance]") {
  for (const char* shape : {"4x4", "3x3x3", "mesh:3x4", "5", "2x3", "6x6"}) {
    const Topology whole(shape);
    for (NodeId node = 0; node < whole.nodes(); ++node) {
      CAPTURE(shape, node);
      if (whole.text() != "mesh:3x4" || node != 4) check_broadcasts(whole.with_faults({.dead_nodes = {node}}), all_ports, 24);
      whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
        if (hop > 0) check_broadcasts(whole.with_faults({.dead_links = {{node, d, hop}}}), all_ports, 24);
      });
    }
  }
}

TEST_CASE("random holes and slow links are lived with", "[conformance]") {
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 150; ++i) {
    const Topology whole = support::random_topology(random, 80);
    if (whole.nodes() < 2) continue;
    const Faults faults = support::random_faults(random, whole, 4, 2, 1);
    try {
      const Topology topology = whole.with_faults(faults);
      CAPTURE(support::seed(), i);
      check_broadcasts(topology, 1 + static_cast<int>(support::random_below(random, static_cast<std::uint64_t>(topology.max_ports()))),
                       1000);
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 50);
}

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

TEST_CASE("on all ports every collective has an algorithm for dead links and nodes, on one port those that the page names",
          "[conformance]") {
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
  CHECK(lived_with(all_ports).size() == collectives().size());
  CHECK(lived_with(1) ==
        std::set{Collective::broadcast, Collective::total_exchange, Collective::scan, Collective::scatter, Collective::gather});
}
