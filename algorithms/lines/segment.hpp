/// The splitting rule of the broadcasts of Wang, Tseng et al.: how the informed place of a segment divides it in one step.
///
/// A segment is `length` consecutive places on a line, one of them, the owner, informed. Of `ports` messages a step, floor(ports/2) go to
/// the left and ceil(ports/2) to the right. The owner always has left_of(length) places on its left, so a child needs to know only the
/// length. A segment of L places is finished in exactly ceil(log_{ports+1} L) steps, the minimum: the own part and every child's have at
/// most ceil(L / (ports+1)) places. Source: Wang, Tseng, Ni & Sheu, section 3.1, with the owner at floor(ports/2) : ceil(ports/2) instead
/// of the centre, which for odd ports loses a step (15 and 16 places with 3 ports, for instance).
#pragma once

#include <algorithm>
#include <cstdint>

#include <torus/node.hpp>

#include "algorithms/common/integers.hpp"

namespace torus::segment {

/// Places on the owner's left, and on its right.
constexpr std::int32_t left_of(std::int32_t length, std::int32_t ports) noexcept {
  return static_cast<std::int32_t>(std::int64_t{length - 1} * (ports / 2) / ports);
}
constexpr std::int32_t right_of(std::int32_t length, std::int32_t ports) noexcept { return length - 1 - left_of(length, ports); }

struct Child {
  std::int32_t offset;  ///< from the owner to the child, in places
  std::int32_t length;  ///< of the child's segment
  std::int32_t track;   ///< ordinal of the child on its side, 1 = nearest
};

/// Calls f(child) for each child, right side first, nearest first, of an owner that keeps `own` of its `length` places, 1 <= own <= length.
template <class F>
constexpr void share_out(std::int32_t length, std::int32_t own, std::int32_t ports, F&& f) {
  const auto side = [&](std::int32_t rest, std::int32_t edge, std::int32_t side_ports, bool right) {
    const std::int32_t children = std::min(side_ports, rest);
    for (std::int32_t i = 0; i < children; ++i) {
      const std::int32_t size = rest / children + (i < rest % children ? 1 : 0);
      const std::int32_t left = left_of(size, ports);
      f(Child{right ? edge + 1 + left : -(edge + size) + left, size, i + 1});
      edge += size;
    }
  };
  side(right_of(length, ports) - right_of(own, ports), right_of(own, ports), ports - ports / 2, true);
  side(left_of(length, ports) - left_of(own, ports), left_of(own, ports), ports / 2, false);
}

/// What the owner keeps in a step of the recursion: an equal share.
constexpr std::int32_t own_share(std::int32_t length, std::int32_t ports) noexcept {
  return static_cast<std::int32_t>((std::int64_t{length} + ports) / (ports + 1));
}

/// One step of the recursion: calls f(child) for each child and returns the length that the owner keeps. No child if length is 1.
template <class F>
constexpr std::int32_t split(std::int32_t length, std::int32_t ports, F&& f) {
  const std::int32_t own = own_share(length, ports);
  share_out(length, own, ports, f);
  return own;
}

}  // namespace torus::segment

namespace torus::lines {

/// A line that is covered by doubling, tripling or the splitting rule: the places that a node has still to inform on either side of it.
///
/// Steps of one dimension, with a ports:
///   one port                  ceil(log_2 n)
///   two or more on a ring     ceil(log_3 n)
///   two or more on a line     ceil(log_3 (2m+1)), m the places on the longer side of the root
///   on a complete dimension   ceil(log_{a+1} n)
/// Each is the minimum for a single dimension. On a line, the r places on one side receive over a single channel. After t steps at most
/// 1 + 3 + .. + 3^{t-1} = (3^t-1)/2 of them are informed: each step adds one over that channel and two for each informed place there.
struct Sides {
  std::int32_t left = 0;
  std::int32_t right = 0;
  friend bool operator==(const Sides&, const Sides&) = default;
};

/// Ports of the machine that a dimension can use: two, on a complete one as many as it has neighbours.
inline std::int32_t usable_ports(Wiring wiring, std::int32_t extent, std::int32_t ports) noexcept {
  return std::min(ports, wiring == Wiring::complete ? std::max(extent - 1, 1) : 2);
}

/// The sides of a node that begins a dimension: all of a line; a ring is cut open for the splitting rule. `ports`, here and below, are
/// usable_ports().
inline Sides sides_of_first(Wiring wiring, std::int32_t extent, std::int32_t coordinate, std::int32_t ports) noexcept {
  if (wiring == Wiring::line) return {coordinate, extent - 1 - coordinate};
  return {segment::left_of(extent, ports), segment::right_of(extent, ports)};
}

/// The sides of a child. With one port the child is the place of its segment nearest to the sender.
inline Sides sides_of_child(Wiring wiring, std::int32_t length, std::int32_t ports, bool came_forward) noexcept {
  if (ports == 1 && wiring != Wiring::complete && !came_forward) return {length - 1, 0};
  return {segment::left_of(length, ports), segment::right_of(length, ports)};
}

/// The steps of one dimension.
inline Step steps_of(Wiring wiring, Sides sides, std::int32_t ports) noexcept {
  const auto places = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  if (wiring == Wiring::line && ports > 1) return ceil_log(3, places(2 * std::int64_t{std::max(sides.left, sides.right)} + 1));
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, places(std::int64_t{sides.left} + 1 + sides.right));
}

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

}  // namespace torus::lines
