// torus::run() of a barrier on several processes: all get the one verdict, good or bad. Processes are threads here.
#include <mutex>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

Request barrier() {
  Request request;
  request.collective = Collective::barrier;
  return request;
}

/// What run() gives each process: the result as text, and what was found wrong.
std::vector<std::string> verdicts(unsigned count, const Algorithm& algorithm, const Machine& machine) {
  std::vector<std::string> verdicts;
  std::mutex mutex;
  const auto body = [&](Processes* processes) {
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.processes = processes;
    const Run run = torus::run(algorithm, machine, barrier(), options);
    const std::lock_guard lock(mutex);
    verdicts.push_back(support::text_of(machine, run.result) + " / " + run.check.failure.value_or("no failure"));
  };
  if (count == 1)
    body(nullptr);
  else
    detail::run_as_processes(count, [&](Processes& processes) { body(&processes); });
  return verdicts;
}

/// One step, in which everybody hears of a neighbour alone.
Program hears_one(Node& self) {
  self.send({{0, -1}}, {}, {1});
  co_await self.step();
}

}  // namespace

TEST_CASE("a barrier that holds is verified on every process", "[conformance]") {
  std::size_t barriers = 0;
  for (const Algorithm* algorithm : catalogue()) {
    const Machine machine(Topology::parse("4x4"), algorithm->native.ports, algorithm->native.switching, algorithm->native.contention);
    if (algorithm->collective != Collective::barrier || refuses(*algorithm, machine, barrier())) continue;
    ++barriers;
    const std::string one = verdicts(1, *algorithm, machine).front();
    CAPTURE(algorithm->name, one);
    CHECK(one.ends_with("good / no failure"));
    for (const unsigned count : {2U, 3U, 5U}) {
      const std::vector<std::string> several = verdicts(count, *algorithm, machine);
      CHECK(several == std::vector<std::string>(count, one));
    }
  }
  CHECK(barriers > 0);
}

TEST_CASE("a barrier that lets a node go too early is told alike on every process", "[conformance]") {
  Algorithm early{.name = "early", .collective = Collective::barrier};
  early.plan = [](const Machine&, const Request&) {
    Plan plan;
    plan.start = [](Node& self) { return hears_one(self); };
    return plan;
  };
  const Machine machine(Topology::parse("5"), 0, Switching::packet);
  const std::string one = verdicts(1, early, machine).front();
  CAPTURE(one);
  CHECK(one.find("no failure") == std::string::npos);
  for (const unsigned count : {2U, 4U}) CHECK(verdicts(count, early, machine) == std::vector<std::string>(count, one));
}
