/// Total exchange along one dimension over all its channels at once: which block crosses which channel in which step.
/// Machine  packet, all ports.
/// Steps    ring ceil(floor(n^2/4)/2); line floor(n^2/4); complete 1: each meets bound (4).
/// Memory   ring: n^2 bytes, shared by all nodes; else none.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: single dimension,
///          multiport. The ring of even n, and the closed form of the line, are this project's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus::total_exchange {

/// A block, by the coordinates of its origin and its destination; none where the channel has nothing to carry.
struct Crossing {
  std::int32_t origin = 0;
  std::int32_t destination = 0;
  explicit operator bool() const noexcept { return origin != destination; }
};

/// Steps of one exchange along a dimension of n nodes.
constexpr std::uint32_t all_port_steps(Wiring wiring, std::int32_t extent) noexcept {
  const auto n = static_cast<std::uint32_t>(extent);
  switch (wiring) {
    case Wiring::ring: return (n * n / 4 + 1) / 2;
    case Wiring::line: return n * n / 4;
    case Wiring::complete: return n > 1 ? 1 : 0;
  }
  return 0;
}

/// The schedule of one exchange. Immutable, shared by all nodes.
class AllPortLine {
 public:
  AllPortLine(Wiring wiring, std::int32_t extent);

  std::uint32_t steps() const noexcept { return all_port_steps(wiring_, extent_); }

  /// What crosses the channel of node `own` in this direction (+1, -1; complete: the offset) in step t < steps().
  Crossing crossing(std::int32_t own, std::int32_t direction, std::uint32_t t) const noexcept {
    switch (wiring_) {
      case Wiring::ring: return on_ring(own, direction, t);
      case Wiring::line: return on_line(own, direction, t);
      case Wiring::complete: return {own, wrapped(own + direction)};
    }
    return {};
  }

  Bytes table_bytes() const noexcept { return (lanes_[0].size() + lanes_[1].size()) * sizeof(Hop); }

 private:
  /// On its way round the ring: the offset of the block's class, 0 for none, and how far it has come.
  struct Hop {
    std::uint16_t offset = 0;
    std::uint16_t done = 0;
  };

  void fill_odd_ring();
  void fill_even_ring();
  void travel(std::size_t lane, std::uint32_t start, std::uint32_t offset);

  std::int32_t wrapped(std::int32_t x) const noexcept { return x < 0 ? x + extent_ : x >= extent_ ? x - extent_ : x; }

  /// Forwards, node u is in lane (u - t) mod 2, so that a block stays in its lane; backwards in the other.
  Crossing on_ring(std::int32_t own, std::int32_t direction, std::uint32_t t) const noexcept {
    const std::uint32_t lane = (static_cast<std::uint32_t>(own) - t + (direction > 0 ? 0U : 1U)) & 1U;
    const Hop hop = lanes_[lane][t];
    const std::int32_t origin = wrapped(own - direction * hop.done);
    return {origin, wrapped(origin + direction * hop.offset)};
  }

  /// The channel out of node i forwards carries first all that goes to the far end, its own block before those of the nodes behind, from
  /// near to far; then all that goes to the node before that; and so on. Backwards: the mirror image.
  Crossing on_line(std::int32_t own, std::int32_t direction, std::uint32_t t) const noexcept {
    const std::int32_t i = direction > 0 ? own : extent_ - 1 - own;
    const auto sources = static_cast<std::uint32_t>(i + 1);
    const std::uint32_t round = t / sources;
    const std::int32_t destination = extent_ - 1 - static_cast<std::int32_t>(round);
    if (destination <= i) return {};
    const std::int32_t origin = i - static_cast<std::int32_t>(t - round * sources);
    if (direction > 0) return {origin, destination};
    return {extent_ - 1 - origin, extent_ - 1 - destination};
  }

  Wiring wiring_;
  std::int32_t extent_;
  std::array<std::vector<Hop>, 2> lanes_;  // ring: step by step
};

/// The refusal of a shape whose schedule has more steps than a table of all steps may have, 2^24: some hundred MiB. `steps_of` grows with
/// the extents.
std::optional<Refusal> needs_tabled_steps(std::string_view algorithm, const Topology& topology,
                                          std::uint64_t (*steps_of)(const Topology& topology));

}  // namespace torus::total_exchange
