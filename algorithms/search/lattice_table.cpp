// One source: the table of given offsets, the offsets that are known for some tori, and the search for others.
#include "algorithms/search/lattice_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus {
namespace {

using Offset = LatticeTable::Offset;
using Offsets = LatticeTable::Offsets;

/// A small set that covers `wanted`: every member of it is in the set, or an offset ahead of a member. Of the candidates always the one
/// that covers most, the nearest first; node 0 is one.
std::vector<bool> cover(const Topology& topology, const std::vector<bool>& wanted, const std::vector<bool>& candidates,
                        const std::vector<Offset>& offsets, const std::vector<NodeId>& nearest_first) {
  std::vector<std::vector<NodeId>> ahead(offsets.size(), std::vector<NodeId>(wanted.size())), behind = ahead;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    for (NodeId x = 0; x < wanted.size(); ++x) behind[i][ahead[i][x] = LatticeTable::shifted(topology, x, offsets[i])] = x;
  }
  std::vector<bool> left = wanted, chosen(wanted.size());
  std::vector<std::size_t> covers(wanted.size());
  for (NodeId r = 0; r < wanted.size(); ++r) {
    covers[r] = left[r] ? 1U : 0U;
    for (const auto& to : ahead) covers[r] += left[to[r]] ? 1U : 0U;
  }
  const auto take_out = [&](NodeId x) {
    if (!left[x]) return;
    left[x] = false;
    --covers[x];
    for (const auto& from : behind) --covers[from[x]];
  };
  const auto choose = [&](NodeId r) {
    chosen[r] = true;
    take_out(r);
    for (const auto& to : ahead) take_out(to[r]);
  };
  choose(0);
  for (std::size_t most = offsets.size() + 1; most > 0; --most) {
    for (const NodeId r : nearest_first) {
      if (candidates[r] && covers[r] == most) choose(r);
    }
  }
  return chosen;
}

/// The shorter way round each ring.
Offset shortest(const Topology& topology, Offset offset) {
  for (std::size_t d = 0; d < offset.size(); ++d) {
    const std::int32_t n = topology.extent(static_cast<Dimension>(d)), h = modulo(offset[d], n);
    offset[d] = 2 * h > n || (2 * h == n && offset[d] < 0) ? h - n : h;
  }
  return offset;
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

/// Vectors for unequal sides: two a step, and their opposites. From a longer search of the same kind.
struct KnownPairs {
  std::string_view shape;
  std::array<std::array<std::array<std::int32_t, 2>, 2>, 4> vectors;
};
constexpr KnownPairs known_pairs[] = {
    {"12x40", {{{{{1, 0}, {0, 1}}}, {{{4, 2}, {2, 1}}}, {{{1, -2}, {2, -4}}}, {{{1, -17}, {6, 8}}}}}},
};

/// Adds an offset that is new to the step, by the shorter way round each ring.
void add_offset(const Topology& topology, std::vector<Offset>& step, const Offset& offset) {
  const NodeId to = topology.rank(offset);
  const auto same = [&](const Offset& o) { return topology.rank(o) == to; };
  if (to != 0 && std::none_of(step.begin(), step.end(), same)) step.push_back(shortest(topology, offset));
}

/// A vector and its images under (x_1, .., x_k) -> (-x_k, x_1, ..), over the dimensions with links.
std::vector<Offset> turned_offsets(const Topology& topology, Offset offset) {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  std::vector<Offset> step;
  for (std::size_t turn = 0; turn < 2 * linked.size(); ++turn) {
    add_offset(topology, step, offset);
    Offset next = offset;
    for (std::size_t i = 0; i < linked.size(); ++i) {
      const std::size_t from = (i + linked.size() - 1) % linked.size();
      next[static_cast<std::size_t>(linked[i])] = (i == 0 ? -1 : 1) * offset[static_cast<std::size_t>(linked[from])];
    }
    offset = next;
  }
  return step;
}

/// Perfect codes where n = 5^p, and what longer searches have found; none for other tori.
std::optional<Offsets> known_offsets(const Topology& topology) {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  if (linked.size() != static_cast<std::size_t>(topology.dimensions())) return std::nullopt;
  Offsets offsets;
  const std::string shape = topology.text();
  for (const KnownPairs& entry : known_pairs) {
    if (entry.shape != shape) continue;
    for (const auto& step : entry.vectors) {
      offsets.emplace_back();
      for (const auto& [x, y] : step) {
        add_offset(topology, offsets.back(), {x, y});
        add_offset(topology, offsets.back(), {-x, -y});
      }
    }
    return offsets;
  }
  if (!is_square_torus(topology)) return std::nullopt;
  for (const Known& entry : known) {
    if (entry.shape != shape) continue;
    for (const auto& vector : entry.vectors) {
      Offset offset = Offset(static_cast<std::size_t>(topology.dimensions()), 0);
      for (std::size_t d = 0; d < offset.size(); ++d) offset[d] = vector[d];
      if (topology.rank(offset) != 0) offsets.push_back(turned_offsets(topology, offset));
    }
    return offsets;
  }
  // A perfect code: every displacement once.
  const std::int32_t n = topology.extent(0);
  if (linked.size() != 2) return std::nullopt;
  std::int32_t power = 1;
  for (; power < n; power *= 5) {
    offsets.push_back(turned_offsets(topology, {power, 0}));
    offsets.push_back(turned_offsets(topology, {power, 2 * power}));
  }
  return power == n ? std::optional(offsets) : std::nullopt;
}

std::int32_t length_of(const Offset& offset) {
  std::int32_t sum = 0;
  for (const std::int32_t h : offset) sum += std::abs(h);
  return sum;
}

class OffsetSearch {
 public:
  explicit OffsetSearch(const Topology& topology) : topology_{topology}, linked_{linked_dimensions(topology)} {
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
        for (const Offset& offset : step) sum += length_of(offset);
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

NodeId LatticeTable::shifted(const Topology& topology, NodeId rank, const Offset& offset, std::int32_t sign) {
  Coordinates at = topology.coordinates(rank);
  for (std::size_t d = 0; d < at.size(); ++d) at[d] += sign * offset[d];
  return topology.rank(at);
}

std::vector<bool> LatticeTable::reach(const Topology& topology, const Offsets& offsets, std::size_t first) {
  std::vector<NodeId> members{0};
  std::vector<bool> in(topology.nodes());
  in[0] = true;
  for (std::size_t step = first; step < offsets.size(); ++step) {
    const std::size_t before = members.size();
    for (const Offset& offset : offsets[step]) {
      for (std::size_t i = 0; i < before; ++i) {
        const NodeId to = shifted(topology, members[i], offset);
        if (!in[to]) members.push_back(to);
        in[to] = true;
      }
    }
  }
  return in;
}

LatticeTable::LatticeTable(const Topology& topology, Offsets offsets) : offsets_{std::move(offsets)} {
  std::vector<NodeId> nearest_first(topology.nodes());
  std::iota(nearest_first.begin(), nearest_first.end(), NodeId{0});
  std::stable_sort(nearest_first.begin(), nearest_first.end(),
                   [&](NodeId a, NodeId b) { return topology.distance(0, a) < topology.distance(0, b); });
  const std::vector<bool> all = reach(topology, offsets_);
  complete_ = std::find(all.begin(), all.end(), false) == all.end();
  if (!complete_) return;
  std::vector<bool> before(topology.nodes(), true);
  for (std::size_t step = 0; step < steps(); ++step) {
    std::vector<bool> after = cover(topology, before, reach(topology, offsets_, step + 1), offsets_[step], nearest_first);
    hand_out(topology, step, before, after);
    before = std::move(after);
  }
}

/// Those that can go one way only first, then each the way whose fullest channel has least.
void LatticeTable::hand_out(const Topology& topology, std::size_t step, const std::vector<bool>& before, std::vector<bool>& after) {
  const std::vector<Offset>& offsets = offsets_[step];
  const auto k = static_cast<std::size_t>(topology.dimensions());
  std::vector<std::uint64_t> load(2 * k);  // of each dimension's channels by + and by -: the same everywhere
  const auto add = [&](const Offset& offset, bool out) {
    for (std::size_t d = 0; d < k; ++d) {
      const auto hops = static_cast<std::uint64_t>(std::abs(offset[d]));
      load[2 * d + (offset[d] < 0 ? 1 : 0)] += out ? ~hops + 1 : hops;
    }
  };
  const auto fullest = [&](const Offset& offset) {
    std::pair<std::uint64_t, std::uint64_t> most{0, 0};
    add(offset, false);
    for (std::size_t d = 0; d < k; ++d) {
      if (offset[d] != 0) most.first = std::max(most.first, load[2 * d + (offset[d] < 0 ? 1 : 0)]);
      most.second += static_cast<std::uint64_t>(std::abs(offset[d]));
    }
    add(offset, true);
    return most;
  };
  std::vector<std::pair<NodeId, std::vector<std::size_t>>> open;  // displacements, and the ways that they can go
  for (NodeId x = 0; x < before.size(); ++x) {
    if (!before[x] || after[x]) continue;
    open.emplace_back(x, std::vector<std::size_t>{});
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (after[shifted(topology, x, offsets[i], -1)]) open.back().second.push_back(i);
    }
  }
  std::stable_sort(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<std::size_t> way(open.size());
  constexpr int passes = 3;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t j = 0; j < open.size(); ++j) {
      if (pass > 0) add(offsets[way[j]], true);
      const std::vector<std::size_t>& ways = open[j].second;
      way[j] = *std::min_element(ways.begin(), ways.end(),
                                 [&](std::size_t a, std::size_t b) { return fullest(offsets[a]) < fullest(offsets[b]); });
      add(offsets[way[j]], false);
    }
  }
  std::vector<std::vector<NodeId>>& given = given_.emplace_back(offsets.size());
  std::vector<bool> held = before;
  for (std::size_t j = 0; j < open.size(); ++j) {
    given[way[j]].push_back(open[j].first);
    const NodeId there = shifted(topology, open[j].first, offsets[way[j]], -1);
    if (held[there]) ++combined_;
    held[there] = true;
  }
  for (NodeId x = 0; x < after.size(); ++x) after[x] = after[x] && held[x];
  channel_ += *std::max_element(load.begin(), load.end());
}

LatticeTable LatticeTable::find(const Topology& topology) { return OffsetSearch(topology).find(); }

}  // namespace torus
