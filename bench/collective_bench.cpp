// SPDX-License-Identifier: MIT
/// Every algorithm of the catalogue on a fixed grid of shapes and sizes, checked before it is timed; and broadcasts against what the memory
/// allows.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/catalogue.hpp"
#include "bench/copy_tree.hpp"
#include "bench/median.hpp"
#include "bench/program.hpp"
#include "runtime/engine.hpp"
#include "runtime/error.hpp"

namespace torus::bench {
namespace {

/// What is run: an algorithm on the least machine of a shape that it was made for.
struct Task {
  const Algorithm* algorithm;
  Machine machine;
  Request request;
  RunOptions options;

  Task(const Algorithm& what, const std::string& shape, Bytes bytes, ExecutorKind executor, unsigned threads)
      : algorithm{&what}, machine{native(Topology::parse(shape), what.native)} {
    request.collective = what.collective;
    request.bytes = bytes;
    // A tenth of the nodes of a multi-node broadcast have something to say.
    const NodeId every = what.collective == Collective::multinode_broadcast ? 10 : machine.topology.nodes();
    for (NodeId source = 0; source < machine.topology.nodes(); source += every) request.sources.push_back(source);
    options.executor = executor;
    options.threads = threads;
  }

  std::string text() const {
    return fmt::format("{}/{}/bytes:{}/threads:{}", algorithm->name, machine.topology.text(), request.bytes, options.threads);
  }

 private:
  static Machine native(const Topology& topology, const NativeMachine& native) {
    return Machine(topology, std::min(native.ports, static_cast<int>(topology.max_ports())), native.switching, native.contention);
  }
};

/// A task with its tables made and its memory taken.
class Runner {
 public:
  explicit Runner(const Task& task)
      : plan_{task.algorithm->plan(task.machine, task.request)},
        engine_{task.machine, placement_of(task.machine, task.request, plan_), with_tables(task)} {}

  RunResult run() { return engine_.run(plan_.start); }
  const Plan& plan() const noexcept { return plan_; }

 private:
  RunOptions with_tables(const Task& task) const {
    RunOptions options = task.options;
    options.program_bytes = plan_.table_bytes + plan_.node_bytes * task.machine.topology.nodes();
    return options;
  }

  Plan plan_;
  Engine engine_;
};

/// What is wrong with a run, its number of steps included; empty if nothing.
std::string complaint(const Plan& plan, const RunResult& result) {
  std::string text = fault(result);
  if (text.empty() && (plan.steps_exact ? result.steps != plan.steps : result.steps > plan.steps)) {
    text = fmt::format("{} steps where the formula says {}", result.steps, plan.steps);
  }
  return text;
}

void collective(benchmark::State& state, const Task& task) {
  Runner runner(task);
  RunResult result = runner.run();
  std::string wrong = complaint(runner.plan(), result);
  double delivered = 0, hops = 0;
  if (!wrong.empty()) state.SkipWithError(wrong.c_str());
  for ([[maybe_unused]] auto _ : state) {
    result = runner.run();
    wrong = complaint(runner.plan(), result);
    if (!wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      break;
    }
    state.SetIterationTime(result.run_s);
    delivered += static_cast<double>(result.bytes_delivered);
    hops += static_cast<double>(result.hops);
  }
  state.counters["delivered_bytes/s"] = benchmark::Counter(delivered, benchmark::Counter::kIsRate);
  state.counters["hops/s"] = benchmark::Counter(hops, benchmark::Counter::kIsRate);
  state.counters["steps"] = static_cast<double>(result.steps);
  state.counters["model_time_s"] = result.model_time_s;
}

/// A broadcast, then the copy tree with as many children as the machine has ports, with plain and with streaming stores, again and again.
/// Each is run twice and its second run counts, so that all find the caches as their own work leaves them. The ratio is against the better
/// kind of stores: the median of the pairs, and that of the best runs, which a busy host disturbs less.
void broadcast_to_copy_limit(benchmark::State& state, const Task& task) {
  Runner runner(task);
  const std::unique_ptr<Executor> executor = make_executor(task.options.executor, task.options.threads);
  CopyTree tree(task.machine.topology.nodes(), task.request.bytes, static_cast<unsigned>(task.machine.ports), *executor);
  std::vector<double> broadcast_s, copy_s[2], ratio[2];
  for ([[maybe_unused]] auto _ : state) {
    std::string wrong;
    double took = 0;
    for (int i = 0; i < 2 && wrong.empty(); ++i) {
      const RunResult result = runner.run();
      took = result.run_s;
      wrong = complaint(runner.plan(), result);
    }
    for (const Stores stores : {Stores::plain, Stores::streaming}) {
      tree.run(stores);
      const double limit = tree.run(stores);
      if (broadcast_s.empty() && !tree.complete()) wrong = "a place of the copy tree lacks the payload";
      copy_s[static_cast<int>(stores)].push_back(limit);
      ratio[static_cast<int>(stores)].push_back(limit / took);
    }
    if (!wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      break;
    }
    broadcast_s.push_back(took);
    state.SetIterationTime(took);
  }
  const auto delivered = static_cast<double>(tree.delivered());
  const auto least = [](const std::vector<double>& seconds) { return *std::min_element(seconds.begin(), seconds.end()); };
  const auto throughput = [&](const std::vector<double>& seconds) { return seconds.empty() ? 0 : delivered / median(seconds); };
  state.counters["delivered_bytes/s"] = throughput(broadcast_s);
  state.counters["plain_bytes/s"] = throughput(copy_s[0]);
  state.counters["streaming_bytes/s"] = throughput(copy_s[1]);
  state.counters["ratio"] = std::min(median(ratio[0]), median(ratio[1]));
  if (!broadcast_s.empty()) state.counters["ratio_of_best"] = std::min(least(copy_s[0]), least(copy_s[1])) / least(broadcast_s);
  state.counters["pairs"] = static_cast<double>(broadcast_s.size());
}

struct Grid {
  std::vector<std::string> shapes;
  std::vector<Bytes> sizes;
};

Grid grid(Collective collective) {
  switch (collective) {
    case Collective::broadcast: return {{"64x64", "25x25", "16x16x16", "mesh:16x16"}, {64, 4096, 65536}};
    case Collective::multinode_broadcast: return {{"16x16", "25x25", "8x8x8"}, {64, 4096}};
    case Collective::total_exchange: return {{"8x8", "32x32", "8x8x8", "mesh:8x8"}, {64, 1024}};
  }
  return {};
}

/// 32x32 blocks of a KiB are a GiB that some algorithms hold several times.
bool too_large(const Task& task) {
  return task.request.collective == Collective::total_exchange &&
         std::uint64_t{task.machine.topology.nodes()} * task.request.bytes > 256 * 1024;
}

}  // namespace

void register_benchmarks(const Settings& settings) {
  const std::vector<unsigned> threads = thread_counts();
  const auto add_ratio = [&](const char* algorithm, const char* shape, Bytes bytes, unsigned workers, bool large = false) {
    const Algorithm* found = find_algorithm(Collective::broadcast, algorithm);
    if (found == nullptr) throw InputError(fmt::format("broadcast '{}': there is no such algorithm any more", algorithm));
    const Task task(*found, shape, bytes, settings.executor, workers);
    add(fmt::format("broadcast-to-copy-limit/{}{}", large ? "large/" : "", task.text()),
        [task](benchmark::State& state) { broadcast_to_copy_limit(state, task); })
        ->Iterations(large ? 3 : 15)
        ->Unit(benchmark::kMicrosecond);
  };
  for (const unsigned workers : threads) {
    for (const char* algorithm : {"tsai-mckinley", "wang-tseng", "flood"}) {
      for (const Bytes bytes : {65536U, 4096U}) add_ratio(algorithm, "16x16x16", bytes, workers);
      if (settings.large) add_ratio(algorithm, "1024x1024", 4096, workers, true);
    }
  }
  for (const Algorithm* algorithm : catalogue()) {
    const Grid g = grid(algorithm->collective);
    for (const std::string& shape : g.shapes) {
      for (const Bytes bytes : g.sizes) {
        for (const unsigned workers : {threads.front(), threads.back()}) {
          const Task task(*algorithm, shape, bytes, settings.executor, workers);
          if (algorithm->refuses(task.machine, task.request) || too_large(task)) continue;
          add(fmt::format("collective/{}/{}", name(algorithm->collective), task.text()), [task](benchmark::State& state) {
            collective(state, task);
          })->Unit(benchmark::kMicrosecond);
          if (threads.size() == 1) break;
        }
      }
    }
  }
}

}  // namespace torus::bench
