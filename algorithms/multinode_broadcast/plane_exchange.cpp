#include "algorithms/multinode_broadcast/plane_exchange.hpp"

#include <algorithm>
#include <random>

#include "algorithms/common/integers.hpp"

namespace torus::multinode {
namespace {

using reduction::Offset;
using reduction::Offsets;

bool complete(const Topology& plane, const Offsets& offsets) {
  const std::vector<bool> reached = reduction::reach(plane, offsets);
  return std::find(reached.begin(), reached.end(), false) == reached.end();
}

}  // namespace

PlaneExchange::PlaneExchange(std::size_t k, std::int32_t n) : moves_{k}, n_{n} {
  if (k < 2 || n < 2) return;
  plane_.emplace(std::vector<DimensionShape>(k - 1, DimensionShape{n, Wiring::ring}));
  std::optional<std::vector<std::int32_t>> found;
  for (std::size_t steps = ceil_log(k + 1, plane_->nodes()); !found; ++steps) found = distances_for(steps);
  // The table's reduce-scatter runs through its steps forwards, the all-gather backwards.
  distances_ = *found;
  Offsets offsets;
  for (auto distance = distances_.rbegin(); distance != distances_.rend(); ++distance) offsets.push_back(offsets_of(*distance));
  table_.emplace(*plane_, std::move(offsets));
  for (std::size_t step = 0; step < steps(); ++step) {
    std::vector<std::vector<bool>>& of_step = passes_.emplace_back(moves_, std::vector<bool>(plane_->nodes()));
    const auto& given = table_->given(steps() - 1 - step);
    for (std::size_t move = 0; move < moves_; ++move) {
      for (const NodeId displacement : given[move]) of_step[move][displacement] = true;
    }
  }
}

/// Backwards: the opposites of the moves. Axis k-1 has no coordinate here.
std::vector<Offset> PlaneExchange::offsets_of(std::int32_t distance) const {
  std::vector<Offset> offsets;
  for (std::size_t move = 0; move < moves_; ++move) {
    Offset offset(moves_ - 1, 0);
    if (move + 1 < moves_) offset[move] -= distance;
    if (move + 1 != moves_ - 1) offset[(move + 1) % moves_] += distance;
    offsets.push_back(offset);
  }
  return offsets;
}

/// Powers first: of 3 for two axes, whose moves are opposites, else of 2. Then at random, from a fixed seed.
std::optional<std::vector<std::int32_t>> PlaneExchange::distances_for(std::size_t steps) const {
  constexpr std::uint64_t most_work = 4'000'000;
  const std::uint64_t draws = std::clamp<std::uint64_t>(most_work / (plane_->nodes() * (moves_ + 1) * (steps + 1)), 20, 4000);
  std::mt19937_64 random(1);
  for (std::uint64_t draw = 0; draw <= draws; ++draw) {
    std::vector<std::int32_t> distances;
    std::int64_t power = 1;
    for (std::size_t step = 0; step < steps; ++step, power *= moves_ == 2 ? 3 : 2) {
      const auto drawn = static_cast<std::int32_t>(1 + random() % static_cast<std::uint64_t>(n_ - 1));
      distances.push_back(draw == 0 && power < n_ ? static_cast<std::int32_t>(power) : drawn);
    }
    Offsets offsets;
    for (const std::int32_t distance : distances) offsets.push_back(offsets_of(distance));
    if (complete(*plane_, offsets)) return distances;
  }
  return std::nullopt;
}

NodeId PlaneExchange::end_of(std::size_t step, std::size_t move, NodeId from) const {
  return reduction::shifted(*plane_, from, table_->offset(steps() - 1 - step, move), -1);
}

bool PlaneExchange::passes(std::size_t step, std::size_t move, NodeId end, NodeId owner) const {
  return passes_[step][move][reduction::shifted(*plane_, owner, plane_->coordinates(end), -1)];
}

std::size_t PlaneExchange::most_bundles(std::size_t step) const noexcept {
  std::size_t most = 0;
  for (const std::vector<NodeId>& bundles : table_->given(steps() - 1 - step)) most = std::max(most, bundles.size());
  return most;
}

}  // namespace torus::multinode
