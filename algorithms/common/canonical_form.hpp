/// One form of machines that differ in how they are written alone: in the order of their dimensions, in which of equal nodes is the root,
/// in the directions of lines.
///
/// A search that sees the canonical form and writes back what it finds does as well on 8x2 as on 2x8, and as well from one node as from
/// another that lies alike.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/schedule.hpp>

namespace torus {

/// The dimensions of more than one node: the longer first, of those that are as long by wiring and speed, then the lines in which the root
/// is nearer to an end, and then as routes take them.
std::vector<Dimension> canonical_dimensions(const Machine& machine, std::optional<NodeId> root = std::nullopt);

class CanonicalForm {
 public:
  enum class Order : std::uint8_t { longer_first, shorter_first };

  /// The dimensions as canonical_dimensions() has them, or the other way round. With a root, that is node 0 of the form, but along lines as
  /// far from an end as it is. A twisted torus is left as it is.
  explicit CanonicalForm(const Machine& machine, std::optional<NodeId> root = std::nullopt, Order order = Order::longer_first);

  const Machine& machine() const noexcept { return machine_; }
  /// Nodes, legs and a schedule of the machine that is given. O(dimensions); a schedule O(its size).
  NodeId outside(NodeId inside) const noexcept;
  Leg outside(Leg leg) const noexcept;
  Schedule outside(const Schedule& schedule) const;
  /// A node of the form.
  NodeId inside(NodeId outside) const noexcept;

 private:
  /// A dimension of the form: that of the machine, and the place in it at which the form's place 0 lies.
  struct Axis {
    Dimension dimension = 0;
    std::int32_t origin = 0;
    bool turned = false;  ///< the form goes the other way
  };
  Leg inside(Leg leg) const noexcept;

  Topology given_;
  std::vector<Axis> axes_;
  Machine machine_;
};

}  // namespace torus
