// What the first process of a job decides, the others do: algorithm and parameters are chosen once. Processes are threads here.
#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "runtime/model/description.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/setting.hpp"

using namespace torus;
using namespace torus::command;

namespace {

/// Shapes of at most 150 nodes: some odd ones, and random ones.
std::vector<Topology> shapes(std::size_t count) {
  std::vector<Topology> shapes{"10x10", "12x12", "1x9", "2x2", "3", "16m", "5x7", "4x4cx3", "hypercube:6", "4x7"};
  std::mt19937_64 random(support::seed());
  while (shapes.size() < count) {
    Topology drawn = support::random_topology(random, 150);
    if (drawn.nodes() > 1) shapes.push_back(std::move(drawn));
  }
  return shapes;
}

/// What a process found wrong, with its own emulation of what the first one leads; empty if it is that of one process.
std::string complaint(Processes& processes, const Setting& first, const Run& alone) {
  try {
    SessionOptions options;
    options.processes = &processes;
    const Setting own = processes.self() == 0 ? first : led_by(lead_of({first}, options));
    const Run run = emulate(own, options);
    const RunResult& result = run.result;
    if (run.check.failure) return *run.check.failure;
    if (!result.verified) return "not verified";
    if (result.processes != processes.count()) return "not on all processes";
    if (result.trace_digest != alone.result.trace_digest) return "another digest";
    if (result.steps != alone.result.steps || result.bytes_delivered != alone.result.bytes_delivered ||
        result.channel_bytes_sum != alone.result.channel_bytes_sum || result.model_time_s != alone.result.model_time_s)
      return "other figures";
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("every collective with a shape and a size alone is on 2, 3 and 4 processes what it is on one", "[conformance]") {
  CAPTURE(support::seed());
  support::Share share(10);
  static constexpr std::array sizes{"64", "777", "1KiB", "4", "1"};
  std::size_t turn = support::seed() % sizes.size();
  for (const Topology& shape : shapes(30)) {
    for (const CollectiveFacts& facts : collectives()) {
      if (!share.takes_turn()) continue;
      TypedOptions typed;
      typed["on"] = shape.text();
      if (facts.carries_bytes()) typed["bytes"] = facts.combines ? std::string("1KiB") : sizes[turn++ % sizes.size()];
      const Setting setting = make_setting(parse_spec(facts.collective, typed), std::nullopt, catalogue());
      CAPTURE(*typed["on"], facts.name, typed["bytes"].value_or(""), setting.algorithm->name);
      const Run alone = emulate(setting, {});
      REQUIRE(alone.check.failure.value_or("") == "");
      REQUIRE(alone.result.verified);
      for (const unsigned count : {2U, 3U, 4U}) {
        if (count > shape.nodes()) continue;
        std::vector<std::string> wrong(count);
        detail::run_as_processes(count, [&](Processes& processes) { wrong[processes.self()] = complaint(processes, setting, alone); });
        CHECK(wrong == std::vector<std::string>(count));
      }
    }
  }
}

TEST_CASE("a setting reaches the other processes bit for bit", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  const auto time = [&random] { return std::to_string(1 + random() % 1000000) + "e-" + std::to_string(9 + random() % 9); };
  const auto described = [](const Setting& setting) {
    detail::Description text;
    describe(text, setting.machine);
    text.add("collective", setting.request.collective);
    text.add("sources", setting.request.sources);
    text.add("bytes", setting.request.bytes);
    text.add("reduction", setting.request.reduction);
    for (const auto& [name, value] : setting.request.parameters) text.add(name, value);
    text.add("expected", setting.request.expected_sources);
    text.add("algorithm", setting.algorithm->name);
    text.add("steps", setting.plan.steps);
    text.add("seed", setting.seed);
    return text.text();
  };
  int led = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const Collective collective = collectives()[static_cast<std::size_t>(turn) % collectives().size()].collective;
    TypedOptions typed;
    typed["on"] = "6x4";
    typed["switching"] = "circuit";  // what is made for packets or worms applies, too
    typed["contention"] = random() % 2 == 0 ? "share" : "forbid";
    typed["seed"] = std::to_string(random());
    if (collective != Collective::barrier) typed["bytes"] = std::to_string(8 * (1 + random() % 1000));
    if (random() % 2 == 0) typed["ts"] = time();
    if (random() % 2 == 0) typed["tc"] = random() % 2 == 0 ? time() : time() + "," + time();
    if (random() % 2 == 0) typed["th"] = time();
    if (random() % 2 == 0) typed["tg"] = time();
    if (random() % 3 == 0) typed["slow-link"] = "0,0:+1:" + std::to_string(1000 + random() % 99000) + "e-3";
    if (random() % 3 == 0) typed["dead-links"] = "random:1";
    if (random() % 3 == 0) typed["routing"] = "1,0";
    if (facts_of(collective).combines && random() % 2 == 0) typed["op"] = "max";
    if (collective == Collective::multinode_broadcast && random() % 2 == 0) typed["sources"] = "random:5";
    if (collective == Collective::multinode_broadcast && random() % 2 == 0) typed["expect"] = time();
    CAPTURE(name(collective), typed.typed());
    std::optional<Setting> made;
    try {
      made = make_setting(parse_spec(collective, typed), std::nullopt, catalogue());
    } catch (const InputError&) {  // no algorithm lives with these faults
      continue;
    }
    ++led;
    const Setting& setting = *made;
    SessionOptions options;
    options.repeat = 3;
    const Lead lead = lead_of({setting}, options);
    CHECK(described(led_by(lead)) == described(setting));
    CHECK(lead.beside.repeat == 3);
  }
  CHECK(led > 30);
}
