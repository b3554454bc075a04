/// Runs of reductions and barriers that everybody looks at: the engine's verifier, the plan, the bounds and the judge of traces.
#pragma once

#include <optional>
#include <string>

#include <torus/judge.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"

namespace torus::support {

inline Request reduction_request(Collective collective, Bytes bytes, Reduction reduction = {}) {
  Request request;
  request.collective = collective;
  request.bytes = bytes;
  request.reduction = reduction;
  return request;
}

struct Judged {
  Run run;
  std::string complaint;  ///< of whoever has one; empty if nobody has
};

/// Runs an algorithm that applies; every message is put before the judge.
inline Judged judged(const Algorithm& algorithm, const Machine& machine, const Request& request,
                     ExecutorKind executor = ExecutorKind::serial) {
  const Plan plan = algorithm.plan(machine, request);
  const Bytes element = unit_of(request.collective, request.reduction);
  Judge judge({.machine = machine,
               .collective = std::string(name(request.collective)),
               .sources = facts_of(request.collective).names_sources() ? request.sources : std::vector<NodeId>(),
               .segments = plan.segments,
               .block_bytes = request.sizes ? 0 : request.bytes / element / plan.segments * element,
               .reduction = facts_of(request.collective).combines ? std::optional(request.reduction) : std::nullopt,
               .registers = plan.registers,
               .sizes = sizes_of_blocks(machine, request, plan)});
  RunOptions options;
  options.executor = executor;
  options.on_messages = [&judge, line = TraceMessage{}](std::span<const Message* const> messages) mutable {
    for (const Message* m : messages) {
      line.assign(*m);
      judge.message(line);
    }
  };
  Judged out{run(algorithm, machine, request, options), ""};
  const Verdict verdict = judge.finish();
  out.complaint = complaint(out.run);
  if (out.complaint.empty() && !out.run.result.verified) out.complaint = "not verified";
  if (out.complaint.empty() && !verdict.ok) out.complaint = "the judge: " + verdict.violations.front();
  if (out.complaint.empty() && verdict.digest != out.run.result.trace_digest) out.complaint = "the judge has another digest";
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
