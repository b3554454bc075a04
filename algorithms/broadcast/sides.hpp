/// How one line is covered by recursive doubling or tripling: the places that an informed node has still to inform on either side of it.
///
/// Steps of one dimension, with a ports:
///   one port                  ceil(log_2 n)
///   two or more on a ring     ceil(log_3 n)
///   two or more on a line     ceil(log_3 (2m+1)), m the places on the longer side of the root
///   on a complete dimension   ceil(log_{a+1} n)
/// Each is the minimum for a single dimension. On a line, the r places on one side receive over a single channel. After t steps at most
/// 1 + 3 + .. + 3^{t-1} = (3^t-1)/2 of them are informed: each step adds one over that channel and two for each informed place there.
#pragma once

#include <cstdint>

#include <torus/node.hpp>

#include "algorithms/common/segment.hpp"

namespace torus::broadcast {

/// Places still to be informed on the left and on the right of a node, along one dimension.
struct Sides {
  std::int32_t left = 0;
  std::int32_t right = 0;
  friend bool operator==(const Sides&, const Sides&) = default;
};

/// Ports of the machine that a dimension can use: two, on a complete one as many as it has neighbours.
std::int32_t usable_ports(Wiring wiring, std::int32_t extent, std::int32_t ports) noexcept;

/// The sides of a node that begins a dimension: all of a line; a ring is cut open for the splitting rule. `ports`, here and below, are
/// usable_ports().
Sides sides_of_first(Wiring wiring, std::int32_t extent, std::int32_t coordinate, std::int32_t ports) noexcept;

/// The sides of a child. With one port the child is the place of its segment nearest to the sender.
Sides sides_of_child(Wiring wiring, std::int32_t length, std::int32_t ports, bool came_forward) noexcept;

/// The steps of one dimension.
Step steps_of(Wiring wiring, Sides sides, std::int32_t ports) noexcept;

/// One step in one dimension: calls f(offset, length) for each child and returns the sides that are kept.
template <class F>
Sides share_out(Wiring wiring, Sides sides, std::int32_t ports, F&& f) {
  const std::int32_t length = sides.left + 1 + sides.right;
  if (wiring == Wiring::complete) {
    const std::int32_t own = segment::split(length, ports, [&](const segment::Child& child) { f(child.offset, child.length); });
    return {segment::left_of(own, ports), segment::right_of(own, ports)};
  }
  if (ports == 1) {
    // Half of the places lie wholly on one side: their nearest place becomes their holder.
    const std::int32_t half = length / 2;
    if (half == 0) return sides;
    const bool right = sides.right >= half;
    std::int32_t& side = right ? sides.right : sides.left;
    side -= half;
    f(right ? side + 1 : -(side + 1), half);
    return sides;
  }
  // Each side is split as if the other were its mirror image.
  const std::int32_t right = segment::right_of(segment::own_share(2 * sides.right + 1, 2), 2);
  const std::int32_t left = segment::left_of(segment::own_share(2 * sides.left + 1, 2), 2);
  if (const std::int32_t given = sides.right - right; given > 0) f(right + 1 + segment::left_of(given, 2), given);
  if (const std::int32_t given = sides.left - left; given > 0) f(-(left + 1 + segment::right_of(given, 2)), given);
  return {left, right};
}

}  // namespace torus::broadcast
