// SPDX-License-Identifier: MIT
#include "algorithms/multinode_broadcast/balance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/catalogue.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

struct Place {
  std::int32_t i, j;
};

/// Where a bundle ends that starts at a place on a diagonal `position` of a gather.
Place gathered(Place at, std::int32_t position, const LineTree& tree, std::int32_t unit, std::int32_t n) {
  while (position != tree.root()) {
    const LineTree::Vertex& v = tree.at(position);
    const Leg leg = diagonal_leg(position, v.parent, v.slot, unit);
    (leg.dimension == 0 ? at.i : at.j) = modulo((leg.dimension == 0 ? at.i : at.j) + leg.hops, n);
    position = v.parent;
  }
  return at;
}

/// A DCN-diagonal node's key in the order of ranks: first by key, then by position under the key.
struct Ranked {
  std::int32_t major, minor;
  Place at;
  std::uint32_t count;
};

double L(std::uint64_t base, std::int32_t n) { return ceil_log(base, static_cast<std::uint64_t>(n)); }

}  // namespace

DdnLoads ddn_loads(std::int32_t n, std::int32_t h, Prefix prefix, std::span<const NodeId> sources) {
  const std::int32_t q = n / h;
  const auto side = static_cast<std::size_t>(n);
  const LineTree strip = LineTree::window(5, h), ddn = LineTree::window(5, q);
  std::vector<std::uint32_t> count(side * side, 0);
  for (const NodeId source : sources) {
    const Place at{static_cast<std::int32_t>(source) / n, static_cast<std::int32_t>(source) % n};
    const Place end = gathered(at, centred(at.i - at.j, h), strip, 1, n);
    ++count[static_cast<std::size_t>(end.i) * side + static_cast<std::size_t>(end.j)];
  }

  const bool diagonals = prefix == Prefix::diag5 || prefix == Prefix::diag3;
  std::vector<Ranked> ranked;
  for (std::size_t r = 0; r < count.size(); ++r) {
    if (count[r] == 0) continue;
    const Place at{static_cast<std::int32_t>(r) / n, static_cast<std::int32_t>(r) % n};
    if (diagonals) {
      ranked.push_back({modulo(at.i - at.j, n) / h, modulo(std::int64_t{2} * at.j - at.i, n), at, count[r]});
    } else {
      const std::int32_t offset = centred(at.i / h - at.j / h, q);
      ranked.push_back({gathered(at, offset, ddn, h, n).i, offset, at, count[r]});
    }
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const Ranked& a, const Ranked& b) { return std::pair(a.major, a.minor) < std::pair(b.major, b.minor); });

  DdnLoads loads{std::vector<std::uint32_t>(static_cast<std::size_t>(h), 0), std::vector<std::uint32_t>(static_cast<std::size_t>(h), 0)};
  std::uint32_t rank = 0;
  std::int32_t diagonal = -1;
  for (const Ranked& node : ranked) {
    const auto k = static_cast<std::size_t>(node.at.i % h);
    loads.before[k] += node.count;
    if (prefix == Prefix::none || h == 1) {
      loads.after[k] += node.count;
      continue;
    }
    if (diagonals && node.major != diagonal) rank = first_rank_of_diagonal(diagonal = node.major, h, q);
    if (prefix == Prefix::hash) rank = hashed_rank(std::array{node.at.i, node.at.j}, h);
    for (std::uint32_t x = 0; x < node.count; ++x) ++loads.after[rank++ % static_cast<std::uint32_t>(h)];
  }
  return loads;
}

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
