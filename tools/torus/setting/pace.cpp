#include "tools/torus/setting/pace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "algorithms/common/parameters.hpp"

namespace torus::command {
namespace {

double time_of_step(const Setting& one) {
  return one.predicted_s() / static_cast<double>(std::max<std::uint64_t>(1, one.plan.likely_steps()));
}

/// A class with its messages cut into so many segments; none if it cannot be planned so.
std::optional<Setting> cut(const Setting& one, const Algorithm& algorithm, double segments, PlanCache* cache) {
  constexpr double most = 1 << 20;
  Setting finer = one;
  finer.others.clear();
  finer.request.parameters.set(parameter::segments.name, static_cast<std::uint64_t>(std::clamp(std::ceil(segments), 1.0, most)));
  if (plan_with(finer, algorithm, nullptr, cache) || !finer.plan.predicts()) return std::nullopt;
  return finer;
}

/// Exchanges what was planned for a class, not the class.
void exchange_plans(Setting& one, Setting& other) {
  std::swap(one.request, other.request);
  std::swap(one.plan, other.plan);
  std::swap(one.bounds, other.bounds);
}

}  // namespace

void keep_pace(Setting& setting, const Algorithm& algorithm, PlanCache* cache) {
  constexpr double worth_it = 1.01;
  constexpr std::array shares{1.0, 1.25, 1.5, 2.0};
  const bool has_segments = std::any_of(algorithm.parameters.begin(), algorithm.parameters.end(),
                                        [](const Parameter& each) { return each.name == parameter::segments.name; });
  if (setting.others.empty() || !has_segments || setting.request.parameters.whole(parameter::segments.name) > 0) return;
  std::optional<double> all_s = setting.together_s();
  const Setting& slowest = setting.slowest();
  const double start_up_s = setting.machine.cost.step(0, 1), pace_s = time_of_step(slowest);
  if (!all_s || *all_s <= worth_it * slowest.predicted_s() || !(pace_s > start_up_s)) return;
  const auto follow = [&](Setting& one) {
    if (&one == &slowest || time_of_step(one) <= pace_s) return;
    const auto whole = cut(one, algorithm, 1, cache);
    if (!whole) return;
    const double pieces = (time_of_step(*whole) - start_up_s) / (pace_s - start_up_s);
    for (const double share : shares) {
      auto finer = cut(one, algorithm, share * pieces, cache);
      if (!finer) continue;
      exchange_plans(one, *finer);
      const std::optional<double> now_s = setting.together_s();
      if (now_s && *now_s < *all_s)
        all_s = now_s;
      else
        exchange_plans(one, *finer);
    }
  };
  follow(setting);
  for (Setting& other : setting.others) follow(other);
}

}  // namespace torus::command
