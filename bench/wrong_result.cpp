/// No benchmark: a program with a wrong result among right ones, for the test that says that main() then fails.
#include <stdexcept>

#include "bench/program.hpp"

namespace torus::bench {

void register_benchmarks(const Settings&) {
  add("right", [](benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) state.SetIterationTime(1);
  });
  add("wrong", [](benchmark::State&) { throw std::runtime_error("a byte is missing"); });
}

}  // namespace torus::bench
