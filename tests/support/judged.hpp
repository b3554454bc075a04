/// Runs of reductions and barriers that everybody looks at: the engine's verifier, the plan, the bounds and the judge of traces.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <torus/session.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

namespace torus::support {

inline Request reduction_request(Collective collective, Bytes bytes, Reduction reduction = {}) {
  Request request;
  request.collective = collective;
  request.bytes = bytes;
  request.reduction = reduction;
  return request;
}

/// The same with the sources that the collective needs: a third of the way through the living nodes, or all of them.
inline Request request_of_living(const Topology& topology, Collective collective, Bytes bytes, Reduction reduction = {}) {
  Request request = reduction_request(collective, facts_of(collective).carries_bytes() ? bytes : 0, reduction);
  if (facts_of(collective).rooted()) request.sources = {living_from(topology, topology.nodes() / 3)};
  if (collective == Collective::multinode_broadcast) {
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (topology.living(node)) request.sources.push_back(node);
    }
    request.expected_sources = topology.living_nodes();
  }
  return request;
}

struct Judged {
  Run run;
  std::string complaint;  ///< of whoever has one; empty if nobody has
};

/// Runs an algorithm that applies; every message is put before the judge.
inline Judged judged(const Algorithm& algorithm, const Machine& machine, const Request& request,
                     ExecutorKind executor = ExecutorKind::serial) {
  JudgeWatcher judge;
  const Member member{.algorithm = &algorithm, .request = request, .watchers = {&judge}};
  SessionOptions options;
  options.executor = executor;
  Judged out{std::move(run_session(machine, {&member, 1}, options).each.front()), ""};
  out.complaint = complaint(out.run);
  if (out.complaint.empty() && !out.run.result.verified) out.complaint = "not verified";
  return out;
}

/// One trace and one result, whatever the executor.
inline void check_same_on_every_executor(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  const std::uint64_t digest = judged(algorithm, machine, request).run.result.trace_digest;
  for (const Workers& workers : every_executor()) {
    RunOptions options;
    options.executor = workers.executor;
    options.threads = workers.threads;
    const Run ran = torus::run(algorithm, machine, request, options);
    CAPTURE(algorithm.name, machine.topology.text(), workers.text());
    CHECK(complaint(ran) == "");
    CHECK(ran.result.verified);
    CHECK(ran.result.trace_digest == digest);
  }
}

}  // namespace torus::support
