#include "algorithms/lines/paired_line.hpp"

#include <algorithm>
#include <bit>

namespace torus::lines {

std::int32_t PairedLine::steps() const noexcept {
  if (n_ == 1) return 0;
  if (doubles_) return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(n_ - 1)));
  if (line_) return n_ % 2 == 0 ? n_ - 1 : n_;
  return odd_ring() ? (n_ + 3) / 2 : n_ / 2;
}

std::int32_t PairedLine::partner(std::int32_t place, std::int32_t step, bool back) const noexcept {
  if (odd_ring()) {
    const std::int32_t rest = back && step == steps() - 1 ? step - 2 : step, r = modulo(place - rest, n_);
    return r == 0 ? 0 : r % 2 != 0 ? +1 : -1;
  }
  const std::int32_t way = (place + step) % 2 == 0 ? +1 : -1;
  return line_ && (place + way < 0 || place + way >= n_) ? 0 : way;
}

std::int32_t PairedLine::target(std::int32_t place, std::int32_t step) const noexcept {
  return doubles_ ? std::int32_t{1} << step : partner(place, step);
}

std::int32_t PairedLine::source(std::int32_t place, std::int32_t step) const noexcept {
  return doubles_ ? -(std::int32_t{1} << step) : partner(place, step);
}

std::int32_t PairedLine::hops(std::int32_t offset) const noexcept {
  if (!doubles_) return offset;
  const std::int32_t up = modulo(offset, n_);
  return complete_ || up == 1 ? up : -1;
}

PairedLine::Heard PairedLine::heard(std::int32_t place, std::int32_t step, bool all) const noexcept {
  Heard heard{};
  if (odd_ring()) {
    const std::int32_t r = modulo(place - step, n_), odd = r % 2;
    const std::int32_t later = all ? (r == n_ - 1 ? 1 : 0) : (place < step && place != 0 ? 1 : 0);
    heard = {step - 1 + odd - later, (step <= place && place <= n_ - step ? step : step - 1) - odd};
  } else {
    const bool up_next = (place + step) % 2 == 0;
    heard = {up_next ? step : step - 1, up_next ? step - 1 : step};
    if (line_) heard = {std::min(heard.behind, place), std::min(heard.ahead, n_ - 1 - place)};
  }
  return {std::max(heard.behind, 0), std::max(heard.ahead, 0)};
}

PairedLine::Run PairedLine::gathered(std::int32_t place, std::int32_t step) const noexcept {
  if (doubles_) {
    const std::int32_t far = std::int32_t{1} << step, count = std::min(far, n_ - far);
    return {modulo(place - far - count + 1, n_), count};
  }
  const std::int32_t way = partner(place, step);
  if (way == 0) return {place, 0};
  const Heard here = heard(place, step, false), there = heard(modulo(place + way, n_), step, false);
  const std::int32_t news = way > 0 ? there.ahead + 1 - here.ahead : there.behind + 1 - here.behind;
  const std::int32_t count = std::clamp(std::min(news, n_ - 1 - here.behind - here.ahead), 0, 2);
  return {modulo(way > 0 ? place + here.ahead + 1 : place - here.behind - count, n_), count};
}

std::int32_t PairedLine::longest_gathered(std::int32_t step) const noexcept {
  if (doubles_) return gathered(0, step).count;
  return step == 0 || (n_ % 2 != 0 && step == steps() - 1) ? 1 : 2;
}

std::int32_t PairedLine::waited(std::int32_t origin, std::int32_t way, std::int32_t step) const noexcept {
  const bool even = origin % 2 == 0;
  if (!odd_ring()) return even == (way > 0) ? 0 : 1;
  if (way > 0) return origin == 0 ? 2 : even ? 1 : 0;
  if (origin == 0) return 1;
  return (even ? 0 : 1) + (step > (origin + 1) / 2 ? 1 : 0);
}

std::int32_t PairedLine::reach(std::int32_t origin, std::int32_t way) const noexcept {
  if (line_) return way > 0 ? n_ - 1 - origin : origin;
  if (odd_ring()) return (n_ - 1) / 2;
  return (origin % 2 == 0) == (way > 0) ? n_ / 2 : n_ / 2 - 1;
}

std::int32_t PairedLine::way(std::int32_t origin, std::int32_t destination) const noexcept {
  if (line_) return destination - origin;
  const std::int32_t up = modulo(destination - origin, n_);
  return complete_ || up <= (doubles_ ? 1 : reach(origin, +1)) ? up : up - n_;
}

std::int32_t PairedLine::longest_exchanged(std::int32_t step) const noexcept {
  if (doubles_) {
    std::int32_t blocks = 0;
    for_exchanged(0, step, [&](std::int32_t, std::int32_t) { ++blocks; });
    return blocks;
  }
  if (line_) return std::max((step == 0 ? 1 : 2) * (n_ - 1 - step), n_ % 2 != 0 && step > 0 ? n_ - step : 0);
  if (!odd_ring()) return step == 0 ? n_ / 2 : n_ - 2 * step;
  const std::int32_t far = (n_ - 1) / 2;
  return step == 0 ? far : step == 1 ? 2 * far - 1 : std::max(3 * (far + 1 - step), 1);
}

std::optional<PairedLine::Sum> PairedLine::message(std::int32_t place, std::int32_t step) const noexcept {
  if (doubles_) {  // register 1: the sum of the s places before a place; s goes through the binary digits of n-1
    const std::int32_t left = steps() - 1 - step, others = n_ - 1, digit = others >> left & 1, s = others >> (left + 1);
    const bool later = (others & ((std::int32_t{1} << left) - 1)) != (std::int32_t{1} << left) - 1;  // a digit 0 is to come
    return Sum{s + digit, 1 - digit, digit != 0 || later, later, {modulo(place - s, n_), s + digit}};
  }
  const std::int32_t way = partner(place, step, true);
  if (way == 0) return std::nullopt;
  const Heard here = heard(place, step, true), there = heard(modulo(place + way, n_), step, true);
  const std::int32_t news = way > 0 ? here.behind + 1 - there.behind : here.ahead + 1 - there.ahead;
  const std::int32_t count = std::min(news, n_ - 1 - there.behind - there.ahead);
  if (count <= 0) return std::nullopt;
  const bool whole = count == here.behind + here.ahead + 1;
  const std::int32_t receiver = place + way, first = way > 0 ? receiver - there.behind - count : receiver + there.ahead + 1;
  return Sum{way, whole ? 0 : 1, whole, false, {modulo(first, n_), count}};
}

std::optional<PairedLine::Sum> PairedLine::sum(std::int32_t place, std::int32_t step) const noexcept {
  std::optional<Sum> out = message(place, step);
  if (!out || doubles_) return out;
  std::optional<Sum> next;  // of the receiver
  for (std::int32_t later = step + 1; later < steps() && !next; ++later) next = message(modulo(place + out->offset, n_), later);
  out->into_both = next && next->from == 1;
  return out;
}

}  // namespace torus::lines
