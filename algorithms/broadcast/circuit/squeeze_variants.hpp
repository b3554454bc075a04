/// The ways to squeeze the informed nodes into an evenly spread lattice and to expand it from there, for 3 ports and more.
/// A variant knows its steps before it is built; of closing steps by flow it knows the minimum.
///
/// 2D, 3 and 4 ports; L(p/q) = least T with (ports+1)^T >= p/q:
///   two-line   L(m) + L(n_b) + (n_a mod 2), m = n_a less n_a mod 2: both columns of a chessboard two wide, then expand.
///              For either dimension a. Ours.
///   paper2d    L(m) + L(m/2) + L(2 n_2/m) + (n_1 mod 2), n_1 <= n_2: alternate diagonals, then expand.
///              [Wang, Tseng, Ni & Sheu, section 3.2]
///
/// 3D, and kD for `pairs`; n_1 <= n_2 <= .., m = n_1 less n_1 mod 2, T_d = L(2 floor(n_d/2)/m):
///   plan A     1 + 3 L(m/2) + T_2 + T_3 + closing: two interleaved lattices of (m/2)^3, expand every dimension to unit gaps, close.
///              [section 4.2]
///   plan B     1 + 3 L(m/2) + L(2 n_2/m) + L(2 n_3/m) + (n_1 mod 2): the same squeeze, one dimension finished after the other.
///              At most 4 ports. [section 4.2]
///   pairs      1 + sum over d of L(floor(n_d/2)) + closing: two nodes instead of two lattices. Any k >= 3. Ours, after [section 5].
/// The closing takes L(2^(k-1)) steps, at times one more with odd extents or few ports.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "algorithms/broadcast/circuit/schedule.hpp"

namespace torus::broadcast {

struct SqueezeVariant {
  std::string name;
  std::string formula;  ///< of the steps, closing steps aside
  std::uint64_t min_steps;
  std::function<CircuitSchedule()> build;
};

/// Dimensions of extent 2 or more, by ascending extent.
std::vector<Dimension> wide_dimensions(const Topology& topology);

/// Tori of two wide dimensions with 3 or 4 ports.
std::vector<SqueezeVariant> planar_variants(const Topology& topology, std::int32_t ports);
/// Tori of three or more wide dimensions with 3 ports or more; perhaps none. Variants with a closing only where that is small enough
/// (max_closing_nodes).
std::vector<SqueezeVariant> solid_variants(const Topology& topology, std::int32_t ports);

/// The last step where an odd extent is treated as the even one below: the nodes at place 0 of the dimension inform their neighbours at
/// place -1.
class SeamStep : public StepRule {
 public:
  explicit SeamStep(Dimension d) : dimension_{d} {}
  void routes(const Coordinates& place, const RouteSink& send) const override {
    if (place[static_cast<std::size_t>(dimension_)] == 0) send(Route{{dimension_, -1}});
  }

 private:
  Dimension dimension_;
};

}  // namespace torus::broadcast
