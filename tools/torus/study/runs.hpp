/// The runs of a row of torus bench: how many, which count, how long they will take, and what spoils their figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/result.hpp>

#include "tools/torus/cli/json.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/setting/spec.hpp"

namespace torus::command {

/// The options of torus bench as typed.
struct BenchArguments {
  std::string collective;
  TypedOptions setting;
  std::optional<std::string> algorithms;  ///< none: at each size the one that `torus run` chooses
  std::optional<std::string> warm_up, repeat, seconds, against, pairs, csv;
  bool json = false;

  /// Names and values of all that was typed but the files.
  TypedOptions::Pairs typed() const;
  /// Those that a bench of one row is given too, besides its size and algorithm.
  TypedOptions::Pairs of_row() const;
  /// The command line, for a shell.
  std::string command(Collective which) const;
};

/// How often a row is run. A count that was typed is kept. One that was not is a maximum: then the warm-up, and again the counted runs, end
/// when they have taken row_s, verification included.
struct RowEffort {
  static constexpr double row_s = 0.02;
  static constexpr unsigned fewest = 3;  ///< counted runs, however long they take
  unsigned warm_up = 2, repeat = 20;
  bool typed_warm_up = false, typed_repeat = false;
  double table_s = 57;  ///< what would not end within them is not run

  /// The options as typed. Throws InputError.
  RowEffort(const std::optional<std::string>& typed_warm_ups, const std::optional<std::string>& typed_repeats,
            const std::optional<std::string>& seconds);

  /// The runs of a row of which each takes longer than row_s.
  unsigned usual() const noexcept {
    return (typed_warm_up ? warm_up : std::min(warm_up, 1U)) + (typed_repeat ? repeat : std::min(repeat, fewest));
  }
  /// One run, unless counts were typed. Long runs need no warm-up: set-up has touched their memory.
  void be_brief() noexcept {
    if (!typed_warm_up) warm_up = 0;
    if (!typed_repeat) repeat = 1;
  }
};

/// The runs of one row.
class Runs {
 public:
  explicit Runs(const RowEffort& effort) : effort_{effort} {}

  /// Counts a run; false if it was the last.
  bool add(const RunResult& result);

  unsigned warm_up() const noexcept { return warm_up_; }
  std::size_t wrong() const noexcept { return wrong_; }
  double all_s() const noexcept { return all_s_; }                      ///< that all runs took, the warm-up and verification included
  const std::vector<double>& run_s() const noexcept { return run_s_; }  ///< in the order in which they ran, without the warm-up

 private:
  const RowEffort& effort_;
  bool warming_ = effort_.warm_up > 0;
  unsigned warm_up_ = 0;
  std::size_t wrong_ = 0;
  double spent_s_ = 0, all_s_ = 0;
  std::vector<double> run_s_;
};

/// What spoils the figures of a row: empty if nothing does.
std::string note_on(const std::vector<double>& run_s, const Repeats& repeats);

/// What rows will take, judged by the last row of the same algorithm. Sizes ascend, and what takes long is in proportion to them.
class BenchSchedule {
 public:
  BenchSchedule() = default;
  explicit BenchSchedule(std::vector<Bytes> sizes) : sizes_{std::move(sizes)} {}

  /// A row has ended: what one run and its verification took, and what all else took.
  void add(const Algorithm& algorithm, Bytes size, double run_s, double rest_s) { last_[&algorithm] = {size, run_s, rest_s}; }
  /// Seconds that a row of `runs` runs will take; 0 where the algorithm has no row yet.
  double row_s(const Algorithm& algorithm, Bytes size, unsigned runs) const;
  /// Whether a run of it, with its verification, will take RowEffort::row_s: shorter ones are cheap, and not in proportion to sizes.
  bool is_long(const Algorithm& algorithm, Bytes size) const;
  /// What all rows that are still to come after this one will take with one run each, in seconds.
  double later_s(const Algorithm& algorithm, Bytes size) const;

 private:
  struct TimedRow {
    Bytes size = 0;
    double run_s = 0, rest_s = 0;
  };

  std::vector<Bytes> sizes_;
  std::map<const Algorithm*, TimedRow> last_;
};

/// The 95 % confidence interval of the median by order statistics: of n values in order, the k-th smallest and the k-th largest, with the
/// largest k for which both enclose the median with a probability of 95 % or more. It assumes nothing about the distribution, only
/// independent values. None of fewer than 6 values: their min and max enclose it with less.
std::optional<std::pair<double, double>> median_interval(std::vector<double> values);

/// The columns of --csv, which are the fields of a row in --json.
inline constexpr std::string_view bench_columns =
    "collective,shape,nodes,ports,switching,contention,sources,bytes,algorithm,segments,steps,model_time_s,model_time_lower_bound_s,"
    "times_the_bound,threads,executor,seed,warm_up_runs,runs,time_min_s,time_median_s,time_max_s,time_median_low_s,time_median_high_s,"
    "algbw_bytes_per_s,busbw_bytes_per_s,wrong,verified,note,not_run,failure,setup_s,pairs,other_time_median_s,ratio,ratio_low,ratio_high,"
    "pairs_won,groups";

/// How noisy the host was; empty: no row had several runs. rows: as --json has them.
std::string noise_text(const Json& rows);
/// The algorithm that is the fastest by wall time, at each size where it is another than that of the least model time and the intervals of
/// their medians do not overlap; else empty.
std::string quickest_text(const Json& rows);

}  // namespace torus::command
