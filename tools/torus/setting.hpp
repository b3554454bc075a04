/// A setting: everything that decides what a run does, with the algorithm planned. It can be written as the command line that repeats it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/torus/planning.hpp"
#include "tools/torus/spec.hpp"

namespace torus::command {

struct Setting {
  Machine machine;
  Request request;
  const Algorithm* algorithm = nullptr;
  Plan plan = {};
  double plan_s = 0;        ///< wall time of this plan: part of the set-up
  std::string chosen = {};  ///< why this algorithm, where none was named
  double choosing_s = 0;    ///< wall time of all plans among which it was chosen
  std::uint64_t seed = 1;
  ExecutorKind executor = default_executor;
  unsigned threads = 0;                 ///< 0: the host's cores
  Bytes memory = 0;                     ///< of a process; 0: what the engine takes by itself
  unsigned processes = 1;               ///< that do the run together
  double plan_limit_s = plan_s_of_one;  ///< planning may take so long
  const Preset* preset = nullptr;       ///< the machine that was named
  std::string sources_text = {};        ///< how the sources were asked for, if that and the seed give them again
};

/// A machine and a request, with the seed and the host's options of a spec, but without an algorithm.
Setting open_setting(Machine machine, Request request, const RunSpec& spec);

/// Gives a setting the algorithm and its plan. If the algorithm does not apply or cannot be planned, says why in one line and changes
/// nothing. `planned` gets what the planner did, if it was asked. `cache` and `memo` as of plan_within(). `bounds`: those of the machine
/// and request, if they are known.
std::optional<std::string> plan_with(Setting& setting, const Algorithm& algorithm, Planned* planned = nullptr, PlanCache* cache = nullptr,
                                     HopMemo* memo = nullptr, const Bounds* bounds = nullptr);

/// The setting of a spec, with the algorithm of that name; without a name, with the one of the least predicted model time, among those that
/// apply, can be planned and fit into the memory. One that predicts nothing is chosen only where no other is left. What the options leave
/// open of the machine is what a named algorithm was made for. Throws InputError.
Setting make_setting(const RunSpec& spec, const std::optional<std::string>& algorithm, std::span<const Algorithm* const> algorithms);

/// `torus run ...`: the command that repeats this setting.
std::string command_line(const Setting& setting);

}  // namespace torus::command
