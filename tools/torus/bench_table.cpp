#include "tools/torus/bench_table.hpp"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <string_view>

#include "runtime/model/figures.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/median_interval.hpp"
#include "tools/torus/report.hpp"

namespace torus::command {

std::string cpu_text() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return "unknown";
}

namespace {

/// The columns of --csv, which are the fields of a row in --json.
constexpr std::array<std::string_view, 38> bench_columns{"collective",
                                                         "shape",
                                                         "nodes",
                                                         "ports",
                                                         "switching",
                                                         "contention",
                                                         "sources",
                                                         "bytes",
                                                         "algorithm",
                                                         "segments",
                                                         "steps",
                                                         "model_time_s",
                                                         "model_time_lower_bound_s",
                                                         "times_the_bound",
                                                         "threads",
                                                         "executor",
                                                         "seed",
                                                         "warm_up_runs",
                                                         "runs",
                                                         "time_min_s",
                                                         "time_median_s",
                                                         "time_max_s",
                                                         "time_median_low_s",
                                                         "time_median_high_s",
                                                         "algbw_bytes_per_s",
                                                         "busbw_bytes_per_s",
                                                         "wrong",
                                                         "verified",
                                                         "note",
                                                         "not_run",
                                                         "failure",
                                                         "setup_s",
                                                         "pairs",
                                                         "other_time_median_s",
                                                         "ratio",
                                                         "ratio_low",
                                                         "ratio_high",
                                                         "pairs_won"};

}  // namespace

std::vector<std::string> add_pairs(nlohmann::ordered_json& row, const Pairs& pairs) {
  const std::vector<double> ratios = pairs.ratios();
  const auto interval = median_interval(ratios);
  const double ratio = repeats_of(ratios).median_s;
  const double mine = repeats_of(pairs.this_s).median_s;
  const double others = repeats_of(pairs.other_s).median_s;
  row["pairs"] = ratios.size();
  row["time_median_s"] = mine;
  row["other_time_median_s"] = others;
  row["ratio"] = ratio;
  if (interval) {
    row["ratio_low"] = interval->first;
    row["ratio_high"] = interval->second;
  }
  row["pairs_won"] = pairs.won();
  if (!pairs.note.empty()) row["note"] = pairs.note;
  return {std::to_string(ratios.size()),
          seconds_text(mine),
          seconds_text(others),
          fmt::format("{:.3f}", ratio),
          interval ? fmt::format("{:.3f} to {:.3f}", interval->first, interval->second) : "-",
          std::to_string(pairs.won()),
          pairs.note};
}

std::string bench_csv(const nlohmann::ordered_json& rows) {
  std::string text = csv_line({bench_columns.begin(), bench_columns.end()});
  for (const nlohmann::ordered_json& row : rows) {
    std::vector<std::string> values;
    for (const std::string_view column : bench_columns) {
      const auto at = row.find(std::string(column));
      values.push_back(at == row.end() ? "" : at->is_string() ? at->get<std::string>() : at->dump());
    }
    text += csv_line(values);
  }
  return text;
}

}  // namespace torus::command
