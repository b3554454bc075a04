/// A benchmark program: it registers its benchmarks, and main() does the rest. main() writes into the context of the figures how the binary
/// was built and where it runs, and exits with 1 if any result was wrong or nothing ran.
#pragma once

#include <benchmark/benchmark.h>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <torus/engine.hpp>

namespace torus::bench {

struct Settings {
  ExecutorKind executor = default_executor;  ///< --executor=NAME
  bool large = false;                        ///< --large, or a filter that says so: benchmarks of a million nodes too
};

/// Each program's own.
void register_benchmarks(const Settings& settings);

/// Adds a benchmark that times itself, by SetIterationTime. What it throws, such as that the memory does not do, is an error of this one
/// alone.
template <class Body>
auto* add(const std::string& name, Body body) {
  const auto guarded = [body = std::move(body)](benchmark::State& state) {
    try {
      body(state);
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  };
  return benchmark::RegisterBenchmark(name.c_str(), guarded)->UseManualTime();
}

/// 1, 2, 4 .. and as many as the host has cores.
std::vector<unsigned> thread_counts();

}  // namespace torus::bench
