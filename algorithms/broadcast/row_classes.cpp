#include "algorithms/broadcast/row_classes.hpp"

namespace torus::broadcast {

std::int32_t RowClasses::window_of(std::int32_t place) const noexcept {
  // The last window that starts at the place or before it: floor(w n / C) <= place.
  return static_cast<std::int32_t>((std::int64_t{place + 1} * windows_ - 1) / n_);
}

std::int32_t RowClasses::class_of(std::int32_t place) const noexcept {
  const std::int32_t w = window_of(place);
  return static_cast<std::int32_t>(std::int64_t{place - start(w)} * h_ / length(w));
}

std::vector<std::int32_t> RowClasses::places_of(std::int32_t piece) const {
  std::vector<std::int32_t> places;
  for (std::int32_t w = 0; w < windows_; ++w) {
    for (std::int32_t x = first(w, piece); x < end(w, piece); ++x) places.push_back(start(w) + x);
  }
  return places;
}

std::int32_t RowClasses::distance(std::int32_t place, std::int32_t direction, std::int32_t piece) const noexcept {
  const std::int32_t w = window_of(place);
  const std::int32_t x = place - start(w);
  if (direction < 0) {
    if (x >= first(w, piece)) return std::max(0, x - (end(w, piece) - 1));
    const std::int32_t before = (w + windows_ - 1) % windows_;
    return x + length(before) - (end(before, piece) - 1);
  }
  if (x < end(w, piece)) return std::max(0, first(w, piece) - x);
  return length(w) - x + first((w + 1) % windows_, piece);
}

Step RowClasses::gather_steps() const noexcept {
  if (ways_ == Ways::both) return static_cast<Step>(longest_window() / 2);
  std::int32_t farthest = 1;
  for_gaps([&](std::int32_t, std::int32_t gap) { farthest = std::max(farthest, gap); });
  return static_cast<Step>(farthest - 1);  // the place before the next with the piece
}

std::optional<RowClasses::Take> RowClasses::taken(std::int32_t place, std::int32_t direction, std::int32_t distance_) const noexcept {
  const std::int32_t piece = class_of(modulo(place + direction * distance_, n_));
  const std::int32_t near = distance(place, direction, piece);
  if (ways_ == Ways::forward) return near == distance_ && direction < 0 ? std::optional(Take{piece, Share::whole}) : std::nullopt;
  const std::int32_t far = distance(place, -direction, piece);
  if (near != distance_ || near > far) return std::nullopt;  // another place with this piece is nearer
  return Take{piece, near < far ? Share::whole : direction < 0 ? Share::first_half : Share::second_half};
}

}  // namespace torus::broadcast
