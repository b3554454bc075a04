/// Running a catalogue entry, as the command does it but without the command.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>
#include <torus/engine.hpp>
#include <torus/report.hpp>

namespace torus::support {

inline Request broadcast_request(NodeId source, Bytes bytes) {
  Request request;
  request.collective = Collective::broadcast;
  request.sources = {source};
  request.bytes = bytes;
  return request;
}

struct Emulation {
  Machine machine;
  Plan plan;
  Bounds bounds;
  RunResult result;
};

/// Plans and runs, on one thread unless told otherwise.
inline Emulation emulate(const Algorithm& algorithm, const Machine& machine, const Request& request, RunOptions options) {
  Plan plan = algorithm.plan(machine, request);
  RunResult result = Engine(machine, placement_of(machine, request, plan), std::move(options)).run(plan.start);
  return {machine, std::move(plan), lower_bounds(machine, request), std::move(result)};
}
inline Emulation emulate(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  return emulate(algorithm, machine, request, std::move(options));
}

/// What is wrong with a run: a violation, a hang, a wrong byte, steps or bytes other than predicted or fewer than can be. Empty if nothing.
inline std::string complaint(const Emulation& run) {
  const RunResult& r = run.result;
  if (const auto failure = failure_of(run.machine, r)) return *failure;
  if (!run.plan.agrees(r.steps, run.plan.steps)) {
    return "takes " + std::to_string(r.steps) + " steps instead of " + std::to_string(run.plan.steps);
  }
  const auto bytes = static_cast<double>(r.channel_bytes_sum);
  if (!run.plan.agrees(bytes, run.plan.channel_bytes)) {
    return "charges " + std::to_string(bytes) + " bytes instead of " + std::to_string(run.plan.channel_bytes);
  }
  if (r.steps < run.bounds.steps)
    return "takes fewer steps than the bound of " + std::to_string(run.bounds.steps) + ": " + run.bounds.steps_reason;
  if (bytes < run.bounds.channel_bytes) {
    return "charges fewer bytes than the bound of " + std::to_string(run.bounds.channel_bytes) + ": " + run.bounds.bytes_reason;
  }
  return {};
}

}  // namespace torus::support
