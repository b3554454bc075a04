#include "algorithms/multinode_broadcast/hyperplane/scheme.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode_broadcast::hyperplane {
namespace {

using Offset = LatticeTable::Offset;
using Offsets = LatticeTable::Offsets;

bool complete(const Topology& plane, const Offsets& offsets) {
  const std::vector<bool> reached = LatticeTable::reach(plane, offsets);
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
  return LatticeTable::shifted(*plane_, from, table_->offset(steps() - 1 - step, move), -1);
}

bool PlaneExchange::passes(std::size_t step, std::size_t move, NodeId end, NodeId owner) const {
  return passes_[step][move][LatticeTable::shifted(*plane_, owner, plane_->coordinates(end), -1)];
}

std::size_t PlaneExchange::most_bundles(std::size_t step) const noexcept {
  std::size_t most = 0;
  for (const std::vector<NodeId>& bundles : table_->given(steps() - 1 - step)) most = std::max(most, bundles.size());
  return most;
}

HyperplaneScheme::HyperplaneScheme(const Topology& topology, Trees trees)
    : axes_{linked_dimensions(topology)},
      k_{static_cast<std::uint32_t>(axes_.size())},
      n_{largest_extent(topology)},
      trees_{trees},
      tree_{LineTree::window(trees == Trees::lines ? 3 : static_cast<std::int32_t>(2 * std::max<std::uint32_t>(1, k_) + 1), n_)},
      nodes_{static_cast<double>(topology.nodes())} {
  std::vector<NodeId> owners;
  for (std::uint32_t part = 0; part < parts(); ++part) {
    for (NodeId node = 0; node < topology.nodes(); ++node) owners.push_back(rank_in_plane(gathered(topology.coordinates(node), part)));
  }
  tables_ = std::make_shared<const Tables>(Tables{PlaneExchange(k_, n_), std::move(owners)});
}

HyperplaneScheme HyperplaneScheme::dealing_to(std::int32_t reach) const {
  HyperplaneScheme scheme = *this;
  scheme.reach_ = reach;
  return scheme;
}

std::int32_t HyperplaneScheme::position(const Coordinates& at) const noexcept {
  std::int32_t sum = 0;
  for (const Dimension d : axes_) sum += at[static_cast<std::size_t>(d)];
  return centred(sum, n_);
}

NodeId HyperplaneScheme::rank_in_plane(const Coordinates& at) const noexcept {
  NodeId rank = 0;
  for (std::size_t a = 0; a + 1 < axes_.size(); ++a)
    rank = rank * static_cast<NodeId>(n_) + static_cast<NodeId>(modulo(at[static_cast<std::size_t>(axes_[a])], n_));
  return rank;
}

/// Up the tree, to the plane.
Coordinates HyperplaneScheme::gathered(Coordinates at, std::uint32_t part) const {
  for (std::int32_t place = position(at); place != 0;) {
    const LineTree::Vertex& v = tree_.at(place);
    const std::size_t axis = trees_ == Trees::lines ? part : static_cast<std::size_t>(std::abs(v.slot) - 1);
    at[static_cast<std::size_t>(axes_[axis])] += v.parent - place;
    place = v.parent;
  }
  return at;
}

NodeId HyperplaneScheme::owner_of(const Topology& topology, BlockId block) const {
  NodeId node = block / segments();
  if (const std::uint32_t piece = piece_of(block); piece > 0) {
    const auto reach = static_cast<std::uint32_t>(reach_);
    const std::uint32_t move = (piece - 1) / reach;
    const auto places = static_cast<std::int32_t>((piece - 1) % reach) + 1;
    Coordinates at = topology.coordinates(node);
    at[static_cast<std::size_t>(axes_[move])] += places;
    at[static_cast<std::size_t>(axes_[(move + 1) % k_])] -= places;
    node = topology.rank(at);
  }
  return tables_->owners[part_of(block) * static_cast<std::size_t>(topology.nodes()) + node];
}

double HyperplaneScheme::dealing_bytes(Bytes m) const {
  const auto reach = static_cast<std::uint64_t>(reach_);
  double sum = 0;
  for (std::uint64_t from = 1; from <= reach; ++from) {  // the pieces for those `from` and more places away
    Bytes most = 0;
    for (std::uint64_t move = 0; move < k_; ++move)
      most = std::max(most, bytes_of_segments(m, segments(), (move * reach + from) * parts(), ((move + 1) * reach + 1) * parts()));
    sum += static_cast<double>(most);
  }
  return sum;
}

double HyperplaneScheme::exact_channel_bytes(Bytes m) const {
  Bytes part = 0;  // of the longest part, all pieces
  for (std::uint64_t a = 0; a < parts(); ++a) {
    Bytes sum = 0;
    for (std::uint64_t q = 0; q < pieces(); ++q) sum += bytes_of_segments(m, segments(), q * parts() + a, q * parts() + a + 1);
    part = std::max(part, sum);
  }
  const auto whole = static_cast<double>(m), longest = static_cast<double>(part);
  double sum = dealing_bytes(m) + longest * nodes_ * tree_.levels();
  for (const std::int32_t size : tree_.level_sizes()) sum += longest * size;
  for (std::size_t step = 0; step < exchange().steps(); ++step) sum += whole * n_ * static_cast<double>(exchange().most_bundles(step));
  return sum;
}

double HyperplaneScheme::channel_bytes(double s, Bytes m) const {
  if (nodes_ <= 1 || s <= 0) return 0;
  const double share = s / nodes_;
  if (share >= 1) return exact_channel_bytes(m);
  const double item = static_cast<double>(m) / segments(), pieces_a_node = pieces();
  double sum = dealing_bytes(m) + item * pieces_a_node * s * tree_.levels();
  for (const std::int32_t size : tree_.level_sizes()) sum += item * fullest(size * pieces_a_node * share, nodes_, size * pieces_a_node);
  for (std::size_t step = 0; step < exchange().steps(); ++step) {
    const double most = static_cast<double>(exchange().most_bundles(step)) * n_ * segments();
    sum += item * fullest(most * share, static_cast<double>(exchange().nodes() * exchange().moves()), most);
  }
  return sum;
}

}  // namespace torus::multinode_broadcast::hyperplane
