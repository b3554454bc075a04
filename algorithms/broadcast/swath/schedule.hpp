/// The schedule of swath and strip: who sends which pieces when. All of it follows from the shape and the layout, so all nodes share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/byte_sum.hpp>
#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "algorithms/lines/deal.hpp"
#include "algorithms/lines/spread.hpp"

namespace torus::broadcast {

using lines::LineSpread;
using lines::RowClasses;
using lines::Ways;

/// How a message is dealt out.
struct SwathLayout {
  std::size_t parts;       ///< of the message, 0 for a single node; they work in different dimensions
  std::size_t forward;     ///< of the parts, the last: those that use one port, and send forwards only; the others use two, and both ways
  std::size_t first;       ///< the dimension of canonical_dimensions() with which the first part begins
  std::size_t levels;      ///< the dimensions of a part that get a bundle of pieces for each place
  std::int32_t h;          ///< pieces of a bundle: classes of the rows along the next dimension
  std::uint32_t pieces{};  ///< of a part: h times the extents of the levels
};

/// The layouts that a machine has room for, more levels first. Forward: of one part, with one port. Both: of as many parts as there are
/// pairs of ports, and with a port over also of one more.
std::vector<SwathLayout> swath_layouts(const Machine& machine, Ways ways);

/// An immutable value. Places are displacements from the source.
class SwathSchedule {
 public:
  enum class Stage : std::uint8_t { scatter, columns, rows, gather };
  /// The same steps for all parts.
  struct Phase {
    Stage stage;
    std::size_t along;  ///< the dimension that is used, as an ordinal in a part's order
    Step begin, end;
  };
  /// One of the parts of the message. In a phase no two parts use the same dimension.
  struct Part {
    /// A dimension that is scattered whole: a bundle for each place.
    struct Level {
      LineSpread scatter;
      RowClasses gather;
      std::uint32_t stride;  ///< blocks of a bundle
    };
    std::vector<Dimension> order;     ///< those of the levels, that of the gather, that of the scatter, the others
    std::uint32_t first_block;        ///< among the segments of the message
    std::uint32_t piece_blocks;       ///< blocks of a piece; a part that uses two ports has twice the blocks of one that uses one
    std::vector<Level> levels;        ///< by ordinal in `order`
    RowClasses classes;               ///< along order[levels]: which piece of the bundle a row gets, and the gather
    LineSpread scatter;               ///< of the pieces, over their columns, along order[levels + 1]
    std::vector<LineSpread> columns;  ///< by piece: over its rows, along order[levels]
    /// [e]: over all places along order[levels + 1 + e]; on a mesh line the first by piece, since each has a root of its own.
    std::vector<std::vector<LineSpread>> rows;
    std::int32_t ahead;  ///< the last piece whose column is counted onwards from the source

    const LineSpread& row(std::size_t e, std::int32_t piece) const noexcept {
      return rows[e].size() == 1 ? rows[e].front() : rows[e][static_cast<std::size_t>(piece)];
    }
  };
  /// The most bytes on a channel and the longest route, each summed over the steps.
  struct Cost {
    ByteSum channel_bytes = 0;
    std::uint64_t route_hops = 0;
  };

  /// A layout of swath_layouts(). Only mesh lines make a difference between sources.
  SwathSchedule(const Machine& machine, const SwathLayout& layout, NodeId source);

  const SwathLayout& layout() const noexcept { return layout_; }
  std::size_t levels() const noexcept { return layout_.levels; }
  const std::vector<Part>& parts() const noexcept { return parts_; }
  const std::vector<Phase>& phases() const noexcept { return phases_; }
  Step steps() const noexcept { return phases_.empty() ? 0 : phases_.back().end; }

  std::uint32_t segments() const noexcept { return std::max(1U, segments_); }

  /// The column, of n, to which the scatter brings a piece: h columns around the source's, or from it on.
  std::int32_t column_of(const Part& part, std::int32_t piece, std::int32_t n) const noexcept {
    return piece <= part.ahead ? piece : n - layout_.h + piece;
  }
  /// The piece of a column; -1 if it has none.
  std::int32_t piece_of(const Part& part, std::int32_t column, std::int32_t n) const noexcept {
    const std::int32_t piece = column <= part.ahead ? column : column + layout_.h - n;
    return column <= part.ahead || piece > part.ahead ? piece : -1;
  }
  /// The piece at an index of the scatter's line. Those of a stretch without the source are consecutive.
  std::int32_t scattered_piece(const Part& part, std::int32_t index) const noexcept {
    const std::int32_t offset = part.scatter.offset(index);
    return offset < 0 ? layout_.h + offset : offset;
  }

  /// What a message of `bytes` costs. Exact. O(sum of the extents).
  Cost cost(Bytes bytes) const;
  Bytes table_bytes() const noexcept;

 private:
  Part make_part(const Topology& topology, NodeId source, std::vector<Dimension> order, Ways ways) const;
  void add_phase(Stage stage, std::size_t along, Step steps);

  SwathLayout layout_;
  std::uint32_t segments_ = 0;
  std::vector<Part> parts_;
  std::vector<Phase> phases_;
};

}  // namespace torus::broadcast
