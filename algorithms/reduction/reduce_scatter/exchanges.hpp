/// Exchanges along the dimensions: the reduce-scatter that `halving`, `swing` and `tripling` have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction::halving_swing_tripling {

/// Who gives what to whom when the places of a line reduce by exchanges, and who holds what.
///
/// n places on a ring. In a round each has peers; being a peer is mutual. A place gives the part of place `owner` away in the latest round
/// in which a peer can still bring it there: once, and always to somebody who gives it on later.
///
/// Why everybody is counted once: reach(x, s) holds x and the reaches of x's peers from round s on, so what x gives in round s to x + h,
/// for an owner in reach(x + h, s + 1), is given on from there in a round after s, or is at home. Partials are only given away.
class LineExchange {
 public:
  /// Signed hops to the peers of a place in a round, in order of preference.
  using Peers = std::vector<std::int32_t> (*)(std::int32_t n, std::int32_t round, std::int32_t place);

  /// `period`: the peers of a place are those of the place so much farther.
  LineExchange(std::int32_t n, std::int32_t rounds, std::int32_t period, Peers peers_of);

  std::int32_t places() const noexcept { return n_; }
  std::int32_t rounds() const noexcept { return rounds_; }
  std::vector<std::int32_t> peers(std::int32_t round, std::int32_t place) const { return peers_(n_, round, place); }
  /// Owners whose parts a place gives to its i-th peer in a round.
  std::vector<std::int32_t> given(std::int32_t place, std::int32_t round, std::size_t peer) const;
  /// Owners whose parts a place has before a round; how many: the same for each place.
  std::vector<std::int32_t> held(std::int32_t place, std::int32_t round) const;
  std::size_t bytes() const noexcept { return departures_.size() * sizeof(Departure); }

 private:
  /// When a part leaves a place: the round, and which of its peers takes it.
  struct Departure {
    std::uint8_t round = 0;
    std::uint8_t peer = 0;
  };
  const Departure& departure(std::int32_t place, std::int32_t offset) const noexcept {
    return departures_[static_cast<std::size_t>(place % period_) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(offset)];
  }

  std::int32_t n_, rounds_, period_;
  Peers peers_;
  std::vector<Departure> departures_;  // by place below the period, and by how far ahead the owner is
};

/// Along all dimensions: 2k parts of an owner's block, each along one axis a step. Block id = owner * 2k + part; in negabinary order part *
/// N and the owner's number.
class Exchanges final : public ReversibleReduceScatter {
 public:
  /// One line for each dimension wider than 1, ascending.
  Exchanges(const Topology& topology, std::vector<LineExchange> lines, bool negabinary);

  std::uint64_t steps() const override { return axis_rounds_.empty() ? 0 : axis_rounds_.front().size(); }
  std::uint32_t pieces() const override { return static_cast<std::uint32_t>(std::max<std::size_t>(1, 2 * axes_.size())); }
  void sends(const Node& self, std::uint64_t step, Sends& out) const override;
  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override;
  Load load() const override;
  Bytes table_bytes() const override;

 private:
  /// What a part does in a step: a round of an axis, and how many rounds of every axis it has done.
  struct AxisRound {
    std::size_t axis;
    std::int32_t round;
    std::vector<std::int32_t> done;
  };
  const AxisRound& axis_round(std::size_t part, std::uint64_t step) const { return axis_rounds_[part % axes_.size()][step]; }
  bool mirrored(std::size_t part) const noexcept { return part >= axes_.size(); }

  /// A part's message from a place to a peer, on an axis: signed hops, and the places of the owners.
  struct PeerMessage {
    std::int32_t hops;
    std::vector<std::int32_t> owners;
  };
  std::vector<PeerMessage> messages(std::size_t part, const AxisRound& axis_round, std::int32_t place) const;
  /// The number of an owner among those of a part, in negabinary order.
  NodeId number(const Topology& topology, std::size_t part, NodeId owner) const;
  /// Appends the blocks of owners at those places of the round's axis, and elsewhere where the node still has them.
  void append(const Topology& topology, const Coordinates& at, std::size_t part, const AxisRound& axis_round,
              const std::vector<std::int32_t>& owners, Sends::Blocks& blocks) const;

  std::vector<Dimension> axes_;
  std::vector<LineExchange> lines_;                  // by axis
  std::vector<std::vector<AxisRound>> axis_rounds_;  // by first axis, by step
  std::vector<NodeId> numbers_;                      // by part, by owner; none where owners have their ranks
};

}  // namespace torus::reduction::halving_swing_tripling
