/// Runs on several processes, which are threads here, and the run of one: all that can be seen of them is the same.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

namespace torus::support {

/// What can be seen of a run: the result of each process as text, the messages that process 0 saw, and what was thrown.
struct Seen {
  std::vector<std::string> results;
  std::vector<std::string> trace;
  std::set<std::string> thrown;  // empty texts where nothing was
};

/// Runs on `count` processes; on none but this one if it is 1.
inline Seen see(unsigned count, unsigned threads, const Machine& machine, const Placement& placement,
                const std::function<Program(Node&)>& program, RunOptions options = {}, const Groups* groups = nullptr) {
  Seen seen;
  std::mutex mutex;
  const auto body = [&](Processes* processes) {
    RunOptions own = options;
    own.processes = processes;
    std::optional<std::string> result;
    std::vector<std::string> trace;
    std::string thrown;
    try {
      const Outcome outcome = emulate(machine, placement, program, {ExecutorKind::threads, threads}, own, groups);
      result = text_of(machine, outcome.result);
      trace = outcome.trace;
    } catch (const InputError& error) {
      thrown = std::string("InputError: ") + error.what();
    } catch (const std::exception& error) {
      thrown = std::string("RunError: ") + error.what();
    }
    const std::lock_guard lock(mutex);
    if (result) seen.results.push_back(*result);
    if (processes == nullptr || processes->self() == 0) seen.trace = trace;
    seen.thrown.insert(thrown);
  };
  if (count == 1)
    body(nullptr);
  else
    detail::run_as_processes(count, [&](Processes& processes) { body(&processes); });
  return seen;
}

/// A broadcast from within, or of every third node.
inline Request request_on(const Machine& machine, Collective collective, Bytes bytes) {
  Request request;
  request.collective = collective;
  request.bytes = bytes;
  const NodeId nodes = machine.topology.nodes();
  request.sources = {nodes - 1 - nodes / 3};
  if (collective == Collective::multinode_broadcast) {
    request.sources.clear();
    for (NodeId node = 0; node < nodes; node += 3) request.sources.push_back(node);
  }
  return request;
}

/// In one case of two, a fault of any kind that strikes where it can.
inline std::optional<Fault> fault_or_none(std::mt19937_64& random, const Topology& topology) {
  if (random() % 2 != 0) return std::nullopt;
  Fault fault{.kind = all_fault_kinds[random() % all_fault_kinds.size()]};
  fault.step = static_cast<Step>(random() % 3);
  fault.node = static_cast<NodeId>(random() % topology.nodes());
  fault.exact = false;
  fault.seed = random();
  return fault;
}

/// One run on each of some numbers of processes is the run of one.
inline void check_alike(const Machine& machine, const Placement& placement, const std::function<Program(Node&)>& program,
                        RunOptions options = {}, const std::vector<unsigned>& counts = {2, 3, 4, 7}, unsigned most_threads = 2,
                        const Groups* groups = nullptr) {
  const Seen one = see(1, 1, machine, placement, program, options, groups);
  CAPTURE(one.results);
  for (const unsigned count : counts) {
    if (count > machine.topology.nodes()) continue;
    for (unsigned threads = 1; threads <= (count > 3 ? 1 : most_threads); ++threads) {
      CAPTURE(count, threads);
      const Seen several = see(count, threads, machine, placement, program, options, groups);
      REQUIRE(several.thrown == one.thrown);
      CHECK(several.results.size() == (one.thrown.contains("") ? count : 0));
      for (const std::string& result : several.results) REQUIRE(result == one.results.front());
      REQUIRE(several.trace == one.trace);
    }
  }
}

}  // namespace torus::support
