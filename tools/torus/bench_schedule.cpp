#include "tools/torus/bench_schedule.hpp"

#include <algorithm>

#include "tools/torus/bench_runs.hpp"

namespace torus::command {
namespace {

double growth(Bytes from, Bytes to) { return static_cast<double>(to) / static_cast<double>(std::max<Bytes>(from, 1)); }

}  // namespace

double BenchSchedule::row_s(const Algorithm& algorithm, Bytes size, unsigned runs) const {
  const auto row = last_.find(&algorithm);
  if (row == last_.end()) return 0;
  return (runs * row->second.run_s + row->second.rest_s) * growth(row->second.size, size);
}

bool BenchSchedule::is_long(const Algorithm& algorithm, Bytes size) const {
  const auto row = last_.find(&algorithm);
  return row != last_.end() && row->second.run_s * growth(row->second.size, size) >= Effort::row_s;
}

double BenchSchedule::later_s(const Algorithm& algorithm, Bytes size) const {
  double all = 0;
  for (const auto& [other, row] : last_) {
    for (const Bytes later : sizes_) {
      if (later > row.size && (other != &algorithm || later > size) && is_long(*other, later)) all += row_s(*other, later, 1);
    }
  }
  return all;
}

}  // namespace torus::command
