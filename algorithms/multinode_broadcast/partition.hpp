/// What the broadcasts that partition a torus share: the parameter h, and how full the subnetworks are.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

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

/// For Plan::observe: counts the blocks in each dilated subnetwork (DDN), before the balancing and after it. Node (i, j) of the diagonals i
/// = j (mod h) belongs to DDN i mod h. `aggregated` and `balanced` are the numbers of steps after which the aggregation and the balancing
/// are over; until then a block is in one place. None where h is 1 or the machine is no torus n x n.
std::function<std::unique_ptr<RunObserver>()> subnetwork_loads(const Machine& machine, const Request& request, std::uint32_t segments,
                                                               std::int32_t h, std::int32_t aggregated, std::int32_t balanced);

}  // namespace torus::multinode_broadcast
