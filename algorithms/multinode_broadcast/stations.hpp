/// Embeds a torus whose sides h divides into one whose sides it does not divide: the grid of the stations.
///
/// Each ring of n places has C = floor(n/h) windows, as equal as whole numbers allow. A window has h stations, one a class: of l places the
/// one of class c is number ceil(c l / h). The other places are spare. A window is shorter than 2h, so that each spare place comes after a
/// station. The stations of all dimensions form a torus of C_1 h x C_2 h nodes, on which the phases for sides that h divides run as they
/// are: a leg of the grid is a leg of the machine from station to station the same way round, and the order of places is the same. So
/// legs that share no channel of the grid share none of the machine.
/// Source  this project; the classes are those of lines/deal.hpp, each with one place a window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/node.hpp>
#include <torus/topology.hpp>

namespace torus::multinode_broadcast {

/// What all nodes know of the grid. An immutable value.
class Stations {
 public:
  /// 1 <= h <= every extent.
  Stations(const Topology& topology, std::int32_t h);

  std::int32_t h() const noexcept { return h_; }
  /// Whether h divides every side.
  bool even() const noexcept { return even_; }
  std::int32_t extent(Dimension d) const noexcept { return extents_[static_cast<std::size_t>(d)]; }
  std::int32_t windows(Dimension d) const noexcept { return extent(d) / h_; }
  /// Stations of a ring.
  std::int32_t stations(Dimension d) const noexcept { return windows(d) * h_; }
  /// Where a station stands; any index, modulo their number.
  std::int32_t place(Dimension d, std::int32_t index) const noexcept;
  /// The number of the station at a place (modulo the extent); none where the place is spare.
  std::optional<std::int32_t> index(Dimension d, std::int32_t place) const noexcept;
  /// Places from a station on to another, `stations` further by the way of its sign.
  std::int32_t hops(Dimension d, std::int32_t index, std::int32_t stations) const noexcept;
  /// Places from a station to the next of its class.
  std::int32_t gap(Dimension d, std::int32_t index) const noexcept { return hops(d, index, h_); }
  /// The most places between two stations of a class.
  std::int32_t longest_gap() const noexcept { return longest_gap_; }

 private:
  std::int32_t h_, longest_gap_ = 1;
  bool even_ = true;
  std::vector<std::int32_t> extents_;
  std::vector<std::vector<std::int32_t>> places_, indices_;  // by dimension: of each station, and of each place, where -1 is none
};

/// A node as the grid sees it.
class Station {
 public:
  Station(const Node& self, const Stations& stations);
  /// Whether it stands on the grid at all.
  bool member() const noexcept { return member_; }
  /// In a dimension: whether it is a station there, and which; 0 if it is spare.
  bool stands(Dimension d) const noexcept { return indices_[static_cast<std::size_t>(d)].has_value(); }
  std::int32_t coordinate(Dimension d) const noexcept { return indices_[static_cast<std::size_t>(d)].value_or(0); }
  Coordinates coordinates() const;
  /// The machine's leg for one of the grid from here.
  Leg real(Leg leg) const noexcept;

 private:
  const Stations& stations_;
  std::vector<std::optional<std::int32_t>> indices_;
  bool member_ = true;
};

/// A leg of the grid, or one of the machine where there is no grid.
inline Leg on_machine(const Station* station, Leg leg) noexcept { return station == nullptr ? leg : station->real(leg); }

}  // namespace torus::multinode_broadcast
