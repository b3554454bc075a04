/// The schedule of `joint-swath` once the sources are known: which rows each source has, and when its messages go out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>

#include "algorithms/multinode_broadcast/joint_round.hpp"

namespace torus::multinode {

/// An immutable value.
class JointSchedule {
 public:
  using Round = JointRound;
  /// Consecutive blocks.
  struct Blocks {
    BlockId first = 0;
    std::uint32_t count = 0;
  };

  /// For sources in ascending order.
  JointSchedule(const JointFrame& frame, std::span<const NodeId> sources, std::int32_t h, bool by_columns);
  /// The same, but along the first dimension of its rows a piece is scattered, a share for each place, and gathered in the end.
  JointSchedule with_shares() const;

  std::int32_t h() const noexcept { return h_; }
  bool by_columns() const noexcept { return by_columns_; }
  bool in_shares() const noexcept { return in_shares_; }
  const std::vector<Round>& rounds() const noexcept { return rounds_; }
  const broadcast::RowClasses& classes(std::uint32_t part) const noexcept { return classes_[part]; }
  const broadcast::LineSpread& row(std::uint32_t part, std::size_t e) const noexcept { return rows_[(part + e) % rows_.size()]; }
  Step row_steps(std::size_t e) const noexcept { return row_steps_[e]; }
  /// Of the classes.
  Step gather_steps() const noexcept { return gather_steps_; }
  /// Of the shares, after that.
  Step share_steps() const noexcept { return share_steps_; }
  const broadcast::RowClasses& shares(std::uint32_t part) const noexcept { return shares_[(part + 1) % shares_.size()]; }
  std::uint64_t steps() const noexcept;
  /// Sum over the steps of the most blocks on a channel, with the blocks of a piece or share rounded up.
  double channel_blocks() const noexcept;

  /// Of a source and part: a piece.
  Blocks piece(NodeId source, std::uint32_t part, std::int32_t piece) const noexcept;
  /// Of a piece: the share of a place along the first dimension of the rows.
  Blocks share(const Blocks& piece, std::uint32_t part, std::int32_t place) const noexcept;
  /// The source whose pieces a class of rows has in a round, or no_source.
  NodeId owner(const Round& round, std::uint32_t part, std::int32_t class_) const noexcept {
    return round.owners[part][static_cast<std::size_t>(class_ / h_)];
  }

 private:
  Blocks cut(const Blocks& whole, std::int32_t i, std::int32_t n) const noexcept;
  double row_blocks(double piece) const noexcept;
  double gather_blocks(double piece) const noexcept;

  std::uint32_t parts_, part_blocks_;
  std::int32_t h_;
  bool by_columns_, in_shares_ = false;
  std::int32_t at_once_;                        // most sources of a round
  std::vector<broadcast::RowClasses> classes_;  // by part
  std::vector<broadcast::RowClasses> shares_;   // by linked dimension
  std::vector<broadcast::LineSpread> rows_;     // by linked dimension
  std::vector<Round> rounds_;
  std::vector<Step> row_steps_;  // by e of JointFrame::along(): the most of any part
  Step gather_steps_ = 0, share_steps_ = 0;
};

/// With the least model time for these sources, or with the h that is asked for. Of many sources some are weighed, and stand for all.
JointSchedule choose_joint_schedule(const JointFrame& frame, std::span<const NodeId> sources);

}  // namespace torus::multinode
