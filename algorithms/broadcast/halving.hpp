/// Recursive halving of a row of places: the messages of a broadcast or a scatter that covers a row in ceil(log2 places) steps.
///
/// A part is an interval of places, one of them, the holder, informed. In a step the part is split into two halves of equal size or
/// nearly so. The holder keeps the half that it stands in, the larger one if they differ, and sends to the new holder of the other half.
/// The Target places the new holder:
///   far   The root sends to the far end of the other half. A holder left of the root stands at the left end of its part and sends right;
///         one right of the root stands at the right end and sends left. All messages flow towards the root.
///   near  The place of the other half that is nearest to the holder. All messages flow away from the root.
/// The sizes are the same for both: the largest part of level l has ceil(places / 2^l) places. The largest given halves of all levels
/// together have places - 1 places, which is the cost of a scatter.
/// Source: Barnett, Payne, van de Geijn & Watts, "Recursive Splitting Broadcast" (far); near is its mirror image, for the opposite routing
/// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torus::broadcast {

/// A place in a row, from 0. A row may be the whole machine.
using Place = std::uint32_t;

enum class Target : std::uint8_t { near, far };

struct Part {
  Place first = 0;
  Place end = 1;  ///< one past the last
  Place holder = 0;
  std::int32_t side = 0;  ///< of the root that the holder is on: -1 left, +1 right, 0 for the root itself

  constexpr Place size() const noexcept { return end - first; }
  constexpr bool contains(Place place) const noexcept { return first <= place && place < end; }
  friend constexpr bool operator==(const Part&, const Part&) = default;
};

/// A row of places before the first step.
constexpr Part whole_row(Place places, Place root) noexcept { return {0, places, root, 0}; }

struct Halves {
  Part kept;
  Part given;  ///< its holder is the target
  friend constexpr bool operator==(const Halves&, const Halves&) = default;
};

/// One step of a part of at least two places.
constexpr Halves halve(const Part& part, Target target) noexcept {
  const Place up = part.first + (part.size() + 1) / 2;
  const Place down = part.first + part.size() / 2;
  const Place middle = part.holder < up ? up : down;
  const bool left = part.holder < middle;  // the holder's half
  Halves halves{{part.first, middle, part.holder, part.side}, {middle, part.end, 0, left ? +1 : -1}};
  if (!left) halves = {{middle, part.end, part.holder, part.side}, {part.first, middle, 0, -1}};
  Part& given = halves.given;
  if (part.side != 0) given.side = part.side;
  // Nearest to the holder is the inner end of the other half; far, the root takes the outer one.
  const bool outer = target == Target::far && part.side == 0;
  given.holder = left == outer ? given.end - 1 : given.first;
  return halves;
}

/// The part of a place when it is informed; the whole row for the root. O(log places).
constexpr Part first_part(Place places, Place root, Place place, Target target) noexcept {
  Part part = whole_row(places, root);
  while (part.holder != place) {
    const Halves halves = halve(part, target);
    part = halves.kept.contains(place) ? halves.kept : halves.given;
  }
  return part;
}

/// One step of all parts of a row: replaces each part of two places or more by its halves, and calls f(halves).
template <class F>
void halve_all(std::vector<Part>& parts, Target target, F&& f) {
  for (std::size_t i = 0, n = parts.size(); i < n; ++i) {
    if (parts[i].size() < 2) continue;
    const Halves halves = halve(parts[i], target);
    f(halves);
    parts[i] = halves.kept;
    parts.push_back(halves.given);
  }
}

}  // namespace torus::broadcast
