// Runs two algorithms on the installed libraries: the one of ring_broadcast.cpp, with a trace for the installed judge, and one of the
// installed catalogue.
#include <cstdio>
#include <string>

#include <torus/catalogue.hpp>
#include <torus/judge.hpp>
#include <torus/report.hpp>
#include <torus/session.hpp>

#include "ring_broadcast.hpp"

using namespace torus;

namespace {

Plan plan_ring(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [root = request.sources.front()](Node& self) { return ring_broadcast(self, root); };
  plan.steps = machine.topology.nodes() - 1;
  plan.formula = "n - 1";
  plan.channel_bytes = times_bytes(plan.steps, request.bytes);
  return plan;
}

const Algorithm ring{.name = "ring",
                     .collective = Collective::broadcast,
                     .source = "the front page",
                     .shapes = "ring",
                     .steps = "n - 1",
                     .needs = {.shape = Requirements::Shape::torus},
                     .plan = plan_ring};

Request request() {
  Request request;
  request.sources = {2};
  request.bytes = 4096;
  return request;
}

bool own_algorithm(const Machine& machine) {
  const std::string path = "ring_broadcast.jsonl";
  TraceWatcher trace(path);
  const Member member{.algorithm = &ring, .request = request(), .watchers = {&trace}};
  const Run ran = run_session(machine, {&member, 1}).each.front();
  trace.commit();

  TraceReader reader(path);
  Judge judge(reader.header());
  for (TraceMessage message; reader.next(message);) judge.message(message);
  const Verdict verdict = judge.finish();
  Rows rows = report(machine, ran.result, {});
  rows.emplace_back("trace", verdict.ok ? "legal and complete" : "refused: " + verdict.violations.front());
  std::printf("%s\n", aligned(rows).c_str());
  return ran.check.good() && verdict.ok && verdict.digest == ran.result.trace_digest;
}

bool algorithm_of_the_catalogue(const Machine& machine) {
  const Run ran = run(*find_algorithm(Collective::broadcast, "flood"), machine, request());
  std::fputs(aligned(report(machine, ran.result, {})).c_str(), stdout);
  return ran.check.good();
}

}  // namespace

int main() {
  const Machine machine(Topology::parse("9"), 0, Switching::packet);
  const bool good = own_algorithm(machine) && algorithm_of_the_catalogue(machine);
  return good ? 0 : 1;
}
