/// A setting: everything that decides what a run does, with the algorithm planned. It can be written as the command line that repeats it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/bounds.hpp>

#include "tools/torus/setting/planning.hpp"
#include "tools/torus/setting/spec.hpp"

namespace torus::command {

/// How long planning one algorithm at one size may take, without waits for a core, where --plan-time does not say it.
inline constexpr double plan_s_of_one = 60;   ///< that was named
inline constexpr double plan_s_of_many = 10;  ///< of those that are compared

/// How long the program of a node may take in one step, where --step-time does not say it: so long, and a second for so many bytes of its
/// blocks, which the slowest host copies and combines in less.
inline constexpr double step_s = 30;
inline constexpr Bytes step_bytes_a_s = Bytes{16} << 20U;

struct Setting {
  Machine machine;  ///< that the algorithm sees: the whole one, or that of a group
  Request request;  ///< of each group
  const Algorithm* algorithm = nullptr;
  Plan plan = {};
  Bounds bounds = {};       ///< of the request, with the plan
  double plan_s = 0;        ///< wall time of this plan: part of the set-up
  std::string chosen = {};  ///< why this algorithm, where none was named
  double choosing_s = 0;    ///< wall time of all plans among which it was chosen
  std::uint64_t seed = 1;
  ExecutorKind executor = default_executor;
  unsigned threads = 0;                     ///< 0: the host's cores
  Bytes memory = 0;                         ///< of a process; 0: what the engine takes by itself
  unsigned processes = 1;                   ///< that do the run together
  double plan_limit_s = plan_s_of_one;      ///< planning may take so long
  std::optional<double> step_limit_s = {};  ///< a node's program may take so long in a step; see step_limit_of()
  const Preset* preset = nullptr;           ///< the machine that was named
  std::string sources_text = {};            ///< how the sources were asked for, if that and the seed give them again
  std::optional<std::string> map = {};      ///< of the ranks, as typed; none: rank r is node r
  std::optional<Groups> groups = {};        ///< none: all nodes are one, and ranks are nodes
  std::optional<Machine> all_groups = {};   ///< the machine that the groups are of

  /// The other classes of groups, in which something else is dead or slow. Each has an algorithm and a plan of its own, and all
  /// run at once.
  std::vector<Setting> others = {};

  const Machine& whole() const noexcept { return all_groups ? *all_groups : machine; }
  const Groups* groups_or_null() const noexcept { return groups ? &*groups : nullptr; }
  /// Whether groups were asked for, and not a map alone.
  bool grouped() const noexcept { return groups && !groups->text().empty(); }
  /// This one and the others.
  std::vector<const Setting*> classes() const;
  /// The model time of this class alone; infinite: not predicted.
  double predicted_s() const;
  /// The one of these with the longest predicted model time; its formula and its bounds are what a report says.
  const Setting& slowest() const;
  /// The predicted model time of all classes at once. A step ends for all when it ends for the last, so that a class of few long steps and
  /// one of many short ones take longer than either; the steps of a class are taken to be equally long. None where a class predicts none.
  std::optional<double> together_s() const;
  /// Whether all have one algorithm.
  bool of_one_algorithm() const noexcept;
};

/// A machine that algorithms see and a request, with the groups, the seed and the host's options of a spec, but without an algorithm.
Setting open_setting(Machine machine, Request request, const RunSpec& spec);

/// Gives a setting, in all classes of its groups, the algorithm and its plan. If the algorithm does not apply or cannot be planned, says
/// why in one line and changes nothing. `planned` gets what the planner did, if it was asked. `cache` as of plan_within(). `bounds`: those
/// of the machine and request, if they are known.
std::optional<std::string> plan_with(Setting& setting, const Algorithm& algorithm, Planned* planned = nullptr, PlanCache* cache = nullptr,
                                     const Bounds* bounds = nullptr);

/// The machine of a run whose algorithm is not named: what the options leave open is as most algorithms of the collective need it.
Machine usual_machine(const RunSpec& spec);

/// The setting of a spec, with the algorithm of that name; without a name, with the one that choose_algorithms() takes. What the options
/// leave open of the machine is what a named algorithm was made for. Throws InputError.
Setting make_setting(const RunSpec& spec, const std::optional<std::string>& algorithm, std::span<const Algorithm* const> algorithms);

/// How long the program of a node may take in one step, in seconds.
double step_limit_of(const Setting& setting);

/// `torus run ...`: the command that repeats this setting.
std::string command_line(const Setting& setting);

}  // namespace torus::command
