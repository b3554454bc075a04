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
