#include "tools/torus/study/failures.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include <torus/bounds.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/study/study.hpp"

namespace torus::command {
namespace {

constexpr std::size_t most_failures = 100000;

/// Each living link once: by its channel upwards, in a complete dimension by that of its lower end.
std::vector<Link> links_of(const Topology& shape) {
  std::vector<Link> links;
  for (NodeId node = 0; node < shape.nodes(); ++node) {
    if (!shape.living(node)) continue;
    shape.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      if (shape.wiring(d) == Wiring::complete ? node < to : hop > 0) links.push_back({node, d, hop});
    });
  }
  return links;
}

/// Whether the sources that were asked for need the node. Where they are a set, such as all, the dead are no part of it.
bool needed(const RunSpec& spec, const Request& request, NodeId node) {
  const NodeId rank = spec.groups ? spec.groups->local(node) : node;
  const bool named = facts_of(spec.collective).rooted() || (spec.sources && spec.sources->find_first_of("0123456789") == 0);
  return named && std::find(request.sources.begin(), request.sources.end(), rank) != request.sources.end();
}

/// Whether a link lies between two nodes of one group.
bool in_a_group(const RunSpec& spec, const Link& link) {
  const NodeId to = *spec.shape.neighbour(link.node, link.dimension, link.hop);
  const auto has = [&](const Groups& groups) {
    return groups.group_of(link.node) != Groups::none && groups.group_of(link.node) == groups.group_of(to);
  };
  return !spec.groups || has(*spec.groups) || std::any_of(spec.other_classes.begin(), spec.other_classes.end(), has);
}

class Failing {
 public:
  Failing(const RunSpec& spec, FailureCases cases, const std::vector<const Algorithm*>& algorithms, Study& study)
      : spec_{spec},
        algorithms_{algorithms},
        study_{study},
        comparison_{.request = make_fitting_request(spec),
                    .shape = spec.shape,
                    .groups = spec.groups_text,
                    .map = spec.map,
                    .cases = std::move(cases)} {}

  FailureComparison all(bool all_machines) {
    enter_machines(all_machines);
    const InterruptsAwaited awaited;  // between runs, too
    for (FailureContest& contest : comparison_.contests) {
      for (FailureRuns& entrant : contest.entrants) {
        for (std::size_t i = 0; i <= failures().size(); ++i) {  // the last is the whole machine
          auto& slot = i < failures().size() ? entrant.runs[i] : entrant.whole;
          const Json row = study_.next([&] { return made(contest, *entrant.algorithm, i); });
          if (row.is_null()) return std::move(comparison_);
          slot = run_of(row);
          if (slot->fate == Fate::cut) failures()[i].cut = slot->why;
          ++comparison_.done;
        }
      }
    }
    return std::move(comparison_);
  }

 private:
  std::vector<SingleFailure>& failures() { return comparison_.cases.failures; }
  std::string_view name_of(std::size_t i) { return i < failures().size() ? std::string_view(failures()[i].name) : ""; }

  /// The machine with failure i, and what is asked of it, still without an algorithm; none where that cuts it apart. A node that is dead is
  /// no source; a root stays the same.
  std::optional<Setting> setting_with(const Machine& machine, std::size_t i) {
    RunSpec spec = spec_;
    if (i < failures().size()) {
      auto broken_spec = spec_with(failures()[i], spec_);
      if (!broken_spec) return std::nullopt;
      spec = std::move(*broken_spec);
    }
    Machine broken(seen_shape(spec), machine.ports, machine.switching, machine.contention, machine.routing, machine.cost);
    Request request = comparison_.request;
    std::erase_if(request.sources, [&](NodeId source) { return !broken.topology.living(source); });
    return open_setting(std::move(broken), std::move(request), spec);
  }

  /// Why an algorithm refuses all failures that leave the machine in one piece, of which there are some; none where it lives with one.
  std::optional<std::string> refuses_all(const Machine& machine, const Algorithm& algorithm) {
    std::optional<std::string> first;
    for (std::size_t i = 0; i < failures().size(); ++i) {
      const auto broken = setting_with(machine, i);
      if (!broken) continue;
      const std::vector<const Setting*> classes = broken->classes();
      const auto refusing = std::find_if(classes.begin(), classes.end(),
                                         [&](const Setting* each) { return refuses(algorithm, each->machine, each->request).has_value(); });
      if (refusing == classes.end()) return std::nullopt;
      if (!first) first = why_not_here(algorithm, **refusing);
      if (!spec_.groups_text && !algorithm.needs.lives_with_holes) break;  // and so it refuses the others
    }
    return first;
  }

  /// Compares on a machine all that live there with a failure, if any does.
  void enter(Machine machine) {
    FailureContest contest{std::move(machine), {}, {}};
    for (const Algorithm* algorithm : algorithms_) {
      if (auto why_not = refuses_all(contest.machine, *algorithm))
        contest.left_out.push_back({algorithm, std::move(*why_not)});
      else
        contest.entrants.push_back({algorithm, std::nullopt, std::vector<std::optional<FailureRun>>(failures().size())});
    }
    if (contest.entrants.empty()) return;
    comparison_.runs += contest.entrants.size() * (failures().size() + 1);
    comparison_.contests.push_back(std::move(contest));
  }

  /// As in other comparisons: the machine that `torus run` takes; where nothing lives there, and where all are asked for, each machine that
  /// an algorithm which takes part was made for.
  void enter_machines(bool all_machines) {
    if (!all_machines) enter(usual_machine(spec_));
    if (!comparison_.contests.empty()) return;
    std::string refusal;
    for (const Algorithm* made_for : algorithms_) {
      Machine machine = make_machine(spec_, made_for->native);
      const auto known = [&](const FailureContest& contest) { return same_rules(contest.machine, machine); };
      if (std::any_of(comparison_.contests.begin(), comparison_.contests.end(), known)) continue;
      const auto why_not = refuses_all(machine, *made_for);
      if (!why_not)
        enter(std::move(machine));
      else if (refusal.empty())
        refusal = *why_not;
    }
    if (comparison_.contests.empty()) nothing_applies(spec_.collective, spec_.shape.text() + " with a failure", refusal);
  }

  StudyRow made(const FailureContest& contest, const Algorithm& algorithm, std::size_t i) {
    std::optional<Setting> open = setting_with(contest.machine, i);
    if (!open) return {run_json({.fate = Fate::cut, .why = failures()[i].cut})};
    Setting& setting = *open;
    const Bounds bounds = lower_bounds(setting.machine, setting.request);
    double bound_s = bounds.model_time_s(setting.machine.cost);
    for (const Setting& other : setting.others)
      bound_s = std::max(bound_s, lower_bounds(other.machine, other.request).model_time_s(other.machine.cost));
    Effort effort =
        study_.effort(fmt::format("{} of {}: {} {}", grouped(comparison_.done + 1), grouped(comparison_.runs), algorithm.name, name_of(i)));
    effort.bounds = &bounds;
    const Outcome outcome = attempt(setting, algorithm, effort);
    if (outcome.is(Outcome::Kind::interrupted)) return {};
    const RunResult& result = outcome.run.result;
    const bool failed = outcome.is(Outcome::Kind::failed);
    StudyRow row{run_json({outcome.left_out() ? Fate::refused
                           : failed           ? Fate::failed
                                              : Fate::completed,
                           result.steps, result.channel_bytes_sum, result.model_time_s, bound_s, outcome.why})};
    if (failed) {
      row.failed = fmt::format("{} {}: {}; repeat it with: {}", algorithm.name, i < failures().size() ? name_of(i) : "on the whole machine",
                               outcome.why, outcome.repeat);
    }
    return row;
  }

  const RunSpec& spec_;
  const std::vector<const Algorithm*>& algorithms_;
  Study& study_;
  FailureComparison comparison_;
};

}  // namespace

std::optional<Topology> shape_with(SingleFailure& failure, const Topology& shape) {
  try {
    return shape.with_faults(failure.faults);
  } catch (const InputError& error) {  // the shape and its other faults are known to be good
    failure.cut = error.what();
    return std::nullopt;
  }
}

std::optional<RunSpec> spec_with(SingleFailure& failure, const RunSpec& spec) {
  auto shape = shape_with(failure, spec.shape);
  if (!shape) return std::nullopt;
  RunSpec broken = spec;
  broken.shape = std::move(*shape);
  try {
    place_groups(broken);
  } catch (const InputError& error) {  // of the groups, only what is dead is new
    failure.cut = error.what();
    return std::nullopt;
  }
  return broken;
}

FailureCases single_failures(const RunSpec& spec, bool links, bool nodes) {
  const Topology& shape = spec.shape;
  const double most = shape.nodes() * ((links ? shape.channel_slots() / 2.0 : 0) + (nodes ? 1 : 0));
  if (most > most_failures) {
    throw InputError(fmt::format("--every-single-{}: {} has about {} of them, and at most {} are run; choose a smaller --on",
                                 links ? "link" : "node", shape.text(), grouped(static_cast<std::uint64_t>(most)), grouped(most_failures)));
  }
  FailureCases cases{links, nodes, {}, {}};
  if (links) {
    for (const Link& link : links_of(shape)) {
      if (!in_a_group(spec, link)) {
        ++cases.outside;
        continue;
      }
      Faults faults = shape.faults();
      faults.dead_links.push_back(link);
      cases.failures.push_back({"--dead-link " + link_text(link, shape), std::move(faults)});
    }
  }
  if (!nodes) return cases;
  const Request request = make_request(spec);
  for (NodeId node = 0; node < shape.nodes(); ++node) {
    if (!shape.living(node)) continue;
    std::string name = fmt::format("--dead-node {}", node);
    if (needed(spec, request, node)) {
      cases.skipped.push_back(std::move(name));
      continue;
    }
    Faults faults = shape.faults();
    faults.dead_nodes.push_back(node);
    cases.failures.push_back({std::move(name), std::move(faults)});
  }
  return cases;
}

Survival survival_of(const FailureRuns& runs) {
  Survival survival;
  std::vector<std::size_t> by_time;
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    if (!runs.runs[i]) {
      ++survival.missing;
      continue;
    }
    const FailureRun& run = *runs.runs[i];
    switch (run.fate) {
      case Fate::completed:
        ++survival.completed;
        by_time.push_back(i);
        steps.push_back(run.steps);
        break;
      case Fate::refused:
        if (survival.refused++ == 0) survival.refusal = run.why;
        break;
      case Fate::failed: ++survival.failed; break;
      case Fate::cut: ++survival.cut; break;
    }
  }
  if (by_time.empty()) return survival;
  const auto slower = [&](std::size_t a, std::size_t b) { return runs.runs[a]->model_time_s > runs.runs[b]->model_time_s; };
  std::stable_sort(by_time.begin(), by_time.end(), slower);  // the first of the worst is the worst
  std::sort(steps.begin(), steps.end());
  survival.worst = by_time.front();
  survival.median = by_time[by_time.size() / 2];
  survival.median_steps = steps[(steps.size() - 1) / 2];
  survival.most_steps = steps.back();
  return survival;
}

const FailureRuns* best_survivor(const FailureContest& contest) {
  const FailureRuns* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const FailureRuns& entrant : contest.entrants) {
    const Survival survival = survival_of(entrant);
    if (!survival.all() || entrant.runs[*survival.worst]->model_time_s >= least) continue;
    least = entrant.runs[*survival.worst]->model_time_s;
    best = &entrant;
  }
  return best;
}

int run_single_failures(const FailureArguments& arguments) {
  const Collective collective = parse_collective(arguments.collective, arguments.setting);
  const std::string_view option = arguments.links ? "--every-single-link" : "--every-single-node";
  if (const auto& bytes = arguments.setting["bytes"]; bytes && table_sizes(collective, bytes, "", arguments.setting).size() > 1) {
    throw InputError(fmt::format("--bytes '{}': with {} it must be one size; for instance {}", *bytes, option,
                                 bytes_option(table_sizes(collective, bytes, "", arguments.setting).front())));
  }
  const auto algorithms = parse_algorithms("--algorithms", arguments.algorithms, collective, catalogue());
  const RunSpec spec = parse_spec(collective, arguments.setting);
  if (spec.groups && spec.groups->carries())
    throw InputError(
        fmt::format("--map '{}': with {} it must turn or shift the machine, since messages of ranks that lie apart do not go round what is "
                    "dead; for instance row-major",
                    *spec.map, option));
  if (spec.groups && spec.groups->dilated())
    throw InputError(fmt::format(
        "--groups '{}': with {} its hops may cross what is dead; choose rows, columns, axis: or slice:", *spec.groups_text, option));
  FailureCases cases = single_failures(spec, arguments.links, arguments.nodes);
  const auto cuts = [&](SingleFailure& failure) { return !spec_with(failure, spec); };
  if (std::all_of(cases.failures.begin(), cases.failures.end(), cuts)) {
    throw InputError(fmt::format("{}: of {} none may die without cutting {} apart; choose another --on, for instance 4x4", option,
                                 spec.shape.text(), spec.groups_text ? "a group" : "it"));
  }
  std::string of = "compare " + arguments.collective;
  if (arguments.links) of += " --every-single-link";
  if (arguments.nodes) of += " --every-single-node";
  if (arguments.all_machines) of += " --all-machines";
  Study study(of, arguments.setting.typed(), algorithms, arguments.csv);
  FailureComparison comparison = Failing(spec, std::move(cases), algorithms, study).all(arguments.all_machines);
  study.progress().clear();
  comparison.from_before = study.from_before();
  if (study.failures() > 0) comparison.failure = study.first_failure();
  if (!comparison.interrupted()) study.finish([&] { return to_csv(comparison); });
  answer(
      arguments.json, [&] { return to_json(comparison); }, [&] { return to_table(comparison); });
  if (comparison.interrupted()) {
    throw RunError(
        fmt::format("interrupted with {} of {} done{}", grouped(comparison.done), counted(comparison.runs, "run"), study.goes_on()));
  }
  if (!comparison.failure) return 0;
  throw RunError(*comparison.failure);
}

}  // namespace torus::command
