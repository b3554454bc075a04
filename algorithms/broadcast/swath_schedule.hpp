/// The schedule of swath: who sends which pieces when. All of it follows from the shape and h, so all nodes share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "algorithms/broadcast/line_spread.hpp"
#include "algorithms/broadcast/row_classes.hpp"

namespace torus::broadcast {

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
  /// One of the equal parts of the message. In a phase no two parts use the same dimension.
  struct Part {
    std::vector<Dimension> order;     ///< that of the gather, that of the scatter, the others
    RowClasses classes;               ///< along order[0]: which piece a row gets, and the gather
    LineSpread scatter;               ///< of the pieces, over their columns
    std::vector<LineSpread> columns;  ///< by piece: over its rows, along order[0]; empty if the schedule is direct
    std::vector<LineSpread> rows;     ///< [e - 1]: over the ring of order[e]
  };
  /// The most bytes on a channel and the longest route, each summed over the steps.
  struct Cost {
    Bytes channel_bytes = 0;
    std::uint64_t route_hops = 0;
  };

  /// h as possible_swaths() has it.
  SwathSchedule(const Topology& topology, std::int32_t h);

  std::int32_t h() const noexcept { return h_; }
  /// h is every extent: the scatter itself brings every row its piece.
  bool direct() const noexcept { return direct_; }
  const std::vector<Part>& parts() const noexcept { return parts_; }
  const std::vector<Phase>& phases() const noexcept { return phases_; }
  Step steps() const noexcept { return phases_.empty() ? 0 : phases_.back().end; }

  /// 1 where no piece is ever split, else 2.
  std::uint32_t blocks_of_piece() const noexcept { return blocks_of_piece_; }
  std::uint32_t segments() const noexcept;
  /// The ordinal of a piece's first block among the segments of the message.
  std::uint32_t first_block(std::size_t part, std::int32_t piece) const noexcept {
    return (static_cast<std::uint32_t>(part) * static_cast<std::uint32_t>(h_) + static_cast<std::uint32_t>(piece)) * blocks_of_piece_;
  }

  /// The column, of a ring of n, to which the scatter brings a piece: the h columns around the source's.
  std::int32_t column_of(std::int32_t piece, std::int32_t n) const noexcept { return piece <= h_ / 2 ? piece : n - h_ + piece; }
  /// The piece of a column; -1 if it has none.
  std::int32_t piece_of(std::int32_t column, std::int32_t n) const noexcept {
    const std::int32_t piece = column <= h_ / 2 ? column : column + h_ - n;
    return column <= h_ / 2 || piece > h_ / 2 ? piece : -1;
  }
  /// The piece at an index of the scatter's line. Those of a stretch without the source are consecutive.
  std::int32_t scattered_piece(const Part& part, std::int32_t index) const noexcept {
    const std::int32_t offset = part.scatter.offset(index);
    return offset < 0 ? h_ + offset : offset;
  }

  /// For a message of so many bytes. Exact. O(sum of the extents).
  Cost cost(Bytes bytes) const;
  Bytes table_bytes() const noexcept;

 private:
  void add_phase(Stage stage, std::size_t along, Step steps);

  std::int32_t h_;
  bool direct_;
  std::uint32_t blocks_of_piece_ = 1;
  std::vector<Part> parts_;
  std::vector<Phase> phases_;
};

/// The values that h may have: 1 to the least extent above 1; on a single ring 1 and its extent. Fewer where the blocks would be more than
/// a run holds.
std::vector<std::uint32_t> possible_swaths(const Machine& machine);

}  // namespace torus::broadcast
