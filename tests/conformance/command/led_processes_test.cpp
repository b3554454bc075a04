// What the first process of a job decides, the others do: algorithm and parameters are chosen once. Processes are threads here.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "runtime/model/description.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/stress/draw.hpp"

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

/// All that decides what a run reports, in lines.
std::string described(const Setting& setting) {
  detail::Description text;
  describe(text, setting.whole());
  text.add("map", setting.map.value_or(""));
  if (setting.groups) describe(text, *setting.groups);
  text.add("collective", setting.request.collective);
  text.add("sources", setting.request.sources);
  text.add("bytes", setting.request.bytes);
  text.add("sizes", setting.request.sizes ? setting.request.sizes->text : "");
  text.add("reduction", setting.request.reduction);
  for (const auto& [name, value] : setting.request.parameters) text.add(name, value);
  text.add("expected", setting.request.expected_sources);
  text.add("algorithm", setting.algorithm->name);
  text.add("steps", setting.plan.steps);
  text.add("seed", setting.seed);
  text.add("executor", name(setting.executor));
  text.add("threads", setting.threads);
  return text.text();
}

Setting in_another_process(const Setting& setting) { return led_by(lead_of({setting}, {})); }

}  // namespace

TEST_CASE("every collective with a shape and a size alone is on 2, 3 and 4 processes what it is on one", "[conformance]") {
  CAPTURE(support::seed());
  support::Share share(10, 3);
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

TEST_CASE("every option of a setting is printed in the line that repeats it, read back, and told to processes", "[conformance]") {
  using Options = std::vector<std::pair<std::string_view, std::string>>;
  struct Sample {
    std::string value;
    Options beside = {};
    Collective collective = Collective::broadcast;
  };
  const Options packets{{"switching", "packet"}, {"contention", "share"}}, gather{{"bytes", "64"}};
  // A value of each option that is not its default. A new option has none: add it, and a draw to the stress.
  const std::map<std::string_view, Sample> samples{
      {"machine", {"tpu-v4", {{"on", "4x4x4"}}}},
      {"on", {"4x3m"}},
      {"groups", {"rows"}},
      {"map", {"snake"}},
      {"ports", {"2", {{"bytes", "8"}}}},
      {"switching", {"circuit"}},
      {"contention", {"share"}},
      {"routing", {"1,0"}},
      {"dead-link", {"3:+0", packets}},
      {"dead-node", {"7", packets}},
      {"slow-link", {"3:+0:2.5"}},
      {"dead-links", {"random:2", packets}},
      {"ts", {"3.7us"}},
      {"tc", {"1e-10,3e-10"}},
      {"bandwidth", {"100Gb/s"}},
      {"th", {"1e-7"}},
      {"tg", {"3e-11", {}, Collective::allreduce}},
      {"bytes", {"777"}},
      {"sizes", {"zipf:1", gather, Collective::gather}},
      {"sources", {"5"}},
      {"op", {"max", {}, Collective::allreduce}},
      {"type", {"u8", {}, Collective::allreduce}},
      {"values", {"real", {}, Collective::reduce}},
      {"seed", {"99"}},
      {"expect", {"3", {{"bytes", "64"}}, Collective::multinode_broadcast}},
      {"executor", {"shuffled"}},
      {"threads", {"3"}},
      {"memory", {"1GiB"}},
      {"plan-time", {"7"}},
      {"step-time", {"7"}},
      {"choose", {"wall", {{"bytes", "64KiB"}}, Collective::allreduce}},
  };
  for (const SettingOption& option : setting_options()) {
    CAPTURE(option.name);
    const auto at = samples.find(option.name);
    REQUIRE(at != samples.end());
    const auto& [value, beside, collective] = at->second;
    TypedOptions typed;
    typed["on"] = "6x4";
    for (const auto& [other, text] : beside) typed[other] = text;
    const Setting without = make_setting(parse_spec(collective, typed), std::nullopt, catalogue());
    typed[option.name] = value;
    const Setting setting = make_setting(parse_spec(collective, typed), std::nullopt, catalogue());
    const Setting led = in_another_process(setting);
    CHECK(described(led) == described(setting));
    CHECK(command_line(led) == command_line(setting));
    if (option.decides) {
      CHECK(described(setting) != described(without));
      CHECK(command_line(setting) != command_line(without));
    }
    if (option.name == "memory") CHECK(led.memory == setting.memory);
    if (option.name == "step-time") CHECK(led.step_limit_s == setting.step_limit_s);
  }
}

TEST_CASE("the stress draws every option that decides a run, and its lines say all of it", "[conformance]") {
  Random random(support::seed(), 5);
  CAPTURE(support::seed());
  // `threads` comes with the executor, as each run is done; T_h is left out, see draw_costs().
  std::map<std::string, std::string> missing;  // how it is spelled, by option
  for (const SettingOption& option : setting_options()) {
    if (option.print == nullptr || !option.decides || option.name == "threads" || option.name == "th") continue;
    missing[std::string(option.name)] = "," + std::string(option.spelled) + ",";
  }
  // Three draws of each algorithm show nearly all of them; the rarest one is waited for, so that no seed fails by bad luck.
  for (int pass = 0; pass < 3 || (pass < 100 && !missing.empty()); ++pass) {
    for (const Algorithm* algorithm : catalogue()) {
      const std::optional<Setting> setting = draw_setting(random, *algorithm, {.payload = 1 << 16, .nodes = 36});
      if (!setting) continue;
      const std::string line = command_line(*setting);
      CAPTURE(line);
      for (const Setting* each : setting->classes()) CHECK(described(in_another_process(*each)) == described(*each));
      std::istringstream words(line);
      for (std::string word; words >> word;)
        std::erase_if(missing, [&](const auto& option) { return option.second.find("," + word + ",") != std::string::npos; });
    }
  }
  for (const auto& [option, spelled] : missing) FAIL_CHECK("never drawn: " << option);
}
