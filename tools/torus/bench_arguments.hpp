/// The options of torus bench as typed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/torus/spec.hpp"

namespace torus::command {

struct BenchArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all";
  std::optional<std::string> warm_up, repeat, seconds, against, pairs, csv, json;

  /// Names and values of all that was typed, but for the files.
  std::vector<std::pair<std::string, std::string>> typed() const;
  /// Of these, what a bench of one row is given too, besides its size and algorithm.
  std::vector<std::pair<std::string, std::string>> of_rows() const;
  /// The command line, for a shell.
  std::string command(Collective which) const;
};

}  // namespace torus::command
