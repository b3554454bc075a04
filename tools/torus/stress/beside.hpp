/// A drawn setting beside itself: twice at once on one machine.
#pragma once

#include <optional>
#include <string>

#include <torus/result.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// What is wrong where a setting runs beside itself, and the command that repeats it.
struct WrongBeside {
  std::string what;
  std::string command;
};

/// Runs a setting on one process and, `offset` steps later, once more. None if each is as `alone`, the result of a run alone; or if they
/// break a rule together, unless the second begins when the first has ended.
std::optional<WrongBeside> wrong_beside_itself(const Setting& setting, Step offset, const RunResult& alone);

}  // namespace torus::command
