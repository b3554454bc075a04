/// What the engine itself costs: an empty step, an awake node, a message-hop, an idle node's memory and set-up. The machine's rules are
/// judged and every byte is verified in all of them, as in any run.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/groups.hpp>
#include <torus/report.hpp>

#include "bench/bare_hops.hpp"
#include "bench/host.hpp"
#include "bench/median.hpp"
#include "bench/program.hpp"
#include "bench/traffic.hpp"
#include "runtime/base/host.hpp"

namespace torus::bench {
namespace {

struct Workers {
  ExecutorKind executor;
  unsigned threads;

  std::string text() const { return fmt::format("executor:{}/threads:{}", name(executor), threads); }
  RunOptions options() const {
    RunOptions options;
    options.executor = executor;
    options.threads = threads;
    return options;
  }
};

std::vector<Workers> every_executor() {
  std::vector<Workers> all{{ExecutorKind::serial, 1}};
  for (const ExecutorKind kind : {ExecutorKind::threads, ExecutorKind::tbb}) {
    for (const unsigned threads : thread_counts()) all.push_back({kind, threads});
  }
  return all;
}

/// Gives a benchmark's state what is wrong with a run; true if anything is.
bool refuse(benchmark::State& state, const Machine& machine, const RunResult& result) {
  const std::optional<std::string> failure = failure_of(machine, result);
  if (failure) state.SkipWithError(failure->c_str());
  return failure.has_value();
}

// ---- sleeping nodes ----

void empty_step(benchmark::State& state, const std::string& shape, const Workers& workers) {
  const Machine machine(Topology::parse(shape), 0, Switching::packet);
  constexpr Step steps = 500;
  Stretch stretch{50, steps - 1};
  RunOptions options = workers.options();
  options.on_step = [&](Step step) { stretch.at_barrier(step); };
  Engine engine(machine, wake_up_call(machine), options);
  std::vector<double> step_ns;
  for ([[maybe_unused]] auto _ : state) {
    if (refuse(state, machine, engine.run([](Node& node) { return sleep_well(node, steps); }))) break;
    state.SetIterationTime(stretch.wall / stretch.steps());
    step_ns.push_back(1e9 * stretch.wall / stretch.steps());
  }
  state.counters["median_ns/step"] = median(step_ns);
}

void set_up(benchmark::State& state, const std::string& shape, const Workers& workers) {
  const Machine machine(Topology::parse(shape), 0, Switching::packet);
  const auto nodes = static_cast<double>(machine.topology.nodes());
  const bool peak_is_ours = forget_peak();
  const auto before = static_cast<double>(resident_bytes());
  double asleep = 0;
  for ([[maybe_unused]] auto _ : state) {
    RunOptions options = workers.options();
    options.on_step = [&](Step step) {
      if (step == 2) asleep = static_cast<double>(resident_bytes());
    };
    Engine engine(machine, wake_up_call(machine), options);
    const RunResult result = engine.run([](Node& node) { return sleep_well(node, 4); });
    if (refuse(state, machine, result)) break;
    state.SetIterationTime(result.setup_s);
  }
  const auto each = [&](double resident) { return (resident - before) / nodes - static_cast<double>(wake_up_bytes); };
  state.counters["bytes/idle_node"] = each(asleep);
  if (peak_is_ours && peak_memory()) state.counters["peak_bytes/node"] = each(static_cast<double>(*peak_memory()));
}

// ---- awake nodes ----

Program stay_awake(Node& self, Step steps) {
  for (Step step = 0; step < steps; ++step) co_await self.step();
}

void awake_node(benchmark::State& state, const std::string& shape, const Workers& workers) {
  const Machine machine(Topology::parse(shape), 0, Switching::packet);
  constexpr Step steps = 60;
  Stretch stretch{9, steps - 1};
  RunOptions options = workers.options();
  options.on_step = [&](Step step) { stretch.at_barrier(step); };
  Engine engine(machine, Placement::resident(machine.topology, 1, 64), options);
  double core = 0;
  for ([[maybe_unused]] auto _ : state) {
    if (refuse(state, machine, engine.run([](Node& node) { return stay_awake(node, steps); }))) break;
    state.SetIterationTime(stretch.wall / stretch.steps());
    core += stretch.core / stretch.steps();
  }
  const double node_steps =
      static_cast<double>(machine.topology.nodes()) * static_cast<double>(std::max<benchmark::IterationCount>(1, state.iterations()));
  state.counters["core_ns/node/step"] = 1e9 * core / node_steps;
}

// ---- message-hops ----

/// 64-byte blocks, one in every step on every channel, or on those of the rows.
class Travellers {
 public:
  enum class Along { all, rows, rows_as_groups };

  Travellers(const std::string& shape, Step half, const Workers& workers, Along along = Along::all)
      : half_{half},
        machine_{Topology::parse(shape), 0, Switching::packet},
        first_{along == Along::rows ? 1 : 0},
        channels_{along == Along::all ? channels : 2},
        stretch_{1, 2 * half - 1},
        engine_{engine(along, workers)} {}

  RunResult run() {
    return engine_.run([half = half_, first = first_](Node& node) { return travel(node, half, first); });
  }
  const Machine& machine() const noexcept { return machine_; }
  /// The hops of the last run between the second and the last barrier, and what they took. Before that, messages find memory that is new to
  /// the process.
  double hops() const { return static_cast<double>(machine_.topology.nodes()) * channels_ * stretch_.steps(); }
  /// The hops of each block of the last run, likewise.
  Step steps() const { return stretch_.last - stretch_.first; }
  double wall() const { return stretch_.wall; }
  double core() const { return stretch_.core; }

 private:
  RunOptions options(const Workers& workers) {
    RunOptions options = workers.options();
    options.on_step = [this](Step step) { stretch_.at_barrier(step); };
    return options;
  }

  Engine engine(Along along, const Workers& workers) {
    if (along != Along::rows_as_groups) return Engine(machine_, travelling_blocks(machine_, first_), options(workers));
    const Groups rows = Groups::parse("rows", machine_.topology);
    return Engine(machine_, rows, travelling_blocks(rows.machine(machine_)), options(workers));
  }

  Step half_;
  Machine machine_;
  Dimension first_;
  std::uint32_t channels_;  // a node
  Stretch stretch_;
  Engine engine_;
};

void hop(benchmark::State& state, const std::string& shape, Step half, const Workers& workers) {
  Travellers travellers(shape, half, workers);
  double core = 0, wall = 0, hops = 0;
  for ([[maybe_unused]] auto _ : state) {
    if (refuse(state, travellers.machine(), travellers.run())) break;
    state.SetIterationTime(travellers.wall());
    hops += travellers.hops();
    core += travellers.core();
    wall += travellers.wall();
  }
  if (hops == 0) return;
  state.counters["core_ns/hop"] = 1e9 * core / hops;
  state.counters["wall_ns/hop"] = 1e9 * wall / hops;
  state.counters["hops/s"] = hops / wall;
}

/// The engine's hops and bare ones, in turn.
void hop_to_bare(benchmark::State& state, const std::string& shape, Step half, const Workers& workers) {
  Travellers travellers(shape, half, workers);
  const std::unique_ptr<Executor> executor = make_executor(workers.executor, workers.threads);
  BareHops bare(travellers.machine().topology, *executor);
  bare.run(1);
  std::vector<double> engine_ns, bare_ns, ratio;
  for ([[maybe_unused]] auto _ : state) {
    if (refuse(state, travellers.machine(), travellers.run())) break;
    const double bare_s = bare.run(travellers.steps());
    if (!bare.complete()) {
      state.SkipWithError("a block is not where bare hops should have brought it");
      break;
    }
    state.SetIterationTime(travellers.wall());
    engine_ns.push_back(1e9 * travellers.wall() / travellers.hops());
    bare_ns.push_back(1e9 * bare_s / travellers.hops());
    ratio.push_back(travellers.wall() / bare_s);
  }
  state.counters["wall_ns/hop"] = median(engine_ns);
  state.counters["bare_ns/hop"] = median(bare_ns);
  state.counters["ratio"] = median(ratio);
  state.counters["pairs"] = static_cast<double>(ratio.size());
}

/// Seconds of two runs in turn.
struct Pairs {
  std::vector<double> ratio;  ///< the other's over the one's
  double least_one = 0, least_other = 0;
};
/// seconds(run): of a run that has ended. The benchmark's time is that of the other.
template <class Seconds>
Pairs run_in_turn(benchmark::State& state, Travellers& one, Travellers& other, const Seconds& seconds) {
  Pairs pairs;
  for ([[maybe_unused]] auto _ : state) {
    if (refuse(state, one.machine(), one.run()) || refuse(state, other.machine(), other.run())) break;
    state.SetIterationTime(other.wall());
    const double one_s = seconds(one), other_s = seconds(other);
    pairs.least_one = pairs.ratio.empty() ? one_s : std::min(pairs.least_one, one_s);
    pairs.least_other = pairs.ratio.empty() ? other_s : std::min(pairs.least_other, other_s);
    pairs.ratio.push_back(other_s / one_s);
  }
  state.counters["pairs"] = static_cast<double>(pairs.ratio.size());
  return pairs;
}

/// Rows that are a group each, and the same messages without groups, in turn: the median of the pairs, and that of the best runs.
void hop_in_groups(benchmark::State& state, const std::string& shape, Step half, const Workers& workers) {
  Travellers grouped(shape, half, workers, Travellers::Along::rows_as_groups);
  Travellers alone(shape, half, workers, Travellers::Along::rows);
  const Pairs pairs = run_in_turn(state, alone, grouped, [](const Travellers& run) { return run.core(); });
  state.counters["core_ns/hop"] = 1e9 * pairs.least_other / grouped.hops();
  state.counters["ratio"] = median(pairs.ratio);
  if (pairs.least_one > 0) state.counters["ratio_of_best"] = pairs.least_other / pairs.least_one;
}

/// One thread and several, in turn: the median of the pairs, and that of the best runs, which a busy host disturbs less.
void hop_scaling(benchmark::State& state, const std::string& shape, Step half, const Workers& workers) {
  Travellers one(shape, half, {ExecutorKind::serial, 1});
  Travellers several(shape, half, workers);
  Pairs pairs = run_in_turn(state, one, several, [](const Travellers& run) { return run.wall(); });
  for (double& ratio : pairs.ratio) ratio = 1 / ratio;
  state.counters["speed_up"] = median(pairs.ratio);
  if (pairs.least_one > 0) state.counters["speed_up_of_best"] = pairs.least_one / pairs.least_other;
}

}  // namespace

void register_benchmarks(const Settings& settings) {
  struct Shape {
    const char* text;
    bool large;
    Step half;       // of a hop benchmark
    int iterations;  // of those whose runs are mostly something else than what is timed
  };
  for (const Shape& s : {Shape{"64x64", false, 128, 20}, Shape{"256x256", false, 16, 5}, Shape{"1024x1024", true, 4, 3}}) {
    if (s.large && !settings.large) continue;
    const std::string shape = s.text;
    const std::string tag = (s.large ? "large/" : "") + shape;
    for (const Workers& w : every_executor()) {
      add(fmt::format("engine/empty-step/{}/{}", tag, w.text()), [=](benchmark::State& state) {
        empty_step(state, shape, w);
      })->Iterations(s.iterations);
      add(fmt::format("engine/awake-node/{}/{}", tag, w.text()), [=](benchmark::State& state) { awake_node(state, shape, w); })
          ->Iterations(s.iterations)
          ->Unit(benchmark::kMicrosecond);
      add(fmt::format("engine/hop/{}/{}", tag, w.text()), [=](benchmark::State& state) {
        hop(state, shape, s.half, w);
      })->Unit(benchmark::kMillisecond);
      if (w.executor == ExecutorKind::serial) {
        add(fmt::format("engine/hop-in-groups/{}/{}", tag, w.text()),
            [=](benchmark::State& state) { hop_in_groups(state, shape, s.half, w); })
            ->Iterations(s.large ? 5 : 20)
            ->Unit(benchmark::kMillisecond);
      }
      if (s.large) continue;
      add(fmt::format("engine/hop-to-bare/{}/{}", tag, w.text()), [=](benchmark::State& state) { hop_to_bare(state, shape, s.half, w); })
          ->Iterations(5)
          ->Unit(benchmark::kMillisecond);
      if (w.threads > 1) {
        add(fmt::format("engine/hop-scaling/{}/{}", tag, w.text()), [=](benchmark::State& state) { hop_scaling(state, shape, s.half, w); })
            ->Iterations(5)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  for (const std::string shape : {"1024x1024", "128x128x64"}) {
    if (!settings.large) continue;
    for (const Workers& w : every_executor()) {
      add(fmt::format("engine/set-up/large/{}/{}", shape, w.text()), [=](benchmark::State& state) { set_up(state, shape, w); })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace torus::bench
