#include "algorithms/lines/deal.hpp"

namespace torus::lines {

std::int32_t RowClasses::class_at(std::int32_t index) const noexcept {
  const std::int32_t w = windows_.part_of(index);
  return static_cast<std::int32_t>(std::int64_t{index - windows_.start(w)} * h_ / windows_.length(w));
}

std::int32_t RowClasses::class_of(std::int32_t place) const noexcept { return class_at(index_of(place)); }

std::vector<std::int32_t> RowClasses::places_of(std::int32_t piece) const {
  std::vector<std::int32_t> places;
  for (std::int32_t w = 0; w < windows_.parts; ++w) {
    for (std::int32_t x = first(w, piece); x < end(w, piece); ++x) places.push_back(modulo(windows_.start(w) + x - origin_, n_));
  }
  std::sort(places.begin(), places.end());
  return places;
}

std::int32_t RowClasses::distance(std::int32_t index, std::int32_t direction, std::int32_t piece) const noexcept {
  const std::int32_t w = windows_.part_of(index);
  const std::int32_t x = index - windows_.start(w);
  if (direction < 0) {
    if (x >= first(w, piece)) return std::max(0, x - (end(w, piece) - 1));
    if (!wraps_ && w == 0) return 2 * n_;
    const std::int32_t before = (w + windows_.parts - 1) % windows_.parts;
    return x + windows_.length(before) - (end(before, piece) - 1);
  }
  if (x < end(w, piece)) return std::max(0, first(w, piece) - x);
  if (!wraps_ && w == windows_.parts - 1) return 2 * n_;
  return windows_.length(w) - x + first((w + 1) % windows_.parts, piece);
}

std::int32_t RowClasses::longest_gap() const noexcept {
  std::int32_t longest = 1;
  for_gaps([&](std::int32_t, std::int32_t gap) { longest = std::max(longest, gap); });
  return longest;
}

Step RowClasses::gather_steps() const noexcept {
  if (ways_ == Ways::complete) return n_ > 1 ? 1 : 0;
  const std::int32_t gap = longest_gap();
  return static_cast<Step>(ways_ == Ways::both ? gap / 2 : gap - 1);  // forward: to the place before the next with the piece
}

std::optional<RowClasses::Take> RowClasses::taken(std::int32_t place, std::int32_t direction, std::int32_t distance_) const noexcept {
  const std::int32_t index = index_of(place), from = index + direction * distance_;
  if (!wraps_ && (from < 0 || from >= n_)) return std::nullopt;
  const std::int32_t piece = class_at(modulo(from, n_));
  const std::int32_t near = distance(index, direction, piece);
  if (ways_ == Ways::forward) return near == distance_ && direction < 0 ? std::optional(Take{piece, Share::whole}) : std::nullopt;
  const std::int32_t far = distance(index, -direction, piece);
  if (near != distance_ || near > far) return std::nullopt;  // another place with this piece is nearer
  return Take{piece, near < far ? Share::whole : direction < 0 ? Share::first_half : Share::second_half};
}

}  // namespace torus::lines
