/// Rows of torus bench by this program and by another build of it, in turn.
#pragma once

#include <string>
#include <vector>

#include "tools/torus/cli/json.hpp"

namespace torus::command {

/// Another build of the command, as --against names it.
class OtherBuild {
 public:
  /// Asks it for its version and its help. Throws InputError, one line, unless it is a torus whose bench has these options ("--on", ..).
  OtherBuild(std::string program, const std::vector<std::string>& options);

  const std::string& program() const noexcept { return program_; }
  const std::string& version() const noexcept { return version_; }  ///< "torus 0.1.0"
  /// The option that writes its JSON to a file: --json until 0.2.0.
  const std::string& json_option() const noexcept { return json_option_; }

 private:
  std::string program_, version_, json_option_;
};

/// What the pairs of one row came to. A pair is a bench of the row by each program; the first of them changes from pair to pair, so that
/// what a busy or warming host does falls on both.
struct Pairs {
  std::vector<double> this_s, other_s;  ///< medians of the benches, by pair
  std::string not_run;                  ///< why one of the two does not run the row; empty: both do
  std::string failure;                  ///< one line: one of the two ended without a verified result
  std::string note;                     ///< what makes it other work

  std::vector<double> ratios() const;  ///< this_s / other_s, by pair
  std::size_t won() const;             ///< pairs in which this program was faster
};

/// Runs the row that `arguments` of both programs' `bench` describe, all but --json.
Pairs run_pairs(const OtherBuild& other, const std::vector<std::string>& arguments, unsigned pairs);

/// Adds to a row what its pairs came to: how many, the two medians, the ratio, its 95 % confidence interval, pairs won, a note.
void add_pairs(Json& row, const Pairs& pairs);

}  // namespace torus::command
