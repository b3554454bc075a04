/// What every node of `joint-swath` knows beforehand: it follows from the machine and the request's sizes alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <torus/machine.hpp>

#include "algorithms/broadcast/line_spread.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::multinode {

/// An immutable value.
struct JointFrame {
  /// sources: expected ones.
  JointFrame(const Machine& machine, Bytes message, std::uint32_t pieces, double sources);

  Topology topology;
  broadcast::Ways ways;
  std::vector<Dimension> linked;
  std::uint32_t parts;    ///< of a message, 0 for a single node; they work in different dimensions
  std::int32_t shortest;  ///< of the rings: no more classes of rows
  CostModel cost;
  Bytes bytes;                ///< of a message
  std::uint32_t h;            ///< that is asked for; 0: any
  std::uint32_t part_blocks;  ///< blocks of a part

  std::uint32_t segments() const noexcept { return std::max(1U, parts * part_blocks); }
  /// The dimensions of a part: that of its rows' classes first, then those along which rows go.
  Dimension along(std::uint32_t part, std::size_t e) const noexcept { return linked[(part + e) % linked.size()]; }
  /// Of a part: no more than its blocks, or than the shortest ring has classes.
  std::int32_t most_pieces() const noexcept { return std::min(shortest, static_cast<std::int32_t>(part_blocks)); }
  /// Rounds in which so many sources go out with h pieces: each takes h classes of the shortest ring.
  std::int32_t rounds(std::int32_t sources, std::int32_t pieces) const noexcept {
    return ceil_div(sources, std::max(1, shortest / pieces));
  }
  /// The values of h worth a try: small ones, then fewer, and those that use all of the shortest ring.
  std::vector<std::int32_t> candidates() const;
  /// Of the schedules for so many sources that are in memory at once, about: a message for each row and column.
  Bytes schedule_bytes(std::int32_t sources) const noexcept;
};

}  // namespace torus::multinode
