/// The gap calculus: how the informed places of one dimension are spaced, and how a step refines them.
///
/// After the squeeze the informed nodes are { (Q_1[a], .., Q_k[c]) : a = .. = c (mod 2) }, Q_d a cyclic sequence of an even number of
/// positions of dimension d: the alternate diagonals of a 2D lattice, the body-centred lattice in 3D. A step that expands dimension d cuts
/// every gap of Q_d into an odd number of parts, so the new positions alternate in parity like the old ones. Gap i is *large* for even i,
/// *small* for odd i. With an even number a of ports, both are cut into a+1 parts; with an odd number, large ones into a+2 and small ones
/// into a. Parts alternate in kind and begin and end with the gap's own kind. Caps are the largest gaps that t steps can finish; large +
/// small grow by the factor a+1 each step, the most that a ports allow. Source: Wang, Tseng, Ni & Sheu, invariants I1 and I2 of section
/// 3.2; the roundings are ours.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::broadcast {

/// How a dimension ends: `full`: every position carries both parities (gaps 1 and 0), the dimension is finished.
/// `unit`: all gaps are 1, but for a single gap of 2 if the extent is odd; every second place still lacks the message.
enum class GapBase : std::uint8_t { full, unit };

struct GapCaps {
  std::int64_t large;
  std::int64_t small;
  friend bool operator==(const GapCaps&, const GapCaps&) = default;
};

/// The largest gaps that `steps` expanding steps can refine down to the base.
GapCaps gap_caps(GapBase base, std::int32_t ports, std::uint32_t steps) noexcept;

/// Expanding steps that m evenly spread positions of an extent need.
std::uint32_t expanding_steps(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports) noexcept;

/// Sizes of the parts that a gap is cut into, with `steps` steps to come after the cut. One part: the gap stays.
std::vector<std::int32_t> cut_gap(GapBase base, std::int32_t gap, bool large, std::int32_t ports, std::uint32_t steps);

/// Q_d: positions on a ring, ascending from 0, an even number of them. Index i + size() is the same place, once round the ring.
class GapSequence {
 public:
  GapSequence(std::int32_t extent, std::vector<std::int32_t> positions);
  /// m positions, m even, m <= extent, no two alike, spread so that expanding_steps() steps suffice.
  static GapSequence spread(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports);
  /// Positions 0..m-1, m even.
  static GapSequence consecutive(std::int32_t extent, std::int32_t m);

  std::int32_t extent() const noexcept { return extent_; }
  std::int32_t size() const noexcept { return static_cast<std::int32_t>(positions_.size()); }
  /// For any index, without wrap-around: position(i + size()) = position(i) + extent().
  std::int32_t position(std::int32_t index) const noexcept;
  std::int32_t gap(std::int32_t index) const noexcept { return position(index + 1) - position(index); }
  /// Signed hops from an index to the one `steps` further.
  std::int32_t hops(std::int32_t index, std::int32_t steps) const noexcept { return position(index + steps) - position(index); }
  /// The index of a position, the first if several are there; -1 if there is none.
  std::int32_t index_of(std::int32_t position) const noexcept { return index_[static_cast<std::size_t>(position)]; }

  /// The cut of every gap, by cut_gap().
  std::vector<std::vector<std::int32_t>> cuts(GapBase base, std::int32_t ports, std::uint32_t steps_left) const;
  GapSequence refined(const std::vector<std::vector<std::int32_t>>& cuts) const;

  std::uint64_t bytes() const noexcept { return (positions_.size() + index_.size()) * sizeof(std::int32_t); }

 private:
  std::int32_t extent_;
  std::vector<std::int32_t> positions_;
  std::vector<std::int32_t> index_;
};

}  // namespace torus::broadcast
