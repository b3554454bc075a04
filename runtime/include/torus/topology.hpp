/// The shape of the machine: a Cartesian product of rings, lines and complete graphs.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/damage.hpp>
#include <torus/error.hpp>
#include <torus/inline_vector.hpp>

namespace torus {

/// The most dimensions of a shape; 31 dimensions of 2 already are 2^31 nodes.
inline constexpr std::size_t max_dimensions = 32;

/// A value for each dimension.
using Coordinates = InlineVector<std::int32_t, max_dimensions>;

/// How the nodes of a dimension are linked. ring: in a circle; line: in a row (a mesh axis); complete: every pair.
enum class Wiring : std::uint8_t { ring, line, complete };

/// x modulo n in 0..n-1, for any x.
constexpr std::int32_t modulo(std::int64_t x, std::int32_t n) noexcept {
  const auto r = static_cast<std::int32_t>(x % n);
  return r < 0 ? r + n : r;
}

struct DimensionShape {
  std::int32_t extent = 1;
  Wiring wiring = Wiring::ring;
  friend bool operator==(const DimensionShape&, const DimensionShape&) = default;
};

namespace detail {

__extension__ typedef unsigned __int128 Wide;  // not ISO C++, but every compiler that we build with has it

/// n / divisor and n % divisor by one multiplication, for 32-bit n (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019).
/// The inverse is rounded down, so that a divisor of 1 works too; n + 1 makes up for it: the error of (n + 1) / divisor is below
/// 1 / divisor.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::uint32_t divisor) : divisor_{divisor}, inverse_{~std::uint64_t{0} / std::max(divisor, 1U)} {}
  std::uint32_t divide(std::uint32_t n) const noexcept {
    return static_cast<std::uint32_t>((static_cast<Wide>(inverse_) * (std::uint64_t{n} + 1)) >> 64U);
  }
  std::uint32_t remainder(std::uint32_t n) const noexcept { return n - divide(n) * divisor_; }
  std::uint32_t value() const noexcept { return divisor_; }

 private:
  std::uint32_t divisor_ = 1;
  std::uint64_t inverse_ = ~std::uint64_t{0};  // floor((2^64 - 1) / divisor)
};

}  // namespace detail

class Topology;

namespace detail {

class Description;
void describe(Description& to, const Topology& topology);

// For twisted tori. `to`: a coordinate outside 0..extent-1.
NodeId over_the_end(const Topology& topology, NodeId from, Dimension d, std::int64_t to) noexcept;
std::int32_t twisted_circle(const Topology& topology) noexcept;

}  // namespace detail

/// Extents and wiring of every dimension, and what follows from them. An immutable value.
///
/// A *channel* of a node is named by a dimension and a direction: +1 or -1 on a ring or a line, the offset 1..n-1 on a
/// complete dimension. The channel slots of a node are numbered 0..channel_slots()-1 in the order dimension 0 (+, -), dimension 1 (+, -),
/// .. A slot without a link exists at the end of a line.
///
/// A *twisted* torus has extents k and 2k, both, in two or three dimensions: a hop over the end of a short dimension also adds k, modulo
/// 2k, to each long coordinate (TPU v4's twisted slices; Camarero, Martinez & Beivide, arXiv 1311.2019). All its nodes are alike, as those
/// of a plain torus, but coordinates alone do not say how far nodes are apart: offset() is for plain dimensions, offsets() for both.
///
/// A topology may have faults. Extents, ranks, neighbour(), distance(), diameter() and ports are those of the shape, whatever is dead;
/// living(), passes(), each_link(), channels() and eccentricity() know of the faults.
class Topology {
 public:
  /// Throws InputError on an extent below 1, more than 32 dimensions or more than 2^31 nodes.
  /// The same on a shape that cannot be twisted, if it is to be.
  explicit Topology(std::vector<DimensionShape> dimensions, bool twisted = false);
  /// The same as parse(text), so that a shape may be written in place: MachineSpec{.topology = "16x16"}.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view> Topology(const Text& text) : Topology(parse(text)) {}

  /// Reads `16x16`, `8x8x8`, `16x16m` (m: a line), `4x4c` (c: complete), `4x4x8t` (t: twisted), `mesh:4x6` (all lines), `2^10`,
  /// `hypercube:10` (ten lines of 2). Throws InputError.
  static Topology parse(std::string_view text);

  /// A short text that parse() reads back: `8x8m`, `mesh:4x6`.
  std::string text() const;

  Dimension dimensions() const noexcept { return static_cast<Dimension>(shape_.size()); }
  std::int32_t extent(Dimension d) const noexcept { return facts(d).extent; }
  Wiring wiring(Dimension d) const noexcept { return facts(d).wiring; }
  std::span<const DimensionShape> shape() const noexcept { return shape_; }
  bool twisted() const noexcept { return twisted_; }
  /// Hops along a ring after which a walk is back where it began: the extent; of a twisted torus that of the long dimensions.
  std::int32_t circle(Dimension d) const noexcept { return twisted_ ? detail::twisted_circle(*this) : extent(d); }
  NodeId nodes() const noexcept { return nodes_; }
  /// The difference in rank between neighbours in dimension d.
  NodeId stride(Dimension d) const noexcept { return facts(d).by_stride.value(); }

  std::int32_t coordinate(NodeId rank, Dimension d) const noexcept {
    return static_cast<std::int32_t>(facts(d).by_extent.remainder(facts(d).by_stride.divide(rank)));
  }
  Coordinates coordinates(NodeId rank) const noexcept;
  /// The rank of the given coordinates, one a dimension, each taken modulo its extent.
  NodeId rank(std::span<const std::int32_t> coordinates) const noexcept;

  /// The node `hops` away in dimension d. Rings wrap any number of times; a line gives none past its end; on a complete dimension `hops`
  /// is the offset.
  std::optional<NodeId> neighbour(NodeId from, Dimension d, std::int32_t hops) const noexcept {
    const Facts& f = facts(d);
    const std::int32_t at = coordinate(from, d);
    std::int64_t to = std::int64_t{at} + hops;
    if (to < 0 || to >= f.extent) {
      if (f.wiring == Wiring::line) return std::nullopt;
      if (twisted_) return detail::over_the_end(*this, from, d, to);
      to = to >= 0 && to < 2 * std::int64_t{f.extent} ? to - f.extent
           : to < 0 && to >= -std::int64_t{f.extent}  ? to + f.extent
                                                      : modulo(to, f.extent);
    }
    return from + static_cast<NodeId>(static_cast<std::int32_t>(to) - at) * f.by_stride.value();
  }

  /// Channel slots of a node, and the first slot of a dimension.
  std::int32_t channel_slots() const noexcept { return slots_; }
  std::int32_t first_slot(Dimension d) const noexcept { return facts(d).first_slot; }
  /// The slot of (dimension, direction); direction: the sign of hops on rings and lines, the offset on complete dimensions.
  std::int32_t slot(Dimension d, std::int32_t direction) const noexcept {
    return first_slot(d) + (wiring(d) == Wiring::complete ? direction - 1 : (direction > 0 ? 0 : 1));
  }
  /// The direction back over a link, from its other end.
  std::int32_t reverse(Dimension d, std::int32_t direction) const noexcept {
    return wiring(d) == Wiring::complete ? extent(d) - direction : -direction;
  }
  /// The most links of any node: the ports of an all-port machine. At least 1, also for one node.
  std::int32_t max_ports() const noexcept { return max_ports_; }

  /// The same shape with these faults, and no others. Throws InputError on a link or node that there is not, a factor below 1, and where
  /// what is dead cuts the living nodes apart: it names the two parts. O(nodes).
  Topology with_faults(Faults faults) const;
  const Faults& faults() const noexcept;
  /// No link or node is dead.
  bool whole() const noexcept { return faults_ == nullptr || faults_->dead_channels.empty(); }
  bool has_slow_links() const noexcept { return faults_ != nullptr && !faults_->factors.empty(); }
  bool living(NodeId node) const noexcept { return faults_ == nullptr || !is_dead(node); }
  NodeId living_nodes() const noexcept {
    return nodes_ - (faults_ == nullptr ? 0 : static_cast<NodeId>(faults_->faults.dead_nodes.size()));
  }
  /// Whether the channel of a slot, if there is a link, is alive.
  bool passes(NodeId from, Dimension d, std::int32_t direction) const noexcept {
    return faults_ == nullptr || !is_dead(from, slot(d, direction));
  }
  /// How many times as long a byte takes on a channel as its dimension's T_c.
  double slowness(NodeId from, Dimension d, std::int32_t direction) const noexcept {
    return has_slow_links() ? factor(from, slot(d, direction)) : 1;
  }
  /// Calls f(dimension, direction, neighbour) for each living channel of a node, in the order of the slots.
  template <class F>
  void each_link(NodeId node, F&& f) const {
    for (Dimension d = 0; d < dimensions(); ++d) {
      const bool complete = wiring(d) == Wiring::complete;
      const std::int32_t n = extent(d);
      for (std::int32_t i = 0; i < (complete ? n - 1 : n > 1 ? 2 : 0); ++i) {
        const std::int32_t direction = complete ? i + 1 : i == 0 ? +1 : -1;
        const auto to = neighbour(node, d, direction);
        if (to && passes(node, d, direction)) f(d, direction, *to);
      }
    }
  }

  /// Channels of the whole machine, without the dead ones.
  std::uint64_t channels() const noexcept;

  /// Shortest signed hops from one coordinate to another of dimension d; a tie on a ring goes +.
  std::int32_t offset(Dimension d, std::int32_t from, std::int32_t to) const noexcept;
  /// Signed hops of a shortest route in each dimension, in any order. A tie on a ring goes +; on a twisted torus the fewest wraps of short
  /// dimensions, and then of the first of these, go first.
  Coordinates offsets(NodeId from, NodeId to) const noexcept;
  /// Hops of a shortest route.
  std::int32_t distance(NodeId a, NodeId b) const noexcept;
  /// Max distance from a node to a living one, over living links; max distance between any two nodes of the shape. Of a
  /// twisted torus O(nodes).
  std::int32_t eccentricity(NodeId from) const;
  std::int32_t diameter() const noexcept;

  /// Equal shapes with equal faults.
  friend bool operator==(const Topology& a, const Topology& b) noexcept;

 private:
  /// The data of one dimension that rank arithmetic reads, together in memory.
  struct Facts {
    detail::Divisor by_extent, by_stride;
    std::int32_t extent;
    std::int32_t first_slot;
    Wiring wiring;
  };
  const Facts& facts(Dimension d) const noexcept {
    TORUS_ASSERT(static_cast<std::size_t>(d) < facts_.size());
    return facts_[static_cast<std::size_t>(d)];
  }

  friend void detail::describe(detail::Description& to, const Topology& topology);

  // Where there are faults.
  bool is_dead(NodeId node) const noexcept;
  bool is_dead(NodeId from, std::int32_t slot) const noexcept;
  double factor(NodeId from, std::int32_t slot) const noexcept;

  std::vector<DimensionShape> shape_;
  std::vector<Facts> facts_;
  std::shared_ptr<const detail::FaultTable> faults_;  // none: nothing is wrong
  NodeId nodes_ = 1;
  std::int32_t slots_ = 0;
  std::int32_t max_ports_ = 1;
  bool twisted_ = false;
};

/// Every dimension is a ring (an extent of 1 counts as one), and none is twisted.
bool is_torus(const Topology& topology) noexcept;
/// Every dimension is a ring and all extents are equal.
bool is_square_torus(const Topology& topology) noexcept;
/// No dimension is complete (an extent of 1 aside).
bool is_torus_or_mesh(const Topology& topology) noexcept;

/// The lowest rank that lives.
inline NodeId first_living(const Topology& topology) noexcept {
  NodeId node = 0;
  while (!topology.living(node)) ++node;
  return node;
}

}  // namespace torus
