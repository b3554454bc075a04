#include "algorithms/lines/segment.hpp"

#include <algorithm>

#include "algorithms/common/integers.hpp"

namespace torus::lines {

std::int32_t usable_ports(Wiring wiring, std::int32_t extent, std::int32_t ports) noexcept {
  return std::min(ports, wiring == Wiring::complete ? std::max(extent - 1, 1) : 2);
}

Sides sides_of_first(Wiring wiring, std::int32_t extent, std::int32_t coordinate, std::int32_t ports) noexcept {
  if (wiring == Wiring::line) return {coordinate, extent - 1 - coordinate};
  return {segment::left_of(extent, ports), segment::right_of(extent, ports)};
}

Sides sides_of_child(Wiring wiring, std::int32_t length, std::int32_t ports, bool came_forward) noexcept {
  if (ports == 1 && wiring != Wiring::complete && !came_forward) return {length - 1, 0};
  return {segment::left_of(length, ports), segment::right_of(length, ports)};
}

Step steps_of(Wiring wiring, Sides sides, std::int32_t ports) noexcept {
  const auto places = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  if (wiring == Wiring::line && ports > 1) return ceil_log(3, places(2 * std::int64_t{std::max(sides.left, sides.right)} + 1));
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, places(std::int64_t{sides.left} + 1 + sides.right));
}

}  // namespace torus::lines
