/// How much of a table of torus bench its time allows.
#pragma once

#include <map>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::command {

/// What rows will take, judged by the last row of the same algorithm. Sizes ascend, and what takes long is in proportion to them.
class BenchSchedule {
 public:
  BenchSchedule() = default;
  explicit BenchSchedule(std::vector<Bytes> sizes) : sizes_{std::move(sizes)} {}

  /// A row has ended: what one run and its verification took, and what all else took.
  void add(const Algorithm& algorithm, Bytes size, double run_s, double rest_s) { last_[&algorithm] = {size, run_s, rest_s}; }
  /// What a row of so many runs will take, in seconds; 0 where the algorithm has no row yet.
  double row_s(const Algorithm& algorithm, Bytes size, unsigned runs) const;
  /// Whether a run of it, with its verification, will take Effort::row_s: shorter ones are cheap, and not in proportion to sizes.
  bool is_long(const Algorithm& algorithm, Bytes size) const;
  /// What all rows that are still to come after this one will take with one run each, in seconds.
  double later_s(const Algorithm& algorithm, Bytes size) const;

 private:
  struct Row {
    Bytes size = 0;
    double run_s = 0, rest_s = 0;
  };

  std::vector<Bytes> sizes_;
  std::map<const Algorithm*, Row> last_;
};

}  // namespace torus::command
