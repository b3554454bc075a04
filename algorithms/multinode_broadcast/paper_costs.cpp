#include "algorithms/multinode_broadcast/paper_costs.hpp"

#include <algorithm>
#include <cmath>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

double L(std::uint64_t base, std::int32_t n) { return ceil_log(base, static_cast<std::uint64_t>(n)); }

}  // namespace

PaperCost lemma2(std::int32_t n, std::int32_t h, double m) noexcept {
  const double control = 4 * L(5, n) + 2 * L(5, n / h);
  return {control + 3 * L(5, h), (2 * L(5, h) + (std::pow(5, L(5, h)) - 1) / 4) * m + 4 * control};
}

PaperCost lemma3(std::int32_t n, std::int32_t h, double s, double m) noexcept {
  const double steps = 4 * L(5, n / h) + L(3, h) + h - 1;
  return {steps, steps * s / h * m};
}

PaperCost theorem1(std::int32_t n, std::int32_t h, double s, double m) noexcept {
  return {L(5, n), std::max(L(5, n / h), static_cast<double>(h)) * s / h * m};
}

void add_paper_notes(std::vector<std::pair<std::string, std::string>>& notes, std::int32_t n, std::int32_t h, double s, double m) {
  const auto add = [&](const char* label, const PaperCost& cost) { notes.emplace_back(label, steps_and_bytes(cost.steps, cost.bytes)); };
  add("Lemma 2 (aggregation)", lemma2(n, h, m));
  add("Lemma 3 (distribution)", lemma3(n, h, s, m));
  add("Theorem 1 (order)", theorem1(n, h, s, m));
}

}  // namespace torus::multinode
