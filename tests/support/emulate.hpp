/// Runs an algorithm on one thread, unless told otherwise.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>

namespace torus::support {

/// The broadcast of that name, which must be in the catalogue.
inline const Algorithm& broadcast(std::string_view name) { return *find_algorithm(Collective::broadcast, name); }

inline Request broadcast_request(NodeId source, Bytes bytes) {
  Request request;
  request.collective = Collective::broadcast;
  request.sources = {source};
  request.bytes = bytes;
  return request;
}

/// The request, with sizes where the algorithm takes it with nothing else.
inline Request suited(const Algorithm& algorithm, const Machine& machine, Request request) {
  const std::optional<Refusal> refusal = refuses(algorithm, machine, request);
  if (refusal && refusal->about == Refusal::About::sizes) {
    request.sizes = SizeRule::parse("uniform:0:2000");
    request.bytes = request.sizes->mean();
  }
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
