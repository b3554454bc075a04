/// Runs total exchanges and checks all that must hold of any of them, whatever the shape.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"

namespace torus::support {

inline const Algorithm& exchange_named(std::string_view name) {
  const Algorithm* const algorithm = find_algorithm(Collective::total_exchange, name);
  REQUIRE(algorithm != nullptr);
  return *algorithm;
}

/// The machine that the algorithm was made for, in this shape.
inline Machine native_machine(const Algorithm& algorithm, const Topology& topology) {
  return Machine(topology, std::min(algorithm.native.ports, topology.max_ports()), algorithm.native.switching, algorithm.native.contention);
}

inline Request exchange_of(Bytes bytes) {
  Request request;
  request.collective = Collective::total_exchange;
  request.bytes = bytes;
  return request;
}

/// Legal, complete, every byte in its place, no block twice, nothing but blocks, in the steps and channel bytes predicted, and in no fewer
/// than the bounds.
inline RunResult exchange_on(const Machine& machine, const Algorithm& algorithm, Bytes bytes = 1,
                             ExecutorKind executor = ExecutorKind::serial) {
  const std::string shape = machine.topology.text();
  CAPTURE(algorithm.name, shape, bytes);
  const Request request = exchange_of(bytes);
  RunOptions options;
  options.executor = executor;
  const Run run = torus::run(algorithm, machine, request, options);
  CHECK(complaint(run) == "");
  CHECK(run.plan.steps_exact);
  CHECK(run.result.duplicates == 0);
  CHECK(run.result.control_bytes == 0);
  return run.result;
}

inline RunResult exchange_on(const Topology& topology, std::string_view name, Bytes bytes = 1) {
  const Algorithm& algorithm = exchange_named(name);
  return exchange_on(native_machine(algorithm, topology), algorithm, bytes);
}

}  // namespace torus::support
