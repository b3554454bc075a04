/// torus explain ALGORITHM: why an algorithm works, what it takes on a machine, and against which others it wins from which size on.
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "algorithms/terms.hpp"
#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/explain/against.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/study/comparison.hpp"

namespace torus::command {
namespace {

struct ExplainArguments {
  std::string what;
  std::optional<std::string> algorithm;
  TypedOptions setting;
  bool json = false;
};

/// The smallest first, those with lines and complete dimensions last.
constexpr std::array<std::string_view, 14> usual_shapes{"4x4", "5x5",    "8x8",  "4x4x4", "8x8x8", "16x16", "4x4x8",
                                                        "8",   "4x4x4m", "4x4m", "8m",    "4x4c",  "2^4",   "4x4x8t"};

/// What is to be explained: a collective, and one of its algorithms; none: the one that `torus run` chooses.
struct Subject {
  Collective collective = Collective::broadcast;
  const Algorithm* algorithm = nullptr;
};

Subject subject_of(const ExplainArguments& arguments) {
  if (const auto collective = find_collective(arguments.what)) {
    if (!arguments.algorithm) return {*collective, nullptr};
    return {*collective, &named_algorithm("explain", *collective, *arguments.algorithm, catalogue())};
  }
  const auto called = algorithms_called("explain", arguments.what, "it must be a collective or an algorithm that `torus list` names");
  if (arguments.algorithm) {
    throw InputError(fmt::format("explain '{}': the collective goes before it; for instance {} explain {} {}", *arguments.algorithm,
                                 program(), name(called.front()->collective), arguments.what));
  }
  if (called.size() == 1) return {called.front()->collective, called.front()};
  std::vector<std::string_view> owners;
  for (const Algorithm* each : called) owners.push_back(name(each->collective));
  throw InputError(fmt::format("explain '{}': {} have one of that name; for instance {} explain {} {}", arguments.what,
                               fmt::join(owners, ", "), program(), owners.front(), arguments.what));
}

/// What was typed, with a shape on which the algorithm applies where none was named.
struct Shaped {
  TypedOptions typed;
  std::string instead;  ///< why not the default shape; empty: it is
};

/// Why an algorithm does not apply to what was typed.
std::optional<std::string> why_not_there(const Algorithm& algorithm, const TypedOptions& typed) {
  try {
    const RunSpec spec = parse_spec(algorithm.collective, typed);
    return why_not_here(algorithm, open_setting(make_machine(spec, algorithm.native), make_fitting_request(spec), spec));
  } catch (const InputError& error) {  // ports or nodes that the shape does not have
    return error.what();
  }
}

Shaped shaped(const Subject& subject, TypedOptions typed) {
  if (subject.algorithm == nullptr || typed["on"] || typed["machine"]) return {std::move(typed), ""};
  const auto why_not = why_not_there(*subject.algorithm, typed);
  if (!why_not) return {std::move(typed), ""};
  int same = 0;  // shapes of which the same is said: it is not the shape
  for (const std::string_view shape : usual_shapes) {
    TypedOptions other = typed;
    other["on"] = std::string(shape);
    const auto why_not_this = why_not_there(*subject.algorithm, other);
    if (!why_not_this) return {std::move(other), *why_not};
    same += *why_not_this == *why_not ? 1 : 0;
  }
  if (same > 1) throw InputError(*why_not);
  throw InputError(fmt::format("{}; none of the usual shapes would do, name one by --on", *why_not));
}

RunResult run_once(Setting& setting, Study& study) {
  Outcome outcome = attempt(setting, *setting.algorithm, study.effort(std::string(setting.algorithm->name)));
  if (outcome.left_out()) throw InputError(outcome.why);
  if (outcome.is(Outcome::Kind::interrupted)) throw RunError("interrupted");
  if (outcome.is(Outcome::Kind::failed)) throw RunError(outcome.why);
  return std::move(outcome.run.result);
}

/// All algorithms of the collective on the machine of a setting, each with the parameters that suit it, by prediction.
Comparison compared(RunSpec spec, const TypedOptions& typed, const Setting& setting, Study& study) {
  spec.ports = setting.machine.ports;
  spec.switching = setting.machine.switching;
  spec.contention = setting.machine.contention;
  spec.parameters = {};
  ComparisonOptions options;
  options.sizes = table_sizes(spec.collective, std::nullopt, "64:1MiB", typed);
  options.algorithms = parse_algorithms("explain", "all", spec.collective, catalogue());
  options.run_sizes = 0;
  if (setting.groups && setting.groups->carries()) options.run_what_is_quick();
  Comparison comparison = compare(spec, options, study);
  if (comparison.interrupted) throw RunError("interrupted");
  return comparison;
}

/// All that there is to say.
struct Explanation {
  Setting setting;
  std::string instead;
  RunResult result;
  Comparison comparison;

  const Algorithm& algorithm() const { return *setting.algorithm; }
  std::vector<Term> terms() const { return terms_of(algorithm(), setting.plan); }
  /// Seconds of the bytes on the fullest channels, in the run and at least.
  double bytes_s() const { return result.channel_time_s; }
  /// Seconds of the longest routes, and of combining.
  double hops_s() const { return static_cast<double>(result.route_hops_sum) * setting.machine.cost.hop_s; }
  double combining_s() const { return static_cast<double>(result.node_combined_sum) * setting.machine.cost.combine_s; }
  double least_bytes_s() const {
    return setting.bounds.channel_time_s.value_or(setting.bounds.channel_bytes * setting.machine.cost.byte_s);
  }
};

std::string_view or_not_said(std::string_view words) { return words.empty() ? "not said" : words; }

std::string idea_text(const Explanation& explanation) {
  const Algorithm& algorithm = explanation.algorithm();
  const Collective collective = algorithm.collective;
  std::string text = fmt::format("{}: {} (MPI: {})\nsource: {}\n\nThe idea\n", algorithm.name, name(collective), facts_of(collective).mpi,
                                 or_not_said(algorithm.source));
  if (algorithm.idea.said())
    text += fmt::format("  First:  {}\n  Then:   {}\n  Why:    {}\n", algorithm.idea.first, algorithm.idea.then, algorithm.idea.good);
  else
    text += "  Not said: its descriptor has no .idea.\n";
  text += fmt::format("\nSteps: {}\n", or_not_said(algorithm.steps));
  for (const Term& term : explanation.terms()) text += fmt::format("  {:<6}  {}\n", term.symbol, or_not_said(term.meaning));
  return text;
}

/// "3 x 1 us = 3 us".
std::string product_text(std::string_view count, std::string_view each, double seconds) {
  return fmt::format("{} x {} = {}", count, each, seconds_text(seconds));
}

std::string bytes_part_text(const CostModel& cost, double bytes, double seconds) {
  const auto count = static_cast<std::uint64_t>(std::ceil(bytes));
  return cost.one_speed() ? product_text(grouped(count), seconds_text(cost.byte_s), seconds)
                          : fmt::format("{}, {}", counted(count, "byte"), seconds_text(seconds));
}

std::string run_text(const Explanation& explanation) {
  const Setting& setting = explanation.setting;
  const Bounds& bounds = explanation.setting.bounds;
  const RunResult& result = explanation.result;
  const CostModel& cost = setting.machine.cost;
  const double bound_s = bounds.model_time_s(cost);
  std::string text = fmt::format("\nOn {}", machine_text(setting.machine));
  if (facts_of(setting.request.collective).carries_bytes()) text += fmt::format(", {}", bytes_words(setting.request.bytes));
  text += "\n";
  if (!explanation.instead.empty()) text += fmt::format("not on the default shape: {}\n", explanation.instead);
  if (!setting.chosen.empty()) text += fmt::format("chosen: {}\n", setting.chosen);
  if (setting.map) text += fmt::format("map: {}\n", map_text(setting));
  for (const auto& [key, value] : setting.plan.notes) text += fmt::format("{}: {}\n", key, value);
  if (const Plan& plan = setting.plan; plan.predicts()) {
    const std::string steps = (plan.steps_exact ? "" : "at most ") + grouped(plan.steps);
    text += plan.formula == explanation.algorithm().steps ? fmt::format("steps here: {} by that formula\n", steps)
                                                          : fmt::format("steps here: {} = {}\n", plan.formula, steps);
  }
  Table table{{"phase", "steps", "model time", "bytes on the fullest channels"}};
  for (const PhaseSum& phase : phases_of(result))
    table.push_back({phase.name, grouped(phase.steps), seconds_text(phase.model_time_s), grouped(phase.channel_bytes)});
  table.push_back({"all", grouped(result.steps), seconds_text(result.model_time_s), grouped(result.channel_bytes_sum)});
  table.push_back(
      {"lower bound", grouped(bounds.steps), seconds_text(bound_s), grouped(static_cast<std::uint64_t>(std::ceil(bounds.channel_bytes)))});
  text += "\n" + aligned(std::move(table)) + "\n";

  const auto steps = static_cast<double>(result.steps), least_steps = static_cast<double>(bounds.steps);
  const std::string start_up = seconds_text(cost.start_up_s);
  text += fmt::format("start-ups:  {}; lower bound {}\n", product_text(grouped(result.steps), start_up, steps * cost.start_up_s),
                      product_text(grouped(bounds.steps), start_up, least_steps * cost.start_up_s));
  text += fmt::format("bytes:      {}; lower bound {}\n",
                      bytes_part_text(cost, static_cast<double>(result.channel_bytes_sum), explanation.bytes_s()),
                      bytes_part_text(cost, bounds.channel_bytes, explanation.least_bytes_s()));
  if (const double hops_s = explanation.hops_s(); hops_s > 0) text += fmt::format("hops:       {}\n", seconds_text(hops_s));
  if (const double combining_s = explanation.combining_s(); combining_s > 0)
    text += fmt::format("combining:  {}\n", seconds_text(combining_s));
  text += fmt::format("The steps have that bound because: {}.\n", bounds.steps_reason);
  const std::string fewest = fewest_text(explanation.setting.machine, explanation.algorithm().collective);
  if (!fewest.empty()) text += fmt::format("Fewest steps possible: {}.\n", fewest);
  text += fmt::format("The bytes have that bound because: {}.\n", bounds.bytes_reason);
  if (bound_s > bounds.simple_model_time_s(cost) * (1 + 1e-9))
    text += "The model time has a higher bound than both together, since few steps and few bytes exclude each other.\n";
  return text;
}

Json to_json(const Explanation& explanation) {
  const Setting& setting = explanation.setting;
  const Bounds& bounds = explanation.setting.bounds;
  const Comparison& comparison = explanation.comparison;
  const Algorithm& algorithm = explanation.algorithm();
  const CostModel& cost = setting.machine.cost;
  const RunResult& result = explanation.result;
  Json json = heading_json(setting.machine.topology, setting.request);
  json.update({{"algorithm", algorithm.name},
               {"reference", algorithm.source},
               {"idea", Json::array()},
               {"steps_in_words", algorithm.steps},
               {"terms", Json::array()},
               {"ports", setting.machine.ports},
               {"switching", name(setting.machine.switching)},
               {"contention", name(setting.machine.contention)},
               {"bytes", setting.request.bytes},
               {"steps", result.steps},
               {"steps_formula_text", setting.plan.predicts() ? Json(setting.plan.formula) : Json()},
               {"steps_lower_bound", bounds.steps},
               {"steps_lower_bound_reason", bounds.steps_reason},
               {"channel_bytes_sum", result.channel_bytes_sum},
               {"channel_bytes_lower_bound", bounds.channel_bytes},
               {"bytes_reason", bounds.bytes_reason},
               {"start_up_s", static_cast<double>(result.steps) * cost.start_up_s},
               {"start_up_lower_bound_s", static_cast<double>(bounds.steps) * cost.start_up_s},
               {"bytes_s", explanation.bytes_s()},
               {"bytes_lower_bound_s", explanation.least_bytes_s()},
               {"hops_s", explanation.hops_s()},
               {"combining_s", explanation.combining_s()},
               {"model_time_s", result.model_time_s},
               {"model_time_lower_bound_s", bounds.model_time_s(cost)},
               {"phases", Json::array()}});
  if (algorithm.idea.said()) {
    for (const std::string_view sentence : {algorithm.idea.first, algorithm.idea.then, algorithm.idea.good})
      json["idea"].push_back(sentence);
  }
  json.update(fewest_json(setting.machine, algorithm.collective));
  if (!explanation.instead.empty()) json["not_on_default_shape"] = explanation.instead;
  if (!setting.chosen.empty()) json["chosen_because"] = setting.chosen;
  if (setting.map) json["map"] = *setting.map;
  for (const Term& term : explanation.terms()) json["terms"].push_back({{"symbol", term.symbol}, {"meaning", term.meaning}});
  for (const PhaseSum& phase : phases_of(result)) {
    json["phases"].push_back(
        {{"name", phase.name}, {"steps", phase.steps}, {"channel_bytes", phase.channel_bytes}, {"model_time_s", phase.model_time_s}});
  }
  json.update(against_json(comparison, algorithm));
  return json;
}

std::string in_words(const Explanation& explanation) {
  const Algorithm& algorithm = explanation.algorithm();
  std::string text = idea_text(explanation) + run_text(explanation) + against_text(explanation.comparison, algorithm);
  if (!explanation.setting.plan.predicts() && explanation.comparison.contests.front().contenders.size() > 1)
    text +=
        fmt::format("{} predicts nothing; {} compare {} --run all measures it.\n", algorithm.name, program(), name(algorithm.collective));
  return text;
}

int explain(const ExplainArguments& arguments) {
  refuse_groups(arguments.setting["groups"], "torus explain");
  const Subject subject = subject_of(arguments);
  const Shaped where = shaped(subject, arguments.setting);
  const RunSpec spec = parse_spec(subject.collective, where.typed);
  const auto named = subject.algorithm != nullptr ? std::optional(std::string(subject.algorithm->name)) : std::nullopt;
  Setting setting = make_setting(spec, named, catalogue());
  Study study("explain", {}, {}, std::nullopt);
  RunResult result = run_once(setting, study);
  Comparison comparison = compared(spec, where.typed, setting, study);
  study.progress().clear();
  const Explanation explanation{std::move(setting), where.instead, std::move(result), std::move(comparison)};
  answer(
      arguments.json, [&] { return to_json(explanation); }, [&] { return in_words(explanation); });
  return 0;
}

}  // namespace

Command explain_command() {
  const auto arguments = std::make_shared<ExplainArguments>();
  Command command{.help = "Why an algorithm works, what it takes, and against which others it wins from which size on"};
  command.require("what", "COLLECTIVE|ALGORITHM", &arguments->what, "an algorithm, or a collective before it");
  command.add("algorithm", "ALGORITHM", &arguments->algorithm,
              "of that collective, where several have one of the name; default: what `torus run` would choose");
  command.footer = "For instance: torus explain wang-tseng; torus explain allreduce rings --on 8x8 --bytes 1MiB";
  add_setting_options(command, arguments->setting);
  add_options(command, OptionGroup::choice, arguments->setting);
  command.describe("--on", "default: what `torus run` takes if the algorithm applies there, else a small shape on which it does");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return explain(*arguments); };
  return command;
}

}  // namespace torus::command
