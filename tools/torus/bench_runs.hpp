/// The runs of one row of torus bench: how many, which count, and what spoils their figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <torus/result.hpp>

#include "tools/torus/report.hpp"

namespace torus::command {

/// How often a row is run. A count that was typed is kept. One that was not is a maximum: then the warm-up, and again the counted runs, end
/// when they have taken row_s, verification included.
struct Effort {
  static constexpr double row_s = 0.02;
  static constexpr unsigned fewest = 3;  ///< counted runs, however long they take
  unsigned warm_up = 2, repeat = 20;
  bool typed_warm_up = false, typed_repeat = false;
  double table_s = 57;  ///< what would not end within them is not run

  /// The options as typed. Throws InputError.
  Effort(const std::optional<std::string>& typed_warm_ups, const std::optional<std::string>& typed_repeats,
         const std::optional<std::string>& seconds);

  /// The runs of a row of which each takes longer than row_s.
  unsigned usual() const noexcept {
    return (typed_warm_up ? warm_up : std::min(warm_up, 1U)) + (typed_repeat ? repeat : std::min(repeat, fewest));
  }
  /// One run, but for counts that were typed. Long runs need no warm-up: set-up has touched their memory.
  void be_brief() noexcept {
    if (!typed_warm_up) warm_up = 0;
    if (!typed_repeat) repeat = 1;
  }
};

/// The runs of one row.
class Runs {
 public:
  explicit Runs(const Effort& effort) : effort_{effort} {}

  /// Counts a run; false if it was the last.
  bool add(const RunResult& result);

  unsigned warm_up() const noexcept { return warm_up_; }
  std::size_t wrong() const noexcept { return wrong_; }
  double all_s() const noexcept { return all_s_; }                      ///< that all runs took, the warm-up and verification included
  const std::vector<double>& run_s() const noexcept { return run_s_; }  ///< in the order in which they ran, without the warm-up

 private:
  const Effort& effort_;
  bool warming_ = effort_.warm_up > 0;
  unsigned warm_up_ = 0;
  std::size_t wrong_ = 0;
  double spent_s_ = 0, all_s_ = 0;
  std::vector<double> run_s_;
};

/// What spoils the figures of a row: empty if nothing does.
std::string note_on(const std::vector<double>& run_s, const Repeats& repeats);

}  // namespace torus::command
