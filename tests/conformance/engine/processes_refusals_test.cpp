// What several processes refuse together: what they cannot run, and what they would run differently. Processes are threads here.
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"

using namespace torus;
using support::request_on;

TEST_CASE("what several processes cannot run is refused by all, in one line", "[conformance]") {
  const Machine machine(Topology::parse("4x4"));
  const auto refusal = [&](unsigned count, const auto& change) {
    std::vector<std::string> texts(count);
    detail::run_as_processes(count, [&](Processes& processes) {
      RunOptions options{.executor = ExecutorKind::serial, .processes = &processes};
      Bytes bytes = 8;
      change(processes.self(), options, bytes);
      try {
        Engine(machine, Placement::resident(machine.topology, 1, bytes), options);
      } catch (const InputError& error) {
        texts[processes.self()] = error.what();
      }
    });
    for (const std::string& text : texts) CHECK(text == texts.front());
    CHECK(texts.front().find('\n') == std::string::npos);
    return texts.front();
  };
  CHECK(refusal(17, [](unsigned, RunOptions&, Bytes&) {}).find("at most 16 processes") != std::string::npos);
  CHECK(refusal(3, [](unsigned self, RunOptions& o, Bytes&) { o.seed = self / 2; }).find("process 2 is about to run something else") !=
        std::string::npos);
  CHECK(refusal(3, [](unsigned self, RunOptions&, Bytes& bytes) { bytes += self; }).find("something else") != std::string::npos);
  CHECK(refusal(2, [](unsigned self, RunOptions& o, Bytes&) { o.memory_limit = self == 1 ? 1000 : 0; }).find("may be used") !=
        std::string::npos);
  CHECK(refusal(2, [](unsigned self, RunOptions& o, Bytes&) { o.fault = Fault{.seed = self}; }).find("something else") !=
        std::string::npos);
  CHECK(refusal(2, [](unsigned, RunOptions& o, Bytes&) { o.fault = Fault{.node = 16}; }).find("nodes 0 to 15") != std::string::npos);
}

namespace {

/// What several processes are refused with, where the last one does something else than the others: the first argument of `act` says which.
std::string difference_refused(unsigned count, const std::function<void(bool, Processes&)>& act) {
  std::vector<std::string> texts(count);
  detail::run_as_processes(count, [&](Processes& processes) {
    try {
      act(processes.self() == count - 1, processes);
    } catch (const InputError& error) {
      texts[processes.self()] = error.what();
    }
  });
  CHECK(texts == std::vector<std::string>(count, texts.front()));
  CHECK(texts.front().find('\n') == std::string::npos);
  return texts.front();
}

/// Checks that the refusal names the process and the field that differs.
void check_names(const std::string& text, const std::string& field) {
  CAPTURE(text, field);
  CHECK(text.find("process 2 is about to run something else than process 0: " + field + " ") == 0);
}

}  // namespace

TEST_CASE("processes with machines that differ in any field are refused", "[conformance]") {
  const auto machine = [](MachineSpec spec) { return Machine::make(std::move(spec)); };
  const auto faulty = [&](const Faults& faults) { return machine({.topology = Topology("4x8").with_faults(faults)}); };
  const auto costly = [&](const CostModel& cost) { return machine({.topology = "4x8", .cost = cost}); };
  struct Pair {
    std::string field;
    Machine one, other;
  };
  const Machine usual = machine({.topology = "4x8"});
  const std::vector<Pair> pairs{
      {"topology.shape", usual, machine({.topology = "8x4"})},
      {"topology.shape", usual, machine({.topology = "4x8m"})},
      {"topology.shape", usual, machine({.topology = "4x2x4"})},
      {"topology.twisted", usual, machine({.topology = "4x8t"})},
      {"topology.dead_nodes", usual, faulty({.dead_nodes = {5}})},
      {"topology.dead_nodes", faulty({.dead_nodes = {4}}), faulty({.dead_nodes = {5}})},
      {"topology.dead_links", usual, faulty({.dead_links = {{3, 0, 1}}})},
      {"topology.dead_links", faulty({.dead_links = {{3, 1, 1}}}), faulty({.dead_links = {{3, 0, 1}}})},
      {"topology.slow_links", faulty({.slow_links = {{{3, 1, 1}, 2}}}), faulty({.slow_links = {{{3, 0, 1}, 2}}})},
      {"topology.slow_links", faulty({.slow_links = {{{3, 1, 1}, 2}}}), faulty({.slow_links = {{{3, 1, 1}, 2.0000001}}})},
      {"machine.ports", usual, machine({.topology = "4x8", .ports = 2})},
      {"machine.switching", usual, machine({.topology = "4x8", .switching = Switching::circuit})},
      {"machine.contention", usual, machine({.topology = "4x8", .contention = Contention::share})},
      {"machine.routing", usual, machine({.topology = "4x8", .routing = {1, 0}})},
      {"cost.start_up_s", usual, costly({.start_up_s = 1.0000001e-6})},
      {"cost.byte_s", usual, costly({.byte_s = 1.0000001e-10})},
      {"cost.hop_s", usual, costly({.hop_s = 1e-300})},
      {"cost.combine_s", usual, costly({.combine_s = 1e-12})},
      {"cost.dimension_byte_s", costly({.dimension_byte_s = {1e-10, 3e-10}}), costly({.dimension_byte_s = {2e-10, 3e-10}})},
  };
  for (const Pair& pair : pairs) {
    for (const bool swapped : {false, true}) {
      check_names(difference_refused(3,
                                     [&](bool last, Processes& processes) {
                                       const RunOptions options{.executor = ExecutorKind::serial, .processes = &processes};
                                       Engine(last != swapped ? pair.other : pair.one, Placement::resident(usual.topology, 1, 8), options);
                                     }),
                  pair.field);
    }
  }
}

TEST_CASE("processes with blocks that differ in any way are refused", "[conformance]") {
  const Machine machine(Topology::parse("4x8"));
  const Topology& shape = machine.topology;
  std::vector<NodeId> all(32), most(30), others(30);
  for (NodeId node = 0; node < 32; ++node) all[node] = node;
  std::copy(all.begin(), all.begin() + 30, most.begin());
  std::copy(all.begin() + 2, all.end(), others.begin());
  using Wanted = Contributions::Wanted;
  struct Pair {
    std::string field;
    Placement one, other;
  };
  const auto sums = [&](const Contributions& contributions) { return Placement::contributed(shape, contributions); };
  const std::vector<Pair> pairs{
      {"blocks.kind", Placement::resident(shape, 1, 8), Placement::personalised(shape, 8)},
      {"blocks.bytes", Placement::resident(shape, 1, 8), Placement::resident(shape, 1, 9)},
      {"blocks.segments", Placement::resident(shape, 1, 8), Placement::resident(shape, 2, 8)},
      {"blocks.sources", Placement::replicated(shape, {0, 1}, 8), Placement::replicated(shape, {0, 2}, 8)},
      {"blocks.sources", Placement::replicated(shape, most, 8), Placement::replicated(shape, others, 8)},
      {"blocks.longer", Placement::replicated(shape, {0, 1}, 9, 2), Placement::replicated(shape, {0, 1}, 8, 2)},
      {"blocks.root", Placement::scattered(shape, 3, 8), Placement::scattered(shape, 4, 8)},
      {"blocks.root", Placement::gathered(shape, 3, 8), Placement::gathered(shape, 4, 8)},
      {"blocks.reduction", sums({.bytes = 64}), sums({.reduction = {.op = Operator::max}, .bytes = 64})},
      {"blocks.reduction", sums({.bytes = 64}), sums({.reduction = {.type = ElementType::i32}, .bytes = 64})},
      {"blocks.wanted", sums({.bytes = 64}), sums({.wanted = Wanted::at_root, .bytes = 64})},
      {"blocks.result_at", sums({.wanted = Wanted::at_root, .root = 1, .bytes = 64}), sums({.wanted = Wanted::at_root, .bytes = 64})},
      {"blocks.bytes", sums({.bytes = 64}), sums({.bytes = 68})},
      {"blocks.registers", sums({.bytes = 64}), sums({.bytes = 64, .registers = 2})},
  };
  for (const Pair& pair : pairs) {
    check_names(difference_refused(3,
                                   [&](bool last, Processes& processes) {
                                     const RunOptions options{.executor = ExecutorKind::serial, .processes = &processes};
                                     Engine(machine, last ? pair.other : pair.one, options);
                                   }),
                pair.field);
  }
}

TEST_CASE("processes with options, algorithms, parameters or programs that differ are refused", "[conformance]") {
  const Machine machine(Topology::parse("4x4"));
  const Placement blocks = Placement::resident(machine.topology, 1, 8);
  const Fault fault{.step = 1, .node = 2, .channel = 1};
  const auto with = [&](const auto& change) {
    RunOptions options{.executor = ExecutorKind::serial, .programs = "h 1\n", .fault = fault};
    change(options);
    return options;
  };
  const std::vector<std::pair<std::string, RunOptions>> others{
      {"options.seed", with([](RunOptions& o) { o.seed = 2; })},
      {"options.verify", with([](RunOptions& o) { o.verify = false; })},
      {"options.idle_steps", with([](RunOptions& o) { o.idle_steps = 9; })},
      {"options.fault", with([](RunOptions& o) { o.fault.reset(); })},
      {"fault.kind", with([](RunOptions& o) { o.fault->kind = FaultKind::late; })},
      {"fault.step", with([](RunOptions& o) { o.fault->step = 2; })},
      {"fault.node", with([](RunOptions& o) { o.fault->node = 3; })},
      {"fault.channel", with([](RunOptions& o) { o.fault->channel.reset(); })},
      {"fault.exact", with([](RunOptions& o) { o.fault->exact = false; })},
      {"fault.seed", with([](RunOptions& o) { o.fault->seed = 2; })},
      {"h", with([](RunOptions& o) { o.programs = "h 2\n"; })},
  };
  for (const auto& [field, other] : others) {
    check_names(difference_refused(3,
                                   [&, &other = other](bool last, Processes& processes) {
                                     RunOptions own = last ? other : with([](RunOptions&) {});
                                     own.processes = &processes;
                                     Engine(machine, blocks, own);
                                   }),
                field);
  }

  // One's own: how the work is done.
  CHECK(difference_refused(3, [&](bool last, Processes& processes) {
          RunOptions own{.executor = last ? ExecutorKind::shuffled : ExecutorKind::serial, .processes = &processes};
          if (last) own.memory_limit = Bytes{1} << 30U;
          Engine(machine, blocks, own).run([](Node& self) -> Program { co_await self.step(); });
        }) == "");

  // Two algorithms, two parameters and two forecasts, with the same blocks.
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.sources = {0, 5, 6};
  request.bytes = 64;
  const Algorithm& hierarchical = *find_algorithm(Collective::multinode_broadcast, "hierarchical");
  const auto running = [&](const Algorithm& algorithm, const Request& asked) {
    return difference_refused(3, [&](bool last, Processes& processes) {
      run(last ? algorithm : hierarchical, machine, last ? asked : request, {.executor = ExecutorKind::serial, .processes = &processes});
    });
  };
  check_names(running(*find_algorithm(Collective::multinode_broadcast, "ring"), request), "algorithm");
  Request other = request;
  other.parameters.set("h", "4");
  check_names(running(hierarchical, other), "parameter.h");
  other = request;
  other.expected_sources = 4;
  check_names(running(hierarchical, other), "expected_sources");
  CHECK(running(hierarchical, request) == "");

  // Two plans of one request.
  const Plan plan = make_plan(hierarchical, machine, request);
  const auto planned = [&](const auto& change) {
    return difference_refused(3, [&](bool last, Processes& processes) {
      Plan own = plan;
      if (last) change(own);
      make_engine(machine, request, own, {.executor = ExecutorKind::serial, .processes = &processes});
    });
  };
  check_names(planned([](Plan& p) { ++p.steps; }), "plan.steps");
  check_names(planned([](Plan& p) { p.steps_exact = !p.steps_exact; }), "plan.steps_exact");
  check_names(planned([](Plan& p) { p.bytes_exact = !p.bytes_exact; }), "plan.bytes_exact");
  check_names(planned([](Plan& p) { p.steps_estimate = 7; }), "plan.steps_estimate");
  check_names(planned([](Plan& p) { p.formula += " "; }), "plan.formula");
  check_names(planned([](Plan& p) { p.channel_bytes = std::nextafter(p.channel_bytes, 0.0); }), "plan.channel_bytes");
  check_names(planned([](Plan& p) { p.combined_bytes = -0.0; }), "plan.combined_bytes");
  check_names(planned([](Plan& p) { p.notes.front().second += "0"; }), "plan." + plan.notes.front().first);

  // Two programs; and the engine goes on with one.
  CHECK(difference_refused(3, [&](bool last, Processes& processes) {
          Engine engine(machine, blocks, {.executor = ExecutorKind::serial, .processes = &processes});
          const auto one = [](Node& self) -> Program { co_await self.step(); };
          const auto another = [](Node& self) -> Program { co_await self.arrival(); };
          const auto run = [&](bool same) { return same ? engine.run(one) : engine.run(another); };
          std::string refused;
          try {
            run(!last);
          } catch (const InputError& error) {
            refused = error.what();
          }
          if (!run(true).verified) throw InputError("not verified");
          if (!refused.empty()) throw InputError(refused);
        }).find("process 2 is about to run another program than process 0") == 0);
}
