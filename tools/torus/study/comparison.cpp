#include "tools/torus/study/comparison.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {
namespace {

template <class AnyEntry, class Row>
void each_field(AnyEntry& entry, const Row& row) {
  row("segments", entry.segments);
  row("steps", entry.steps);
  row("channel_bytes", entry.channel_bytes);
  row("predicted_s", entry.predicted_s);
  row("predicted", entry.predicted);
  row("exact", entry.exact);
  row("by_speed", entry.by_speed);
  row("not_run", entry.not_run);
  row("no_plan", entry.no_plan);
  row("failure", entry.failure);
  row("too_long", entry.too_long);
  row("hops_a_step", entry.hops_a_step);
}

template <class AnyMeasured, class Row>
void each_figure(AnyMeasured& run, const Row& row) {
  row("run_steps", run.steps);
  row("run_channel_bytes", run.channel_bytes);
  row("run_model_time_s", run.model_time_s);
  row("run_error_ulp", run.error_ulp);
}

StudyRow row_of(const Entry& entry, std::string failed = {}) {
  StudyRow row{{}, std::move(failed)};
  each_field(entry, ToRow{row.values});
  if (entry.run) each_figure(*entry.run, ToRow{row.values});
  return row;
}

Entry entry_of(const Json& row) {
  Entry entry;
  each_field(entry, FromRow{row});
  if (!row.at("run_steps").is_null()) each_figure(entry.run.emplace(), FromRow{row});
  return entry;
}

/// Makes a comparison, one machine after the other.
class Comparing {
 public:
  Comparing(const RunSpec& spec, const ComparisonOptions& options, Study& study)
      : spec_{spec},
        options_{options},
        study_{study},
        comparison_{.request = make_request(spec), .shape = spec.shape, .groups = spec.groups_text, .map = spec.map} {
    if (facts_of(spec.collective).from_sources() && !spec.expected_sources)
      comparison_.request.expected_sources = static_cast<double>(comparison_.request.sources.size());
    for (const Groups& groups : spec.other_classes) comparison_.other_classes.push_back(class_text(groups));
    comparison_.sizes = options.sizes;
    comparison_.run_sizes = options.run_sizes;
    comparison_.run_best = options.run_best;
    comparison_.named = options.named;
  }

  Comparison all() {
    for (const Machine& machine : machines()) {
      contest(machine);
      if (comparison_.interrupted) break;
    }
    if (study_.failures() > 0) comparison_.failure = study_.first_failure();
    return std::move(comparison_);
  }

 private:
  /// The machine as described. Where that leaves something open: the one that `torus run` takes, if an algorithm applies there, or else,
  /// and if all are asked for, each that an algorithm which applies there was made for.
  std::vector<Machine> machines() {
    std::vector<Machine> machines;
    std::string refusal;
    for (const Algorithm* algorithm : options_.algorithms) {
      Machine machine = make_machine(spec_, algorithm->native);
      if (std::any_of(machines.begin(), machines.end(), [&](const Machine& other) { return same_rules(machine, other); })) continue;
      bool applies = false;
      for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
        const auto why_not = refuses(*algorithm, machine, request(i));
        applies = applies || !why_not;
        if (why_not && refusal.empty()) refusal = *why_not_here(*algorithm, open_setting(machine, request(i), spec_));
      }
      if (applies) machines.push_back(std::move(machine));
    }
    if (machines.empty()) nothing_applies(spec_.collective, spec_.shape.text(), refusal);
    const Machine usual = usual_machine(spec_);
    if (options_.all_machines || !any_applies(usual)) return machines;
    const auto others = std::count_if(machines.begin(), machines.end(), [&](const Machine& other) { return !same_rules(usual, other); });
    comparison_.other_machines = static_cast<std::size_t>(others);
    comparison_.usual_switching = !spec_.switching;
    return {usual};
  }

  bool any_applies(const Machine& machine) {
    for (const Algorithm* algorithm : options_.algorithms) {
      for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
        if (!refuses(*algorithm, machine, request(i))) return true;
      }
    }
    return false;
  }

  /// What is asked for at a size. The sources, which may be millions, are there once.
  const Request& request(std::size_t size) {
    comparison_.request.bytes = options_.sizes[size];
    return comparison_.request;
  }

  void contest(const Machine& machine) {
    Contest contest{machine, {}, {}, {}, {}};
    for (std::size_t i = 0; i < options_.sizes.size(); ++i) {
      contest.bounds.push_back(bounds_of(machine, request(i)));
      contest.asked_bytes.push_back(asked_bytes(request(i), machine.topology.nodes()));
    }
    for (const Algorithm* algorithm : options_.algorithms) {
      if (comparison_.interrupted) break;
      Contender contender{algorithm, {}};
      std::string refusal;
      last_ = {};
      for (std::size_t i = 0; i < options_.sizes.size() && !comparison_.interrupted; ++i)
        contender.entries.push_back(entry(contest, *algorithm, i, refusal));
      if (std::any_of(contender.entries.begin(), contender.entries.end(), [](const auto& entry) { return entry.has_value(); }))
        contest.contenders.push_back(std::move(contender));
      else
        contest.left_out.push_back({algorithm, refusal});
    }
    for (std::size_t i = 0; i < options_.sizes.size() && !comparison_.interrupted; ++i) {
      mark_best(contest, i);
      if (options_.run_best) run_best(contest, i);
    }
    comparison_.contests.push_back(std::move(contest));
  }

  /// The bounds; where other links or nodes are dead or slow in some groups, those of the class with the largest.
  Bounds bounds_of(const Machine& machine, const Request& asked) const {
    Bounds largest = lower_bounds(machine, asked, spec_.groups ? &*spec_.groups : nullptr);
    if (spec_.other_classes.empty()) return largest;
    for (const Setting& other : open_setting(machine, asked, spec_).others) {
      Bounds own = lower_bounds(other.machine, other.request, other.groups_or_null());
      if (own.model_time_s(machine.cost) > largest.model_time_s(machine.cost)) largest = std::move(own);
    }
    return largest;
  }

  /// Runs the best of a size, until one of them has run right or none is left that was not run.
  void run_best(Contest& contest, std::size_t size) {
    for (Contender& contender : contest.contenders) {
      std::optional<Entry>& entry = contender.entries[size];
      if (!entry || !entry->best || entry->run || comparison_.interrupted) continue;
      const Json row = study_.next([&] {
        Setting setting = open_setting(contest.machine, request(size), spec_);
        return run(setting, *contender.algorithm, effort(contest, *contender.algorithm, size), *entry);
      });
      comparison_.interrupted = row.is_null();
      if (!row.is_null()) entry = entry_of(row);
    }
    mark_best(contest, size);
  }

  std::optional<Entry> entry(const Contest& contest, const Algorithm& algorithm, std::size_t size, std::string& refusal) {
    const Json row = study_.next([&] { return made(contest, algorithm, size); });
    comparison_.interrupted = row.is_null();
    if (const auto why_not = row.at("refused").text(); why_not && refusal.empty()) refusal = *why_not;
    if (row.is_null() || !row.at("refused").is_null()) return std::nullopt;
    Entry entry = entry_of(row);
    if (entry.too_long) last_.too_long = fmt::format("planning took too long at {}", bytes_option(options_.sizes[size]));
    if (entry.hops_a_step) last_.hops_a_step = entry.hops_a_step;
    return entry;
  }

  StudyRow made(const Contest& contest, const Algorithm& algorithm, std::size_t size) {
    if (!last_.too_long.empty()) return row_of(unplanned(fmt::format("{}, and this is more", last_.too_long)));
    Setting setting = open_setting(contest.machine, request(size), spec_);
    Effort effort = this->effort(contest, algorithm, size);
    effort.run = false;
    const Outcome planned = attempt(setting, algorithm, effort);
    if (planned.is(Outcome::Kind::unplanned)) return row_of(unplanned(planned.why, planned.too_long));
    if (!planned.is(Outcome::Kind::done)) return {{{"refused", planned.why}}};
    effort.run = true;
    Entry entry = predicted(setting);
    if (size >= options_.run_sizes && (entry.predicted || options_.run_sizes == 0)) return row_of(entry);
    entry.not_run = too_much(setting);
    return entry.not_run.empty() ? run(setting, algorithm, effort, entry) : row_of(entry);
  }

  static Entry unplanned(std::string why, bool too_long = false) {
    Entry entry;
    entry.too_long = too_long;
    entry.predicted = false;
    entry.no_plan = std::move(why);
    return entry;
  }

  /// What the plan says. Hops that it does not know are estimated: per step as many as at the last size where they are known, or the most
  /// that a step can have.
  Entry predicted(const Setting& all) {
    const Setting& setting = all.slowest();
    const Plan& plan = setting.plan;
    const Machine& machine = setting.machine;
    Entry entry;
    entry.segments = plan.segments;
    entry.predicted = plan.predicts() && !(setting.groups && setting.groups->carries());  // whose messages meet where no formula says
    if (!entry.predicted) return entry;
    entry.steps = plan.steps;
    entry.channel_bytes = plan.channel_bytes;
    entry.predicted_s = all.together_s().value_or(plan.model_time_s(machine.cost));
    entry.exact = plan.steps_exact && all.others.empty();
    entry.by_speed = machine.cost.one_speed() || (plan.channel_time_s && plan.bytes_exact);
    const auto steps = static_cast<double>(plan.likely_steps());
    if (plan.route_hops && steps > 0) entry.hops_a_step = static_cast<double>(*plan.route_hops) / steps;
    if (machine.cost.hop_s > 0 && !plan.route_hops) {
      const double longest = machine.switching == Switching::packet ? 1 : machine.topology.diameter();
      entry.predicted_s += machine.cost.hop_s * steps * last_.hops_a_step.value_or(longest);
      entry.exact = false;
    }
    return entry;
  }

  /// Why a run would be too long to be made unasked; empty if it would not.
  std::string too_much(const Setting& setting) const {
    const double nodes = setting.whole().topology.nodes();
    if (static_cast<double>(setting.plan.likely_steps()) * nodes > options_.most_node_steps)
      return fmt::format("steps times nodes are more than {:.0f}; --run all runs it", options_.most_node_steps);
    const double groups = nodes / setting.machine.topology.nodes();
    const auto blocks = groups * static_cast<double>(placement_of(setting.machine, setting.request, setting.plan).wanted_total());
    if (blocks > options_.most_blocks)
      return fmt::format("the nodes would hold more than {:.0f} blocks; --run all runs it", options_.most_blocks);
    const bool exchange = facts_of(setting.request.collective).of_pairs();
    const double bytes = nodes * asked_bytes(setting.request, setting.machine.topology.nodes());
    if (bytes > options_.most_bytes) {
      return fmt::format("the nodes would {} more than {}; --run all runs it", exchange ? "exchange" : "hold",
                         bytes_text(static_cast<Bytes>(options_.most_bytes)));
    }
    return {};
  }

  Effort effort(const Contest& contest, const Algorithm& algorithm, std::size_t size) {
    Effort effort =
        study_.effort(fmt::format("{}, {}, {}", machine_text(contest.machine), algorithm.name, bytes_option(options_.sizes[size])));
    if (spec_.other_classes.empty()) effort.bounds = &contest.bounds[size];
    return effort;
  }

  /// The judge looks on: it holds the bytes on the channels against the prediction, without which predicted times would rest on trust.
  StudyRow run(Setting& setting, const Algorithm& algorithm, const Effort& effort, Entry entry) {
    const Outcome outcome = attempt(setting, algorithm, effort);
    if (outcome.is(Outcome::Kind::interrupted)) return {};
    if (outcome.left_out()) entry.not_run = outcome.why;
    const bool failed = outcome.is(Outcome::Kind::failed);
    if (failed && plays_file(algorithm)) {  // it was not made for all these machines
      entry.not_run = "on this machine it fails: " + outcome.why;
      return row_of(entry);
    }
    const RunResult& result = outcome.run.result;
    if (outcome.ran) entry.run = Measured{result.steps, result.channel_bytes_sum, result.model_time_s, result.error_ulp};
    if (!failed) return row_of(entry);
    entry.failure = outcome.why;
    return row_of(entry, fmt::format("{}: {}; repeat it with: {}", effort.what, outcome.why, outcome.repeat));
  }

  static void mark_best(Contest& contest, std::size_t size) {
    double best = std::numeric_limits<double>::infinity();
    for (const Contender& contender : contest.contenders) {
      if (const auto& entry = contender.entries[size]; entry && entry->timed()) best = std::min(best, entry->model_time_s());
    }
    for (Contender& contender : contest.contenders) {
      if (auto& entry = contender.entries[size]) entry->best = entry->timed() && entry->model_time_s() == best;
    }
  }

  /// What is known of the algorithm in work from smaller sizes.
  struct Last {
    std::string too_long;               ///< planning took too long: where
    std::optional<double> hops_a_step;  ///< of the longest route
  };

  const RunSpec& spec_;
  const ComparisonOptions& options_;
  Study& study_;
  Comparison comparison_;
  Last last_;
};

}  // namespace

Comparison compare(const RunSpec& spec, const ComparisonOptions& options, Study& study) { return Comparing(spec, options, study).all(); }

std::vector<const Contender*> fastest_at(const Contest& contest, std::size_t size) {
  std::vector<const Contender*> fastest;
  for (const Contender& contender : contest.contenders) {
    if (contender.entries[size] && contender.entries[size]->best) fastest.push_back(&contender);
  }
  return fastest;
}

std::optional<double> times_the_bound(const Contest& contest, const Entry& entry, std::size_t size) {
  const double bound = contest.bounds[size].model_time_s(contest.machine.cost);
  if (bound <= 0) return std::nullopt;
  return entry.timed() || entry.run ? std::optional(entry.model_time_s() / bound) : std::nullopt;
}

std::vector<WinnerRange> winners_of(const Contest& contest) {
  std::vector<WinnerRange> ranges;
  for (std::size_t size = 0; size < contest.bounds.size(); ++size) {
    auto fastest = fastest_at(contest, size);
    if (!ranges.empty() && ranges.back().fastest == fastest)
      ranges.back().last = size;
    else
      ranges.push_back({size, size, std::move(fastest)});
  }
  return ranges;
}

}  // namespace torus::command
