/// The schedule of `joint-swath`: what is known of it beforehand, what follows from the sources, and which one is best.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/lines/deal.hpp"
#include "algorithms/lines/spread.hpp"

namespace torus::multinode_broadcast::joint_swath {

/// What every node knows beforehand: it follows from the machine and the request's sizes alone. An immutable value.
struct JointFrame {
  /// sources: expected ones.
  JointFrame(const Machine& machine, Bytes message, std::uint32_t pieces, double sources);

  Topology topology;
  CanonicalForm form;
  lines::Ways ways;
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
  /// The most pieces of a part: no more than its blocks, or than the shortest ring has classes.
  std::int32_t most_pieces() const noexcept { return std::min(shortest, static_cast<std::int32_t>(part_blocks)); }
  /// Rounds that a number of sources take with a number of pieces: each source takes `pieces` classes of the shortest ring.
  std::int32_t rounds(std::int32_t sources, std::int32_t pieces) const noexcept;
  /// Candidate h: all small values, then a geometric series, and those that use all of the shortest ring.
  std::vector<std::int32_t> candidates() const;
  /// Estimated memory of the schedules for this many sources that exist at once: a message for each row and column.
  Bytes schedule_bytes(std::int32_t sources) const noexcept;
};

inline constexpr NodeId no_source = ~NodeId{0};

/// One message of a scatter.
struct ScatterSend {
  Step step;
  NodeId from;
  Leg leg;
  NodeId source;
  std::uint32_t part;
  std::vector<std::int32_t> pieces;  ///< ascending
};

/// The sources that go out at the same time: the rows that each has, and the scatter.
///
/// A source scatters along its own ring, straight to its rows. Where a class has several rows, it may also go by columns: it scatters its
/// pieces along the next dimension, each to a column of its own, and from there each goes out to its rows. So no message carries more
/// pieces than it must, and columns are not shared.
struct JointRound {
  std::vector<std::vector<NodeId>> owners;         ///< by part and run of rows: a source, or no_source
  std::vector<std::vector<std::int32_t>> holders;  ///< by part and class: the place along(part, 1) from which its rows are served
  std::vector<ScatterSend> scatter;                ///< in the order of steps, then of senders
  Step scatter_steps = 0;
};

/// How the sources of a round go out.
struct JointWay {
  std::int32_t h;         ///< pieces of a part
  bool by_columns;        ///< not straight to the rows
  std::size_t rotations;  ///< of the runs, that are tried
};

/// classes: by part.
JointRound make_joint_round(const JointFrame& frame, std::span<const lines::RowClasses> classes, const JointWay& way,
                            std::span<const NodeId> sources);

/// Once the sources are known: which rows each source has, and when its messages go out. An immutable value.
class JointSchedule {
 public:
  using Round = JointRound;
  /// Consecutive blocks.
  struct Blocks {
    BlockId first = 0;
    std::uint32_t count = 0;
  };

  /// For sources in the order of their ranks in the canonical form.
  JointSchedule(const JointFrame& frame, std::span<const NodeId> sources, std::int32_t h, bool by_columns);
  /// The same, but along the first dimension of its rows a piece is scattered, a share for each place, and gathered in the end.
  JointSchedule with_shares() const;

  std::int32_t h() const noexcept { return h_; }
  bool by_columns() const noexcept { return by_columns_; }
  bool in_shares() const noexcept { return in_shares_; }
  const std::vector<Round>& rounds() const noexcept { return rounds_; }
  const lines::RowClasses& classes(std::uint32_t part) const noexcept { return classes_[part]; }
  const lines::LineSpread& row(std::uint32_t part, std::size_t e) const noexcept { return rows_[(part + e) % rows_.size()]; }
  Step row_steps(std::size_t e) const noexcept { return row_steps_[e]; }
  /// The steps in which the classes' pieces are gathered.
  Step gather_steps() const noexcept { return gather_steps_; }
  /// The steps in which the shares are gathered, after that.
  Step share_steps() const noexcept { return share_steps_; }
  const lines::RowClasses& shares(std::uint32_t part) const noexcept { return shares_[(part + 1) % shares_.size()]; }
  std::uint64_t steps() const noexcept;
  /// Sum over the steps of the most blocks on a channel, with the blocks of a piece or share rounded up.
  double channel_blocks() const noexcept;

  /// The blocks of a piece of a source's part.
  Blocks piece(NodeId source, std::uint32_t part, std::int32_t piece) const noexcept;
  /// The share of a piece that a place along the first dimension of the rows has.
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
  std::int32_t at_once_;                    // most sources of a round
  std::vector<lines::RowClasses> classes_;  // by part
  std::vector<lines::RowClasses> shares_;   // by linked dimension
  std::vector<lines::LineSpread> rows_;     // by linked dimension
  std::vector<Round> rounds_;
  std::vector<Step> row_steps_;  // by e of JointFrame::along(): the most of any part
  Step gather_steps_ = 0, share_steps_ = 0;
};

/// With the least model time for these sources, in any order, or with the h that is asked for. Of many sources some are weighed, and stand
/// for all.
JointSchedule choose_joint_schedule(const JointFrame& frame, std::span<const NodeId> sources);

/// What the rest takes for sources that are not known, after they have been learned.
struct JointForecast {
  std::uint64_t steps = 0;
  double channel_bytes = 0;
};

/// Sources of a set at most: a few full rounds. More of them take more rounds of the same kind. Of a few thousand nodes all, if s says so.
std::int32_t most_forecast_sources(const JointFrame& frame, double s) noexcept;

/// The mean of a few sets of s sources at random, always the same sets. If all of a few thousand nodes are sources, their steps, and bytes
/// that a run does not exceed.
JointForecast joint_forecast(const JointFrame& frame, double s);

/// Steps that no set of s sources exceeds: one source after the other, and the longest gather.
std::uint64_t most_joint_steps(const JointFrame& frame, double s);

}  // namespace torus::multinode_broadcast::joint_swath
