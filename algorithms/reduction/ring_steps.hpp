/// The steps of a reduce-scatter along the lines of a machine, and what each of them carries.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/block.hpp>
#include <torus/node.hpp>
#include <torus/topology.hpp>

namespace torus::reduction {

/// Blocks over a channel in a step.
struct Shipment {
  Leg leg;
  std::vector<BlockId> blocks;
};

/// Parts of every owner's block, each along one axis a phase. Block id = owner * pieces() + part * pieces a part + i.
class RingSteps {
 public:
  RingSteps(const Topology& topology, std::uint32_t parts);

  std::uint32_t phases() const noexcept { return static_cast<std::uint32_t>(axes_.size()); }
  std::uint32_t steps(std::uint32_t phase) const noexcept;
  std::uint32_t all_steps() const noexcept;
  /// Of an owner's block.
  std::uint32_t pieces() const noexcept { return parts_ * pieces_a_part; }

  /// What a node gives away in a step of a phase: the reduce-scatter. `gathers`: what it sends in the mirrored step of the all-gather,
  /// which is what it got then.
  std::vector<Shipment> shipments(const Topology& topology, const Coordinates& at, std::uint32_t phase, std::uint32_t step,
                                  bool gathers) const;

  /// Sums over the steps of a half: of the most blocks on a channel, and of the most that a node combines.
  struct Load {
    std::uint64_t channel = 0, combined = 0;
  };
  Load load() const;

 private:
  static constexpr std::uint32_t pieces_a_part = 2;  // so that the antipode's bundle, too, can be halved

  struct Axis {
    Dimension dimension;
    std::int32_t extent;
    Wiring wiring;
    std::int32_t reach() const noexcept;
  };
  /// A chunk of the bundle of place `to`, which goes one hop, or straight there on a complete dimension.
  struct Leaving {
    std::int32_t hops;  // of the leg
    std::int32_t to;    // place
    std::int32_t chunk, chunks;
    int half;  // 0: whole; 1, 2: first, second half
  };

  const Axis& axis_of(std::uint32_t part, std::uint32_t phase) const noexcept { return axes_[(part + phase) % axes_.size()]; }
  std::vector<Leaving> leaving(const Axis& axis, std::int32_t place, std::uint32_t phase, std::uint32_t step) const;
  std::uint64_t bundle_size(std::uint32_t part, std::uint32_t phase) const noexcept;
  static std::pair<std::uint64_t, std::uint64_t> range(const Leaving& leaving, std::uint64_t size) noexcept;
  void append(const Topology& topology, const Coordinates& at, std::uint32_t part, std::uint32_t phase, const Leaving& leaving,
              std::vector<BlockId>& blocks) const;

  std::vector<Axis> axes_;
  std::uint32_t parts_;
};

}  // namespace torus::reduction
