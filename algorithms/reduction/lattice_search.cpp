#include "algorithms/reduction/lattice_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <string_view>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"

namespace torus::reduction {
namespace {

std::int32_t hops(const Offset& offset) {
  std::int32_t sum = 0;
  for (const std::int32_t h : offset) sum += std::abs(h);
  return sum;
}

/// The shorter way round each ring.
Offset shortest(const Topology& topology, Offset offset) {
  for (std::size_t d = 0; d < offset.size(); ++d) {
    const std::int32_t n = topology.extent(static_cast<Dimension>(d)), h = modulo(offset[d], n);
    offset[d] = 2 * h > n || (2 * h == n && offset[d] < 0) ? h - n : h;
  }
  return offset;
}

/// Adds an offset that is new to the step.
void add(const Topology& topology, std::vector<Offset>& step, const Offset& offset) {
  const NodeId to = topology.rank(offset);
  const auto same = [&](const Offset& o) { return topology.rank(o) == to; };
  if (to != 0 && std::none_of(step.begin(), step.end(), same)) step.push_back(shortest(topology, offset));
}

/// A vector and what (x_1, .., x_k) -> (-x_k, x_1, ..) makes of it, over the linked dimensions.
std::vector<Offset> turned(const Topology& topology, const std::vector<Dimension>& linked, Offset offset) {
  std::vector<Offset> step;
  for (std::size_t turn = 0; turn < 2 * linked.size(); ++turn) {
    add(topology, step, offset);
    Offset next = offset;
    for (std::size_t i = 0; i < linked.size(); ++i) {
      const std::size_t from = (i + linked.size() - 1) % linked.size();
      next[static_cast<std::size_t>(linked[i])] = (i == 0 ? -1 : 1) * offset[static_cast<std::size_t>(linked[from])];
    }
    offset = next;
  }
  return step;
}

struct Known {
  std::string_view shape;
  std::array<std::array<std::int32_t, 4>, 4> vectors;  // one a step, turned; zeros: no step
};
constexpr Known known[] = {
    {"8x8", {{{1, 0}, {1, 2}, {-2, -2}}}},
    {"9x9", {{{1, 0}, {1, 2}, {-2, -2}}}},
    {"15x15", {{{1, 0}, {1, 2}, {1, 2}, {3, -4}}}},
    {"16x16", {{{1, 0}, {1, 2}, {0, -3}, {7, 3}}}},
    {"8x8x8", {{{1, 0, 0}, {-1, -2, 0}, {-3, 1, 0}, {-2, -4, 3}}}},
};

/// Of unequal sides: two vectors a step, and their opposites. From a longer search of the same kind.
struct KnownPairs {
  std::string_view shape;
  std::array<std::array<std::array<std::int32_t, 2>, 2>, 4> vectors;
};
constexpr KnownPairs known_pairs[] = {
    {"12x40", {{{{{1, 0}, {0, 1}}}, {{{4, 2}, {2, 1}}}, {{{1, -2}, {2, -4}}}, {{{1, -17}, {6, 8}}}}}},
};

class Search {
 public:
  explicit Search(const Topology& topology) : topology_{topology}, linked_{linked_dimensions(topology)} {
    equal_ = std::all_of(linked_.begin(), linked_.end(), [&](Dimension d) { return topology.extent(d) == topology.extent(linked_[0]); });
  }

  LatticeTable find() {
    const std::size_t fewest = ceil_log(2 * linked_.size() + 1, topology_.nodes());
    if (const auto offsets = tabled()) return LatticeTable(topology_, *offsets);
    for (std::size_t steps = fewest;; ++steps) {
      if (auto best = of_steps(steps)) return *best;
    }
  }

 private:
  Offset zero() const { return Offset(static_cast<std::size_t>(topology_.dimensions()), 0); }

  std::optional<Offsets> tabled() const {
    if (linked_.size() != static_cast<std::size_t>(topology_.dimensions())) return std::nullopt;
    Offsets offsets;
    const std::string shape = topology_.text();
    for (const KnownPairs& entry : known_pairs) {
      if (entry.shape != shape) continue;
      for (const auto& step : entry.vectors) {
        offsets.emplace_back();
        for (const auto& [x, y] : step) {
          add(topology_, offsets.back(), {x, y});
          add(topology_, offsets.back(), {-x, -y});
        }
      }
      return offsets;
    }
    if (!equal_) return std::nullopt;
    for (const Known& entry : known) {
      if (entry.shape != shape) continue;
      for (const auto& vector : entry.vectors) {
        Offset offset = zero();
        for (std::size_t d = 0; d < offset.size(); ++d) offset[d] = vector[d];
        if (hops(offset) > 0) offsets.push_back(turned(topology_, linked_, offset));
      }
      return offsets;
    }
    // A perfect code: every displacement once.
    const std::int32_t n = topology_.extent(0);
    if (linked_.size() != 2) return std::nullopt;
    std::int32_t power = 1;
    for (; power < n; power *= 5) {
      offsets.push_back(turned(topology_, linked_, {power, 0}));
      offsets.push_back(turned(topology_, linked_, {power, 2 * power}));
    }
    return power == n ? std::optional(offsets) : std::nullopt;
  }

  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(n)); }

  /// The farther, the later the step: the nodes reached grow by 2k + 1 a step.
  Offset draw(std::size_t step) {
    Offset offset = zero();
    const double k = static_cast<double>(linked_.size());
    const auto radius = static_cast<std::int32_t>(std::ceil(std::pow(2 * k + 1, static_cast<double>(step) / k)));
    for (const Dimension d : linked_) {
      const std::int32_t most = std::min(topology_.extent(d) / 2, radius);
      offset[static_cast<std::size_t>(d)] = below(2 * most + 1) - most;
    }
    return offset;
  }

  Offsets draw_all(std::size_t steps) {
    Offsets offsets(steps);
    const bool turns = equal_ && below(4) > 0, pairs = below(4) > 0;
    for (std::size_t s = 0; s < steps; ++s) {
      if (s == 0 && below(8) > 0) {
        for (const Dimension d : linked_) {
          for (const std::int32_t h : {+1, -1}) {
            Offset unit = zero();
            unit[static_cast<std::size_t>(d)] = h;
            add(topology_, offsets[s], unit);
          }
        }
      } else if (turns) {
        offsets[s] = turned(topology_, linked_, draw(s));
      }
      // k vectors and their opposites, or 2k vectors; where opposites are the same, more of them.
      for (int tries = 0; offsets[s].size() < 2 * linked_.size() && tries < 64 && !(turns && s > 0 && tries > 0); ++tries) {
        Offset offset = draw(s);
        add(topology_, offsets[s], offset);
        for (std::int32_t& h : offset) h = -h;
        if (pairs && offsets[s].size() < 2 * linked_.size()) add(topology_, offsets[s], offset);
      }
    }
    std::stable_sort(offsets.begin(), offsets.end(), [](const auto& a, const auto& b) {
      const auto far = [](const std::vector<Offset>& step) {
        std::int32_t sum = 0;
        for (const Offset& offset : step) sum += hops(offset);
        return sum;
      };
      return far(a) < far(b);
    });
    return offsets;
  }

  std::optional<LatticeTable> of_steps(std::size_t steps) {
    constexpr std::uint64_t most_work = 30'000'000, most_draws = 6000;
    constexpr int enough = 40;
    const std::uint64_t work = topology_.nodes() * (2 * linked_.size() + 1) * (steps + 1);
    const std::uint64_t draws = std::max<std::uint64_t>(100, std::min(most_draws, most_work / work));
    std::optional<LatticeTable> best;
    int found = 0;
    for (std::uint64_t i = 0; i < draws && found < enough; ++i) {
      LatticeTable table(topology_, draw_all(steps));
      if (!table.complete()) continue;
      ++found;
      if (!best || table.channel() < best->channel()) best = std::move(table);
    }
    return best;
  }

  const Topology& topology_;
  std::vector<Dimension> linked_;
  bool equal_;
  std::mt19937_64 random_{1};
};

}  // namespace

LatticeTable find_lattice(const Topology& topology) { return Search(topology).find(); }

}  // namespace torus::reduction
