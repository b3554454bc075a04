/// The partition of a torus into h x h subnetworks: which h there are, where its nodes stand if h does not divide a side, and how full the
/// subnetworks are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/node.hpp>
#include <torus/topology.hpp>

#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode_broadcast {

inline constexpr std::string_view partition_meaning = "partition into h x h subnetworks";
inline constexpr std::string_view balancing_meaning = "how messages are balanced over the subnetworks";

/// The largest h: it divides every side. 1 for a single ring, whose subnetworks would share its links.
inline std::int32_t largest_partition(const Topology& topology) {
  if (topology.dimensions() < 2) return 1;
  std::int32_t largest = 0;
  for (const DimensionShape& dimension : topology.shape()) largest = std::gcd(largest, dimension.extent);
  return largest;
}

inline std::int32_t largest_side(const Topology& topology) {
  std::int32_t largest = 1;
  for (const DimensionShape& dimension : topology.shape()) largest = std::max(largest, dimension.extent);
  return largest;
}

/// For Parameter::values.
inline std::vector<std::uint32_t> possible_partitions(const Machine& machine) {
  const std::vector<std::int32_t> all = divisors(largest_partition(machine.topology));
  return {all.begin(), all.end()};
}

/// The largest h where none need divide a side: in two dimensions wider than 1 the shorter, else largest_partition().
inline std::int32_t largest_any_partition(const Topology& topology) {
  if (topology.dimensions() != 2) return largest_partition(topology);
  return std::min(topology.extent(0), topology.extent(1));
}

/// Those h, ascending.
inline std::vector<std::int32_t> any_partitions(const Topology& topology) {
  if (topology.dimensions() != 2) return divisors(largest_partition(topology));
  std::vector<std::int32_t> all(static_cast<std::size_t>(largest_any_partition(topology)));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

/// For Parameter::values.
inline std::vector<std::uint32_t> possible_any_partitions(const Machine& machine) {
  const std::vector<std::int32_t> all = any_partitions(machine.topology);
  return {all.begin(), all.end()};
}

/// h, if it is set, divides `largest`.
inline std::optional<Refusal> needs_divisor(std::string_view algorithm, std::int32_t largest, const Request& request) {
  const std::uint32_t h = request.parameters.whole("h");
  if (h == 0 || static_cast<std::uint32_t>(largest) % h == 0) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(h), std::string(algorithm) + " needs a divisor of " + std::to_string(largest),
                 std::to_string(largest), "h"};
}

/// Two dimensions, if the DCNs are to be served by broadcast.
inline std::optional<Refusal> needs_plane(const Topology& topology, const Request& request) {
  if (request.parameters.word("dcn") != "broadcast" || topology.dimensions() == 2) return std::nullopt;
  return Refusal{Refusal::About::parameter, "broadcast", "hierarchical broadcasts over the DCNs of 2-D tori alone", "scatter", "dcn"};
}

/// h, if it is set, is one of any_partitions().
inline std::optional<Refusal> needs_partition(std::string_view algorithm, const Topology& topology, const Request& request) {
  const auto h = static_cast<std::int64_t>(request.parameters.whole("h"));
  const std::int32_t largest = largest_any_partition(topology);
  if (topology.dimensions() != 2) return needs_divisor(algorithm, largest, request);
  if (h <= largest) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(h), std::string(algorithm) + " takes h up to the shorter side",
                 std::to_string(largest), "h"};
}

/// For Plan::observe: counts the blocks in each dilated subnetwork (DDN), before the balancing and after it. A node whose coordinates are
/// all i modulo h belongs to DDN i. `aggregated` and `balanced` are the numbers of steps after which the aggregation and the balancing
/// are over; until then a block is in one place. None where h is 1.
std::function<std::unique_ptr<RunObserver>()> subnetwork_loads(const Machine& machine, const Request& request, std::uint32_t segments,
                                                               std::int32_t h, std::int32_t aggregated, std::int32_t balanced);

/// Embeds a torus whose sides h divides into one whose sides it does not divide: the grid of the stations.
///
/// Each ring of n places has C = floor(n/h) windows, as equal as whole numbers allow. A window has h stations, one a class: of l places the
/// one of class c is number ceil(c l / h). The other places are spare. A window is shorter than 2h, so that each spare place comes after a
/// station. The stations of all dimensions form a torus of C_1 h x C_2 h nodes, on which the phases for sides that h divides run as they
/// are: a leg of the grid is a leg of the machine from station to station the same way round, and the order of places is the same. So
/// legs that share no channel of the grid share none of the machine.
/// Source  this project; the classes are those of lines/deal.hpp, each with one place a window.

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
