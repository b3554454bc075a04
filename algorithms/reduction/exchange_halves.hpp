/// The steps of a reduce-scatter by exchanges along the dimensions.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/reduction/halves.hpp"
#include "algorithms/reduction/line_exchange.hpp"

namespace torus::reduction {

/// 2k parts of an owner's block, each along one axis a step. Block id = owner * 2k + part.
class ExchangeHalves final : public Halves {
 public:
  /// One line for each dimension wider than 1, ascending.
  ExchangeHalves(const Topology& topology, std::vector<LineExchange> lines);

  std::uint64_t steps() const override { return turns_.empty() ? 0 : turns_.front().size(); }
  std::uint32_t pieces() const override { return static_cast<std::uint32_t>(std::max<std::size_t>(1, 2 * axes_.size())); }
  void gives(const Node& self, std::uint64_t step, Gifts& gifts) const override;
  void returns(const Node& self, std::uint64_t step, Gifts& gifts) const override;
  Load load() const override;
  Bytes table_bytes() const override;

 private:
  /// What a part does in a step: a round of an axis, and how many rounds of every axis it has done.
  struct Turn {
    std::size_t axis;
    std::int32_t round;
    std::vector<std::int32_t> done;
  };
  const Turn& turn(std::size_t part, std::uint64_t step) const { return turns_[part % axes_.size()][step]; }
  bool mirrored(std::size_t part) const noexcept { return part >= axes_.size(); }

  /// A part's message from a place to a peer, on an axis: signed hops, and the places of the owners.
  struct Move {
    std::int32_t hops;
    std::vector<std::int32_t> owners;
  };
  std::vector<Move> moves(std::size_t part, const Turn& turn, std::int32_t place) const;
  /// Appends the blocks of owners at those places of the turn's axis, and elsewhere where the node still has them.
  void append(const Topology& topology, const Coordinates& at, std::size_t part, const Turn& turn, const std::vector<std::int32_t>& owners,
              std::vector<BlockId>& blocks) const;

  std::vector<Dimension> axes_;
  std::vector<LineExchange> lines_;       // by axis
  std::vector<std::vector<Turn>> turns_;  // by first axis, by step
};

}  // namespace torus::reduction
