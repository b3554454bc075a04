// Ranks on any nodes: a program does there what it does where rank r is node r; only the ways between nodes are others.
#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <torus/judge.hpp>
#include <torus/session.hpp>

#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Shifts and reflects a torus of equal sides, and exchanges its dimensions.
std::vector<NodeId> automorphism(std::mt19937_64& random, const Topology& topology, bool exchanges) {
  const auto k = static_cast<std::size_t>(topology.dimensions());
  std::vector<std::size_t> to(k);
  std::iota(to.begin(), to.end(), std::size_t{0});
  if (exchanges) std::shuffle(to.begin(), to.end(), random);
  std::vector<std::int32_t> shift(k), sign(k);
  for (std::size_t d = 0; d < k; ++d) {
    shift[d] = static_cast<std::int32_t>(random() % 16);
    sign[d] = random() % 2 == 0 ? 1 : -1;
  }
  std::vector<NodeId> nodes;
  for (NodeId rank = 0; rank < topology.nodes(); ++rank) {
    std::vector<std::int32_t> at(k);
    for (std::size_t d = 0; d < k; ++d) {
      const std::int32_t n = topology.extent(static_cast<Dimension>(d));
      at[to[d]] = (shift[d] + (n + sign[d]) * topology.coordinate(rank, static_cast<Dimension>(d))) % n;
    }
    nodes.push_back(topology.rank(at));
  }
  return nodes;
}

/// What the judge of traces says of a run, whose messages are those of a trace with the map in its header.
class Judging {
 public:
  Judging(const Machine& machine, const Groups& groups, const Algorithm& algorithm, const Request& request, const Plan& plan)
      : judge_{header_of(machine, &groups, request, plan, algorithm.name, 1)} {}
  void step(std::span<const Message* const> messages) {
    std::vector<const Message*> sorted(messages.begin(), messages.end());
    std::sort(sorted.begin(), sorted.end(), trace_order);
    for (const Message* m : sorted) {
      line_.assign(*m);
      judge_.message(line_);
    }
  }
  Verdict verdict() { return judge_.finish(); }

 private:
  Judge judge_;
  TraceMessage line_;
};

/// Null: the algorithm does not apply.
struct Both {
  Run alone, mapped;
};
std::optional<Both> run_both(const Algorithm& algorithm, const Machine& machine, const Groups& groups, const Request& request) {
  const Machine seen = groups.machine(machine);
  if (refuses(algorithm, seen, request)) return std::nullopt;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  try {
    Both both{run(algorithm, seen, request, options), {}};
    Judging judging(machine, groups, algorithm, request, both.alone.plan);
    options.on_messages = [&](std::span<const Message* const> messages) { judging.step(messages); };
    both.mapped = run(algorithm, machine, groups, request, options);
    const Verdict verdict = judging.verdict();
    CAPTURE(verdict.violations);
    CHECK((verdict.ok || !both.mapped.result.violations.empty()));
    CHECK(verdict.digest == both.mapped.result.trace_digest);
    CHECK(verdict.channel_bytes == both.mapped.result.channel_bytes_sum);
    return both;
  } catch (const RunError&) {  // a search that finds nothing
  } catch (const InputError&) {
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("ranks on any nodes: the same steps and messages, legal and verified", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned runs = 0;
  for (unsigned map = 0; map < 1000; ++map) {
    std::mt19937_64 own(random());
    const Topology topology = support::random_topology(own, 40);
    const Switching switching = own() % 2 == 0 ? Switching::wormhole : Switching::circuit;
    const Machine machine(topology, own() % 2 == 0 ? all_ports : 1, switching, Contention::share);
    const std::vector<NodeId> nodes = support::random_map(own, topology);
    const Groups groups = Groups::mapped("", topology, nodes);
    const Request request = support::random_request(own, topology, support::random_bytes(own, 9));
    const Algorithm* drawn = support::some_algorithm(own, groups.machine(machine), request);
    if (drawn == nullptr) continue;
    const Algorithm& algorithm = *drawn;
    CAPTURE(map, std::string(algorithm.name), support::text_of(machine, request), nodes);
    const auto both = run_both(algorithm, machine, groups, request);
    if (!both) continue;
    const RunResult &alone = both->alone.result, &mapped = both->mapped.result;
    if (!mapped.violations.empty()) {  // more ports than a queue has room
      CHECK(mapped.violations.front().kind == ViolationKind::queue_overflow);
      continue;
    }
    CHECK(support::complaint(both->mapped) == "");
    CHECK(mapped.verified);
    CHECK(mapped.steps == alone.steps);
    CHECK(mapped.messages == alone.messages);
    CHECK(mapped.blocks_delivered == alone.blocks_delivered);
    CHECK(mapped.duplicates == alone.duplicates);
    CHECK(mapped.node_combined_sum == alone.node_combined_sum);
    ++runs;
  }
  CHECK(runs > 700);
}

TEST_CASE("a map that turns or shifts a torus changes neither steps nor model time", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned runs = 0;
  for (const char* shape : {"4x4", "5x5", "2x2", "3x3x3", "6"}) {
    const Topology topology = Topology::parse(shape);
    for (const Algorithm* algorithm : catalogue()) {
      const NativeMachine& native = algorithm->native;
      const Machine machine(topology, std::min<int>(native.ports, topology.max_ports()), native.switching, native.contention);
      const std::vector<NodeId> nodes = automorphism(random, topology, native.switching == Switching::packet);
      const Groups groups = Groups::mapped("", topology, nodes);
      CAPTURE(std::string(algorithm->name), std::string(name(algorithm->collective)), shape, nodes);
      REQUIRE_FALSE(groups.dilated());
      const auto both = run_both(*algorithm, machine, groups, support::request_on(machine, algorithm->collective, 200));
      if (!both) continue;
      const RunResult &alone = both->alone.result, &mapped = both->mapped.result;
      CHECK(support::complaint(both->mapped) == "");
      CHECK(mapped.verified);
      CHECK(mapped.steps == alone.steps);
      CHECK(mapped.messages == alone.messages);
      CHECK(mapped.hops == alone.hops);
      CHECK(mapped.channel_bytes_sum == alone.channel_bytes_sum);
      CHECK(mapped.model_time_s == Approx(alone.model_time_s));
      ++runs;
    }
  }
  CHECK(runs > 200);
}

TEST_CASE("ranks on any nodes run alike on any number of processes, whatever fault strikes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned runs = 0;
  for (const Algorithm* algorithm : catalogue()) {
    if (random() % 3 > 0) continue;
    const Topology topology = Topology::parse(random() % 2 == 0 ? "6x4" : "3x2mx4");
    const Switching switching = algorithm->native.switching == Switching::circuit ? Switching::circuit : Switching::wormhole;
    const Machine machine(topology, std::min<int>(algorithm->native.ports, topology.max_ports()), switching, Contention::share);
    const Groups groups = Groups::mapped("", topology, support::random_map(random, topology));
    const Machine seen = groups.machine(machine);
    const Request request = support::request_on(seen, algorithm->collective, 200);
    if (refuses(*algorithm, seen, request)) continue;
    const Plan plan = algorithm->plan(seen, request);
    RunOptions options;
    options.fault = support::fault_or_none(random, topology);
    CAPTURE(std::string(algorithm->name), topology.text(), options.fault.has_value());
    const Placement placement = placement_of(seen, request, plan);
    support::check_alike(machine, placement, plan.start, options, {static_cast<unsigned>(2 + random() % 2)}, 1, &groups);
    ++runs;
  }
  CHECK(runs > 10);
}

TEST_CASE("ranks on any nodes have bounds where links are double, and nodes more ports than other nodes", "[conformance]") {
  const Topology topology = Topology::parse("2x2");
  const Machine machine(topology, all_ports, Switching::wormhole, Contention::share);
  const std::vector<NodeId> nodes{0, 3, 1, 2};
  const Groups groups = Groups::mapped("", topology, nodes);
  Request request = support::request_on(groups.machine(machine), Collective::total_exchange, 64);
  request.sizes = SizeRule::parse("zipf:1");
  const Bounds bounds = lower_bounds(groups.machine(machine), request, &groups);
  CHECK(bounds.steps == 1);
  CHECK(bounds.channel_bytes == 0);
  CHECK(support::complaint(run(*find_algorithm(Collective::total_exchange, "rotating"), machine, groups, request)) == "");
}

TEST_CASE("messages of mapped ranks carry the routes that their programs name", "[conformance]") {
  // On a ring of 4 the way over two hops has two directions, and one of three hops is the long way round.
  const Machine machine(Topology::parse("4x2"), all_ports, Switching::circuit, Contention::share);
  const std::vector<NodeId> nodes{5, 0, 4, 6, 1, 3, 2, 7};  // from the second half of the nodes to the first
  const Groups groups = Groups::mapped("", machine.topology, nodes);
  REQUIRE(groups.carries());
  std::mutex mutex;
  std::vector<std::string> heard;
  const std::function<Program(Node&)> start = [&](Node& self) -> Program {
    if (self.rank() == 0) {
      self.send({{0, 2}}, {}, {1});
      self.send({{0, -2}, {1, -1}}, {}, {2, 3});
      self.send({{0, 3}}, {}, {4});
      co_return;
    }
    for (const Message& m : co_await self.arrival()) {
      std::string text = std::to_string(self.rank()) + " from " + std::to_string(m.source()) + " by";
      for (const Leg& leg : m.route()) text += " " + std::to_string(leg.dimension) + ":" + std::to_string(leg.hops);
      for (const Word word : m.header()) text += " " + std::to_string(word);
      const std::lock_guard lock(mutex);
      heard.push_back(text);
    }
  };
  const Placement placement = Placement::replicated(groups.topology(), {}, 8);
  for (const unsigned count : {1U, 2U}) {
    CAPTURE(count);
    heard.clear();
    detail::run_as_processes(count, [&](Processes& processes) {
      RunOptions options;
      options.executor = ExecutorKind::serial;
      options.processes = &processes;
      static_cast<void>(Engine(machine, groups, placement, options).run(start));
    });
    std::sort(heard.begin(), heard.end());
    CHECK(heard == std::vector<std::string>{"4 from 0 by 0:2 1", "5 from 0 by 0:-2 1:-1 2 3", "6 from 0 by 0:3 4"});
  }
}
