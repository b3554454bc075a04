#include "tools/torus/setting.hpp"

#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <tuple>
#include <utility>

#include <torus/error.hpp>
#include <torus/run.hpp>

#include "runtime/engine/estimate.hpp"
#include "runtime/model/figures.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/fault_notation.hpp"
#include "tools/torus/job.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/refusals.hpp"
#include "tools/torus/sources.hpp"

namespace torus::command {
namespace {

/// What a run of the plan needs, of several processes the first, by the engine's own estimate.
Bytes needed_by(const Setting& setting, const Plan& plan, unsigned workers) {
  const Bytes programs = memory_beside_engine(setting.machine, setting.request, plan);
  const detail::Slab own(setting.machine.topology, setting.processes);
  return detail::estimate_of(setting.machine, placement_of(setting.machine, setting.request, plan), own, programs, workers).total();
}

/// An algorithm that applies: its predicted model time, and what a run needs if that is more than may be used.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  Bytes too_large = 0;  ///< 0: it fits
  double time_s = 0;    ///< infinite: not predicted

  /// What fits goes first, the faster the better; of what does not fit, the smallest, since its refusal says how much memory would do.
  bool better_than(const Candidate& other) const noexcept {
    if (other.algorithm == nullptr) return true;
    return std::tie(too_large, time_s) < std::tie(other.too_large, other.time_s);
  }
};

/// The model time by which an algorithm is chosen. Hops that could not be counted are taken for the most that the steps can have.
double time_of(const Machine& machine, const Plan& plan) {
  if (!plan.predicts()) return std::numeric_limits<double>::infinity();
  double time_s = plan.model_time_s(machine.cost);
  if (!plan.route_hops) {
    const double longest = machine.switching == Switching::packet ? 1 : machine.topology.diameter();
    time_s += machine.cost.hop_s * longest * static_cast<double>(plan.likely_steps());
  }
  return time_s;
}

std::string reason(const Setting& setting, const Candidate& best, const Candidate& second, std::span<const Candidate> too_large,
                   std::span<const std::string> unplanned, int applicable) {
  std::string text = fmt::format("least predicted model time, {}, of {} that apply here", seconds_text(best.time_s), applicable);
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
  return text;
}

/// Plans all algorithms that apply and takes the one with the least predicted model time of those that fit into the memory; on a tie the
/// first of the catalogue. Where none fits, takes the one that needs the least: the engine refuses it and says what it needs.
void choose(Setting& setting, std::span<const Algorithm* const> algorithms) {
  const auto start = std::chrono::steady_clock::now();
  // Measured once: plans are held to it, and so is the run, which begins when there is a little less.
  if (setting.memory == 0) setting.memory = memory_of_a_process();
  const unsigned workers = workers_of(setting.executor, setting.threads);
  Candidate best, second;
  std::vector<Candidate> too_large;
  std::vector<std::string> unplanned;
  std::string first_refusal;
  std::optional<Bounds> bounds;
  int applicable = 0;
  PlanCache cache;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != setting.request.collective) continue;
    if (const auto why_not = why_not_here(*algorithm, setting.machine, setting.request, setting.memory)) {
      if (first_refusal.empty()) first_refusal = *why_not;
      continue;
    }
    if (!bounds) bounds = lower_bounds(setting.machine, setting.request);
    Planned planned = plan_within(*algorithm, setting.machine, setting.request, *bounds, setting.plan_limit_s, &cache);
    if (!planned.plan) {
      unplanned.push_back(planned.why_not);
      if (first_refusal.empty()) first_refusal = planned.why_not;
      continue;
    }
    const Bytes needed = needed_by(setting, *planned.plan, workers);
    const Candidate candidate{algorithm, needed > setting.memory ? needed : 0, time_of(setting.machine, *planned.plan)};
    ++applicable;
    if (candidate.too_large > 0) too_large.push_back(candidate);
    if (candidate.better_than(best)) {
      second = std::exchange(best, candidate);
      setting.algorithm = algorithm;
      setting.plan = std::move(*planned.plan);
      setting.plan_s = planned.seconds;
    } else if (candidate.better_than(second)) {
      second = candidate;
    }
  }
  if (setting.algorithm == nullptr) nothing_applies(setting.request.collective, machine_text(setting.machine), first_refusal);
  setting.chosen = reason(setting, best, second, too_large, unplanned, applicable);
  setting.choosing_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Setting open_setting(Machine machine, Request request, const RunSpec& spec) {
  return {.machine = std::move(machine),
          .request = std::move(request),
          .seed = spec.seed,
          .executor = spec.executor,
          .threads = spec.threads,
          .memory = spec.memory,
          .processes = spec.processes,
          .plan_limit_s = spec.plan_limit_s.value_or(plan_s_of_many),
          .preset = spec.preset,
          .sources_text = spec.sources.value_or("")};
}

std::optional<std::string> plan_with(Setting& setting, const Algorithm& algorithm, Planned* planned, PlanCache* cache, HopMemo* memo,
                                     const Bounds* bounds) {
  if (auto why_not = why_not_here(algorithm, setting.machine, setting.request, setting.memory)) return why_not;
  Planned made =
      plan_within(algorithm, setting.machine, setting.request, bounds != nullptr ? *bounds : lower_bounds(setting.machine, setting.request),
                  setting.plan_limit_s, cache, memo);
  if (planned != nullptr) *planned = {std::nullopt, made.seconds, made.why_not, made.fault, made.too_long};
  if (!made.plan) return made.why_not;
  setting.plan = std::move(*made.plan);
  setting.plan_s = made.seconds;
  setting.algorithm = &algorithm;
  return std::nullopt;
}

Setting make_setting(const RunSpec& spec, const std::optional<std::string>& algorithm, std::span<const Algorithm* const> algorithms) {
  const Algorithm* const named = algorithm ? &named_algorithm("--algorithm", spec.collective, *algorithm, algorithms) : nullptr;
  NativeMachine native;
  if (named != nullptr)
    native = named->native;
  else if (spec.collective != Collective::broadcast && spec.collective != Collective::multinode_broadcast)
    native.switching = Switching::packet;
  Machine machine = make_machine(spec, native);
  Setting setting = open_setting(std::move(machine), make_fitting_request(spec), spec);
  if (named != nullptr) setting.plan_limit_s = spec.plan_limit_s.value_or(plan_s_of_one);
  if (named == nullptr)
    choose(setting, algorithms);
  else if (const auto why_not = plan_with(setting, *named))
    throw InputError(*why_not);
  return setting;
}

std::string command_line(const Setting& setting) {
  const Machine& machine = setting.machine;
  const Request& request = setting.request;
  std::string text = setting.processes > 1 ? fmt::format("mpirun -q -n {} ", setting.processes) : "";
  text += fmt::format("{} run {} --on {} --algorithm {} --ports {} --switching {} --contention {}", program(), name(request.collective),
                      machine.topology.text(), setting.algorithm->name, machine.ports, name(machine.switching), name(machine.contention));
  if (!machine.ascending_routing()) text += fmt::format(" --routing {}", fmt::join(machine.routing, ","));
  text += fault_options(machine.topology.faults(), machine.topology);
  text += fmt::format(" --bytes {}", bytes_option(request.bytes));
  if (reduces(request.collective)) text += fmt::format(" --op {} --type {}", name(request.reduction.op), name(request.reduction.type));
  if (has_root(request.collective) && request.collective != Collective::broadcast)
    text += fmt::format(" --root {}", request.sources.front());
  if (request.collective == Collective::broadcast) text += fmt::format(" --source {}", request.sources.front());
  if (request.collective == Collective::multinode_broadcast) {
    const std::string sources = !setting.sources_text.empty() ? setting.sources_text : sources_option(machine.topology, request.sources);
    text += sources.find(';') == std::string::npos ? fmt::format(" --sources {}", sources) : fmt::format(" --sources '{}'", sources);
  }
  for (const auto& [name, value] : request.parameters) text += fmt::format(" --{} {}", name, value);
  if (request.expected_sources) text += fmt::format(" --expect {}", *request.expected_sources);
  const CostModel standard;
  if (machine.cost.start_up_s != standard.start_up_s) text += fmt::format(" --ts {}", machine.cost.start_up_s);
  if (machine.cost.combine_s != standard.combine_s) text += fmt::format(" --tg {}", machine.cost.combine_s);
  if (!machine.cost.one_speed())
    text += fmt::format(" --tc {}", fmt::join(machine.cost.dimension_byte_s, ","));
  else if (machine.cost.byte_s != standard.byte_s)
    text += fmt::format(" --tc {}", machine.cost.byte_s);
  if (machine.cost.hop_s != standard.hop_s) text += fmt::format(" --th {}", machine.cost.hop_s);
  text += fmt::format(" --seed {} --executor {}", setting.seed, name(setting.executor));
  if (setting.threads > 0) text += fmt::format(" --threads {}", setting.threads);
  return text;
}

}  // namespace torus::command
