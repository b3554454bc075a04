/// Runs an algorithm on one thread, unless told otherwise.
#pragma once

#include <string>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>

namespace torus::support {

inline Request broadcast_request(NodeId source, Bytes bytes) {
  Request request;
  request.collective = Collective::broadcast;
  request.sources = {source};
  request.bytes = bytes;
  return request;
}

using Emulation = Run;

inline Run emulate(const Algorithm& algorithm, const Machine& machine, const Request& request, const RunOptions& options) {
  return run(algorithm, machine, request, options);
}
inline Run emulate(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  return run(algorithm, machine, request, options);
}

/// What a check finds; empty if nothing.
inline std::string complaint(const Run& run) { return run.check.failure.value_or(run.check.surprise.value_or("")); }

}  // namespace torus::support
