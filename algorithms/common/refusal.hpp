/// Reasons to refuse a machine that many algorithms share: each gives one line (the value, the rule, a value that would do) or none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>

namespace torus::refusal {

using Refusal = std::optional<std::string>;

/// The machine switches by packets, or by worms where circuits are needed.
Refusal of_switching(std::string_view algorithm, const Machine& machine, Switching needed);
/// The same for worms that keep to one dimension each: where all dimensions are complete or of at most two nodes they are single hops, and
/// packets will do.
Refusal of_switching_along(std::string_view algorithm, const Machine& machine);
/// A dimension is no ring.
Refusal of_torus(std::string_view algorithm, const Machine& machine);
/// The machine has fewer ports than channels.
Refusal of_ports_but_all(std::string_view algorithm, const Machine& machine);
/// The shape is no torus with equal sides.
Refusal of_shape_but_square(std::string_view algorithm, const Machine& machine);
/// The user says in how many segments to cut the message, and the algorithm sends it whole; or cuts it by a rule of its own.
Refusal of_segments(std::string_view algorithm, const Request& request);
Refusal of_segments_at_all(std::string_view algorithm, const Request& request);

/// `8x8x8`: a torus of equal sides, as the command line reads it.
std::string cube(Dimension dimensions, std::uint64_t side);

/// The side of a k-dimensional cube of about so many nodes: the k-th root, rounded down.
std::uint64_t side_of_cube(Dimension dimensions, std::uint64_t nodes);

/// The nearer of two values that would do, the first of equals.
constexpr std::uint64_t nearer(std::uint64_t to, std::uint64_t a, std::uint64_t b) noexcept {
  const auto away = [to](std::uint64_t x) { return x < to ? to - x : x - to; };
  return away(b) < away(a) ? b : a;
}

/// The first reason, if there is one.
template <class... More>
Refusal first_of(Refusal first, More... more) {
  if (first) return first;
  if constexpr (sizeof...(more) > 0) {
    return first_of(std::move(more)...);
  } else {
    return std::nullopt;
  }
}

}  // namespace torus::refusal
