#include "algorithms/reduction/line_stages.hpp"

#include "algorithms/reduction/reach.hpp"

namespace torus::reduction {

LineStages::LineStages(Dimension d, const DimensionShape& shape) : dimension{d}, line{shape}, reach{reduction::reach(shape)} {}

/// First the chunk, then its half: halves first would meet their next stage in the same step.
std::pair<std::uint64_t, std::uint64_t> LineStages::Leaving::range(std::uint64_t size) const noexcept {
  const auto number = static_cast<std::uint64_t>(chunk), of = static_cast<std::uint64_t>(chunks);
  const std::uint64_t first = number * size / of, end = (number + 1) * size / of;
  const std::uint64_t middle = first + (end - first + 1) / 2;
  return {half == 2 ? middle : first, half == 1 ? middle : end};
}

std::int32_t LineStages::receiver(std::int32_t place, const Leaving& leaving) const noexcept {
  return line.wiring == Wiring::complete ? leaving.to : modulo(place + leaving.hops, line.extent);
}

}  // namespace torus::reduction
