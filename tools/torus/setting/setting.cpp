#include "tools/torus/setting/setting.hpp"

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
#include "runtime/engine/estimate.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {
namespace {

/// What a run of a plan needs, of several processes the first, by the engine's own estimate.
class Needed {
 public:
  Needed(const Setting& setting, const Plan& plan, unsigned workers)
      : machine_{setting.whole()},
        placement_{placement_of(setting.machine, setting.request, plan)},
        members_{machine_, placement_, setting.groups_or_null()},
        own_{machine_.topology, setting.processes},
        estimate_{detail::estimate_of(machine_, members_, own_,
                                      memory_beside_engine(machine_, setting.request, plan, setting.groups_or_null()), workers)} {}

  Bytes total() const noexcept { return estimate_.total(); }
  std::string excess_text(Bytes limit) const { return detail::excess_text(estimate_, limit, machine_, members_, own_); }

 private:
  const Machine& machine_;
  Placement placement_;
  detail::Members members_;
  detail::Slab own_;
  MemoryEstimate estimate_;
};

/// Throws InputError where a run needs more memory than it may use, with bytes that would fit. The engine refuses it as well, but knows no
/// options.
void refuse_too_large(const Setting& setting) {
  const unsigned workers = workers_of(setting.executor, setting.threads);
  const Bytes limit = setting.memory > 0 ? setting.memory : memory_of_a_process();
  const Needed needed(setting, setting.plan, workers);
  if (needed.total() <= limit) return;
  const Request& request = setting.request;
  const Bytes unit = unit_of(request.collective, request.reduction);
  Setting smaller = setting;
  Bytes fitting = 0;
  for (Bytes too_many = request.sizes ? 0 : request.bytes / unit; too_many > fitting + 1;) {
    const Bytes units = fitting + (too_many - fitting) / 2;
    smaller.request.bytes = units * unit;
    (Needed(smaller, setting.plan, workers).total() <= limit ? fitting : too_many) = units;
  }
  // A quarter less: a plan for fewer bytes may cut them into other blocks and hold more of these.
  throw InputError(needed.excess_text(limit) +
                   what_would_fit(request.collective, request.reduction, request.sizes, (fitting - fitting / 4) * unit) +
                   (setting.processes > 1 ? "; or start more processes" : ""));
}

/// The model time of one class alone; infinite: not predicted.
double predicted_s(const Setting& setting) {
  return setting.plan.predicts() ? setting.plan.model_time_s(setting.machine.cost) : std::numeric_limits<double>::infinity();
}

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
  const unsigned workers = workers_of(setting.executor, setting.threads);
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
        bounds->model_time_s(setting.machine.cost, offer_of(*algorithm, setting).steps) >=
            (1 - least_gain(setting.machine)) * best.time_s) {
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
    const Bytes needed = Needed(setting, *planned.plan, workers).total();
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
    if (setting.algorithm == nullptr) consider(algorithm);
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

/// Takes the algorithm whose run takes the least time on a host by estimated_run_s(), of those that apply and fit into the memory; not one
/// that may take longer to plan than to run. Changes nothing and returns false where no run is estimated.
bool choose_by_run_time(Setting& setting, std::span<const Algorithm* const> algorithms) {
  const auto start = std::chrono::steady_clock::now();
  const Bytes memory = setting.memory > 0 ? setting.memory : memory_of_a_process();
  const unsigned workers = workers_of(setting.executor, setting.threads);
  const Bounds bounds = lower_bounds(setting.machine, setting.request, setting.groups_or_null());
  PlanCache cache;
  Clashes clashes;
  std::vector<Runnable> all;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != setting.request.collective || algorithm->offer != nullptr || why_not_here(*algorithm, setting)) continue;
    Planned planned = plan_within(*algorithm, setting.machine, setting.request, bounds, setting.plan_limit_s, &cache);
    if (!planned.plan || clashes.add(setting, *algorithm, *planned.plan)) continue;
    if (Needed(setting, *planned.plan, workers).total() > memory) continue;
    const double least_run_s = detail::least_run_s(setting.machine, setting.request, *planned.plan);
    all.push_back({algorithm, std::move(planned), least_run_s});
  }
  // Those of few blocks, and of few steps, mostly take little time, and end the dry runs of all others soon.
  const auto order = [](const Runnable& each) { return std::pair(each.least_run_s, each.planned.plan->likely_steps()); };
  std::stable_sort(all.begin(), all.end(), [&](const Runnable& a, const Runnable& b) { return order(a) < order(b); });
  Runnable* best = nullptr;
  double least_s = std::numeric_limits<double>::infinity();
  for (Runnable& each : all) {
    const auto run_s = detail::estimated_run_s(setting.machine, setting.request, *each.planned.plan, least_s, setting.plan_limit_s);
    if (!run_s || *run_s >= least_s) continue;
    best = &each;
    least_s = *run_s;
  }
  if (best == nullptr) return false;
  const Runnable& fastest = *std::min_element(
      all.begin(), all.end(), [](const Runnable& a, const Runnable& b) { return a.planned.model_time_s < b.planned.model_time_s; });
  const double model_time_s = best->planned.model_time_s;
  setting.chosen = fmt::format("least time to run, about {} on one core by its messages, blocks and bytes, of {} that are planned soon",
                               seconds_text(least_s), all.size());
  if (fastest.planned.model_time_s < model_time_s)
    setting.chosen += fmt::format("; of these {} has the least predicted model time, {}{}", fastest.algorithm->name,
                                  seconds_text(fastest.planned.model_time_s),
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
  if (setting.others.empty() || !apart_s || *apart_s <= (1 + worth_planning) * predicted_s(setting.slowest())) return;
  const auto start = std::chrono::steady_clock::now();
  const unsigned workers = workers_of(setting.executor, setting.threads);
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
    const auto fits = [&](const Setting* each) { return Needed(*each, each->plan, workers).total() <= setting.memory; };
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

std::vector<const Setting*> Setting::classes() const {
  std::vector<const Setting*> all{this};
  for (const Setting& other : others) all.push_back(&other);
  return all;
}

const Setting& Setting::slowest() const {
  const Setting* slowest = this;
  for (const Setting& other : others) {
    if (predicted_s(other) > predicted_s(*slowest)) slowest = &other;
  }
  return *slowest;
}

std::optional<double> Setting::together_s() const {
  if (others.empty() && plan.predicts()) return predicted_s(*this);  // to the last bit
  std::vector<std::pair<std::uint64_t, double>> steps;               // of a class: how many, and how long each takes
  for (const Setting* each : classes()) {
    if (!each->plan.predicts()) return std::nullopt;
    const std::uint64_t count = each->plan.likely_steps();
    if (count > 0) steps.emplace_back(count, predicted_s(*each) / static_cast<double>(count));
  }
  std::sort(steps.begin(), steps.end());
  double all = 0;
  std::uint64_t past = 0;
  for (auto first = steps.begin(); first != steps.end(); ++first) {
    const double longest = std::max_element(first, steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->second;
    all += static_cast<double>(first->first - past) * longest;
    past = first->first;
  }
  return all;
}

bool Setting::of_one_algorithm() const noexcept {
  return std::all_of(others.begin(), others.end(), [this](const Setting& other) { return other.algorithm == algorithm; });
}

namespace {

/// The same request in the groups of a class, where other nodes live.
Request request_of_class(const Request& first, const RunSpec& own) {
  Request request = make_request(own);
  request.bytes = first.bytes;
  request.parameters = first.parameters;
  if (first.expected_sources && !own.expected_sources) request.expected_sources = static_cast<double>(request.sources.size());
  return request;
}

}  // namespace

Setting open_setting(Machine machine, Request request, const RunSpec& spec) {
  std::optional<Machine> all_groups;
  if (spec.groups) {
    // A group's nodes have all ports that they have use for, or as many as a node of the machine.
    const int ports = machine.all_port() ? all_ports : machine.ports;
    all_groups.emplace(spec.shape, spec.ports.value_or(ports), machine.switching, machine.contention, spec.routing, spec.cost);
  }
  Setting setting{.machine = std::move(machine),
                  .request = std::move(request),
                  .seed = spec.seed,
                  .executor = spec.executor,
                  .threads = spec.threads,
                  .memory = spec.memory,
                  .processes = spec.processes,
                  .plan_limit_s = spec.plan_limit_s.value_or(plan_s_of_many),
                  .step_limit_s = spec.step_limit_s,
                  .preset = spec.preset,
                  .sources_text = spec.sources.value_or(""),
                  .map = spec.map,
                  .groups = spec.groups,
                  .all_groups = std::move(all_groups)};
  for (const Groups& groups : spec.other_classes) {
    const RunSpec own = spec_of_class(spec, groups);
    try {
      setting.others.push_back(open_setting(groups.machine(setting.whole()), request_of_class(setting.request, own), own));
    } catch (const InputError& error) {
      throw InputError(fmt::format("in {}: {}", class_text(groups), error.what()));
    }
  }
  return setting;
}

Machine usual_machine(const RunSpec& spec) {
  NativeMachine native;
  if (!facts_of(spec.collective).replicates()) native.switching = Switching::packet;
  return make_machine(spec, native);
}

std::optional<std::string> plan_with(Setting& setting, const Algorithm& algorithm, Planned* planned, PlanCache* cache,
                                     const Bounds* bounds) {
  if (auto why_not = why_not_here(algorithm, setting))
    return !setting.grouped() ? *why_not
                              : fmt::format("in groups {}{}: {}", setting.groups->text(),
                                            setting.groups->are_a_class() ? ", " + class_text(*setting.groups) : "", *why_not);
  Bounds held = bounds != nullptr ? *bounds : lower_bounds(setting.machine, setting.request, setting.groups_or_null());
  Planned made = plan_within(algorithm, setting.machine, setting.request, held, setting.plan_limit_s, cache);
  std::optional<Plan> plan = std::exchange(made.plan, std::nullopt);
  if (planned != nullptr) *planned = made;
  if (!plan) return made.why_not;
  std::vector<Setting> others = setting.others;
  for (Setting& other : others) {
    if (auto why_not = plan_with(other, algorithm, planned, cache)) return why_not;
  }
  setting.others = std::move(others);
  setting.plan = std::move(*plan);
  setting.bounds = std::move(held);
  setting.plan_s = made.seconds;
  setting.algorithm = &algorithm;
  return std::nullopt;
}

void refuse_choice(const RunSpec& spec, std::string_view option, std::string_view value) {
  if (spec.choose_by) throw InputError(fmt::format("--choose: {} {} leaves nothing to choose; leave out one", option, value));
}

Setting make_setting(const RunSpec& spec, const std::optional<std::string>& algorithm, std::span<const Algorithm* const> algorithms) {
  if (spec.schedule) {
    if (algorithm)
      throw InputError(fmt::format("--algorithm '{}': --schedule {} is played instead; leave out one", *algorithm, *spec.schedule));
    refuse_choice(spec, "--schedule", *spec.schedule);
    Setting setting = scheduled_setting(spec);
    refuse_too_large(setting);
    return setting;
  }
  if (algorithm) refuse_choice(spec, "--algorithm", *algorithm);
  const Algorithm* const named = algorithm ? &named_algorithm("--algorithm", spec.collective, *algorithm, algorithms) : nullptr;
  Machine machine = named != nullptr ? make_machine(spec, named->native) : usual_machine(spec);
  Setting setting = open_setting(std::move(machine), make_fitting_request(spec), spec);
  if (named != nullptr) setting.plan_limit_s = spec.plan_limit_s.value_or(plan_s_of_one);
  for (Setting& other : setting.others) other.plan_limit_s = setting.plan_limit_s;
  if (named == nullptr) {
    const bool by_run_time = spec.choose_by == ChooseBy::run_time;
    const auto choose_for = [&](Setting& each, const RunSpec& of_each) {
      if (by_run_time && choose_by_run_time(each, algorithms)) return;
      choose(each, of_each, algorithms);
      if (by_run_time) each.chosen = "no time to run is estimated here; " + each.chosen;
    };
    choose_for(setting, spec);
    for (Setting& other : setting.others) choose_for(other, spec_of_class(spec, *other.groups));
    if (!by_run_time) choose_together(setting, algorithms);
    return setting;
  }
  if (const auto why_not = plan_with(setting, *named)) throw InputError(*why_not);
  for (const Setting* each : setting.classes()) refuse_too_large(*each);
  return setting;
}

double step_limit_of(const Setting& setting) {
  if (setting.step_limit_s) return *setting.step_limit_s;
  const Placement placement = placement_of(setting.machine, setting.request, setting.plan);
  std::uint64_t most = 0;
  for (NodeId node = 0; node < placement.nodes(); ++node)
    most = std::max({most, placement.initial_count(node), placement.wanted_count(node)});
  return step_s + std::floor(static_cast<double>(most) * static_cast<double>(placement.longest()) / static_cast<double>(step_bytes_a_s));
}

std::string command_line(const Setting& setting) {
  std::string text = setting.processes > 1 ? fmt::format("mpirun -q -n {} ", setting.processes) : "";
  text += fmt::format("{} run {}", program(), name(setting.request.collective));
  for (const SettingOption& option : setting_options()) {
    if (option.print != nullptr) text += option.print(setting);
  }
  for (const auto& [name, value] : setting.request.parameters) text += fmt::format(" --{} {}", name, value);
  return text;
}

}  // namespace torus::command
