/// The bytes of a reduction's segments, for predictions.
#pragma once

#include <cstdint>

#include <torus/algorithm.hpp>
#include <torus/byte_sum.hpp>

namespace torus::reduction {

/// The longest of the segments that a request's bytes are cut into, in whole elements.
struct SegmentBytes {
  SegmentBytes(const Request& request, std::uint64_t segments) noexcept {
    const Bytes element = unit_of(request.collective, request.reduction);
    const Bytes elements = request.bytes / element;
    equal = elements % segments == 0;
    longest = (elements / segments + (equal ? 0 : 1)) * element;
  }
  /// Bytes of `count` segments: exact where all are equally long, otherwise an upper limit.
  ByteSum of(std::uint64_t count) const noexcept { return times_bytes(count, longest); }

  bool equal = true;
  Bytes longest = 0;
};

}  // namespace torus::reduction
