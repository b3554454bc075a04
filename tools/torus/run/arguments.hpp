/// What torus run is asked: its options as typed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/torus/cli/options.hpp"
#include "tools/torus/setting/setting.hpp"

namespace torus::command {

struct RunArguments {
  std::string collective;
  TypedOptions setting;
  std::optional<std::string> algorithm, schedule, offset, trace, csv, view, repeat, digest, fault;
  bool judge = false;
  bool steps = false;
  bool json = false;
  std::vector<std::vector<std::string>> parts;  ///< what stands after each +: further collectives, which run at once
};

/// The subcommand with its options; they go there.
Command describe_run(RunArguments& arguments);

/// The specification of a collective, with its file. Throws InputError.
RunSpec spec_of(const RunArguments& arguments);

}  // namespace torus::command
