// From 64x64 nodes on, the estimate of a run's memory is at least what the run takes, and 1.3 times that at most.
//
// Counted, not measured: resident memory has the program and whole pages in it. The engine counts what it takes itself
// (RunResult::used_bytes), the allocator what plans, programs and the witness of a barrier take from the heap, and routes
// that messages of mapped ranks carry along.
#include <algorithm>
#include <cstdint>
#include <malloc.h>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "algorithms/barrier_witness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool heap_is_counted = false;  // by their allocators
#else
constexpr bool heap_is_counted = true;
#endif

/// Bytes that have been allocated and not been freed.
Bytes heap() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

Request request_on(const Topology& topology, Collective collective, Bytes bytes, std::size_t sources) {
  Request request;
  request.collective = collective;
  request.bytes = collective == Collective::barrier ? 0 : bytes;
  if (facts_of(collective).rooted()) request.sources = {topology.nodes() / 3};
  if (collective != Collective::multinode_broadcast) return request;
  for (std::size_t i = 0; i < sources; ++i) request.sources.push_back(static_cast<NodeId>(i * topology.nodes() / sources));
  return request;
}

struct Memory {
  Bytes estimated = 0;
  Bytes used = 0;
};

/// One thread. groups: null for none.
Memory memory_of(const Algorithm& algorithm, const Machine& machine, const Request& request, const Groups* groups) {
  const Bytes before = heap();
  std::optional<BarrierWitness> witness;  // as run() has one
  if (request.collective == Collective::barrier) witness.emplace(machine.topology);
  const Plan plan = make_plan(algorithm, groups != nullptr ? groups->machine(machine) : machine, request);
  const Bytes tables = heap() - before;
  Bytes most = 0;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.verify = false;
  const std::uint64_t every = plan.steps / 64 + 1;  // to count takes the allocator its time
  options.on_step = [&](Step step) {
    if (step % every == 0) most = std::max(most, heap());
  };
  Engine engine = make_engine(machine, request, plan, std::move(options), groups);
  const Bytes idle = heap();
  const RunResult result = engine.run(plan.start);
  CHECK(result.good());
  // The first frames are on the heap, and the engine counts them. The records of steps are in no estimate: see spare_bytes().
  const Bytes else_counted = idle + (Bytes{64} << 10U) + result.step_records.capacity() * sizeof(StepRecord);
  return {result.memory_bytes, result.used_bytes + tables + (most > else_counted ? most - else_counted : 0)};
}

void check_estimate(const Algorithm& algorithm, const Topology& topology, Bytes bytes, std::size_t sources,
                    const Groups* groups = nullptr) {
  constexpr Bytes most_memory = Bytes{64} << 20U;
  constexpr std::uint64_t most_steps = 256;  // more take seconds
  const Machine machine(
      topology, algorithm.native.ports,
      groups != nullptr && algorithm.native.switching == Switching::packet ? Switching::wormhole : algorithm.native.switching,
      groups != nullptr ? Contention::share : algorithm.native.contention);
  const Request request = request_on(topology, algorithm.collective, bytes, sources);
  if (refuses(algorithm, machine, request)) return;
  const Plan plan = make_plan(algorithm, machine, request);
  if (plan.steps > most_steps) return;
  const Placement placement = placement_of(machine, request, plan);
  if (estimate_memory(machine, placement, memory_beside_engine(machine, request, plan)).total() > most_memory) return;
  const Memory memory = memory_of(algorithm, machine, request, groups);
  CAPTURE(algorithm.name, name(algorithm.collective), topology.text(), bytes, sources, groups != nullptr, memory.estimated, memory.used);
  CHECK(memory.estimated >= memory.used);
  // Messages of mapped ranks weigh more, and plans say how many there are at most.
  CHECK(static_cast<double>(memory.estimated) <= (groups != nullptr ? 1.75 : 1.3) * static_cast<double>(memory.used));
}

}  // namespace

TEST_CASE("the estimate is what a run takes, and at most 1.3 times that", "[conformance]") {
  if (!heap_is_counted) return;
  const Topology square = Topology::parse("64x64");
  support::Share share(12, 12);
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == Collective::total_exchange) continue;  // has 2^24 blocks
    const bool several = algorithm->collective == Collective::multinode_broadcast;
    if (share.takes_turn()) check_estimate(*algorithm, square, 64, 1);
    if (several && share.takes_turn()) check_estimate(*algorithm, square, 64, 16);
    if (algorithm->collective != Collective::barrier && share.takes_turn()) check_estimate(*algorithm, square, 4096, 1);
  }
  for (const auto& [collective, name] : {std::pair{Collective::broadcast, "tsai-mckinley"},
                                         {Collective::broadcast, "edst-broadcast"},
                                         {Collective::barrier, "exchange"},
                                         {Collective::scatter, "tree-of-broadcast"}})
    check_estimate(*find_algorithm(collective, name), Topology::parse("256x256"), 64, 1);
}

// Messages of ranks that lie apart carry the routes of their programs along.
TEST_CASE("the estimate knows the routes of mapped ranks", "[conformance]") {
  if (!heap_is_counted) return;
  support::Share share(9, 9);
  for (const char* shape : {"64x64", "16x16x16"}) {
    const Topology topology = Topology::parse(shape);
    std::mt19937_64 random(7);
    const Groups groups = Groups::mapped("", topology, support::random_map(random, topology));
    REQUIRE(groups.carries());
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective == Collective::total_exchange || !share.takes_turn()) continue;
      check_estimate(*algorithm, topology, 64, 1, &groups);
    }
  }
}
