#include "tools/torus/compare/comparison.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <new>
#include <utility>

#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {
namespace {

/// Makes a comparison, one machine after the other.
class Comparing {
 public:
  Comparing(const RunSpec& spec, const ComparisonOptions& options)
      : spec_{spec}, options_{options}, comparison_{.request = make_request(spec), .shape = spec.shape, .groups = spec.groups_text} {
    if (facts_of(spec.collective).from_sources() && !spec.expected_sources)
      comparison_.request.expected_sources = static_cast<double>(comparison_.request.sources.size());
    comparison_.sizes = options.sizes;
    comparison_.run_sizes = options.run_sizes;
    comparison_.run_best = options.run_best;
  }

  Comparison all() {
    for (const Machine& machine : machines()) {
      contest(machine);
      if (comparison_.interrupted) break;
    }
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
      contest.bounds.push_back(lower_bounds(machine, request(i)));
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

  /// Runs the best of a size, until one of them has run right or none is left that was not run.
  void run_best(Contest& contest, std::size_t size) {
    for (Contender& contender : contest.contenders) {
      std::optional<Entry>& entry = contender.entries[size];
      if (!entry || !entry->best || entry->run || comparison_.interrupted) continue;
      Setting setting = open_setting(contest.machine, request(size), spec_);
      PlanCache& cache = options_.cache != nullptr ? *options_.cache : cache_;
      if (plan_with(setting, *contender.algorithm, nullptr, &cache, &contest.bounds[size])) continue;
      run(setting, *entry,
          fmt::format("{}, {}, {}", machine_text(contest.machine), contender.algorithm->name, bytes_option(options_.sizes[size])));
    }
    mark_best(contest, size);
  }

  std::optional<Entry> entry(const Contest& contest, const Algorithm& algorithm, std::size_t size, std::string& refusal) {
    const Machine& machine = contest.machine;
    const std::string what = fmt::format("{}, {}, {}", machine_text(machine), algorithm.name, bytes_option(options_.sizes[size]));
    if (due()) options_.progress->show(what);
    if (options_.stop != nullptr && options_.stop->load()) {
      comparison_.interrupted = true;
      return std::nullopt;
    }
    Setting setting = open_setting(machine, request(size), spec_);
    if (!last_.too_long.empty()) return unplanned(fmt::format("{}, and this is more", last_.too_long));
    Planned planned;
    PlanCache& cache = options_.cache != nullptr ? *options_.cache : cache_;
    if (const auto why_not = plan_with(setting, algorithm, &planned, &cache, &contest.bounds[size])) {
      if (!planned.why_not.empty()) {
        if (planned.too_long) last_.too_long = fmt::format("planning took too long at {}", bytes_option(options_.sizes[size]));
        return unplanned(*why_not);
      }
      if (refusal.empty()) refusal = *why_not;
      return std::nullopt;
    }
    Entry entry = predicted(setting);
    if (size >= options_.run_sizes && (entry.predicted || options_.run_sizes == 0)) return entry;
    entry.not_run = too_much(setting);
    if (entry.not_run.empty()) run(setting, entry, what);
    return entry;
  }

  static Entry unplanned(std::string why) {
    Entry entry;
    entry.predicted = false;
    entry.no_plan = std::move(why);
    return entry;
  }

  /// What the plan says. Hops that it does not know are estimated: per step as many as at the last size where they are known, or the most
  /// that a step can have.
  Entry predicted(const Setting& setting) {
    const Plan& plan = setting.plan;
    const Machine& machine = setting.machine;
    Entry entry;
    entry.segments = plan.segments;
    entry.predicted = plan.predicts();
    if (!entry.predicted) return entry;
    entry.steps = plan.steps;
    entry.channel_bytes = plan.channel_bytes;
    entry.predicted_s = plan.model_time_s(machine.cost);
    entry.exact = plan.steps_exact;
    entry.by_speed = machine.cost.one_speed() || (plan.channel_time_s && plan.bytes_exact);
    const auto steps = static_cast<double>(plan.likely_steps());
    if (plan.route_hops && steps > 0) last_.hops_a_step = static_cast<double>(*plan.route_hops) / steps;
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

  bool due() const { return options_.progress != nullptr && options_.progress->due(); }

  /// The judge looks on: it holds the bytes on the channels against the prediction, without which predicted times would rest on trust.
  void run(const Setting& setting, Entry& entry, const std::string& what) {
    EmulationOptions options;
    options.judge = true;
    options.stop = options_.stop;
    options.processes = processes();
    options.on_step = [&](Step step) {
      if (due()) options_.progress->show(fmt::format("{}: step {} of {}", what, step, setting.plan.likely_steps()));
    };
    try {
      const Emulation emulation = emulate(setting, options);
      comparison_.interrupted = emulation.interrupted;
      if (comparison_.interrupted) return;
      const RunResult& result = emulation.result;
      if (emulation.failure) entry.failure = *emulation.failure;
      entry.run = Measured{result.steps, result.channel_bytes_sum, result.model_time_s, result.error_ulp};
    } catch (const InputError& error) {  // it does not fit into the memory
      entry.not_run = error.what();
    } catch (const std::bad_alloc&) {
      entry.not_run = "there is not enough memory";
    } catch (const std::exception& error) {
      entry.failure = error.what();
    }
    if (!entry.failure.empty() && plays_file(*setting.algorithm)) {  // it was not made for all these machines
      entry.not_run = "on this machine it fails: " + std::exchange(entry.failure, {});
      entry.run.reset();
    }
    if (!entry.failure.empty() && !comparison_.failure)
      comparison_.failure = fmt::format("{}: {}; repeat it with: {} --judge", what, entry.failure, command_line(setting));
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
  Comparison comparison_;
  Last last_;
  PlanCache cache_;
};

std::vector<const Algorithm*> best_at(const Contest& contest, std::size_t size) {
  std::vector<const Algorithm*> best;
  for (const Contender& contender : contest.contenders) {
    if (contender.entries[size] && contender.entries[size]->best) best.push_back(contender.algorithm);
  }
  return best;
}

}  // namespace

Comparison compare(const RunSpec& spec, const ComparisonOptions& options) { return Comparing(spec, options).all(); }

std::vector<WinnerRange> winners_of(const Contest& contest) {
  std::vector<WinnerRange> ranges;
  for (std::size_t size = 0; size < contest.bounds.size(); ++size) {
    auto best = best_at(contest, size);
    if (!ranges.empty() && ranges.back().algorithms == best)
      ranges.back().last = size;
    else
      ranges.push_back({size, size, std::move(best)});
  }
  return ranges;
}

}  // namespace torus::command
