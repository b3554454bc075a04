/// torus stress: random machines, shapes, sources and sizes; every run checked in every way we have.
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "runtime/trace/output_file.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/crash.hpp"
#include "tools/torus/interrupt.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/spec.hpp"
#include "tools/torus/stress.hpp"
#include "tools/torus/stress_faults.hpp"
#include "tools/torus/subcommands.hpp"

namespace torus::command {
namespace {

struct StressArguments {
  std::optional<std::string> seconds, runs, seed, only, executor, threads, csv;
  bool faults = false;
  bool json = false;
};

using Table = std::vector<std::vector<std::string>>;

Table table_of(const StressOutcome& outcome, bool separators) {
  const auto number = [&](std::uint64_t value) { return separators ? grouped(value) : std::to_string(value); };
  Table table{{"collective", "algorithm", "runs", "with faults", "shapes", "sources", "most nodes", "steps", "messages", "bytes",
               "not drawn", "failures"}};
  for (const StressRow& row : outcome.rows) {
    table.push_back({std::string(name(row.algorithm->collective)), std::string(row.algorithm->name), number(row.runs),
                     number(row.with_faults), number(row.shapes), number(row.sources), number(row.most_nodes), number(row.steps),
                     number(row.messages), number(row.bytes), number(row.undrawn), number(row.failures)});
  }
  return table;
}

nlohmann::ordered_json to_json(const std::vector<StressFailure>& failures) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const StressFailure& failure : failures) json.push_back({{"what", failure.what}, {"command", failure.command}});
  return json;
}

nlohmann::ordered_json to_json(const StressOutcome& outcome, std::uint64_t seed) {
  nlohmann::ordered_json json{{"seed", seed}, {"runs", outcome.runs}, {"interrupted", outcome.interrupted}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const StressRow& row : outcome.rows) {
    json["rows"].push_back({{"collective", name(row.algorithm->collective)},
                            {"algorithm", row.algorithm->name},
                            {"runs", row.runs},
                            {"with_faults", row.with_faults},
                            {"shapes", row.shapes},
                            {"sources", row.sources},
                            {"most_nodes", row.most_nodes},
                            {"steps", row.steps},
                            {"messages", row.messages},
                            {"bytes", row.bytes},
                            {"undrawn", row.undrawn},
                            {"failures", row.failures}});
  }
  json["failures"] = to_json(outcome.failures);
  return json;
}

Table table_of(const FaultOutcome& outcome, bool separators) {
  const auto number = [&](std::uint64_t value) { return separators ? grouped(value) : std::to_string(value); };
  Table table{{"fault", "runs", "detected", "harmless", "missed", "nothing to strike"}};
  FaultRow sum;
  for (const FaultRow& row : outcome.rows) {
    table.push_back(
        {std::string(name(row.kind)), number(row.runs), number(row.detected), number(row.harmless), number(row.missed), number(row.idle)});
    sum.runs += row.runs;
    sum.detected += row.detected;
    sum.harmless += row.harmless;
    sum.missed += row.missed;
    sum.idle += row.idle;
  }
  if (separators)
    table.push_back({"all", number(sum.runs), number(sum.detected), number(sum.harmless), number(sum.missed), number(sum.idle)});
  return table;
}

nlohmann::ordered_json to_json(const FaultOutcome& outcome, std::uint64_t seed) {
  nlohmann::ordered_json json{{"seed", seed}, {"runs", outcome.runs}, {"interrupted", outcome.interrupted}};
  json["faults"] = nlohmann::ordered_json::array();
  for (const FaultRow& row : outcome.rows) {
    json["faults"].push_back({{"fault", name(row.kind)},
                              {"runs", row.runs},
                              {"detected", row.detected},
                              {"harmless", row.harmless},
                              {"missed", row.missed},
                              {"nothing_to_strike", row.idle}});
  }
  json["missed"] = to_json(outcome.failures);
  return json;
}

/// Runs a stress of either kind and prints what came of it. summary(outcome) ends the line under the table.
template <class Outcome, class Summary>
Outcome run_and_print(Outcome (*run)(const StressOptions&), const StressArguments& arguments, const StressOptions& options,
                      std::optional<OutputFile>& csv, Progress& progress, const Summary& summary) {
  const Outcome outcome = [&] {
    const InterruptsAwaited awaited;
    return run(options);
  }();
  progress.clear();
  if (csv && !outcome.interrupted) {
    for (const auto& line : table_of(outcome, false)) csv->write(csv_line(line));
    csv->commit();
  }
  if (arguments.json) {
    print(to_json(outcome, options.seed).dump() + "\n");
  } else {
    std::string text =
        aligned(table_of(outcome, true)) + fmt::format("\nseed {}, {} runs{}\n", options.seed, grouped(outcome.runs), summary(outcome));
    for (const StressFailure& failure : outcome.failures) text += fmt::format("\n{}\n  {}\n", failure.what, failure.command);
    print(text);
  }
  if (outcome.interrupted) throw RunError(fmt::format("interrupted after {} runs", outcome.runs));
  return outcome;
}

int run_stress(const StressArguments& arguments) {
  const std::vector<const Algorithm*> algorithms =
      algorithms_called("--only", arguments.only, "it must be a collective or an algorithm that `torus list` names");
  StressOptions options;
  options.algorithms = algorithms;
  if (arguments.seed) options.seed = parse_whole("--seed", *arguments.seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (arguments.runs) options.runs = parse_whole("--runs", *arguments.runs, 1, std::numeric_limits<std::int64_t>::max());
  if (arguments.seconds)
    options.seconds = parse_real("--seconds", *arguments.seconds, 0.001, 1e6, "60");
  else if (!arguments.runs)
    options.seconds = 60;
  if (arguments.executor) options.executor = parse_executor(*arguments.executor);
  if (arguments.threads) options.threads = static_cast<unsigned>(parse_whole("--threads", *arguments.threads, 1, 1024));
  options.stop = &interrupted();
  Progress progress;
  options.progress = [&](std::string_view line) {
    if (progress.due()) progress.show(line);
  };
  std::optional<OutputFile> csv;
  if (arguments.csv) csv.emplace(*arguments.csv);

  tell_what_crashed();
  if (arguments.faults) {  // whether the checks find what is wrong on purpose
    const auto nothing = [](const FaultOutcome&) { return ""; };
    const FaultOutcome outcome = run_and_print(stress_faults, arguments, options, csv, progress, nothing);
    if (!outcome.failures.empty()) throw RunError(fmt::format("a fault was missed; repeat it with: {}", outcome.failures.front().command));
    return 0;
  }
  const auto failing = [](const StressOutcome& outcome) { return fmt::format(", {} failing algorithms", outcome.failures.size()); };
  const StressOutcome outcome = run_and_print(stress, arguments, options, csv, progress, failing);
  if (outcome.failures.empty()) return 0;
  throw RunError(
      fmt::format("{} failed; repeat it with: {}", outcome.failures.size() == 1 ? "a run" : "runs", outcome.failures.front().command));
}

}  // namespace

Subcommand add_stress(CLI::App& torus) {
  const auto arguments = std::make_shared<StressArguments>();
  CLI::App* app =
      torus.add_subcommand("stress", "Random machines, shapes, sources, sizes; every run checked in every way; failures shrunk");
  app->add_option("--seconds", arguments->seconds, "so long; default 60")->type_name("S");
  app->add_option("--runs", arguments->runs, "so many runs")->type_name("R");
  app->add_option("--seed", arguments->seed, "default 1")->type_name("N");
  app->add_option("--only", arguments->only, "a collective or an algorithm")->type_name("COLLECTIVE|ALGORITHM");
  app->add_option("--executor", arguments->executor, "default: random ones")->type_name("tbb|threads|serial|shuffled");
  app->add_option("--threads", arguments->threads, "workers; default: random numbers")->type_name("N");
  app->add_option("--csv", arguments->csv, "write the table to this file")->type_name("FILE");
  app->add_flag("--faults", arguments->faults,
                "test the checks: inject a random fault into each run, which must be refused with step and node, or do no harm");
  app->add_flag("--json", arguments->json, "print one JSON object");
  return {app, [arguments] { return run_stress(*arguments); }};
}

}  // namespace torus::command
