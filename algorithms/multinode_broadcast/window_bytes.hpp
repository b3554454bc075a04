/// The bytes of uneven.hpp for all sources, after the rings of the DDNs. Exact.
#pragma once

#include <array>
#include <vector>

#include <torus/byte_sum.hpp>

#include "algorithms/multinode_broadcast/hierarchy.hpp"

namespace torus::multinode {

/// part: bytes of either part of a message; of_ddn: messages of every DDN.
ByteSum window_bytes_of_all(const Hierarchy& scheme, const std::array<Bytes, 2>& part, const std::vector<Bytes>& of_ddn);

}  // namespace torus::multinode
