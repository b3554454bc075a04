#include "algorithms/reduction/lattice_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace torus::reduction {
namespace {

/// A small set that covers `wanted`: every member of it is in the set, or an offset ahead of a member. Of the candidates always the one
/// that covers most, the nearest first; node 0 is one.
std::vector<bool> cover(const Topology& topology, const std::vector<bool>& wanted, const std::vector<bool>& candidates,
                        const std::vector<Offset>& offsets, const std::vector<NodeId>& nearest_first) {
  std::vector<std::vector<NodeId>> ahead(offsets.size(), std::vector<NodeId>(wanted.size())), behind = ahead;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    for (NodeId x = 0; x < wanted.size(); ++x) behind[i][ahead[i][x] = shifted(topology, x, offsets[i])] = x;
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

}  // namespace

NodeId shifted(const Topology& topology, NodeId rank, const Offset& offset, std::int32_t sign) {
  Coordinates at = topology.coordinates(rank);
  for (std::size_t d = 0; d < at.size(); ++d) at[d] += sign * offset[d];
  return topology.rank(at);
}

std::vector<bool> reach(const Topology& topology, const Offsets& offsets, std::size_t first) {
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

}  // namespace torus::reduction
