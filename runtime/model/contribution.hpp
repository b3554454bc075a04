/// The values that nodes contribute to a reduction, how two partials are combined, and the signatures that tell whose contributions a
/// partial has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <torus/block.hpp>
#include <torus/reduction.hpp>

namespace torus::detail {

/// Contributions of values real to a sum are multiples of 2^(this - digits of the mantissa), and below 1.
inline constexpr int real_exponent = -8;

/// Writes the elements of a node's contribution from the element `first` of the vector on. A function of (seed, node, element) alone.
void fill_contribution(std::span<std::byte> bytes, const Reduction& reduction, NodeId nodes, std::uint64_t seed, NodeId node,
                       std::uint64_t first) noexcept;

/// into := into op from, element by element; values.md says what that gives. The bytes are whole elements; the two do not overlap.
using Combiner = void (*)(std::byte* into, const std::byte* from, Bytes bytes) noexcept;
Combiner combiner_of(const Reduction& reduction) noexcept;

/// Divides each element of a sum by a number of contributions: integers towards zero, floating-point numbers to the nearest. Null where
/// results are what was combined.
using Divider = void (*)(std::byte* elements, Bytes bytes, NodeId by) noexcept;
Divider divider_of(const Reduction& reduction) noexcept;

/// A partial's signature is the sum of its contributors' keys modulo 2^64. A wrong multiset of contributors passes for the right one with
/// probability at most 2^(j-64), where 2^j is the largest power of two that divides all differences of multiplicities: 2^-64 if one is
/// missing, or there twice.
std::uint64_t contributor_key(std::uint64_t seed, NodeId node) noexcept;

}  // namespace torus::detail
