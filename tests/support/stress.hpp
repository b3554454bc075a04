/// The stress of one algorithm, on small machines.
#pragma once

#include <cstdint>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/stress/trials.hpp"

namespace torus::support {

/// On one thread, in the order of the seed.
inline command::StressOutcome stress_of(const Algorithm& algorithm, std::uint64_t runs) {
  const Algorithm* const list[] = {&algorithm};
  command::StressOptions options;
  options.algorithms = list;
  options.seed = seed();
  options.runs = runs;
  options.executor = ExecutorKind::serial;
  options.threads = 1;
  options.budget = {.payload = Bytes{1} << 20U, .node_steps = 1e5, .exchange_blocks = 1024, .deliveries = 4096, .nodes = 24};
  return command::stress(options);
}

}  // namespace torus::support
