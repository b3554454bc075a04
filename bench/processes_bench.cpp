/// processes_bench SHAPE HALF [REPETITIONS [THREADS]]: what a step of message-hops, an empty step and the memory come to on as many
/// processes as mpirun has started. Prints a line of JSON. bench/processes runs it, alone and as several, and compares.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <torus/engine.hpp>
#include <torus/report.hpp>

#include "bench/median.hpp"
#include "bench/traffic.hpp"
#include "runtime/engine/processes/together.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/run/emulation.hpp"

namespace torus::bench {
namespace {

/// The memory of this process in RAM, a page that several share counted as so many parts. Linux.
double proportional_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "Pss:" && file >> kib) return 1024 * kib;
  }
  return 0;
}

double sum_of_all(double mine) {
  if (command::processes() == nullptr) return mine;
  double sum = 0;
  for (const double each : detail::exchange_each(*command::processes(), mine)) sum += each;
  return sum;
}

void check(const Machine& machine, const RunResult& result) {
  if (const std::optional<std::string> failure = failure_of(machine, result)) throw std::runtime_error(*failure);
}

struct Figures {
  std::vector<double> hop_s, step_s;  // of a step; of one with one node awake
  double bytes = 0;                   // of all processes, after the hops
};

Figures measure(const Machine& machine, Step half, unsigned repetitions, RunOptions options) {
  options.processes = command::processes();
  Figures figures;
  Stretch hops{1, 2 * half - 1}, steps{50, 499};
  options.on_step = [&](Step step) { hops.at_barrier(step); };
  {
    Engine engine(machine, travelling_blocks(machine), options);
    for (unsigned i = 0; i < repetitions; ++i) {
      check(machine, engine.run([half](Node& node) { return travel(node, half); }));
      figures.hop_s.push_back(hops.wall / hops.steps());
    }
    figures.bytes = sum_of_all(proportional_bytes());
  }
  options.on_step = [&](Step step) { steps.at_barrier(step); };
  Engine engine(machine, wake_up_call(machine), options);
  for (unsigned i = 0; i < repetitions; ++i) {
    check(machine, engine.run([](Node& node) { return sleep_well(node, 500); }));
    figures.step_s.push_back(steps.wall / steps.steps());
  }
  return figures;
}

int run(int argc, char** argv) {
  if (argc < 3) throw std::runtime_error("SHAPE HALF [REPETITIONS [THREADS]]");
  const auto number = [&](int i, unsigned otherwise) {
    return argc > i ? static_cast<unsigned>(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  const Machine machine(Topology::parse(argv[1]), 0, Switching::packet);
  RunOptions options;
  options.threads = number(4, 1);
  options.idle_steps = 1000;  // the steps of one awake node are no hang
  const Figures figures = measure(machine, std::max(2U, number(2, 2)), std::max(1U, number(3, 5)), options);
  if (!command::speaks()) return command::follow();  // until the first process leaves
  std::puts(fmt::format(R"({{"processes":{},"hop_step_s":{:.4g},"empty_step_s":{:.4g},"bytes":{:.0f}}})",
                        command::processes() == nullptr ? 1 : command::processes()->count(),
                        *std::min_element(figures.hop_s.begin(), figures.hop_s.end()), median(figures.step_s), figures.bytes)
                .c_str());
  return 0;
}

}  // namespace
}  // namespace torus::bench

int main(int argc, char** argv) {
  int status = 2;
  try {
    torus::command::join_job(argc, argv);
    status = torus::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "processes_bench: %s\n", error.what());
  }
  return torus::command::leave_job(status);
}
