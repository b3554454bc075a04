// A plan depends on nothing but the machine and the request, whatever a cache holds, and a run needs no more memory than was estimated for
// its plan.
//
// Children of fork() plan and run alone. They are started before this process plans anything, so these tests have a program of their own.
#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request request_on(const Topology& topology, Collective collective, Bytes bytes) {
  Request request;
  request.collective = collective;
  request.bytes = collective == Collective::barrier ? 0 : bytes;
  if (facts_of(collective).rooted()) request.sources = {support::living_from(topology, topology.nodes() / 3)};
  if (collective != Collective::multinode_broadcast) return request;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) request.sources.push_back(node);
  }
  return request;
}

/// What function() returns in a process of its own; none if that does not end well. The result has no pointers.
template <class Function>
auto alone(Function&& function) -> std::optional<decltype(function())> {
  using Result = decltype(function());
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 1;
    try {
      const Result result = function();
      status = ::write(ends[1], &result, sizeof result) == static_cast<ssize_t>(sizeof result) ? 0 : 1;
    } catch (...) {
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  Result result{};
  const bool whole = ::read(ends[0], &result, sizeof result) == static_cast<ssize_t>(sizeof result);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return whole && status == 0 ? std::optional(result) : std::nullopt;
}

struct Setting {
  const Algorithm* algorithm;
  Machine machine;
  Request request;

  std::string text() const {
    return std::string(name(algorithm->collective)) + " " + std::string(algorithm->name) + " on " + machine.topology.text() + ", " +
           std::string(name(machine.switching)) + ", " + std::to_string(machine.ports) + " ports, " + std::to_string(request.bytes) +
           " bytes, T_s " + std::to_string(1e6 * machine.cost.start_up_s);
  }
};

/// All machines of some shapes that an algorithm takes: every switching, one port, two or all, both rules of contention, two orders of
/// routing.
std::vector<Setting> settings_of(const Algorithm& algorithm, const std::vector<const char*>& shapes, Bytes bytes) {
  std::vector<Setting> settings;
  for (const char* shape : shapes) {
    const Topology topology = Topology::parse(shape);
    std::vector<Dimension> descending;
    for (Dimension d = topology.dimensions(); d-- > 0;) descending.push_back(d);
    std::vector<int> counts{1, 2, static_cast<int>(topology.max_ports())};
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    for (const Switching switching : {Switching::circuit, Switching::wormhole, Switching::packet}) {
      for (const int ports : counts) {
        for (const Contention contention : {Contention::forbid, Contention::share}) {
          for (const std::vector<Dimension>& routing : {std::vector<Dimension>{}, descending}) {
            const Machine machine(topology, ports, switching, contention, routing);
            Request request = request_on(topology, algorithm.collective, bytes);
            if (!refuses(algorithm, machine, request)) settings.push_back({&algorithm, machine, std::move(request)});
          }
        }
      }
    }
  }
  return settings;
}

struct Result {
  std::uint64_t digest = 0;
  double model_time_s = 0;
  bool good = false;
  friend bool operator==(const Result&, const Result&) = default;
};

Result result_of(const Setting& setting, PlanCache* cache) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  const Plan plan = cache != nullptr ? make_plan(*setting.algorithm, setting.machine, setting.request, *cache)
                                     : make_plan(*setting.algorithm, setting.machine, setting.request);
  const RunResult result = make_engine(setting.machine, setting.request, plan, options).run(plan.start);
  const bool good = !check(setting.machine, setting.request, plan, lower_bounds(setting.machine, setting.request), result).failure;
  return {result.trace_digest, plan.predicts() ? plan.model_time_s(setting.machine.cost) : 0, good};
}

MemoryEstimate estimate_of(const Machine& machine, const Request& request, const Plan& plan) {
  return estimate_memory(machine, placement_of(machine, request, plan), memory_beside_engine(machine, request, plan));
}

/// So many bytes a request that all nodes together hold about `all`.
Bytes bytes_for(Collective collective, const Topology& topology, double all) {
  const bool pairs =
      collective == Collective::multinode_broadcast || collective == Collective::total_exchange || collective == Collective::reduce_scatter;
  const double nodes = topology.nodes();
  const double shares = pairs ? nodes * nodes : nodes;
  return std::max<Bytes>(1, static_cast<Bytes>(all / shares) / 64) * 64;
}

int searches = 0;  // that were made

std::string sum_of(std::int32_t a, std::int32_t b) { return std::to_string(++searches) + ": " + std::to_string(a + b); }
std::string product_of(std::int32_t a, std::int32_t b) { return std::to_string(++searches) + ": " + std::to_string(a * b); }

}  // namespace

TEST_CASE("a cache holds the last results of each search, by all arguments", "[conformance]") {
  searches = 0;
  PlanCache cache;
  const auto sum = [&](std::int32_t a, std::int32_t b) { return *cache.of<sum_of>(a, b); };
  CHECK(sum(1, 2) == "1: 3");
  CHECK(sum(1, 3) == "2: 4");
  CHECK(sum(2, 2) == "3: 4");
  CHECK(*cache.of<product_of>(1, 2) == "4: 2");
  CHECK(sum(1, 2) == "1: 3");
  PlanCache copy = cache;
  CHECK(*copy.of<sum_of>(9, 9) == "5: 18");
  CHECK(sum(5, 5) == "6: 10");
  CHECK(sum(6, 6) == "7: 12");  // the fifth sum: the oldest goes
  CHECK(sum(1, 3) == "2: 4");
  CHECK(sum(1, 2) == "8: 3");
  CHECK(*cache.of<product_of>(1, 2) == "4: 2");
  const std::shared_ptr<const std::string> kept = copy.of<sum_of>(9, 9);
  copy = {};
  CHECK(*kept == "5: 18");
}

TEST_CASE("a plan does not depend on what was planned before", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  support::Share share(16, 16);
  std::vector<Setting> settings;
  for (const Algorithm* algorithm : catalogue()) {
    // Those that search find most, and are few.
    const bool searches = algorithm->name == "stars" || algorithm->name == "tree-packing";
    if (!share.takes_turn() && !searches) continue;
    for (Setting& setting : settings_of(*algorithm, {"5x5", "4x4", "3x3x3", "mesh:3x4"}, 64)) settings.push_back(std::move(setting));
  }
  std::vector<std::optional<Result>> expected;
  for (const Setting& setting : settings) expected.push_back(alone([&] { return result_of(setting, nullptr); }));
  // Neighbours of a setting's machine that differ in one thing only come before it and behind it.
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < settings.size(); ++i) order.push_back(i);
  for (std::size_t i = 0; i < settings.size(); ++i) order.push_back(settings.size() - 1 - i);
  for (std::size_t i = 0; i < settings.size(); ++i) order.push_back(support::random_below(random, settings.size()));
  PlanCache cache;
  for (const std::size_t i : order) {
    CAPTURE(settings[i].text());
    REQUIRE(expected[i]);
    CHECK(expected[i]->good);
    REQUIRE(result_of(settings[i], random() % 4 == 0 ? nullptr : &cache) == *expected[i]);
  }
}

TEST_CASE("no run needs more memory than was estimated for its plan", "[conformance]") {
  // Blocks for copies beyond those estimated draw on 16 MiB, if the limit is the estimate: a quarter of these.
  constexpr double all_blocks = 64e6;
  support::Share share(16, 64);
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == Collective::barrier) continue;
    const bool always = algorithm->name == "windows" || algorithm->name == "flood";
    for (const char* shape : {"5x5", "4x4x4", "16", "4x6", "mesh:3x5", "8c"}) {
      const Topology topology = Topology::parse(shape);
      for (const int ports : {1, static_cast<int>(topology.max_ports())}) {
        for (const char* segments : {"", "1"}) {
          const NativeMachine& native = algorithm->native;
          const Machine machine(topology, ports, native.switching, native.contention);
          Request request = request_on(topology, algorithm->collective, bytes_for(algorithm->collective, topology, all_blocks));
          if (*segments != 0) request.parameters.set("segments", segments);
          if (refuses(*algorithm, machine, request) || (!share.takes_turn() && !always)) continue;
          const Plan plan = make_plan(*algorithm, machine, request);
          RunOptions options;
          options.executor = ExecutorKind::serial;
          options.memory_limit = estimate_of(machine, request, plan).total();
          CAPTURE(algorithm->name, name(algorithm->collective), shape, ports, segments);
          RunResult result;
          REQUIRE_NOTHROW(result = make_engine(machine, request, plan, options).run(plan.start));
          CHECK(result.verified);
        }
      }
    }
  }
}

TEST_CASE("the copies estimated for floods are those that are held and on their way at once", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  const Algorithm& algorithm = *find_algorithm(Collective::broadcast, "flood");
  for (const bool whole : {true, false}) {
    for (const char* shape : {"1", "2", "3c", "7", "16c", "8x8", "mesh:5x7", "5x3cx4", "4x4x4", "2^6", "4x4x8t", "3x1x2m"}) {
      for (const bool dead : {false, true}) {
        Topology topology = Topology::parse(shape);
        if (dead && topology.nodes() > 8) topology = topology.with_faults({.dead_nodes = {topology.nodes() / 2}});
        const Machine machine(topology, 0, algorithm.native.switching);
        Request request = request_on(topology, algorithm.collective, 64);
        request.sources = {support::living_from(topology, support::random_below(random, topology.nodes()))};
        request.parameters.set("segments", whole ? 1 : std::uint64_t{1 + support::random_below(random, 12)});
        REQUIRE(why_not(algorithm, machine, request) == "");
        const Plan plan = make_plan(algorithm, machine, request);
        std::vector<std::vector<bool>> held(topology.nodes(), std::vector<bool>(plan.segments));
        held[request.sources.front()].assign(plan.segments, true);
        std::uint64_t holds = plan.segments, most = holds;
        RunOptions options;
        options.executor = ExecutorKind::serial;
        options.on_messages = [&](std::span<const Message* const> messages) {
          std::uint64_t sent = 0;
          for (const Message* m : messages) sent += m->blocks().size();
          most = std::max(most, holds + sent);
          for (const Message* m : messages) {
            for (const BlockId id : m->blocks()) {
              auto there = held[m->destination()][id % plan.segments];
              holds += there ? 0U : 1U;
              there = true;
            }
          }
        };
        const RunResult result = make_engine(machine, request, plan, options).run(plan.start);
        CAPTURE(topology.text(), plan.segments, request.sources.front());
        CHECK(result.verified);
        CHECK(placement_of(machine, request, plan).most_held() == std::max<std::uint64_t>(most, topology.living_nodes() * plan.segments));
      }
    }
  }
}

TEST_CASE("the copies estimated for windows are its registers and what all ports send", "[conformance]") {
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "windows");
  for (const char* shape : {"1", "2", "3", "27", "5x5", "8x8", "4x4x4", "8x8x8", "4x4x4x4", "3^5", "mesh:3x4"}) {
    for (const int ports : {1, 2, 3, 0}) {
      const Topology topology = Topology::parse(shape);
      if (ports > static_cast<int>(topology.max_ports())) continue;
      const Machine machine(topology, ports, Switching::wormhole, Contention::share);
      const Request request = request_on(topology, algorithm.collective, 64);
      const Plan plan = make_plan(algorithm, machine, request);
      const std::uint64_t nodes = topology.nodes();
      std::uint64_t held = nodes, most = nodes;  // all hold their contribution, and from the first step but the last on another partial
      RunOptions options;
      options.executor = ExecutorKind::serial;
      options.on_messages = [&](std::span<const Message* const> messages) {
        std::uint64_t sent = 0;
        for (const Message* m : messages) sent += m->blocks().size();
        most = std::max(most, held + sent);
        if (!messages.empty() && messages.front()->registers() != 1) held = 2 * nodes;
      };
      const RunResult result = make_engine(machine, request, plan, options).run(plan.start);
      CAPTURE(shape, ports);
      CHECK(result.verified);
      CHECK(placement_of(machine, request, plan).most_held() == most);
    }
  }
}
