/// Total exchange in which every block goes straight from its origin to its destination in one step, through one port, and in every step
/// every channel of the machine carries exactly one block (sides of at least 8): no exchange through one port moves fewer bytes.
///
/// One ring of n = 4q nodes, h = n/2. The complete graph on Z_h has h - 1 disjoint perfect matchings of q pairs. A pair x < y, d = y - x,
/// makes a forward pattern: x goes +d, y +(h-d), x+h +d, y+h +(h-d), which crosses each forward channel once and permutes its four nodes;
/// and, on the same nodes, a backward one: x goes d-h, y -d, and so x+h, y+h. One more class, of the pairs of matching 0: forwards x, x+h
/// go +h and y, y+h nowhere; backwards y, y+h go -h and x, x+h nowhere. So h classes of q node-disjoint patterns; every (node, offset)
/// once.
///
/// A product of patterns, one a dimension, is a set of 4^k messages, dimension-ordered, that share no channel. A step takes, for a
/// vector v of directions with v_0 = +, a class in each dimension and a shift: all products whose pattern numbers add up to the shift,
/// modulo q of the largest side, in the directions v; and beside them, on other nodes, those for shift + 1 in the directions -v.
///
/// Machine  wormhole in any routing order, one port, torus with sides multiples of 4.   Header  none.
/// Steps    N n_max/8; N where no side is above 4.   Blocks on the busiest channel  the same.
/// Memory   O(1) a node, and 6 n^2 bytes a ring of n nodes, shared by all; n at most 5792, which makes 192 MiB.
/// Source   this project: the k-dimensional form of the classic ring patterns.

#include "algorithms/total_exchange/direct.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <torus/algorithm.hpp>
#include <torus/topology.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"

namespace torus::total_exchange {
namespace {

/// The pairs of matching m = 0..h-2 of the complete graph on h nodes, h even: the circle method.
std::vector<std::pair<std::int32_t, std::int32_t>> matching(std::int32_t h, std::int32_t m) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs{{m, h - 1}};
  for (std::int32_t i = 1; i < h / 2; ++i) pairs.push_back(std::minmax({modulo(m + i, h - 1), modulo(m - i, h - 1)}));
  return pairs;
}

}  // namespace

std::vector<RingMove> ring_patterns(std::int32_t n) {
  const std::int32_t h = n / 2;
  std::vector<RingMove> moves(static_cast<std::size_t>(h) * static_cast<std::size_t>(n));
  const auto set = [&](std::int32_t c, std::int32_t coordinate, RingMove move) {
    moves[static_cast<std::size_t>(c) * static_cast<std::size_t>(n) + static_cast<std::size_t>(coordinate)] = move;
  };
  for (std::int32_t c = 0; c < h; ++c) {
    const bool extra = c == h - 1;  // beside those of the h - 1 matchings: one that goes half way round by the same rules
    std::int32_t pattern = 0;
    for (const auto& [x, y] : matching(h, extra ? 0 : c)) {
      const std::int32_t d = extra ? h : y - x;
      for (const std::int32_t side : {0, h}) {
        set(c, x + side, {pattern, d, d - h});
        set(c, y + side, {pattern, h - d, -d});
      }
      ++pattern;
    }
  }
  return moves;
}

namespace direct {
namespace {

/// What all nodes know: the patterns of each dimension with links, and how the steps are numbered. A *combination* is a class in each
/// dimension and a vector of directions, of which the first is +.
class Patterns {
 public:
  explicit Patterns(const Machine& machine) {
    for (const Dimension d : machine.routing) {
      const std::int32_t n = machine.topology.extent(d);
      if (n > 1) rings_.push_back({d, n, 0, ring_patterns(n)});
    }
    if (rings_.empty()) return;
    combinations_ = 1U << (rings_.size() - 1);
    for (Ring& ring : rings_) {
      ring.weight = combinations_;
      combinations_ *= static_cast<std::uint32_t>(ring.extent / 2);
    }
    shifts_ = std::max(2, largest_extent(machine.topology) / 4);
  }

  std::uint32_t combinations() const noexcept { return combinations_; }
  /// Steps of a combination: the number of patterns in a class of the largest dimension, and no fewer than 2, so that the directions v and
  /// -v never meet in a node.
  std::int32_t shifts() const noexcept { return shifts_; }

  /// The shift in which it is the node's turn to send in the directions v; to send in -v, it is the one before, cyclically.
  std::int32_t turn(const Node& node, std::uint32_t combination) const noexcept {
    std::int32_t sum = 0;
    for (const Ring& ring : rings_) sum += move(node, ring, combination).pattern;
    return modulo(sum, shifts_);
  }

  /// The way of the block that the node sends in the directions v, or in the opposite ones.
  Route route(const Node& node, std::uint32_t combination, bool opposite) const {
    Route route;
    std::uint32_t directions = combination << 1U;  // a bit a dimension, 1: backwards
    for (const Ring& ring : rings_) {
      const RingMove& moves = move(node, ring, combination);
      const std::int32_t hops = ((directions & 1U) != 0) != opposite ? moves.backward : moves.forward;
      if (hops != 0) route.push_back({ring.dimension, hops});
      directions >>= 1U;
    }
    return route;
  }

  Bytes table_bytes() const noexcept {
    Bytes bytes = 0;
    for (const Ring& ring : rings_) bytes += sizeof(Ring) + ring.moves.size() * sizeof(RingMove);
    return bytes;
  }

 private:
  struct Ring {
    Dimension dimension = 0;
    std::int32_t extent = 0;
    std::uint32_t weight = 0;  // of its class in a combination's number
    std::vector<RingMove> moves;
  };

  const RingMove& move(const Node& node, const Ring& ring, std::uint32_t combination) const noexcept {
    const auto n = static_cast<std::uint32_t>(ring.extent);
    const std::uint32_t class_of_ring = combination / ring.weight % (n / 2);
    return ring.moves[class_of_ring * n + static_cast<std::uint32_t>(node.coordinate(ring.dimension))];
  }

  std::vector<Ring> rings_;  // in routing order
  std::uint32_t combinations_ = 0;
  std::int32_t shifts_ = 0;
};

void send_straight(Node& self, const Patterns& patterns, std::uint32_t combination, bool opposite) {
  const Route route = patterns.route(self, combination, opposite);
  if (route.empty()) return;  // a node's block for itself
  NodeId destination = self.rank();
  for (const Leg& leg : route) destination = self.topology().neighbour(destination, leg.dimension, leg.hops).value();
  const BlockId block = BlockId{self.rank()} * self.topology().nodes() + destination;
  self.forward(route, {&block, 1});
}

Program direct_program(Node& self, const Patterns& patterns) {
  for (std::uint32_t combination = 0; combination < patterns.combinations(); ++combination) {
    const std::int32_t turn = patterns.turn(self, combination);
    for (std::int32_t shift = 0; shift < patterns.shifts(); ++shift) {
      if (shift == turn) send_straight(self, patterns, combination, false);
      if ((shift + 1) % patterns.shifts() == turn) send_straight(self, patterns, combination, true);
      co_await self.step();
    }
  }
}

/// A ring of n nodes has a table of n^2/2 moves.
std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  static constexpr std::uint64_t most_moves = std::uint64_t{1} << 24U;
  static constexpr std::int32_t largest = 5792;
  static_assert(std::uint64_t{largest} * largest / 2 <= most_moves && std::uint64_t{largest + 4} * (largest + 4) / 2 > most_moves);
  const Topology& topology = machine.topology;
  if (largest_extent(topology) <= largest) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(), "direct keeps a table of at most 2^24 moves a ring (bruck keeps none)",
                 changed(topology, [](DimensionShape& d) { d.extent = std::min(d.extent, largest); }).text()};
}

Plan plan(const Machine& machine, const Request& request) {
  const auto patterns = std::make_shared<const Patterns>(machine);
  const auto largest = static_cast<std::uint64_t>(largest_extent(machine.topology));
  Plan plan;
  if (largest > 1) plan.steps = machine.topology.nodes() * std::max<std::uint64_t>(largest, 8) / 8;
  plan.formula = "N max(n_max, 8) / 8";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  plan.table_bytes = patterns->table_bytes();
  plan.start = [patterns](Node& self) { return direct_program(self, *patterns); };
  return plan;
}

const Algorithm direct{
    .name = "direct",
    .collective = Collective::total_exchange,
    .source = "this project; the k-dimensional form of the classic ring patterns",
    .shapes = "torus, sides multiples of 4",
    .steps = "N max(n_max, 8) / 8",
    .idea = {.first = "Each block goes from its origin straight to its destination in one step: a few nodes of a ring form a pattern whose "
                      "worms use each channel once.",
             .then = "The products of such patterns, one a dimension, run side by side, and the steps go through all of them, until every "
                     "pair of nodes has had its turn.",
             .good = "On sides of 8 and more each channel carries just one block in every step, so that no exchange through one port moves "
                     "fewer bytes; the price is many steps."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .multiples_of = 4, .switching = Switching::wormhole},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{direct};

}  // namespace direct

}  // namespace torus::total_exchange
