/// torus stress: random machines, shapes, sources and sizes; every run checked in every way we have.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <set>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/child.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/spec.hpp"
#include "tools/torus/stress/repeat.hpp"
#include "tools/torus/stress/trials.hpp"

namespace torus::command {
namespace {

struct StressArguments {
  std::optional<std::string> seconds, runs, each, seed, only, most_nodes, executor, threads, csv;
  bool uneven = false;
  bool faults = false;
  bool json = false;
};

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

/// What a line has room for: the collective and the algorithm name a row; what was drawn goes first.
Narrowing narrowing(const StressOutcome&) { return {.left_out = {5, 4, 3, 8, 9, 7}, .keys = 2}; }
Narrowing narrowing(const FaultOutcome&) { return {}; }

Json to_json(const std::vector<StressFailure>& failures) {
  Json json = Json::array();
  for (const StressFailure& failure : failures) {
    json.push_back({{"what", failure.what}, {"command", failure.command}, {"repeated", failure.not_repeated.empty()}});
    if (!failure.not_repeated.empty()) json.back()["not_repeated"] = failure.not_repeated;
  }
  return json;
}

Json to_json(const std::vector<const Algorithm*>& algorithms) {
  Json json = Json::array();
  for (const Algorithm* algorithm : algorithms)
    json.push_back({{"collective", name(algorithm->collective)}, {"algorithm", algorithm->name}});
  return json;
}

/// "broadcast flood, scan line".
std::string names_of(const std::vector<const Algorithm*>& algorithms) {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms) names.push_back(fmt::format("{} {}", name(algorithm->collective), algorithm->name));
  return fmt::format("{}", fmt::join(names, ", "));
}

Json to_json(const SpecialRuns& special) {
  return {{"in_groups", special.in_groups}, {"uneven", special.uneven}, {"in_groups_and_uneven", special.both}, {"mapped", special.mapped}};
}

/// "2,000 in groups, 1,000 with uneven sizes, 250 with both, 900 with a map".
std::string text_of(const SpecialRuns& special) {
  return fmt::format("{} in groups, {} with uneven sizes, {} with both, {} with a map", grouped(special.in_groups), grouped(special.uneven),
                     grouped(special.both), grouped(special.mapped));
}

constexpr double most_s_of_repeat = 60;

/// Runs the line of each failure in a process of its own. Where a shrunk one does not repeat its failure and the one before it does, that
/// takes its place.
void repeat(std::vector<StressFailure>& failures) {
  for (StressFailure& failure : failures) {
    failure.not_repeated = why_not_repeated({failure.command, failure.status, failure.says}, most_s_of_repeat);
    if (failure.not_repeated.empty() || !failure.before || !why_not_repeated(*failure.before, most_s_of_repeat).empty()) continue;
    failure.what = failure.before->says.front() + " (not shrunk: the smaller setting does not repeat it)";
    failure.command = failure.before->command;
    failure.not_repeated.clear();
  }
}

Json to_json(const StressOutcome& outcome, std::uint64_t seed) {
  Json json{{"seed", seed}, {"runs", outcome.runs}, {"special", to_json(outcome.special)}, {"interrupted", outcome.interrupted}};
  json["rows"] = Json::array();
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
                            {"blocks", row.blocks},
                            {"duplicates", row.duplicates},
                            {"undrawn", row.undrawn},
                            {"failures", row.failures}});
  }
  json["failures"] = to_json(outcome.failures);
  json["no_run"] = to_json(outcome.idle);
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

Json to_json(const FaultOutcome& outcome, std::uint64_t seed) {
  Json json{{"seed", seed}, {"runs", outcome.runs}, {"special", to_json(outcome.special)}, {"interrupted", outcome.interrupted}};
  json["faults"] = Json::array();
  for (const FaultRow& row : outcome.rows) {
    Json because = Json::object();
    for (const auto& [reason, runs] : row.harmless_because) because[reason] = runs;
    json["faults"].push_back({{"fault", name(row.kind)},
                              {"runs", row.runs},
                              {"detected", row.detected},
                              {"harmless", row.harmless},
                              {"missed", row.missed},
                              {"nothing_to_strike", row.idle},
                              {"harmless_because", because}});
  }
  json["missed"] = to_json(outcome.failures);
  json["no_run"] = to_json(outcome.idle);
  return json;
}

/// The stress that comes to a failure again, with all that ran before it.
std::string stress_line(const StressArguments& arguments, const StressFailure& failure) {
  std::string line = fmt::format("{} stress{}", program(), arguments.faults ? " --faults" : "");
  if (arguments.only) line += fmt::format(" --only {}", *arguments.only);
  if (arguments.uneven) line += " --uneven";
  if (arguments.most_nodes) line += fmt::format(" --most-nodes {}", *arguments.most_nodes);
  line += fmt::format(" --seed {} --runs {}", arguments.seed.value_or("1"), failure.number);
  if (arguments.executor) line += fmt::format(" --executor {}", *arguments.executor);
  if (arguments.threads) line += fmt::format(" --threads {}", *arguments.threads);
  return line;
}

/// Why faults did no harm: a line for each reason, with the runs and the kinds of faults.
std::string reasons_of(const FaultOutcome& outcome) {
  std::map<std::string, std::pair<std::uint64_t, std::vector<std::string_view>>> reasons;
  for (const FaultRow& row : outcome.rows) {
    for (const auto& [reason, runs] : row.harmless_because) {
      reasons[reason].first += runs;
      reasons[reason].second.push_back(name(row.kind));
    }
  }
  Table table{{"harmless because", "runs", "of"}};
  for (const auto& [reason, found] : reasons)
    table.push_back({reason, grouped(found.first), fmt::format("{}", fmt::join(found.second, " "))});
  return reasons.empty() ? "" : "\n" + aligned(table);
}

/// A right result need not be a good one: of algorithms of the user's own, how many deliveries told a node what it had.
std::string reasons_of(const StressOutcome& outcome) {
  std::string text;
  for (const StressRow& row : outcome.rows) {
    if (row.duplicates == 0 || !is_own(*row.algorithm)) continue;
    text += fmt::format("\n{}: {} of {} reached a node that had them already; for instance\n  {}\n", row.algorithm->name,
                        grouped(row.duplicates), counted(row.blocks, "block"), row.duplicating);
  }
  return text;
}

/// Runs a stress of either kind and prints what came of it. summary(outcome) ends the line under the table.
template <class Outcome, class Summary>
Outcome run_and_print(Outcome (*run)(const StressOptions&), const StressArguments& arguments, const StressOptions& options,
                      std::optional<OutputFile>& csv, Progress& progress, const Summary& summary) {
  Outcome outcome = [&] {
    const InterruptsAwaited awaited;
    return run(options);
  }();
  if (!outcome.interrupted) repeat(outcome.failures);
  progress.clear();
  if (csv && !outcome.interrupted) {
    for (const auto& line : table_of(outcome, false)) csv->write(csv_line(line));
    csv->commit();
  }
  const auto words = [&] {
    std::string text = aligned(table_of(outcome, true), narrowing(outcome)) + reasons_of(outcome) +
                       fmt::format("\nseed {}, {}{}\n", options.seed, counted(outcome.runs, "run"), summary(outcome));
    if (!outcome.idle.empty()) text += fmt::format("no {}: {}\n", arguments.faults ? "fault struck" : "run", names_of(outcome.idle));
    for (const StressFailure& failure : outcome.failures) {
      text += fmt::format("\n{}\n  {}\n", failure.what, failure.command);
      if (!failure.not_repeated.empty())
        text += fmt::format("  alone, this does not repeat it: {}\n  {}\n", failure.not_repeated, stress_line(arguments, failure));
    }
    return text;
  };
  answer(
      arguments.json, [&] { return to_json(outcome, options.seed); }, words);
  if (outcome.interrupted) throw RunError(fmt::format("interrupted after {}", counted(outcome.runs, "run")));
  return outcome;
}

/// The command that a failure should be repeated with.
std::string repeating(const StressArguments& arguments, const StressFailure& failure) {
  return failure.not_repeated.empty() ? failure.command : stress_line(arguments, failure);
}

/// Throws RunError if each algorithm was to be run, and some were not.
void check_all_ran(const StressArguments& arguments, const std::vector<const Algorithm*>& idle) {
  if (arguments.each && !idle.empty()) {
    throw RunError(fmt::format("--each {}: {} of {}", *arguments.each,
                               arguments.faults ? "no fault struck in a run" : "no setting was found", names_of(idle)));
  }
}

/// Those that --only names, with commas between, in the order of the catalogue.
std::vector<const Algorithm*> chosen(const std::optional<std::string>& only) {
  std::set<const Algorithm*> named;
  const std::string words = only.value_or("");
  for (const std::string_view word : split(words, ',')) {
    const auto called = algorithms_called("--only", only ? std::optional(std::string(word)) : std::nullopt,
                                          "it must be collectives or algorithms that `torus list` names, with commas between");
    named.insert(called.begin(), called.end());
  }
  std::vector<const Algorithm*> algorithms(catalogue().begin(), catalogue().end());
  std::erase_if(algorithms, [&](const Algorithm* algorithm) { return !named.contains(algorithm); });
  return algorithms;
}

int run_stress(const StressArguments& arguments) {
  std::vector<const Algorithm*> algorithms = chosen(arguments.only);
  if (arguments.uneven) {
    std::erase_if(algorithms, [](const Algorithm* algorithm) { return !facts_of(algorithm->collective).takes_sizes(); });
    if (algorithms.empty())
      throw InputError(fmt::format("--uneven: blocks of {} are all alike; for instance --only total-exchange", *arguments.only));
  }
  StressOptions options;
  options.algorithms = algorithms;
  if (arguments.seed) options.seed = parse_whole("--seed", *arguments.seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (arguments.runs) options.runs = parse_whole("--runs", *arguments.runs, 1, std::numeric_limits<std::int64_t>::max());
  if (arguments.each) {
    if (arguments.runs)
      throw InputError(fmt::format("--each {}: --runs {} says how many all are; leave out one", *arguments.each, *arguments.runs));
    options.runs = algorithms.size() * parse_whole("--each", *arguments.each, 1, 1000000);
  }
  if (arguments.seconds)
    options.seconds = parse_real("--seconds", *arguments.seconds, 0.001, 1e6, "60");
  else if (!arguments.runs && !arguments.each)
    options.seconds = 60;
  options.budget.uneven = arguments.uneven;
  if (arguments.most_nodes) options.budget.nodes = parse_whole("--most-nodes", *arguments.most_nodes, 2, options.budget.nodes);
  if (arguments.executor) options.executor = parse_executor(*arguments.executor);
  if (arguments.threads) options.threads = static_cast<unsigned>(parse_whole("--threads", *arguments.threads, 1, 1024));
  options.stop = &interrupted();
  Progress progress;
  options.progress = [&](std::string_view line) {
    if (progress.due()) progress.show(line);
  };
  std::optional<OutputFile> csv;
  if (arguments.csv) csv.emplace(*arguments.csv);

  tell_what_crashed(own_program());
  if (arguments.faults) {  // whether the checks find what is wrong on purpose
    const auto special = [](const FaultOutcome& outcome) { return fmt::format("; struck: {}", text_of(outcome.special)); };
    const FaultOutcome outcome = run_and_print(stress_faults, arguments, options, csv, progress, special);
    if (!outcome.failures.empty())
      throw RunError(fmt::format("a fault was missed; repeat it with: {}", repeating(arguments, outcome.failures.front())));
    check_all_ran(arguments, outcome.idle);
    return 0;
  }
  const auto failing = [](const StressOutcome& outcome) {
    return fmt::format(", {}; {}", counted(outcome.failures.size(), "failing algorithm"), text_of(outcome.special));
  };
  const StressOutcome outcome = run_and_print(stress, arguments, options, csv, progress, failing);
  if (!outcome.failures.empty()) {
    throw RunError(fmt::format("{} failed; repeat it with: {}", outcome.failures.size() == 1 ? "a run" : "runs",
                               repeating(arguments, outcome.failures.front())));
  }
  check_all_ran(arguments, outcome.idle);
  return 0;
}

}  // namespace

Command stress_command() {
  const auto arguments = std::make_shared<StressArguments>();
  Command command{.help = "Random machines, shapes, sources, sizes; every run checked in every way; failures shrunk"};
  command.add("--seconds", "S", &arguments->seconds, "so long; default 60");
  command.add("--runs", "R", &arguments->runs, "so many runs");
  command.add("--each", "R", &arguments->each, "R runs of each algorithm; fails if one had none");
  command.add("--seed", "N", &arguments->seed, "default 1");
  command.add("--only", "COLLECTIVE|ALGORITHM,..", &arguments->only, "only these collectives and algorithms");
  command.add("--uneven", "", &arguments->uneven, "only collectives and settings whose blocks differ in size");
  command.add("--most-nodes", "N", &arguments->most_nodes, "only machines of at most N nodes");
  command.add("--executor", "tbb|threads|serial|shuffled", &arguments->executor, "default: random ones");
  command.add("--threads", "N", &arguments->threads, "workers; default: random numbers");
  command.add_output("--csv", ".csv", &arguments->csv, "write the table to this file");
  command.add("--faults", "", &arguments->faults,
              "test the checks: inject a random fault into each run, which must be refused with step and node, or do no harm");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return run_stress(*arguments); };
  return command;
}

}  // namespace torus::command
