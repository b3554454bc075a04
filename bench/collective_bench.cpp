/// Every algorithm of the catalogue on a fixed grid of shapes and sizes, checked before it is timed; and broadcasts against what the memory
/// allows.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/bandwidth.hpp>
#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>

#include "bench/combinings.hpp"
#include "bench/copies.hpp"
#include "bench/median.hpp"
#include "bench/program.hpp"

namespace torus::bench {
namespace {

/// What is run: an algorithm on the smallest machine of a shape that it was made for.
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
    if (what.collective == Collective::barrier) request.bytes = 0;
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

/// A task that is planned, with its blocks in place.
class Runner {
 public:
  explicit Runner(const Task& task)
      : machine_{task.machine},
        request_{task.request},
        plan_{make_plan(*task.algorithm, machine_, request_)},
        bounds_{lower_bounds(machine_, request_)},
        engine_{make_engine(machine_, request_, plan_, task.options)} {}

  RunResult run() { return engine_.run(plan_.start); }
  /// What is wrong with a run; empty if nothing.
  std::string complaint(const RunResult& result) const { return check(machine_, request_, plan_, bounds_, result).failure.value_or(""); }

 private:
  Machine machine_;
  Request request_;
  Plan plan_;
  Bounds bounds_;
  Engine engine_;
};

void collective(benchmark::State& state, const Task& task) {
  Runner runner(task);
  RunResult result = runner.run();
  std::string wrong = runner.complaint(result);
  double copied = 0, hops = 0;
  if (!wrong.empty()) state.SkipWithError(wrong.c_str());
  for ([[maybe_unused]] auto _ : state) {
    result = runner.run();
    wrong = runner.complaint(result);
    if (!wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      break;
    }
    state.SetIterationTime(result.run_s);
    copied += static_cast<double>(result.bytes_delivered);
    hops += static_cast<double>(result.hops);
  }
  state.counters["copied_bytes/s"] = benchmark::Counter(copied, benchmark::Counter::kIsRate);
  const double asked = asked_bytes(task.request, task.machine.topology.nodes()) * static_cast<double>(state.iterations());
  const double factor = bus_factor(task.request.collective, task.machine.topology.nodes());
  state.counters["algbw_bytes/s"] = benchmark::Counter(asked, benchmark::Counter::kIsRate);
  state.counters["busbw_bytes/s"] = benchmark::Counter(asked * factor, benchmark::Counter::kIsRate);
  state.counters["hops/s"] = benchmark::Counter(hops, benchmark::Counter::kIsRate);
  state.counters["steps"] = static_cast<double>(result.steps);
  state.counters["model_time_s"] = result.model_time_s;
}

/// The copies that a broadcast makes, step by step; of segments between multiples of 64 bytes.
Rounds copies_of(Task task) {
  Rounds rounds;
  const std::uint64_t segments = make_plan(*task.algorithm, task.machine, task.request).segments;
  const auto start_of = [&](std::uint64_t segment) {
    return static_cast<std::uint32_t>(segment == segments ? task.request.bytes : task.request.bytes * segment / segments / 64 * 64);
  };
  task.options.on_messages = [&](std::span<const Message* const> messages) {
    std::vector<Copy>& copies = rounds.emplace_back();
    for (const Message* m : messages) {
      std::uint32_t end = 0;  // of the last copy, which the next block may lengthen
      for (const BlockId block : m->blocks()) {
        const std::uint32_t first = start_of(block % segments), next = start_of(block % segments + 1);
        if (end > 0 && first == end)
          copies.back().bytes += next - first;
        else if (next > first)
          copies.push_back({m->source(), m->destination(), first, next - first});
        end = next;
      }
    }
    std::sort(copies.begin(), copies.end(),
              [](const Copy& a, const Copy& b) { return std::tuple(a.from, a.first, a.to) < std::tuple(b.from, b.first, b.to); });
  };
  Runner(task).run();
  return rounds;
}

/// Times of copies with plain and with streaming stores, beside times of what is measured against them.
class Limit {
 public:
  Limit(const Task& task, Rounds rounds, Executor& executor)
      : copies_(task.machine.topology.nodes(), task.request.bytes, std::move(rounds), executor) {}

  /// Twice each, the second counts. False if a place lacks the payload.
  bool measure() {
    for (const Stores stores : {Stores::plain, Stores::streaming}) {
      copies_.run(stores);
      std::vector<double>& seconds = seconds_[static_cast<std::size_t>(stores)];
      seconds.push_back(copies_.run(stores));
      if (seconds.size() == 1 && !copies_.complete()) return false;
    }
    return true;
  }

  double delivered() const { return static_cast<double>(copies_.delivered()); }
  double median_s(Stores stores) const { return median(seconds_[static_cast<std::size_t>(stores)]); }
  double least_s() const {
    const auto least = [](const std::vector<double>& seconds) { return *std::min_element(seconds.begin(), seconds.end()); };
    return std::min(least(seconds_[0]), least(seconds_[1]));
  }
  /// The median of the pairs, by the better kind of stores.
  double ratio(const std::vector<double>& took) const {
    double least = std::numeric_limits<double>::infinity();
    for (const std::vector<double>& limit : seconds_) {
      std::vector<double> ratios;
      for (std::size_t i = 0; i < took.size(); ++i) ratios.push_back(limit[i] / took[i]);
      least = std::min(least, median(ratios));
    }
    return least;
  }

 private:
  Copies copies_;
  std::vector<double> seconds_[2];
};

/// A broadcast, and two limits in turn with it: the copy tree with as many children as the machine has ports, whose copies are mostly read
/// from the cache; and the broadcast's own copies, by bare memory copies in the same steps. Each is run twice and its second run counts, so
/// that all find the caches as their own work leaves them.
void broadcast_to_copy_limit(benchmark::State& state, const Task& task) {
  const std::unique_ptr<Executor> executor = make_executor(task.options.executor, task.options.threads);
  Limit tree(task, tree_of_copies(task.machine.topology.nodes(), static_cast<unsigned>(task.machine.ports)), *executor);
  Limit own(task, copies_of(task), *executor);
  Runner runner(task);
  std::vector<double> took;
  for ([[maybe_unused]] auto _ : state) {
    std::string wrong = runner.complaint(runner.run());
    const RunResult result = runner.run();
    if (wrong.empty()) wrong = runner.complaint(result);
    if (!tree.measure() || !own.measure()) wrong = "a place lacks the payload";
    if (!wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      return;
    }
    took.push_back(result.run_s);
    state.SetIterationTime(result.run_s);
  }
  state.counters["copied_bytes/s"] = tree.delivered() / median(took);
  state.counters["ratio"] = tree.ratio(took);
  state.counters["ratio_of_best"] = tree.least_s() / *std::min_element(took.begin(), took.end());
  state.counters["ratio_own_copies"] = own.ratio(took);
  for (const Stores stores : {Stores::plain, Stores::streaming}) {
    state.counters[fmt::format("{}_bytes/s", name(stores))] = tree.delivered() / tree.median_s(stores);
    state.counters[fmt::format("own_{}_bytes/s", name(stores))] = own.delivered() / own.median_s(stores);
  }
  state.counters["pairs"] = static_cast<double>(took.size());
}

/// What the messages of a reduction carry, step by step. Segments that follow each other are one extent.
Parcels parcels_of(Task task) {
  Parcels parcels;
  const Bytes element = size_of(task.request.reduction.type), elements = task.request.bytes / element;
  const std::uint64_t segments = make_plan(*task.algorithm, task.machine, task.request).segments;
  const auto start_of = [&](std::uint64_t segment) {
    return static_cast<std::uint32_t>((elements / segments * segment + std::min(segment, elements % segments)) * element);
  };
  task.options.on_messages = [&](std::span<const Message* const> messages) {
    std::vector<Parcel>& sent = parcels.rounds.emplace_back();
    for (const Message* m : messages) {
      const auto first = static_cast<std::uint32_t>(parcels.extents.size());
      for (const BlockId block : m->blocks()) {
        const Extent next{start_of(block), start_of(block + 1) - start_of(block)};
        if (parcels.extents.size() > first && parcels.extents.back().first + parcels.extents.back().bytes == next.first)
          parcels.extents.back().bytes += next.bytes;
        else if (next.bytes > 0)
          parcels.extents.push_back(next);
      }
      sent.push_back({m->source(), m->destination(), m->combines(), first, static_cast<std::uint32_t>(parcels.extents.size()) - first});
    }
  };
  Runner(task).run();
  return parcels;
}

/// An all-reduce, in turn with the bare copies and additions that its messages need. Each is run twice and its second run counts.
void allreduce_to_bare(benchmark::State& state, const Task& task) {
  const std::unique_ptr<Executor> executor = make_executor(task.options.executor, task.options.threads);
  Combinings bare(task.machine.topology.nodes(), task.request.bytes, task.request.reduction, parcels_of(task), *executor);
  Runner runner(task);
  std::vector<double> took, ratios;
  for ([[maybe_unused]] auto _ : state) {
    std::string wrong = runner.complaint(runner.run());
    const RunResult result = runner.run();
    if (wrong.empty()) wrong = runner.complaint(result);
    bare.run();
    const double bare_s = bare.run();
    if (took.empty() && !bare.complete()) wrong = "a node lacks the sum";
    if (!wrong.empty()) {
      state.SkipWithError(wrong.c_str());
      return;
    }
    took.push_back(result.run_s);
    ratios.push_back(bare_s / result.run_s);
    state.SetIterationTime(result.run_s);
    state.counters["ns/block"] = 1e9 * result.run_s / static_cast<double>(result.blocks_delivered);
  }
  state.counters["ratio"] = median(ratios);
  state.counters["pairs"] = static_cast<double>(took.size());
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
    case Collective::allreduce: return {{"16x16", "8x8x8", "mesh:8x8"}, {4096, 65536, 1048576}};
    case Collective::reduce: return {{"16x16", "64x64", "8x8x8", "mesh:16x16"}, {64, 65536}};
    case Collective::reduce_scatter: return {{"16x16", "8x8x8", "mesh:8x8"}, {64, 4096}};
    case Collective::scan: return {{"16x16", "8x8x8"}, {64, 4096}};
    case Collective::scatter:
    case Collective::gather: return {{"64x64", "16x16x16", "mesh:16x16"}, {64, 4096}};
    case Collective::barrier: return {{"64x64", "16x16x16", "mesh:16x16"}, {0}};
  }
  return {};
}

/// 32x32 blocks of a KiB are a GiB that some algorithms hold several times.
bool too_large(const Task& task) {
  return task.request.collective == Collective::total_exchange &&
         std::uint64_t{task.machine.topology.nodes()} * task.request.bytes > Bytes{256} * 1024;
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
        ->Iterations(large ? 9 : 15)
        ->Unit(benchmark::kMicrosecond);
  };
  for (const unsigned workers : threads) {
    for (const char* algorithm : {"tsai-mckinley", "wang-tseng", "synthesized", "flood"}) {
      for (const char* shape : {"16x16x16", "64x64"}) {
        for (const Bytes bytes : {65536U, 4096U}) add_ratio(algorithm, shape, bytes, workers);
      }
      if (settings.large) add_ratio(algorithm, "1024x1024", 4096, workers, true);
    }
    for (const char* algorithm : {"swath", "edst-broadcast", "tsai-mckinley"}) {  // long messages: 4 GiB three times
      for (const char* shape : {"16x16x16", "64x64"}) {
        if (settings.large) add_ratio(algorithm, shape, 1U << 20U, workers, true);
      }
    }
  }
  for (const unsigned workers : threads) {
    for (const char* shape : {"16x16", "64x64"}) {
      for (const Bytes bytes : {65536U, 1U << 20U}) {
        const bool large = std::string(shape) == "64x64";
        if (large && !settings.large) continue;  // up to 10 GiB
        const Task task(*find_algorithm(Collective::allreduce, "rings"), shape, bytes, settings.executor, workers);
        add(fmt::format("allreduce-to-bare/{}{}", large ? "large/" : "", task.text()),
            [task](benchmark::State& state) { allreduce_to_bare(state, task); })
            ->Iterations(large ? 3 : 15)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  for (const Algorithm* algorithm : catalogue()) {
    const Grid g = grid(algorithm->collective);
    for (const std::string& shape : g.shapes) {
      for (const Bytes bytes : g.sizes) {
        for (const unsigned workers : {threads.front(), threads.back()}) {
          const Task task(*algorithm, shape, bytes, settings.executor, workers);
          if (refuses(*algorithm, task.machine, task.request) || too_large(task)) continue;
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
