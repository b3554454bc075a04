#include "tools/torus/bench_runs.hpp"

#include <fmt/format.h>

#include "tools/torus/notation.hpp"

namespace torus::command {

Effort::Effort(const std::optional<std::string>& typed_warm_ups, const std::optional<std::string>& typed_repeats,
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
    warming_ = ++warm_up_ < effort_.warm_up && (effort_.typed_warm_up || spent_s_ < Effort::row_s);
    if (!warming_) spent_s_ = 0;
    return true;
  }
  run_s_.push_back(result.run_s);
  const bool enough = !effort_.typed_repeat && run_s_.size() >= Effort::fewest && spent_s_ >= Effort::row_s;
  return run_s_.size() < effort_.repeat && !enough;
}

std::string note_on(const std::vector<double>& run_s, const Repeats& repeats) {
  if (run_s.empty() || repeats.max_s <= 2 * repeats.median_s) return "";
  const bool first = run_s.front() == repeats.max_s;
  return fmt::format("{} {:.1f}x the median", first ? "first run" : "max", repeats.max_s / repeats.median_s);
}

}  // namespace torus::command
