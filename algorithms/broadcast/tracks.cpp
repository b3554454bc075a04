#include "algorithms/broadcast/tracks.hpp"

namespace torus::broadcast {
namespace {

/// The paper's dimension j, from 1, in the machine's routing order.
Dimension dimension(std::span<const Dimension> order, std::int32_t j) { return order[static_cast<std::size_t>(j) - 1]; }

}  // namespace

Route circuit_track(std::int32_t k, std::int32_t stage, std::int32_t track, std::int32_t offset, std::int32_t scale) {
  const std::int32_t a = offset * scale;
  const std::int32_t d = k - stage + 1;
  if (stage == k) return track == 1 ? Route{{0, a}} : Route{{track - 1, -a}};
  if (track == 1) return {{0, a}, {d - 1, a}};
  if (track == 2) return {{d - 1, a}, {0, a}};
  const std::int32_t m = d + track - 2;
  if (m <= k) return {{m - 1, -a}, {d - 1, a}};
  const std::int32_t j = m - k + 1;
  const std::int32_t aside = offset > 0 ? scale : -scale;
  return {{j - 1, aside}, {0, a}, {d - 1, a}, {j - 1, -aside}};
}

Route wormhole_row(std::span<const Dimension> order, std::int32_t stage, std::int32_t row, std::int32_t a) {
  const auto k = static_cast<std::int32_t>(order.size());
  const auto leg = [&](std::int32_t j, std::int32_t hops) { return Leg{dimension(order, j), hops}; };
  if (stage == k) return row == 1 ? Route{leg(1, a)} : Route{leg(row, -a)};
  if (stage == 1) return row == k ? Route{leg(k, a)} : Route{leg(row, a), leg(k, a)};
  const std::int32_t d = k - stage + 1;
  if (row < d) return {leg(d - row + 1, a), leg(k, -a)};
  return row == d ? Route{leg(1, a)} : Route{leg(row, -a)};
}

Route aligned_wormhole_row(std::span<const Dimension> order, std::int32_t stage, std::int32_t row, std::int32_t a) {
  if (row == 1) return wormhole_row(order, stage, 1, a);
  const auto d = static_cast<std::int32_t>(order.size()) - stage + 1;
  return {{dimension(order, 1), a}, {dimension(order, d), a}};
}

}  // namespace torus::broadcast
