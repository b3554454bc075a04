/// What single failures do to algorithms, as a table for people and as JSON for programs.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/study/failures.hpp"
#include "tools/torus/study/study.hpp"

namespace torus::command {
namespace {

constexpr std::string_view fates[] = {"completed", "refused", "failed", "cut"};

std::string_view name(Fate fate) noexcept { return fates[static_cast<std::size_t>(fate)]; }

std::vector<std::string> cut_of(const FailureCases& cases) {
  std::vector<std::string> names;
  for (const SingleFailure& failure : cases.failures) {
    if (!failure.cut.empty()) names.push_back(failure.name);
  }
  return names;
}

std::size_t survivable(const FailureComparison& comparison) { return comparison.cases.failures.size() - cut_of(comparison.cases).size(); }

/// A few of them, and how many more.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  const std::size_t shown = std::min(most, names.size());
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return names.size() > shown ? text + fmt::format(" and {} more", grouped(names.size() - shown)) : text;
}

std::string what_dies(const FailureCases& cases) {
  return cases.links && cases.nodes ? "each link and each node" : cases.links ? "each link" : "each node";
}

std::optional<double> ratio_of(const FailureRun& run) {
  return run.bound_s > 0 ? std::optional(run.model_time_s / run.bound_s) : std::nullopt;
}

std::string whole_text(const FailureRuns& entrant) {
  if (!entrant.whole) return "-";
  return entrant.whole->fate == Fate::completed ? seconds_text(entrant.whole->model_time_s) : std::string(name(entrant.whole->fate));
}

/// How many failures an algorithm survives, of all or of those that it was run with before an interruption.
std::string survives_text(const FailureComparison& comparison, const FailureRuns& entrant, const Survival& survival) {
  const auto run = static_cast<std::size_t>(
      std::count_if(entrant.runs.begin(), entrant.runs.end(), [](const auto& r) { return r && r->fate != Fate::cut; }));
  if (!comparison.interrupted() || run >= survivable(comparison))
    return fmt::format("{} of {}", grouped(survival.completed), grouped(survivable(comparison)));
  return run == 0 ? "not run" : fmt::format("{} of {} run", grouped(survival.completed), grouped(run));
}

/// The answer: who survives all, the one with the least worst time, on each machine.
std::string answers(const FailureComparison& comparison) {
  Table table{{"survives all", "worst", "machine"}};
  for (const FailureContest& contest : comparison.contests) {
    if (const FailureRuns* best = best_survivor(contest)) {
      const double worst_s = best->runs[*survival_of(*best).worst]->model_time_s;
      table.push_back({std::string(best->algorithm->name), seconds_text(worst_s), rules_text(contest.machine)});
    } else {
      table.push_back({comparison.interrupted() ? "not known" : "none", "-", rules_text(contest.machine)});
    }
  }
  return aligned(table);
}

std::string contest_text(const FailureComparison& comparison, const FailureContest& contest) {
  Table times{{"algorithm", "survives", "whole", "median", "worst", "x bound", "steps"}};
  Table worst{{"algorithm", "refused", "failed", "worst with"}};
  std::vector<std::string> remarks;
  for (const FailureRuns& entrant : contest.entrants) {
    const Survival survival = survival_of(entrant);
    const std::string algorithm(entrant.algorithm->name), survives = survives_text(comparison, entrant, survival);
    if (survival.worst) {
      const FailureRun &median = *entrant.runs[*survival.median], &last = *entrant.runs[*survival.worst];
      const auto ratio = ratio_of(median);
      times.push_back({algorithm, survives, whole_text(entrant), seconds_text(median.model_time_s), seconds_text(last.model_time_s),
                       ratio ? fmt::format("{:.2f}", *ratio) : "-",
                       fmt::format("{} .. {}", grouped(survival.median_steps), grouped(survival.most_steps))});
    } else {
      times.push_back({algorithm, survives, whole_text(entrant), "-", "-", "-", "-"});
    }
    worst.push_back({algorithm, grouped(survival.refused), grouped(survival.failed),
                     survival.worst ? comparison.cases.failures[*survival.worst].name : "-"});
    if (!survival.refusal.empty()) remarks.push_back(fmt::format("{} refused, first: {}\n", algorithm, survival.refusal));
    for (std::size_t i = 0; i <= entrant.runs.size(); ++i) {
      const auto& run = i < entrant.runs.size() ? entrant.runs[i] : entrant.whole;
      if (!run || run->fate != Fate::failed) continue;
      remarks.push_back(fmt::format("{} FAILED {}: {}\n", algorithm,
                                    i < entrant.runs.size() ? comparison.cases.failures[i].name : "on the whole machine", run->why));
      break;
    }
  }
  return fmt::format("{}\n{}\n{}{}\n", rules_text(contest.machine), aligned(times), aligned(worst), fmt::join(remarks, ""));
}

/// Algorithms that take no part on any machine, by their own reasons.
std::string left_out_text(const FailureComparison& comparison) {
  std::size_t most = 0;
  for (const FailureContest& contest : comparison.contests) most = std::max(most, contest.left_out.size());
  return most == 0 ? "" : "algorithms that live with none of the failures are left out; --json says why\n";
}

Json named_json(const FailureComparison& comparison, const FailureRuns& entrant, std::size_t failure) {
  Json json{{"failure", comparison.cases.failures[failure].name}};
  json.update(run_json(*entrant.runs[failure]));
  return json;
}

Json entrant_json(const FailureComparison& comparison, const FailureRuns& entrant) {
  const Survival survival = survival_of(entrant);
  Json json{{"algorithm", entrant.algorithm->name}, {"reference", entrant.algorithm->source},
            {"survives_all", survival.all()},       {"completed", survival.completed},
            {"refused", survival.refused},          {"failed", survival.failed}};
  if (!survival.refusal.empty()) json["first_refusal"] = survival.refusal;
  if (entrant.whole) json["whole"] = run_json(*entrant.whole);
  if (survival.worst) {
    json["median"] = named_json(comparison, entrant, *survival.median);
    json["worst"] = named_json(comparison, entrant, *survival.worst);
    json["steps_median"] = survival.median_steps;
    json["steps_worst"] = survival.most_steps;
  }
  json["failures"] = Json::array();
  for (std::size_t i = 0; i < entrant.runs.size(); ++i) {
    if (entrant.runs[i]) json["failures"].push_back(named_json(comparison, entrant, i));
  }
  return json;
}

Json contest_json(const FailureComparison& comparison, const FailureContest& contest) {
  const FailureRuns* best = best_survivor(contest);
  Json json{{"ports", contest.machine.ports},
            {"switching", name(contest.machine.switching)},
            {"contention", name(contest.machine.contention)},
            {"best_survivor", best != nullptr ? Json(best->algorithm->name) : Json()},
            {"algorithms", Json::array()},
            {"left_out", Json::array()}};
  for (const FailureRuns& entrant : contest.entrants) json["algorithms"].push_back(entrant_json(comparison, entrant));
  for (const LeftOut& out : contest.left_out) json["left_out"].push_back({{"algorithm", out.algorithm->name}, {"because", out.because}});
  return json;
}

}  // namespace

Json run_json(const FailureRun& run) {
  Json json{{"outcome", name(run.fate)}};
  if (run.fate == Fate::completed || run.fate == Fate::failed) {
    json["steps"] = run.steps;
    json["channel_bytes_sum"] = run.channel_bytes;
    json["model_time_s"] = run.model_time_s;
  }
  if (run.fate != Fate::cut) json["model_time_lower_bound_s"] = run.bound_s;
  if (const auto ratio = ratio_of(run); ratio && run.fate == Fate::completed) json["times_the_bound"] = *ratio;
  if (!run.why.empty()) json["why"] = run.why;
  return json;
}

FailureRun run_of(const Json& row) {
  const FromRow read{row};
  FailureRun run;
  const std::string fate = row.at("outcome").cell();
  run.fate = static_cast<Fate>(std::find(std::begin(fates), std::end(fates), fate) - std::begin(fates));
  read("steps", run.steps);
  read("channel_bytes_sum", run.channel_bytes);
  read("model_time_s", run.model_time_s);
  read("model_time_lower_bound_s", run.bound_s);
  read("why", run.why);
  return run;
}

std::string to_table(const FailureComparison& comparison) {
  const Topology& topology = comparison.contests.front().machine.topology;
  const FailureCases& cases = comparison.cases;
  const Request& request = comparison.request;
  std::string text = heading_text(topology, request);
  if (facts_of(request.collective).carries_bytes()) text += ", " + bytes_option(request.bytes);
  if (comparison.groups) text += fmt::format(", in each group of {} of {} at once", *comparison.groups, comparison.shape.text());
  if (comparison.map) text += fmt::format(", ranks laid out by {}", *comparison.map);
  if (const Faults& faults = comparison.shape.faults(); !faults.empty())
    text += fmt::format("\nwith {} from the start", damage_text(faults));
  text += fmt::format("\n{} dead once: {}\n", what_dies(cases), counted(cases.failures.size(), "failure"));
  if (const auto cut = cut_of(cases); !cut.empty())
    text += fmt::format("{} of them cut {} apart: {}\n", grouped(cut.size()), comparison.groups ? "a group" : "the machine", some_of(cut));
  if (!cases.skipped.empty()) text += fmt::format("not a failure, for a source or root must live: {}\n", some_of(cases.skipped));
  if (cases.outside > 0) text += fmt::format("not a failure, for no group has it: {}\n", counted(cases.outside, "link"));
  text += "\n";
  text += answers(comparison);
  text += "\n";
  for (const FailureContest& contest : comparison.contests) text += contest_text(comparison, contest);
  return text + left_out_text(comparison) +
         "model times, all measured: every byte verified, every message judged\n"
         "survives all: the one whose worst time is the least\n"
         "whole: without a failure; x bound: the median failure, in times its lower bound;\n"
         "steps: the median and the most\n" +
         (comparison.from_before > 0
              ? fmt::format("{} of {} from before\n", grouped(comparison.from_before), counted(comparison.runs, "run is", "runs are"))
              : "");
}

Json to_json(const FailureComparison& comparison) {
  const Topology& topology = comparison.contests.front().machine.topology;
  Json json = heading_json(topology, comparison.request);
  json.update({{"bytes", comparison.request.bytes},
               {"every_single_link", comparison.cases.links},
               {"every_single_node", comparison.cases.nodes},
               {"failure_count", comparison.cases.failures.size()},
               {"cut", cut_of(comparison.cases)},
               {"skipped", comparison.cases.skipped},
               {"links_outside", comparison.cases.outside},
               {"runs", comparison.runs},
               {"runs_from_before", comparison.from_before},
               {"interrupted", comparison.interrupted()},
               {"machines", Json::array()}});
  if (const Faults& faults = comparison.shape.faults(); !faults.empty())
    json["faults"] = {{"dead_nodes", faults.dead_nodes}, {"options", damage_options(faults, comparison.shape)}};
  if (comparison.groups) {
    json.update({{"groups", *comparison.groups}, {"group_shape", topology.text()}, {"group_nodes", topology.nodes()}});
    json.update({{"shape", comparison.shape.text()}, {"nodes", comparison.shape.nodes()}});
  }
  if (comparison.map) json["map"] = *comparison.map;
  for (const FailureContest& contest : comparison.contests) json["machines"].push_back(contest_json(comparison, contest));
  if (comparison.failure) json["failure"] = *comparison.failure;
  return json;
}

std::string to_csv(const FailureComparison& comparison) {
  Json rows = Json::array();
  for (const FailureContest& contest : comparison.contests) {
    for (const FailureRuns& entrant : contest.entrants) {
      for (std::size_t i = 0; i <= entrant.runs.size(); ++i) {
        const bool whole = i == entrant.runs.size();
        Json row = machine_json(contest.machine);
        row.update(run_json(whole ? *entrant.whole : *entrant.runs[i]));
        row.update({{"collective", name(comparison.request.collective)},
                    {"bytes", comparison.request.bytes},
                    {"algorithm", entrant.algorithm->name},
                    {"failure", whole ? "" : comparison.cases.failures[i].name}});
        if (comparison.groups) row["groups"] = *comparison.groups;
        if (comparison.map) row["map"] = *comparison.map;
        rows.push_back(std::move(row));
      }
    }
  }
  const std::string columns =
      "collective,shape,nodes,ports,switching,contention,bytes,algorithm,failure,outcome,steps,channel_bytes_sum,model_time_s,"
      "model_time_lower_bound_s,why";
  return csv_of(columns + (comparison.groups ? ",groups" : "") + (comparison.map ? ",map" : ""), rows);
}

}  // namespace torus::command
