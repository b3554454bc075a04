/// Bytes of predictions: counts of blocks, steps or nodes times bytes, and their sums.
///
/// A message may have 2^63 bytes, and a machine 2^31 nodes, so that such a product does not fit into 64 bits. Every prediction is therefore
/// made of doubles: whole numbers are exact up to 2^53, beyond they round, and none wraps. What a message is split into still has whole
/// bytes. A prediction below its lower bound or beyond 2^63 is refused where plans are made: check_prediction() in run.hpp.
#pragma once

#include <cstdint>

#include <torus/machine.hpp>

namespace torus {

/// A sum of bytes over steps, channels or nodes.
using ByteSum = double;

/// The most bytes that a prediction may say, and a request ask for: beyond, figures of whole bytes have no room.
inline constexpr double most_predicted_bytes = 0x1p63;

/// count * bytes.
constexpr ByteSum times_bytes(std::uint64_t count, Bytes bytes) noexcept { return static_cast<double>(count) * static_cast<double>(bytes); }

}  // namespace torus
