// Runs the algorithm of ring_broadcast.cpp on the installed engine, hands its trace to the installed judge, prints the installed report,
// and runs an algorithm of the installed catalogue beside it.
#include <cstdio>
#include <string>

#include <torus/catalogue.hpp>
#include <torus/engine.hpp>
#include <torus/judge.hpp>
#include <torus/report.hpp>
#include <torus/trace.hpp>

#include "ring_broadcast.hpp"

using namespace torus;

namespace {

constexpr NodeId nodes = 9;
constexpr NodeId root = 2;

bool own_algorithm(const Machine& machine) {
  const std::string path = "ring_broadcast.jsonl";
  TraceWriter trace(
      path,
      {.machine = machine, .collective = "broadcast", .sources = {root}, .block_bytes = 4096, .algorithm = "ring_broadcast", .seed = 1});
  RunOptions options;
  options.on_messages = [&](std::span<const Message* const> messages) { trace.write_step(messages); };
  Engine engine(machine, Placement::replicated(machine.topology, {root}, 4096), options);
  const RunResult result = engine.run([](Node& self) { return ring_broadcast(self, root); });
  trace.commit();

  TraceReader reader(path);
  Judge judge(reader.header());
  for (TraceMessage message; reader.next(message);) judge.message(message);
  const Verdict verdict = judge.finish();
  Rows rows = report(machine, result, options);
  rows.emplace_back("trace", verdict.ok ? "legal and complete" : "refused: " + verdict.offences.front());
  std::printf("%s\n", aligned(rows).c_str());
  return result.good() && result.verified && result.steps == nodes - 1 && verdict.ok && verdict.digest == result.trace_digest;
}

bool algorithm_of_the_catalogue(const Machine& machine) {
  const Algorithm* flood = find_algorithm(Collective::broadcast, "flood");
  Request request;
  request.sources = {root};
  request.bytes = 4096;
  const Plan plan = flood->plan(machine, request);
  const RunOptions options;
  Engine engine(machine, placement_of(machine, request, plan), options);
  const RunResult result = engine.run(plan.start);
  std::fputs(aligned(report(machine, result, options)).c_str(), stdout);
  return result.good() && result.verified && result.steps == plan.steps;
}

}  // namespace

int main() {
  const Machine machine(Topology::parse("9"), 0, Switching::packet);
  const bool good = own_algorithm(machine) && algorithm_of_the_catalogue(machine);
  return good ? 0 : 1;
}
