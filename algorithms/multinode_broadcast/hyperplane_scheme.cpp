#include "algorithms/multinode_broadcast/hyperplane_scheme.hpp"

#include <algorithm>
#include <cstdlib>

#include "algorithms/broadcast/segment_count.hpp"
#include "algorithms/common/centred.hpp"
#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {

HyperplaneScheme::HyperplaneScheme(const Topology& topology, Trees trees)
    : axes_{linked_dimensions(topology)},
      k_{static_cast<std::uint32_t>(axes_.size())},
      n_{largest_extent(topology)},
      trees_{trees},
      tree_{LineTree::window(trees == Trees::lines ? 3 : static_cast<std::int32_t>(2 * std::max<std::uint32_t>(1, k_) + 1), n_)},
      exchange_{k_, n_},
      nodes_{static_cast<double>(topology.nodes())} {
  for (std::uint32_t part = 0; part < parts(); ++part) {
    for (NodeId node = 0; node < topology.nodes(); ++node) owners_.push_back(rank_in_plane(gathered(topology.coordinates(node), part)));
  }
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
  return owners_[part_of(block) * static_cast<std::size_t>(topology.nodes()) + node];
}

double HyperplaneScheme::dealing_bytes(Bytes m) const {
  const auto reach = static_cast<std::uint64_t>(reach_);
  double sum = 0;
  for (std::uint64_t from = 1; from <= reach; ++from) {  // the pieces for those `from` and more places away
    Bytes most = 0;
    for (std::uint64_t move = 0; move < k_; ++move)
      most =
          std::max(most, broadcast::bytes_of_segments(m, segments(), (move * reach + from) * parts(), ((move + 1) * reach + 1) * parts()));
    sum += static_cast<double>(most);
  }
  return sum;
}

double HyperplaneScheme::exact_channel_bytes(Bytes m) const {
  Bytes part = 0;  // of the longest part, all pieces
  for (std::uint64_t a = 0; a < parts(); ++a) {
    Bytes sum = 0;
    for (std::uint64_t q = 0; q < pieces(); ++q) sum += broadcast::bytes_of_segments(m, segments(), q * parts() + a, q * parts() + a + 1);
    part = std::max(part, sum);
  }
  const auto whole = static_cast<double>(m), longest = static_cast<double>(part);
  double sum = dealing_bytes(m) + longest * nodes_ * tree_.levels();
  for (const std::int32_t size : tree_.level_sizes()) sum += longest * size;
  for (std::size_t step = 0; step < exchange_.steps(); ++step) sum += whole * n_ * static_cast<double>(exchange_.most_bundles(step));
  return sum;
}

double HyperplaneScheme::channel_bytes(double s, Bytes m) const {
  if (nodes_ <= 1 || s <= 0) return 0;
  const double share = s / nodes_;
  if (share >= 1) return exact_channel_bytes(m);
  const double item = static_cast<double>(m) / segments(), pieces_a_node = pieces();
  double sum = dealing_bytes(m) + item * pieces_a_node * s * tree_.levels();
  for (const std::int32_t size : tree_.level_sizes()) sum += item * fullest(size * pieces_a_node * share, nodes_, size * pieces_a_node);
  for (std::size_t step = 0; step < exchange_.steps(); ++step) {
    const double most = static_cast<double>(exchange_.most_bundles(step)) * n_ * segments();
    sum += item * fullest(most * share, static_cast<double>(exchange_.nodes() * exchange_.moves()), most);
  }
  return sum;
}

}  // namespace torus::multinode
