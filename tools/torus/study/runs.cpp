#include "tools/torus/study/runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

double growth(Bytes from, Bytes to) { return static_cast<double>(to) / static_cast<double>(std::max<Bytes>(from, 1)); }

}  // namespace

TypedOptions::Pairs BenchArguments::typed() const {
  TypedOptions::Pairs typed = setting.typed(true);
  if (algorithms) typed.emplace_back("algorithms", *algorithms);
  for (const auto& [name, value] : {std::pair("warmup", &warm_up), std::pair("repeat", &repeat), std::pair("seconds", &seconds),
                                    std::pair("against", &against), std::pair("pairs", &pairs)}) {
    if (*value) typed.emplace_back(name, **value);
  }
  return typed;
}

TypedOptions::Pairs BenchArguments::of_row() const {
  TypedOptions::Pairs row = typed();
  const std::set<std::string_view> of_table{"bytes", "algorithms", "choose", "seconds", "against", "pairs"};
  std::erase_if(row, [&](const auto& option) { return of_table.contains(option.first); });
  return row;
}

std::string BenchArguments::command(Collective which) const {
  std::string text = fmt::format("{} bench {}", program(), name(which));
  for (const auto& [option, value] : typed()) {
    const std::string_view quote = value.find_first_of("; ") == std::string::npos ? "" : "'";
    text += fmt::format(" --{} {}{}{}", option, quote, value, quote);
  }
  return text;
}

RowEffort::RowEffort(const std::optional<std::string>& typed_warm_ups, const std::optional<std::string>& typed_repeats,
                     const std::optional<std::string>& seconds)
    : typed_warm_up{typed_warm_ups.has_value()}, typed_repeat{typed_repeats.has_value()} {
  if (typed_warm_up) warm_up = static_cast<unsigned>(parse_whole("--warmup", *typed_warm_ups, 0, 1000000));
  if (typed_repeat) repeat = static_cast<unsigned>(parse_whole("--repeat", *typed_repeats, 1, 1000000));
  if (seconds) table_s = parse_real("--seconds", *seconds, 0.001, 1e6, "60");
}

bool Runs::add(const RunResult& result) {
  if (result.interrupted) return false;
  if (!result.good() || !result.verified) ++wrong_;
  spent_s_ += result.run_s + result.verify_s;
  all_s_ += result.run_s + result.verify_s;
  if (warming_) {
    warming_ = ++warm_up_ < effort_.warm_up && (effort_.typed_warm_up || spent_s_ < RowEffort::row_s);
    if (!warming_) spent_s_ = 0;
    return true;
  }
  run_s_.push_back(result.run_s);
  const bool enough = !effort_.typed_repeat && run_s_.size() >= RowEffort::fewest && spent_s_ >= RowEffort::row_s;
  return run_s_.size() < effort_.repeat && !enough;
}

std::string note_on(const std::vector<double>& run_s, const Repeats& repeats) {
  if (run_s.empty()) return "";
  std::string note;
  if (repeats.max_s > 2 * repeats.median_s) {
    const bool first = run_s.front() == repeats.max_s;
    note = fmt::format("{} {:.1f}x the median", first ? "first run" : "max", repeats.max_s / repeats.median_s);
  }
  if (repeats.median_s > 2 * repeats.min_s && repeats.min_s > 0)
    note += fmt::format("{}median {:.1f}x the min", note.empty() ? "" : ", ", repeats.median_s / repeats.min_s);
  return note;
}

double BenchSchedule::row_s(const Algorithm& algorithm, Bytes size, unsigned runs) const {
  const auto row = last_.find(&algorithm);
  if (row == last_.end()) return 0;
  return (runs * row->second.run_s + row->second.rest_s) * growth(row->second.size, size);
}

bool BenchSchedule::is_long(const Algorithm& algorithm, Bytes size) const {
  const auto row = last_.find(&algorithm);
  return row != last_.end() && row->second.run_s * growth(row->second.size, size) >= RowEffort::row_s;
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

std::optional<std::pair<double, double>> median_interval(std::vector<double> values) {
  // The k-th smallest is above the median if fewer than k values are below it: the lower tail of the binomial distribution of n tosses.
  // By logarithms, since 2^-n of many values is no double.
  // lgamma() writes the sign of its result to a global variable.
  // NOLINTBEGIN(concurrency-mt-unsafe)
  const auto n = static_cast<double>(values.size());
  const auto toss = [n](double below) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(below + 1) - std::lgamma(n - below + 1) - n * std::log(2.0));
  };
  // NOLINTEND(concurrency-mt-unsafe)
  std::size_t k = 0;
  for (double tail = toss(0); k < values.size() / 2 && 2 * tail <= 0.05; tail += toss(static_cast<double>(k))) ++k;
  if (k == 0) return std::nullopt;
  std::sort(values.begin(), values.end());
  return std::pair(values[k - 1], values[values.size() - k]);
}

std::string noise_text(const Json& rows) {
  std::vector<double> sorted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json row = rows.at(i);
    if (const double min_s = row.at("time_min_s").number().value_or(0); min_s > 0 && row.at("runs").number().value_or(0) > 1)
      sorted.push_back(row.at("time_median_s").number().value_or(0) / min_s);
  }
  if (sorted.empty()) return "";
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("# noise of the host: the median of a row was {:.2f} times its min (median of {}), at most {:.2f} times\n",
                     sorted[sorted.size() / 2], counted(sorted.size(), "row"), sorted.back());
}

namespace {

/// The row of a size that has the least of a figure, among those that are right.
std::optional<Json> least(const Json& rows, const Json& bytes, std::string_view figure) {
  std::optional<Json> best;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json row = rows.at(i);
    if (row.at("bytes") != bytes || row.at("verified") != Json(true) || !row.at(figure).number()) continue;
    if (!best || *row.at(figure).number() < *best->at(figure).number()) best = std::move(row);
  }
  return best;
}

}  // namespace

std::string quickest_text(const Json& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json bytes = rows.at(i).at("bytes");
    if (i > 0 && rows.at(i - 1).at("bytes") == bytes) continue;
    const auto model = least(rows, bytes, "model_time_s"), wall = least(rows, bytes, "time_median_high_s");
    if (!model || !wall || wall->at("model_time_s") == model->at("model_time_s")) continue;
    if (*wall->at("time_median_high_s").number() >= model->at("time_median_low_s").number().value_or(0)) continue;
    const auto timed = [](const Json& row) {
      return fmt::format("{} {}", row.at("algorithm").cell(), seconds_text(row.at("time_median_s").number().value_or(0)));
    };
    text += fmt::format("{} at {} {}, and {}", text.empty() ? "" : ";", bytes_option(whole_number(bytes.cell()).value_or(0)), timed(*wall),
                        timed(*model));
  }
  return text.empty() ? "" : fmt::format("# fastest on the host, and of the least model time:{}\n", text);
}

}  // namespace torus::command
