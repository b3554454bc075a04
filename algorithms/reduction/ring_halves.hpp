/// The steps of a reduce-scatter along the lines of a machine.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/topology.hpp>

#include "algorithms/reduction/halves.hpp"

namespace torus::reduction {

/// Parts of every owner's block, each along one axis a phase. Block id = owner * pieces() + part * pieces a part + i.
class RingHalves final : public Halves {
 public:
  RingHalves(const Topology& topology, std::uint32_t parts);

  std::uint64_t steps() const override;
  std::uint32_t pieces() const override { return parts_ * pieces_a_part; }
  std::vector<Gift> gives(const Node& self, std::uint64_t step) const override;
  std::vector<Gift> returns(const Node& self, std::uint64_t step) const override;
  Load load() const override;

 private:
  static constexpr std::uint32_t pieces_a_part = 2;  // so that the antipode's bundle, too, can be halved

  struct Axis {
    Dimension dimension;
    DimensionShape line;
    std::int32_t reach;
  };
  /// A chunk of the bundle of place `to`, which goes one hop, or straight there on a complete dimension.
  struct Leaving {
    std::int32_t hops;  // of the leg
    std::int32_t to;    // place
    std::int32_t chunk, chunks;
    int half;  // 0: whole; 1, 2: first, second half
  };

  std::uint32_t phases() const noexcept { return static_cast<std::uint32_t>(axes_.size()); }
  std::uint32_t phase_steps(std::uint32_t phase) const noexcept;
  /// The phase of a step, and the step in it.
  std::pair<std::uint32_t, std::uint32_t> when(std::uint64_t step) const noexcept;
  const Axis& axis_of(std::uint32_t part, std::uint32_t phase) const noexcept { return axes_[(part + phase) % axes_.size()]; }
  std::vector<Leaving> leaving(const Axis& axis, std::int32_t place, std::uint32_t phase, std::uint32_t step) const;
  std::int32_t receiver(const Axis& axis, std::int32_t place, const Leaving& leaving) const noexcept;
  std::uint64_t bundle_size(std::uint32_t part, std::uint32_t phase) const noexcept;
  static std::pair<std::uint64_t, std::uint64_t> range(const Leaving& leaving, std::uint64_t size) noexcept;
  void append(const Topology& topology, const Coordinates& at, std::uint32_t part, std::uint32_t phase, const Leaving& leaving,
              std::vector<BlockId>& blocks) const;

  std::vector<Axis> axes_;
  std::uint32_t parts_;
};

}  // namespace torus::reduction
