#include "algorithms/total_exchange/equal_phases.hpp"

#include <vector>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::exchange {
namespace {

/// `dimensions` dimensions of extent n, the class a number in the base n.
std::uint32_t halving_phase_of(std::uint32_t n, std::size_t dimensions, std::uint32_t delta, std::size_t i) {
  if (dimensions == 1) return 0;
  const std::size_t half = dimensions / 2;
  std::uint32_t m = 1;
  for (std::size_t j = 0; j < half; ++j) m *= n;
  const std::uint32_t f = delta / m;
  const std::uint32_t e = delta % m;
  const std::uint32_t carried = f == 0 ? m - 1 : (f + m - 1 - e) % (m - 1);  // round by the second half, counted from 0
  if (i >= half) return carried * (m / n) + halving_phase_of(n, half, e, i - half);
  const std::uint32_t round = e == 0 ? 0 : carried + 1;
  return round * (m / n) + halving_phase_of(n, half, f, i);
}

}  // namespace

std::uint32_t halving_phase(const Topology& topology, NodeId delta, std::size_t i) {
  // Dimensions of extent 1 add nothing to a rank: delta is a number in the base n.
  return halving_phase_of(static_cast<std::uint32_t>(largest_extent(topology)), linked_dimensions(topology).size(), delta, i);
}

std::uint32_t closed_form_phase(const Topology& topology, NodeId delta, std::size_t i) {
  std::vector<std::int32_t> p;
  for (const Dimension d : linked_dimensions(topology)) p.push_back(topology.coordinate(delta, d));
  const std::int32_t along_first = p[0];
  const std::int32_t along = p[i];
  if (i >= 1) p[i] += along_first;
  if (i >= 2) p[i - 1] += along;
  const std::int32_t n = largest_extent(topology);
  std::uint32_t phase = 0;
  for (std::size_t j = 1; j < p.size(); ++j) phase = phase * static_cast<std::uint32_t>(n) + static_cast<std::uint32_t>(p[j] % n);
  return phase;
}

}  // namespace torus::exchange
