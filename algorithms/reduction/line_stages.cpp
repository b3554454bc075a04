#include "algorithms/reduction/line_stages.hpp"

#include <numeric>

#include "algorithms/reduction/reach.hpp"

namespace torus::reduction {

LineStages::LineStages(Dimension d, const DimensionShape& shape) : dimension{d}, line{shape}, reach{reduction::reach(shape)} {}

/// A shorter axis cuts each bundle in c = L / gcd(L, r) chunks and does q = r / gcd(L, r) of its r c pairs (stage, chunk) a step, in order.
/// Chunk j of stage s and of stage s + 1 are c >= q pairs apart, so never in one step: what is passed on has arrived.
std::vector<LineStages::Leaving> LineStages::leaving(std::int32_t place, std::uint32_t steps, std::uint32_t step) const {
  const std::int32_t n = line.extent;
  const auto all = static_cast<std::int32_t>(steps);
  const std::int32_t common = std::gcd(all, reach), chunks = all / common, pairs = reach / common;
  std::vector<Leaving> out;
  for (std::int32_t pair = pairs * static_cast<std::int32_t>(step); pair < pairs * static_cast<std::int32_t>(step + 1); ++pair) {
    const std::int32_t distance = reach - pair / chunks, chunk = pair % chunks;
    switch (line.wiring) {
      case Wiring::complete:
        for (std::int32_t to = 0; to < n; ++to) {
          if (to != place) out.push_back({modulo(to - place, n), to, chunk, chunks, 0});
        }
        break;
      case Wiring::line:
        if (place + distance < n) out.push_back({+1, place + distance, chunk, chunks, 0});
        if (place - distance >= 0) out.push_back({-1, place - distance, chunk, chunks, 0});
        break;
      case Wiring::ring: {
        const bool antipode = 2 * distance == n;  // half by each way
        out.push_back({-1, modulo(place - distance, n), chunk, chunks, antipode ? 1 : 0});
        out.push_back({+1, modulo(place + distance, n), chunk, chunks, antipode ? 2 : 0});
        break;
      }
    }
  }
  return out;
}

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

std::vector<std::int32_t> LineStages::senders(std::int32_t place) const {
  const std::int32_t n = line.extent;
  std::vector<std::int32_t> out;
  if (line.wiring != Wiring::complete) {
    out = {modulo(place - 1, n), modulo(place + 1, n)};
    if (n == 2) out.pop_back();
    return out;
  }
  for (std::int32_t sender = 0; sender < n; ++sender) out.push_back(sender);
  return out;
}

}  // namespace torus::reduction
