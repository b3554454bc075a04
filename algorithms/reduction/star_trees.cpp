#include "algorithms/reduction/star_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "algorithms/reduction/transfers.hpp"
#include "algorithms/reduction/worm_exchange.hpp"

namespace torus::reduction {
namespace {

Worms backwards(Worms worms) {
  for (Worm& worm : worms) {
    std::swap(worm.from, worm.to);
    std::reverse(worm.route.begin(), worm.route.end());
    for (Leg& leg : worm.route) leg.hops = -leg.hops;
  }
  return worms;
}

/// Levels until one node a class is left, or those that are kept, and who is active before and after each.
struct Levels {
  Levels(const Machine& machine, const Sublattice& classes, const std::vector<bool>& kept)
      : active{std::vector<bool>(machine.topology.nodes(), true)} {
    StarPacking packing(machine, classes, kept);
    const auto last = std::max<std::ptrdiff_t>(classes.index(), std::count(kept.begin(), kept.end(), true));
    for (std::ptrdiff_t left = machine.topology.nodes(); left > last; left -= std::ssize(worms.back())) {
      worms.push_back(packing.merge(active.back()));
      active.push_back(active.back());
      for (const Worm& worm : worms.back()) active.back()[worm.from] = false;
    }
  }
  std::vector<std::vector<bool>> active;
  std::vector<Worms> worms;
};

void sort(Worms& worms) {
  std::stable_sort(worms.begin(), worms.end(), [](const Worm& a, const Worm& b) { return a.from < b.from; });
}

/// Those with fewest levels that meet; nothing if none do.
std::optional<StarTrees> joined(const Machine& machine, const Sublattice& classes, const Levels& there, const Levels& back) {
  for (std::size_t levels = 0; levels <= there.worms.size() + back.worms.size(); ++levels) {
    for (std::size_t downs = 0; downs <= std::min(levels, back.worms.size()); ++downs) {
      const std::size_t ups = levels - downs;
      if (ups > there.worms.size()) continue;
      auto worms = worm_exchange(machine, classes, there.active[ups], back.active[downs]);
      if (!worms) continue;
      StarTrees trees;
      trees.exchange = std::move(*worms);
      trees.exchanged = there.active[ups];
      trees.up.assign(there.worms.begin(), there.worms.begin() + static_cast<std::ptrdiff_t>(ups));
      for (std::size_t level = downs; level-- > 0;) trees.down.push_back(backwards(back.worms[level]));
      return trees;
    }
  }
  return std::nullopt;
}

template <class F>
void each_step(const StarTrees& trees, F&& f) {
  for (const Worms& worms : trees.up) f(worms);
  f(trees.exchange);
  for (const Worms& worms : trees.down) f(worms);
}

}  // namespace

StarTrees StarTrees::pack(const Machine& machine, const Sublattice& classes) {
  const Machine mirrored = Transfers::mirrored(machine);
  const Levels there(machine, classes, {});
  auto trees = joined(machine, classes, there, Levels(mirrored, classes, {}));
  // As an alternative those that are left are the same both ways. One node a class always has nothing to exchange with itself.
  for (const std::vector<bool>& active : there.active) {
    if (!worm_exchange(machine, classes, active, active)) continue;
    auto other = joined(machine, classes, there, Levels(mirrored, classes, active));
    if (!trees || (other && other->steps() < trees->steps())) trees = std::move(other);
    break;
  }
  for (Worms& worms : trees->up) sort(worms);
  sort(trees->exchange);
  for (Worms& worms : trees->down) sort(worms);
  return std::move(*trees);
}

std::span<const Worm> StarTrees::of(const Worms& worms, NodeId sender) noexcept {
  const auto first = std::lower_bound(worms.begin(), worms.end(), sender, [](const Worm& worm, NodeId node) { return worm.from < node; });
  const auto end = std::upper_bound(first, worms.end(), sender, [](NodeId node, const Worm& worm) { return node < worm.from; });
  return {first, end};
}

std::uint64_t StarTrees::combined() const {
  std::uint64_t sum = 0;
  const auto add = [&](const Worms& worms, const std::vector<bool>* holders) {
    std::map<NodeId, std::uint64_t> combined;
    std::uint64_t most = 0;
    for (const Worm& worm : worms) ++combined[worm.to];
    for (const auto& [node, count] : combined) most = std::max(most, count - (holders == nullptr || (*holders)[node] ? 0 : 1));
    sum += most;
  };
  for (const Worms& worms : up) add(worms, nullptr);
  add(exchange, &exchanged);
  return sum;
}

std::uint64_t StarTrees::hops() const noexcept {
  std::uint64_t sum = 0;
  each_step(*this, [&](const Worms& worms) {
    std::uint64_t most = 0;
    for (const Worm& worm : worms) {
      std::uint64_t hops = 0;
      for (const Leg& leg : worm.route) hops += static_cast<std::uint64_t>(std::abs(leg.hops));
      most = std::max(most, hops);
    }
    sum += most;
  });
  return sum;
}

Bytes StarTrees::table_bytes() const noexcept {
  Bytes bytes = 0;
  each_step(*this, [&](const Worms& worms) { bytes += worms.capacity() * sizeof(Worm); });
  return bytes;
}

}  // namespace torus::reduction
