/// torus expect: what a collective should reach on a slice of a machine that exists, and which usual mistake fits a lower measured rate.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/map.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/study/comparison.hpp"

namespace torus::command {
namespace {

/// The options of a setting that it takes; groups and damage would have to be reduced with the machine.
constexpr std::array<std::string_view, 7> taken{"machine", "on", "ports", "switching", "ts", "bandwidth", "bytes"};

struct ExpectArguments {
  std::string collective;
  TypedOptions setting;
  std::optional<std::string> measured;
  bool json = false;
};

/// What compare predicts on one machine.
struct Forecast {
  Machine machine;
  Bounds bounds;
  std::string algorithm = {};  ///< the fastest by prediction; empty: none is predicted
  double seconds = 0;          ///< what it takes
};

Forecast forecast(const RunSpec& spec, Study& study) {
  ComparisonOptions options;
  options.sizes = {spec.bytes};
  options.algorithms = parse_algorithms("--algorithms", "all", spec.collective, catalogue());
  options.run_sizes = 0;
  Comparison comparison = compare(spec, options, study);
  if (comparison.interrupted) throw RunError("interrupted");
  Contest& contest = comparison.contests.front();
  Forecast forecast{std::move(contest.machine), std::move(contest.bounds.front())};
  if (const auto fastest = fastest_at(contest, 0); !fastest.empty()) {
    forecast.algorithm = fastest.front()->algorithm->name;
    forecast.seconds = fastest.front()->entries.front()->model_time_s();
  }
  return forecast;
}

/// A machine that is the slice with something left unused.
struct Mistake {
  std::string_view name, what;
  RunSpec spec;
};

/// The usual mistakes that would be slower on this machine.
std::vector<Mistake> mistakes_on(RunSpec spec, const Machine& machine) {
  spec.preset = nullptr;  // which has no such shapes
  spec.switching = machine.switching;
  spec.contention = machine.contention;
  const auto on = [&](Topology shape) {
    RunSpec reduced = spec;
    reduced.ports = std::min(machine.ports, static_cast<int>(shape.max_ports()));
    reduced.shape = std::move(shape);
    return reduced;
  };
  std::vector<DimensionShape> lines(machine.topology.shape().begin(), machine.topology.shape().end());
  bool wraps = false, several = false;
  for (DimensionShape& each : lines) {
    wraps = wraps || (each.wiring == Wiring::ring && each.extent > 2);
    several = several || (each.extent > 1 && static_cast<NodeId>(each.extent) < machine.topology.nodes());
    each.wiring = Wiring::line;
  }
  std::vector<Mistake> mistakes;
  if (several) {
    RunSpec one = on(Topology({{static_cast<std::int32_t>(machine.topology.nodes()), wraps ? Wiring::ring : Wiring::line}}));
    if (!one.cost.dimension_byte_s.empty()) one.cost.byte_s = *std::ranges::min_element(one.cost.dimension_byte_s);
    one.cost.dimension_byte_s.clear();
    mistakes.push_back(
        {"one_axis", wraps ? "one axis only: one ring of all chips" : "one axis only: one line of all chips", std::move(one)});
  }
  if (wraps) mistakes.push_back({"no_wrap", "no wrap: a mesh", on(Topology(std::move(lines)))});
  RunSpec one_way = on(machine.topology);
  one_way.cost.byte_s *= 2;
  for (double& byte_s : one_way.cost.dimension_byte_s) byte_s *= 2;
  mistakes.push_back({"one_direction", "one direction only: a link one way at a time", std::move(one_way)});
  return mistakes;
}

constexpr NodeId most_chips_in_disorder = 512;
constexpr double most_bytes_in_disorder = 0x1p26;

/// What an algorithm takes where chips are dealt out to ranks at random, which no formula says: it is played with fewer bytes, and the time
/// of those is scaled. None: on large machines, and where it does not run on wires that messages share.
std::optional<double> in_disorder_s(RunSpec spec, const Machine& machine, std::string_view algorithm) {
  if (spec.shape.nodes() > most_chips_in_disorder) return std::nullopt;
  spec.preset = nullptr;
  spec.ports = machine.ports;
  spec.switching = machine.switching == Switching::packet ? Switching::wormhole : machine.switching;
  spec.contention = Contention::share;
  spec.map = "random:1";
  place_groups(spec);
  Setting setting = open_setting(make_machine(spec, NativeMachine{}), make_request(spec), spec);
  if (plan_with(setting, named_algorithm("expect", spec.collective, algorithm, catalogue()))) return std::nullopt;
  const double all = spec.shape.nodes() * asked_bytes(setting.request, spec.shape.nodes());
  const Bytes fewer = std::max<Bytes>(1, static_cast<Bytes>(static_cast<double>(spec.bytes) * most_bytes_in_disorder / all) / 256) * 256;
  setting.request.bytes = std::min(spec.bytes, fewer);
  setting.plan.formula.clear();  // which is for all bytes
  setting.bounds = lower_bounds(setting.machine, setting.request, setting.groups_or_null());
  const Run run = emulate(setting);
  if (run.check.failure) return std::nullopt;
  return static_cast<double>(run.result.steps) * spec.cost.start_up_s +
         run.result.channel_time_s * static_cast<double>(spec.bytes) / static_cast<double>(setting.request.bytes);
}

/// A forecast in the units of benchmarks, bytes a second.
struct Rates {
  Bandwidth bandwidth;
  double device = 0;  ///< busbw of a device, of which a chip may have two
};

/// One line of the answer.
struct Line {
  std::string_view name;
  std::string what;
  std::string algorithm = {};
  double seconds = 0;
  Rates rates = {};
};

struct Expectation {
  RunSpec spec;
  Forecast forecast;
  std::vector<Line> lines = {};  ///< the bound, the best schedule, then what the mistakes would give
  std::optional<double> measured = {};

  int devices() const noexcept { return spec.preset != nullptr ? spec.preset->devices : 1; }
  const Line& bound() const { return lines.front(); }
  double share() const { return *measured / bound().rates.device; }
  /// The line below the bound whose rate is the nearest to the measured one.
  const Line& nearest() const {
    const auto off = [&](const Line& line) { return std::abs(std::log(line.rates.device / *measured)); };
    return *std::min_element(lines.begin() + (lines.size() > 1 ? 1 : 0), lines.end(),
                             [&](const Line& a, const Line& b) { return off(a) < off(b); });
  }
  std::string_view limited_by() const {
    const CostModel& cost = forecast.machine.cost;
    const Bounds& bounds = forecast.bounds;
    const double bytes_s = bounds.channel_time_s.value_or(bounds.channel_bytes * cost.byte_s);
    return bytes_s >= static_cast<double>(bounds.steps) * cost.start_up_s ? "bytes" : "start-ups";
  }
  const std::string& reason() const { return limited_by() == "bytes" ? forecast.bounds.bytes_reason : forecast.bounds.steps_reason; }
};

Expectation expectation(const ExpectArguments& arguments) {
  const Collective collective = parse_collective(arguments.collective, arguments.setting);
  if (!facts_of(collective).carries_bytes())
    throw InputError(fmt::format("expect '{}': it carries no bytes, and has no rate; for instance torus expect alltoall --machine tpu7x",
                                 arguments.collective));
  if (!arguments.setting["machine"] && !arguments.setting["on"])
    throw InputError("expect: it needs a machine; for instance --machine tpu7x --slice 2x2x4");
  RunSpec spec = parse_spec(collective, arguments.setting);
  if (spec.bytes == 0) throw InputError("--bytes '0': there is no rate without bytes; for instance 64MiB");
  if (spec.shape.nodes() == 1)
    throw InputError(fmt::format("--on or --slice '{}': one chip has no link; for instance 2x2", spec.shape.text()));
  std::optional<double> measured;
  if (arguments.measured) measured = 1 / parse_byte_time("--measured", *arguments.measured);
  const Request request = make_request(spec);
  Study study("expect " + arguments.collective, arguments.setting.typed(true), {}, std::nullopt);
  Forecast whole = forecast(spec, study);
  const CostModel cost = whole.machine.cost;
  Expectation expectation{std::move(spec), std::move(whole)};
  expectation.measured = measured;
  const auto add = [&](std::string_view name, std::string what, std::string algorithm, double seconds) {
    const Bandwidth bandwidth = bandwidth_of(request, expectation.spec.shape.nodes(), seconds);
    expectation.lines.push_back({name, std::move(what), std::move(algorithm), seconds, {bandwidth, bandwidth.bus / expectation.devices()}});
  };
  const Forecast& best = expectation.forecast;
  add("bound", "bound", "", best.bounds.model_time_s(cost));
  if (!best.algorithm.empty()) add("best", "best schedule", best.algorithm, best.seconds);
  if (measured) {
    for (const Mistake& mistake : mistakes_on(expectation.spec, best.machine)) {
      Forecast reduced = forecast(mistake.spec, study);
      if (!reduced.algorithm.empty()) add(mistake.name, std::string(mistake.what), std::move(reduced.algorithm), reduced.seconds);
    }
    if (const auto seconds = best.algorithm.empty() ? std::nullopt : in_disorder_s(expectation.spec, best.machine, best.algorithm))
      add("wrong_order", "wrong order of ranks: at random", best.algorithm, *seconds);
  }
  study.progress().clear();
  return expectation;
}

std::string gigabytes(double rate) { return fmt::format("{:.2f}", rate / 1e9); }

std::string to_text(const Expectation& expectation) {
  const bool shared = expectation.devices() > 1;
  std::string text = fmt::format("{} of {}: {}\n", name(expectation.spec.collective), bytes_words(expectation.spec.bytes),
                                 machine_text(expectation.forecast.machine));
  Table table{{"GB/s", "algbw", "busbw = a chip", "time", "schedule"}};
  if (shared) table.front().insert(table.front().begin() + 3, "a device");
  for (const Line& line : expectation.lines) {
    table.push_back({line.what, gigabytes(line.rates.bandwidth.algorithm), gigabytes(line.rates.bandwidth.bus), seconds_text(line.seconds),
                     line.algorithm.empty() ? "-" : line.algorithm});
    if (shared) table.back().insert(table.back().begin() + 3, gigabytes(line.rates.device));
  }
  text += aligned(std::move(table));
  text += fmt::format("\nThe {} limit it: {}.\n", expectation.limited_by(), expectation.reason());
  if (!expectation.measured) return text;
  text += fmt::format("Measured {} GB/s{}: {:.0f} % of the bound; ", gigabytes(*expectation.measured), shared ? " a device" : "",
                      100 * expectation.share());
  return text + (expectation.share() > 1 ? "more than the machine as described can do.\n"
                                         : fmt::format("the nearest is: {}.\n", expectation.nearest().what));
}

Json to_json(const Expectation& expectation) {
  Json json{{"collective", name(expectation.spec.collective)},
            {"shape", expectation.forecast.machine.topology.text()},
            {"nodes", expectation.forecast.machine.topology.nodes()},
            {"devices_of_a_node", expectation.devices()},
            {"bytes", expectation.spec.bytes},
            {"limited_by", expectation.limited_by()},
            {"reason", expectation.reason()},
            {"rates", Json::array()}};
  for (const Line& line : expectation.lines) {
    Json entry{{"of", line.name},
               {"model_time_s", line.seconds},
               {"model_algbw_bytes_per_s", line.rates.bandwidth.algorithm},
               {"model_busbw_bytes_per_s", line.rates.bandwidth.bus},
               {"model_device_bytes_per_s", line.rates.device}};
    if (!line.algorithm.empty()) entry["algorithm"] = line.algorithm;
    json["rates"].push_back(std::move(entry));
  }
  if (expectation.measured) {
    json.update({{"measured_bytes_per_s", *expectation.measured}, {"share_of_bound", expectation.share()}});
    if (expectation.share() <= 1) json["nearest"] = expectation.nearest().name;
  }
  return json;
}

int expect(const ExpectArguments& arguments) {
  const Expectation answered = expectation(arguments);
  answer(
      arguments.json, [&] { return to_json(answered); }, [&] { return to_text(answered); });
  return 0;
}

}  // namespace

Command expect_command() {
  const auto arguments = std::make_shared<ExpectArguments>();
  Command command{.help = "What a collective should reach on a slice of a machine, and what fits a lower rate"};
  add_collective(command, arguments->collective);
  for (const SettingOption& option : setting_options()) {
    if (std::find(taken.begin(), taken.end(), option.name) != taken.end())
      command.add(std::string(option.spelled), std::string(option.type), &arguments->setting[option.name], option.help);
  }
  command.describe("--switching", "default: what `torus run` takes");
  command.add("--measured", "RATE", &arguments->measured,
              "busbw that was measured, of a device: 43GB/s; says what share of the bound it is, and what usual mistakes would give");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return expect(*arguments); };
  return command;
}

}  // namespace torus::command
