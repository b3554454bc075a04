/// The two edge-disjoint fences of an r x c mesh: which half of the segments a node passes on by which of its two ports.
///
/// Places are relative to the root, which is (0, 0) of a virtual torus: row i and column j, both taken round. "East" goes to column j+1,
/// "south" to row i+1; on a mesh the way round is the long way back. A node sends east only in steps of the parity of i+j, south in the
/// others. Fence 1 carries the even segments and leaves the root to the east. Fence 2 carries the odd ones and leaves it to the south.
/// Transposing the mesh exchanges east and south and the fences.
/// Source: Barnett, Payne, van de Geijn & Watts, "Pipelined Broadcast" (the disjoint-edge fence). For odd sides, where the plain fence
/// would let a node receive twice in a step, the feeds of row 0 and column 0 are ours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <torus/byte_sum.hpp>
#include <torus/machine.hpp>

#include "algorithms/broadcast/axes.hpp"

namespace torus::broadcast {

/// What a node does with one of its ports.
struct FencePort {
  std::uint32_t fence = 0;  ///< 1 or 2: the fence of the segments that it passes on; 0: the port is not used
  bool diagonal = false;    ///< the route takes a second leg, in the other dimension: one place east and one south

  friend constexpr bool operator==(const FencePort&, const FencePort&) = default;
};

/// The east port of (i, j) in an r x c mesh, r, c >= 2.
constexpr FencePort east_port(std::uint32_t r, std::uint32_t c, std::uint32_t i, std::uint32_t j) noexcept {
  if (j < c - 1) return {i == 0 ? 1U : 2U, false};
  if (c % 2 == 0) return {i >= 1 ? 1U : 0U, false};
  return i + 2 <= r ? FencePort{1, true} : FencePort{};
}

/// The south port: the east port of the transposed mesh, with the fences exchanged.
constexpr FencePort south_port(std::uint32_t r, std::uint32_t c, std::uint32_t i, std::uint32_t j) noexcept {
  const FencePort port = east_port(c, r, j, i);
  return {port.fence == 0 ? 0 : 3 - port.fence, port.diagonal};
}

/// The step in which segment s of fence 1 is sent to (i, j), other than the root. For fence 2 exchange r and c, i and j.
constexpr std::uint64_t fence_step(std::uint32_t c, std::uint32_t i, std::uint32_t j, std::uint64_t s) noexcept {
  if (i == 0) return s + j - 1;
  if (j > 0) return s + i + j;
  if (c % 2 == 0) return s + i + c + 1;
  return i == 1 ? s + c - 1 : s + i + c;
}

/// The steps of K >= 1 segments: at most K + r + c.
constexpr std::uint64_t fence_steps(std::uint32_t r, std::uint32_t c, std::uint64_t segments) noexcept {
  const auto last = [](std::uint64_t s, std::uint64_t rows, std::uint64_t columns) {
    return s + rows + columns - (columns % 2 == 0 ? 0U : rows == 2 ? 2U : 1U);
  };
  const std::uint64_t even = (segments - 1) / 2 * 2;
  const std::uint64_t odd = segments / 2 * 2;  // the largest odd segment, plus 1
  return 1 + std::max(last(even, r, c), odd > 0 ? last(odd - 1, c, r) : 0);
}

/// The bytes of a step's longest segment, summed over the steps. A step in which no node may send costs none.
ByteSum fence_channel_bytes(std::uint32_t r, std::uint32_t c, Bytes bytes, std::uint64_t segments);

/// The steps of `segments` segments over a ring of `places`, and the bytes on a step's busiest channel, summed over the steps.
std::uint64_t pipeline_steps(Place places, std::uint64_t segments) noexcept;
ByteSum pipeline_channel_bytes(Place places, Bytes bytes, std::uint64_t segments) noexcept;

}  // namespace torus::broadcast
