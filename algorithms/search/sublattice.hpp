/// Sublattices of the whole numbers in k dimensions, and the cosets that nodes of a torus are in.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <torus/topology.hpp>

namespace torus {

/// Spanned by rows in triangular form: row i has zeros before place i and a positive number there. An immutable value.
class Sublattice {
 public:
  /// All points.
  explicit Sublattice(std::size_t dimensions);
  bool operator==(const Sublattice&) const = default;

  /// How many cosets there are.
  std::uint32_t index() const noexcept;
  /// The number of a point's coset, 0 .. index() - 1; 0 is the sublattice itself.
  std::uint32_t coset(Coordinates point) const noexcept;
  /// A point of a coset.
  Coordinates point(std::uint32_t coset) const noexcept;
  /// Calls f for the sublattices that have so many cosets in this one, and in which going once round a ring of a torus leads to the same
  /// coset, for all its rings. Until f returns false, or so many have been looked at.
  void each_within(const Topology& topology, std::uint32_t cosets, std::size_t tries,
                   const std::function<bool(const Sublattice&)>& f) const;

 private:
  bool fits(const Topology& topology) const noexcept;
  /// Whether some sublattice with this diagonal may fit.
  bool may_fit(const Topology& topology) const noexcept;
  Sublattice times(const std::vector<Coordinates>& factors) const;

  std::vector<Coordinates> rows_;
};

}  // namespace torus
