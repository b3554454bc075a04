#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/report.hpp>
#include <torus/session.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "runtime/model/channel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"

using namespace torus;

namespace {

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
/// What running them is refused with.
std::string refusal(const Machine& machine, const std::vector<Member>& collectives, const SessionOptions& options = {}) {
  try {
    static_cast<void>(run_session(machine, collectives, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Request asked(const Machine& seen, Collective collective, Bytes bytes) {
  Request request;
  request.collective = collective;
  request.bytes = bytes;
  if (facts_of(collective).rooted()) request.sources = {0};
  if (collective == Collective::multinode_broadcast || collective == Collective::total_exchange) {
    for (NodeId node = 0; node < seen.topology.nodes(); ++node) request.sources.push_back(node);
  }
  return request;
}

Member one(const Machine& machine, Collective collective, std::string_view algorithm, Bytes bytes, const char* groups = nullptr,
           Step offset = 0) {
  Member out;
  out.algorithm = find_algorithm(collective, algorithm);
  REQUIRE(out.algorithm != nullptr);
  if (groups != nullptr) out.groups = Groups::parse(groups, machine.topology);
  out.request = asked(out.groups ? out.groups->machine(machine) : machine, collective, bytes);
  out.offset = offset;
  return out;
}

Run alone(const Machine& machine, const Member& c) {
  return c.groups ? run(*c.algorithm, machine, *c.groups, c.request) : run(*c.algorithm, machine, c.request);
}

Machine torus_8x8(Contention contention) { return Machine("8x8", all_ports, Switching::wormhole, contention); }

/// An algorithm of this test: a broadcast whose program is given.
struct OwnPrograms : PlanSource {
  std::function<Program(Node&)> start;
  Plan plan(const Machine&, const Request&) const override {
    Plan plan;
    plan.start = start;
    return plan;
  }
};

struct Own {
  explicit Own(std::function<Program(Node&)> start) {
    source.start = std::move(start);
    algorithm.name = "own";
    algorithm.collective = Collective::broadcast;
    algorithm.plan = Planner(source);
  }
  Member collective(Step offset = 0) const {
    Member out;
    out.algorithm = &algorithm;
    out.request = support::broadcast_request(0, 64);
    out.offset = offset;
    return out;
  }
  OwnPrograms source;
  Algorithm algorithm;
};

Program steps_forever(Node& self) {
  while (true) co_await self.step();
}
Program waits_forever(Node& self) { co_await self.arrival(); }
Program throws_in_step_3(Node& self) {
  for (int step = 0; step < 3; ++step) co_await self.step();
  if (self.rank() == 5) throw std::runtime_error("own mistake");
  while (true) co_await self.step();
}
Program sends_off_the_machine_in_step_2(Node& self) {
  for (int step = 0; step < 2; ++step) co_await self.step();
  if (self.rank() == 0) self.send({{7, 1}}, support::no_blocks);
  while (true) co_await self.step();
}

}  // namespace

TEST_CASE("collectives along different dimensions share no channel, and a step takes what the longer one takes", "[unit]") {
  const Machine machine = torus_8x8(Contention::forbid);
  const std::vector<Member> both{one(machine, Collective::multinode_broadcast, "ring", 4096, "rows"),
                                 one(machine, Collective::allreduce, "ring", 65536, "columns")};
  const SessionRun together = run_session(machine, both);
  CHECK(together.failure == std::nullopt);
  CHECK(together.verified());
  CHECK(together.violations.empty());
  CHECK(together.max_channel_load == 1);
  CHECK(together.shared_crossings == 0);
  CHECK(together.shared_channels == 0);
  const RunResult &rows = together.each[0].result, &columns = together.each[1].result;
  REQUIRE(together.steps == std::max(rows.steps, columns.steps));
  double model_time_s = 0;
  for (std::size_t step = 0; step < together.steps; ++step) {
    const auto record = [step](const RunResult& r) { return step < r.step_records.size() ? r.step_records[step] : StepRecord{}; };
    CHECK(together.step_records[step].most_bytes == std::max(record(rows).most_bytes, record(columns).most_bytes));
    CHECK(together.step_records[step].messages == record(rows).messages + record(columns).messages);
    model_time_s += machine.cost.step(std::max(record(rows).most_bytes, record(columns).most_bytes), 1);
  }
  CHECK(together.model_time_s == Approx(model_time_s));
  CHECK(together.one_after_the_other_s() == Approx(rows.model_time_s + columns.model_time_s));
}

TEST_CASE("under share, a collective and its copy take every channel twice", "[unit]") {
  const Machine machine = torus_8x8(Contention::share);
  const Member tree = one(machine, Collective::broadcast, "mst", 4096);
  const RunResult by_itself = alone(machine, tree).result;
  const std::vector<Member> both{tree, tree};
  const SessionRun together = run_session(machine, both);
  INFO(together.failure.value_or(""));
  REQUIRE(together.verified());
  CHECK(together.steps == by_itself.steps);
  CHECK(together.channel_bytes_sum == 2 * by_itself.channel_bytes_sum);
  CHECK(together.max_channel_load == 2 * by_itself.max_channel_load);
  CHECK(together.busiest->bytes == 2 * by_itself.channel_bytes_max);
  CHECK(together.busiest->of_each == std::vector<Bytes>(2, by_itself.channel_bytes_max));
  CHECK(together.model_time_s < together.one_after_the_other_s());
  CHECK(together.each[0].span_s == Approx(together.model_time_s));
}

TEST_CASE("under forbid, a channel that two collectives take in one step is named with both", "[unit]") {
  const Machine machine = torus_8x8(Contention::forbid);
  const Member tree = one(machine, Collective::broadcast, "mst", 4096);  // has ports to spare
  const SessionRun together = run_session(machine, std::vector{tree, tree});
  REQUIRE(together.violations_found > 0);
  CHECK(together.violations.front().kind == ViolationKind::channel_used_twice);
  CHECK(together.violations.front().step == 0);
  CHECK(says(together.violations.front().text, "step 0: channel (0,0) dimension "));
  CHECK(says(together.violations.front().text, "of 1 broadcast from (0,0) by [["));
  CHECK(says(together.violations.front().text, "; and of 2 broadcast from (0,0) by [["));
  CHECK((says(together.failure.value(), "channel used twice")));
  CHECK_FALSE(together.verified());
  CHECK(together.each[1].result.interrupted);
  // One after the other nothing is shared.
  Member later = tree;
  later.offset = static_cast<Step>(alone(machine, tree).result.steps);
  const SessionRun in_turn = run_session(machine, std::vector{tree, later});
  CHECK(in_turn.verified());
  CHECK(in_turn.shared_crossings == 0);
  CHECK(in_turn.shared_channels > 0);
  CHECK(in_turn.model_time_s == Approx(in_turn.one_after_the_other_s()));
}

TEST_CASE("ports are those of all collectives together", "[unit]") {
  const Machine machine("8x8", 1, Switching::wormhole, Contention::share);
  const Member tree = one(machine, Collective::broadcast, "mst", 4096);
  const SessionRun together = run_session(machine, std::vector{tree, tree});
  REQUIRE(together.violations_found == 2);
  CHECK(together.violations[0].kind == ViolationKind::too_many_sends);
  CHECK(together.violations[0].text == "step 0: node (0,0) sends 2 messages on 1 port: 1 of 1 broadcast, 1 of 2 broadcast");
  CHECK(together.violations[1].kind == ViolationKind::too_many_receives);
  CHECK(says(together.violations[1].text, " receives 2 messages on 1 port: 1 of 1 broadcast, 1 of 2 broadcast"));
}

TEST_CASE("steps before a collective begins are no hang, and they take start-ups", "[unit]") {
  const Machine machine = torus_8x8(Contention::forbid);
  constexpr Step late = 100'000;
  const std::vector<Member> both{one(machine, Collective::multinode_broadcast, "ring", 64, "rows"),
                                 one(machine, Collective::multinode_broadcast, "ring", 64, "rows", late)};
  const SessionRun together = run_session(machine, both);
  REQUIRE(together.verified());
  const std::uint64_t steps = together.each[0].result.steps;
  CHECK(together.steps == late + steps);
  CHECK(together.busy_steps == 2 * steps);
  CHECK(together.model_time_s == Approx(together.one_after_the_other_s() + static_cast<double>(late - steps) * machine.cost.start_up_s));
  CHECK(together.each[1].span_s == Approx(together.each[1].result.model_time_s));
}

TEST_CASE("whatever ends one collective, the others end too", "[unit]") {
  const Machine machine = torus_8x8(Contention::forbid);
  const auto fine = one(machine, Collective::multinode_broadcast, "ring", 64, nullptr, 1);
  const Own endless(steps_forever), waiting(waits_forever), throwing(throws_in_step_3), leaving(sends_off_the_machine_in_step_2);
  SessionOptions options;
  SECTION("a program that throws") {
    const std::vector<Member> all{fine, throwing.collective(2), endless.collective()};
    CHECK_THROWS_WITH(run_session(machine, all), "2 broadcast: step 3, node (0,5): own mistake");
  }
  SECTION("a violation") {
    const std::vector<Member> all{fine, leaving.collective(2), endless.collective(), endless.collective(1000)};
    const SessionRun run = run_session(machine, all);
    CHECK((says(run.failure.value(), "2 broadcast: violation, unknown dimension: step 2: ")));
    CHECK(run.violations.empty());
    CHECK(run.each[0].check.failure.value() == "stopped after step 4");
    CHECK(run.each[2].result.steps == 5);
    CHECK(run.each[3].check.failure.value() == "stopped before it began");
  }
  SECTION("a hang") {
    const SessionRun run = run_session(machine, std::vector{waiting.collective(), fine, endless.collective(5)});
    CHECK((says(run.failure.value(), "1 broadcast: hang: 63 nodes wait for ever") ||
           says(run.failure.value(), "1 broadcast: hang: 64 nodes wait")));
    CHECK(run.each[1].result.interrupted);
  }
  SECTION("a caller's function that throws") {
    options.on_step = [](Step step) {
      if (step == 4) throw std::runtime_error("no room");
    };
    CHECK_THROWS_WITH(run_session(machine, std::vector{endless.collective(), fine}, options), "no room");
  }
  SECTION("an interrupt") {
    std::atomic<bool> stop = false;
    options.stop = &stop;
    options.on_step = [&](Step step) { stop = step == 7; };
    const SessionRun run = run_session(machine, std::vector{endless.collective(), endless.collective(3), endless.collective(20)}, options);
    CHECK(run.interrupted);
    CHECK(run.steps == 8);
    CHECK(run.each[1].result.steps == 5);
    CHECK((says(run.failure.value(), "1 broadcast: interrupted after step 8")));
  }
}

TEST_CASE("what cannot run together is refused before it starts", "[unit]") {
  const Machine machine = torus_8x8(Contention::forbid);
  const auto ring = one(machine, Collective::multinode_broadcast, "ring", 4096);
  CHECK(refusal(machine, {}) == "no collectives: at least one must run");
  CHECK(says(refusal(machine, std::vector<Member>(65, ring)), "65 collectives at once"));
  auto late = ring;
  late.offset = Member::max_offset + 1;
  CHECK_THROWS_WITH(run_session(machine, std::vector{ring, late}), "2 multinode-broadcast: offset 1000001: it must be at most 1000000");
  auto parameter = ring;
  parameter.request.parameters.set("h", 3);
  CHECK(says(refusal(machine, std::vector{ring, parameter}), "2 multinode-broadcast: "));
  SessionOptions options;
  options.memory_limit = 40U << 20U;  // enough for one
  CHECK(run_session(machine, std::vector{ring}, options).verified());
  const std::string text = refusal(machine, std::vector<Member>(3, ring), options);
  CHECK(says(text, "3 collectives at once need "));
  CHECK(says(text, "1 multinode-broadcast 1"));
}

TEST_CASE("several processes end several collectives alike, whatever ends them", "[unit]") {
  const Machine machine = torus_8x8(Contention::forbid);
  const auto fine = one(machine, Collective::multinode_broadcast, "ring", 64, nullptr, 1);
  const Member tree = one(machine, Collective::broadcast, "mst", 4096);
  const Own endless(steps_forever), throwing(throws_in_step_3), leaving(sends_off_the_machine_in_step_2);
  const auto count = GENERATE(2U, 3U, 4U);
  std::vector<std::string> ends(count);
  const auto run_all = [&](std::vector<Member> members, SessionOptions options, Watcher* watcher = nullptr) {
    if (watcher != nullptr) members.back().watchers = {watcher};
    detail::run_as_processes(count, [&](Processes& processes) {
      SessionOptions own = options;
      own.processes = &processes;
      try {
        ends[processes.self()] = run_session(machine, members, own).failure.value_or("good");
      } catch (const std::exception& error) {
        ends[processes.self()] = error.what();
      }
    });
  };
  const auto all_say = [&](std::string_view text) {
    for (const std::string& end : ends) {
      CAPTURE(end);
      CHECK(says(end, text));
    }
  };
  SECTION("they end by themselves") {
    run_all(
        {one(machine, Collective::multinode_broadcast, "ring", 64, "rows"), one(machine, Collective::allreduce, "ring", 64, "columns", 2)},
        {});
    all_say("good");
  }
  SECTION("a program that throws") {
    run_all({fine, throwing.collective(2), endless.collective()}, {});
    all_say("2 broadcast: step 3, node (0,5): own mistake");
  }
  SECTION("a violation") {
    run_all({fine, leaving.collective(2), endless.collective(), endless.collective(1000)}, {});
    all_say("2 broadcast: violation, unknown dimension: step 2: ");
  }
  SECTION("a violation between them") {
    run_all({tree, tree}, {});
    CHECK(ends.front() == run_session(machine, std::vector{tree, tree}).failure);
  }
  SECTION("a watcher that throws") {
    struct Throwing : Watcher {
      void step(const StepSends& sends) override {
        if (sends.step == 4) throw std::runtime_error("no room");
      }
    } watcher;
    run_all({fine, endless.collective()}, {}, &watcher);
    CHECK(ends.front() == "no room");
  }
  SECTION("an interrupt, and one that has not begun") {
    std::atomic<bool> stop = false;
    SessionOptions options;
    options.stop = &stop;
    options.on_step = [&](Step step) { stop = stop || step == 7; };
    run_all({endless.collective(), endless.collective(3), endless.collective(2000)}, options);
    all_say("1 broadcast: ");
  }
  SECTION("too little memory") {
    SessionOptions options;
    options.memory_limit = 1U << 12U;
    run_all({fine, fine}, options);
    all_say("2 collectives at once need ");
  }
}
