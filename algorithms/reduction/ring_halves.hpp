/// The steps of a reduce-scatter along the lines of a machine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/reduction/halves.hpp"
#include "algorithms/reduction/line_stages.hpp"

namespace torus::reduction {

/// Parts of every owner's block, each along one axis a phase.
class RingHalves final : public Halves {
 public:
  /// Of blocks: an owner's side by side, id = owner * pieces() + part * pieces_a_part + i; or, where nobody asks which block is whose, a
  /// bundle's, so that a bundle lies in one piece in memory.
  enum class Numbering { by_owner, by_bundle };

  /// pieces_a_part: 2 if the antipode's bundle is to be halved down to the last block.
  RingHalves(const Topology& topology, std::uint32_t parts, std::uint32_t pieces_a_part, Numbering numbering);

  std::uint64_t steps() const override;
  std::uint32_t pieces() const override { return parts_ * pieces_a_part_; }
  void gives(const Node& self, std::uint64_t step, Gifts& gifts) const override;
  void returns(const Node& self, std::uint64_t step, Gifts& gifts) const override;
  Load load() const override;
  Bytes table_bytes() const override;

 private:
  std::uint32_t phases() const noexcept { return static_cast<std::uint32_t>(axes_.size()); }
  /// The phase of a step, and the step in it.
  std::pair<std::uint32_t, std::uint32_t> when(std::uint64_t step) const noexcept;
  const LineStages& axis_of(std::uint32_t part, std::uint32_t phase) const noexcept { return axes_[(part + phase) % axes_.size()]; }
  BlockId stride(std::uint32_t part, std::uint32_t phase) const noexcept { return strides_[part * phases() + phase]; }
  /// The blocks of all owners at place 0 of the axes done and the present one: of the bundle of any place, but for its first block.
  std::vector<BlockId> bundle(BlockId first, std::uint32_t part, std::uint32_t phase) const;
  const std::vector<BlockId>& bundle_of(std::uint32_t part, std::uint32_t phase) const noexcept {
    return bundles_[part * phases() + phase];
  }
  void append(const Coordinates& at, std::uint32_t part, std::uint32_t phase, const LineStages::Leaving& leaving,
              std::vector<BlockId>& blocks) const;

  std::vector<LineStages> axes_;
  std::vector<std::uint32_t> phase_steps_;  // of a phase
  std::uint32_t parts_, pieces_a_part_;
  std::vector<BlockId> strides_;               // by part and phase: from a place's blocks to the next's
  std::vector<std::vector<BlockId>> bundles_;  // by part and phase
};

}  // namespace torus::reduction
