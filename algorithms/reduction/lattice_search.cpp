#include "algorithms/reduction/lattice_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/reduction/lattice_offsets.hpp"

namespace torus::reduction {
namespace {

std::int32_t hops(const Offset& offset) {
  std::int32_t sum = 0;
  for (const std::int32_t h : offset) sum += std::abs(h);
  return sum;
}

class Search {
 public:
  explicit Search(const Topology& topology) : topology_{topology}, linked_{linked_dimensions(topology)} {
    equal_ = std::all_of(linked_.begin(), linked_.end(), [&](Dimension d) { return topology.extent(d) == topology.extent(linked_[0]); });
  }

  LatticeTable find() {
    const std::size_t fewest = ceil_log(2 * linked_.size() + 1, topology_.nodes());
    if (const auto offsets = known_offsets(topology_)) return LatticeTable(topology_, *offsets);
    for (std::size_t steps = fewest;; ++steps) {
      if (auto best = of_steps(steps)) return *best;
    }
  }

 private:
  Offset zero() const { return Offset(static_cast<std::size_t>(topology_.dimensions()), 0); }

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
            add_offset(topology_, offsets[s], unit);
          }
        }
      } else if (turns) {
        offsets[s] = turned_offsets(topology_, draw(s));
      }
      // k vectors and their opposites, or 2k vectors; where opposites are the same, more of them.
      for (int tries = 0; offsets[s].size() < 2 * linked_.size() && tries < 64 && !(turns && s > 0 && tries > 0); ++tries) {
        Offset offset = draw(s);
        add_offset(topology_, offsets[s], offset);
        for (std::int32_t& h : offset) h = -h;
        if (pairs && offsets[s].size() < 2 * linked_.size()) add_offset(topology_, offsets[s], offset);
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
    constexpr std::uint64_t most_work = 10'000'000, most_draws = 6000;
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
