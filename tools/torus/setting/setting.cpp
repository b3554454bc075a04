#include "tools/torus/setting/setting.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include <torus/error.hpp>
#include <torus/run.hpp>

#include "tools/torus/cli/console.hpp"
#include "tools/torus/setting/choice.hpp"
#include "tools/torus/setting/memory.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/pace.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {

std::vector<const Setting*> Setting::classes() const {
  std::vector<const Setting*> all{this};
  for (const Setting& other : others) all.push_back(&other);
  return all;
}

double Setting::predicted_s() const { return plan.predicts() ? plan.model_time_s(machine.cost) : std::numeric_limits<double>::infinity(); }

const Setting& Setting::slowest() const {
  const Setting* slowest = this;
  for (const Setting& other : others) {
    if (other.predicted_s() > slowest->predicted_s()) slowest = &other;
  }
  return *slowest;
}

std::optional<double> Setting::together_s() const {
  if (others.empty() && plan.predicts()) return predicted_s();  // to the last bit
  std::vector<std::pair<std::uint64_t, double>> steps;          // of a class: how many, and how long each takes
  for (const Setting* each : classes()) {
    if (!each->plan.predicts()) return std::nullopt;
    const std::uint64_t count = each->plan.likely_steps();
    if (count > 0) steps.emplace_back(count, each->predicted_s() / static_cast<double>(count));
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
  keep_pace(setting, algorithm, cache);
  return std::nullopt;
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
    choose_algorithms(setting, spec, algorithms);
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
