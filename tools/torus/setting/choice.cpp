#include "tools/torus/setting/choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <torus/error.hpp>
#include <torus/run.hpp>

#include "algorithms/dry_run.hpp"
#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/setting/memory.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

/// An algorithm that applies: its predicted model time, and what a run needs if that is more than may be used.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  Bytes too_large = 0;        ///< 0: it fits
  double time_s = 0;          ///< infinite: not predicted
  bool of_mean_size = false;  ///< as Planned says it

  /// What fits goes first, the faster the better; of what does not fit, the smallest, since its refusal says how much memory would do.
  bool better_than(const Candidate& other) const noexcept {
    if (other.algorithm == nullptr) return true;
    return std::tie(too_large, time_s) < std::tie(other.too_large, other.time_s);
  }
};

/// Whether planning may take longer than a short run.
bool takes_long(const Algorithm& algorithm) { return algorithm.plan.searches() || algorithm.offer != nullptr; }

Offer offer_of(const Algorithm& algorithm, const Setting& setting) {
  return algorithm.offer != nullptr ? algorithm.offer(setting.machine, setting.request) : Offer{};
}

/// A plan that takes long is not made if it can save at most this share of the model time on machines of so many nodes or more, where
/// planning takes longer than many runs, or nothing on smaller ones.
constexpr double worth_planning = 0.03;
constexpr NodeId long_planning = 64;

double least_gain(const Machine& machine) { return machine.topology.nodes() >= long_planning ? worth_planning : 0; }

/// A run that copies so many blocks takes some milliseconds on a host.
constexpr std::uint64_t many_blocks = 1'000'000;

/// Where the vector is cut finely, since that takes the least model time, another algorithm may run much sooner.
std::string word_of_run_time(const Setting& setting) {
  const std::uint64_t segments = std::uint64_t{setting.plan.segments} * setting.machine.topology.living_nodes();
  if (!facts_of(setting.request.collective).combines || segments < many_blocks) return "";
  return fmt::format("; a run combines and copies {} segments or more, and --choose wall takes what runs fastest", grouped(segments));
}

std::string reason(const Setting& setting, const Candidate& best, const Candidate& second, std::span<const Candidate> too_large,
                   std::span<const std::string> unplanned, std::span<const std::string_view> hopeless, int applicable) {
  std::string text = fmt::format("least predicted model time, {}{}, of {} that apply here", seconds_text(best.time_s),
                                 best.of_mean_size ? " for blocks of the mean size, as none is predicted for these sizes" : "", applicable);
  if (second.algorithm != nullptr && second.too_large == 0 && std::isfinite(second.time_s))
    text += fmt::format("; next {} with {}", second.algorithm->name, seconds_text(second.time_s));
  if (!std::isfinite(best.time_s)) text = "no other is left, and it predicts no model time";
  if (applicable == 1) text = "the only one that applies here";
  for (const Candidate& candidate : too_large) {
    if (candidate.time_s >= best.time_s) continue;
    text += fmt::format("; {} with {} would need {}, and {} may be used", candidate.algorithm->name, seconds_text(candidate.time_s),
                        bytes_text(candidate.too_large), bytes_text(setting.memory));
  }
  for (const std::string& why_not : unplanned) text += "; " + why_not;
  text += word_of_run_time(setting);
  if (!hopeless.empty()) {
    const double gain = least_gain(setting.machine);
    text += fmt::format("; {} {}, and {} not planned", fmt::join(hopeless, ", "),
                        gain > 0 ? fmt::format("could be faster by {:.0f} % at most", 100 * gain) : "cannot be faster",
                        hopeless.size() == 1 ? "was" : "were");
  }
  return text;
}

/// Algorithms that would break a rule in groups that may meet on channels.
struct Clashes {
  std::vector<std::string_view> names;
  std::string first;  ///< what rule that is

  bool add(const Setting& setting, const Algorithm& algorithm, const Plan& plan) {
    if (!setting.groups || !setting.groups->dilated()) return false;
    const auto violation = violation_in_groups(setting.whole(), *setting.groups, setting.request, plan, setting.plan_limit_s);
    if (!violation) return false;
    if (names.empty()) first = fmt::format("{}: {}", algorithm.name, *violation);
    names.push_back(algorithm.name);
    return true;
  }
  /// What may be typed where all do.
  std::string fix(const Setting& setting) const {
    const bool forbids = setting.whole().contention == Contention::forbid;
    return fmt::format("the groups meet on channels ({}){}", first, forbids ? "; --contention share would do" : "; choose other groups");
  }
};

/// What may be typed where no algorithm applies on the usual machine: the first that applies on the machine it was made for, as far as the
/// options leave that open.
std::string elsewhere(const Setting& setting, const RunSpec& spec, std::span<const Algorithm* const> algorithms) {
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != spec.collective) continue;
    try {
      const Setting there = open_setting(make_machine(spec, algorithm->native), setting.request, spec);
      if (why_not_here(*algorithm, there)) continue;
      return fmt::format("--algorithm {} would do, with {}", algorithm->name, rules_text(there.machine));
    } catch (const InputError&) {  // there is no such machine
    }
  }
  return "";
}

/// Plans the algorithms that apply, first those that are soon planned, and takes the one with the least predicted model time of those that
/// fit into the memory; on a tie the first planned. Leaves out what takes seconds, and what takes long and can gain little. Where none
/// fits, takes the one that needs the least: the engine refuses it and says what it needs.
void choose(Setting& setting, const RunSpec& spec, std::span<const Algorithm* const> algorithms) {
  const auto start = std::chrono::steady_clock::now();
  // Measured once: plans are held to it, and so is the run, which begins when there is a little less.
  if (setting.memory == 0) setting.memory = memory_of_a_process();
  Candidate best, second;
  std::vector<Candidate> too_large;
  std::vector<std::string> unplanned;
  std::vector<std::string_view> hopeless;
  Clashes clashes;
  std::string first_refusal;
  std::optional<Bounds> bounds;
  int applicable = 0;
  PlanCache cache;
  const auto consider = [&](const Algorithm* algorithm) {
    if (const auto why_not = why_not_here(*algorithm, setting)) {
      if (first_refusal.empty()) first_refusal = *why_not;
      return;
    }
    if (!bounds) bounds = lower_bounds(setting.machine, setting.request, setting.groups_or_null());
    if (takes_long(*algorithm) && best.algorithm != nullptr && best.too_large == 0 && !best.of_mean_size &&
        bounds->model_time_s(setting.machine.cost, offer_of(*algorithm, setting)) >= (1 - least_gain(setting.machine)) * best.time_s) {
      ++applicable;
      hopeless.push_back(algorithm->name);
      return;
    }
    Planned planned = plan_within(*algorithm, setting.machine, setting.request, *bounds, setting.plan_limit_s, &cache);
    if (!planned.plan) {
      unplanned.push_back(planned.why_not);
      if (first_refusal.empty()) first_refusal = planned.why_not;
      return;
    }
    if (clashes.add(setting, *algorithm, *planned.plan)) return;
    const Bytes needed = memory_needed(setting, *planned.plan);
    const Candidate candidate{algorithm, needed > setting.memory ? needed : 0, planned.model_time_s, planned.of_mean_size};
    ++applicable;
    if (candidate.too_large > 0) too_large.push_back(candidate);
    if (candidate.better_than(best)) {
      second = std::exchange(best, candidate);
      setting.algorithm = algorithm;
      setting.plan = std::move(*planned.plan);
      setting.bounds = *bounds;
      setting.plan_s = planned.seconds;
    } else if (candidate.better_than(second)) {
      second = candidate;
    }
  };
  std::vector<const Algorithm*> longer, slow;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != setting.request.collective) continue;
    if (!takes_long(*algorithm))
      consider(algorithm);
    else
      (!why_not_here(*algorithm, setting) && offer_of(*algorithm, setting).slow ? slow : longer).push_back(algorithm);
  }
  for (const Algorithm* algorithm : longer) consider(algorithm);
  for (const Algorithm* algorithm : slow) {
    if (setting.algorithm == nullptr) {  // it may take as long as if it were named
      setting.plan_limit_s = spec.plan_limit_s.value_or(plan_s_of_one);
      consider(algorithm);
    }
    if (algorithm == setting.algorithm) continue;
    ++applicable;
    unplanned.push_back(fmt::format("{} was not planned: here that takes seconds, and --algorithm asks for it", algorithm->name));
  }
  if (setting.algorithm == nullptr)
    nothing_applies(setting.request.collective, machine_text(setting.machine), first_refusal,
                    clashes.names.empty() ? elsewhere(setting, spec, algorithms) : clashes.fix(setting));
  if (best.too_large > 0) refuse_too_large(setting);
  setting.chosen = reason(setting, best, second, too_large, unplanned, hopeless, applicable);
  if (!clashes.names.empty()) setting.chosen += fmt::format("; {} would break a rule in these groups", fmt::join(clashes.names, ", "));
  setting.choosing_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// An algorithm that applies, with its plan.
struct Runnable {
  const Algorithm* algorithm;
  Planned planned;
  double least_run_s;
};

/// Takes the algorithm whose run takes the least time on a host by estimated_run_s(), of those that apply and fit into the memory. What
/// takes long to plan comes last, if its steps alone do not take longer, and not for a run of less than a millisecond. Changes nothing and
/// returns false where no run is estimated.
bool choose_by_run_time(Setting& setting, std::span<const Algorithm* const> algorithms) {
  constexpr double shortest_s = 1e-3;
  const auto start = std::chrono::steady_clock::now();
  const Bytes memory = setting.memory > 0 ? setting.memory : memory_of_a_process();
  const Bounds bounds = lower_bounds(setting.machine, setting.request, setting.groups_or_null());
  PlanCache cache;
  Clashes clashes;
  std::optional<Runnable> best;
  double least_s = std::numeric_limits<double>::infinity();
  const Algorithm* fastest = nullptr;
  double least_model_s = std::numeric_limits<double>::infinity();
  int planned = 0;
  const auto plan = [&](const Algorithm* algorithm) -> std::optional<Runnable> {
    Planned made = plan_within(*algorithm, setting.machine, setting.request, bounds, setting.plan_limit_s, &cache);
    if (!made.plan || clashes.add(setting, *algorithm, *made.plan) || memory_needed(setting, *made.plan) > memory) return std::nullopt;
    ++planned;
    if (made.model_time_s < least_model_s) {
      fastest = algorithm;
      least_model_s = made.model_time_s;
    }
    const double least_run_s = detail::least_run_s(setting.machine, setting.request, *made.plan);
    return Runnable{algorithm, std::move(made), least_run_s};
  };
  const auto consider = [&](Runnable each) {
    const auto run_s = detail::estimated_run_s(setting.machine, setting.request, *each.planned.plan, least_s, setting.plan_limit_s);
    if (!run_s || *run_s >= least_s) return;
    best = std::move(each);
    least_s = *run_s;
  };
  std::vector<Runnable> soon;
  std::vector<const Algorithm*> longer;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != setting.request.collective || why_not_here(*algorithm, setting)) continue;
    if (takes_long(*algorithm)) {
      longer.push_back(algorithm);
    } else if (auto each = plan(algorithm)) {
      soon.push_back(*std::move(each));
    }
  }
  // Those of few blocks, and of few steps, mostly take little time, and end the dry runs of all others soon.
  const auto order = [](const Runnable& each) { return std::pair(each.least_run_s, each.planned.plan->likely_steps()); };
  std::stable_sort(soon.begin(), soon.end(), [&](const Runnable& a, const Runnable& b) { return order(a) < order(b); });
  for (Runnable& each : soon) consider(std::move(each));
  for (const Algorithm* algorithm : longer) {
    const Offer offer = offer_of(*algorithm, setting);
    if (offer.slow || least_s < shortest_s || detail::least_run_s(offer.steps) >= least_s) continue;
    if (auto each = plan(algorithm)) consider(*std::move(each));
  }
  if (!best) return false;
  setting.chosen = fmt::format("least time to run, about {} on one core by its messages, blocks and bytes, of {} that were planned",
                               seconds_text(least_s), planned);
  if (const double model_time_s = best->planned.model_time_s; least_model_s < model_time_s)
    setting.chosen += fmt::format("; of these {} has the least predicted model time, {}{}", fastest->name, seconds_text(least_model_s),
                                  std::isfinite(model_time_s) ? fmt::format(", for {} here", seconds_text(model_time_s)) : "");
  setting.algorithm = best->algorithm;
  setting.plan = std::move(*best->planned.plan);
  setting.plan_s = best->planned.seconds;
  setting.bounds = bounds;
  setting.memory = memory;
  setting.choosing_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return true;
}

/// Where classes that were chosen each by itself wait for each other, takes one algorithm for all if that takes less. In large groups an
/// algorithm that takes long to plan is tried only if a class has chosen it.
void choose_together(Setting& setting, std::span<const Algorithm* const> algorithms) {
  const std::optional<double> apart_s = setting.together_s();
  if (setting.others.empty() || !apart_s || *apart_s <= (1 + worth_planning) * setting.slowest().predicted_s()) return;
  const auto start = std::chrono::steady_clock::now();
  std::set<const Algorithm*> chosen;
  for (const Setting* each : setting.classes()) chosen.insert(each->algorithm);
  const bool large = setting.machine.topology.nodes() >= long_planning;
  std::optional<Setting> best;
  double least_s = *apart_s;
  PlanCache cache;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != setting.request.collective || (takes_long(*algorithm) && large && !chosen.contains(algorithm))) continue;
    Setting all = setting;
    if (plan_with(all, *algorithm, nullptr, &cache)) continue;
    const std::optional<double> time_s = all.together_s();
    const std::vector<const Setting*> classes = all.classes();
    const auto fits = [&](const Setting* each) { return memory_needed(*each, each->plan) <= setting.memory; };
    if (!time_s || *time_s >= least_s || !std::all_of(classes.begin(), classes.end(), fits)) continue;
    least_s = *time_s;
    best = std::move(all);
  }
  if (!best) return;
  best->chosen = fmt::format("least predicted model time of all classes together, {}: each with its own fastest would take {}",
                             seconds_text(least_s), seconds_text(*apart_s));
  best->choosing_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  setting = std::move(*best);
}

}  // namespace

void refuse_choice(const RunSpec& spec, std::string_view option, std::string_view value) {
  if (spec.choose_by) throw InputError(fmt::format("--choose: {} {} leaves nothing to choose; leave out one", option, value));
}

void choose_algorithms(Setting& setting, const RunSpec& spec, std::span<const Algorithm* const> algorithms) {
  const bool by_run_time = spec.choose_by == ChooseBy::run_time;
  const auto choose_for = [&](Setting& each, const RunSpec& of_each) {
    if (by_run_time && choose_by_run_time(each, algorithms)) return;
    choose(each, of_each, algorithms);
    if (by_run_time) each.chosen = "no time to run is estimated here; " + each.chosen;
  };
  choose_for(setting, spec);
  for (Setting& other : setting.others) choose_for(other, spec_of_class(spec, *other.groups));
  if (!by_run_time) choose_together(setting, algorithms);
}

}  // namespace torus::command
