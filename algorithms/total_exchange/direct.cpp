#include "algorithms/total_exchange/direct.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "algorithms/total_exchange/requirements.hpp"

namespace torus::exchange {
namespace {

/// The pairs of matching m = 0..h-2 of the complete graph on h nodes, h even: the circle method.
std::vector<std::pair<std::int32_t, std::int32_t>> matching(std::int32_t h, std::int32_t m) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs{{m, h - 1}};
  for (std::int32_t i = 1; i < h / 2; ++i) pairs.push_back(std::minmax({modulo(m + i, h - 1), modulo(m - i, h - 1)}));
  return pairs;
}

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

  /// The hops of the longest route of each step, summed. O(combinations (extents + rings shifts^2)).
  std::uint64_t route_hops() const {
    std::int64_t sum = 0;
    for (std::uint32_t combination = 0; combination < combinations_; ++combination) {
      const std::vector<std::int64_t> straight = longest_by_turn(combination, false), opposite = longest_by_turn(combination, true);
      for (std::size_t shift = 0; shift < straight.size(); ++shift) {
        sum += std::max({std::int64_t{0}, straight[shift], opposite[(shift + 1) % opposite.size()]});
      }
    }
    return static_cast<std::uint64_t>(sum);
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

  /// The longest route of a combination among the nodes of each turn; below 0 if none has it.
  std::vector<std::int64_t> longest_by_turn(std::uint32_t combination, bool opposite) const {
    const auto shifts = static_cast<std::size_t>(shifts_);
    constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::min() / 2;
    std::vector<std::int64_t> longest(shifts, nobody);
    longest[0] = 0;
    std::uint32_t directions = combination << 1U;
    for (const Ring& ring : rings_) {
      const bool backwards = ((directions & 1U) != 0) != opposite;
      directions >>= 1U;
      std::vector<std::int64_t> of_ring(shifts, nobody), next(shifts, nobody);
      const auto n = static_cast<std::uint32_t>(ring.extent);
      const std::uint32_t first = combination / ring.weight % (n / 2) * n;
      for (std::uint32_t coordinate = 0; coordinate < n; ++coordinate) {
        const RingMove& moves = ring.moves[first + coordinate];
        std::int64_t& hops = of_ring[static_cast<std::size_t>(moves.pattern) % shifts];
        hops = std::max<std::int64_t>(hops, std::abs(backwards ? moves.backward : moves.forward));
      }
      for (std::size_t before = 0; before < shifts; ++before) {
        for (std::size_t turn = 0; turn < shifts; ++turn) {
          std::int64_t& hops = next[(before + turn) % shifts];
          hops = std::max(hops, longest[before] + of_ring[turn]);
        }
      }
      longest = std::move(next);
    }
    return longest;
  }

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

/// The moves of a ring are kept as a table, n^2/2 of them.
Refusal needs_tabled_moves(const Topology& topology) {
  const auto n = static_cast<std::uint64_t>(largest_extent(topology));
  if (n * n / 2 <= most_tabled) return std::nullopt;
  std::uint64_t fitting = 4;
  while ((fitting + 4) * (fitting + 4) / 2 <= most_tabled) fitting += 4;
  return "extent " + std::to_string(n) + " of " + topology.text() + ": direct keeps a table of n^2/2 moves a ring, of at most " +
         std::to_string(most_tabled) + "; " + std::to_string(fitting) + " would do, or --algorithm bruck --contention share";
}

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  return first_of(refusal::of_torus("direct", machine), refusal::of_switching("direct", machine, Switching::wormhole),
                  needs_multiples("direct", machine, 4, ""), needs_countable_blocks("direct", machine),
                  needs_tabled_moves(machine.topology));
}

Plan plan(const Machine& machine, const Request& request) {
  const auto patterns = std::make_shared<const Patterns>(machine);
  const auto largest = static_cast<std::uint64_t>(largest_extent(machine.topology));
  Plan plan;
  if (largest > 1) plan.steps = machine.topology.nodes() * std::max<std::uint64_t>(largest, 8) / 8;
  if (machine.cost.hop_s > 0) plan.route_hops = patterns->route_hops();
  plan.formula = "N max(n_max, 8) / 8";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  plan.table_bytes = patterns->table_bytes();
  plan.start = [patterns](Node& self) { return direct_program(self, *patterns); };
  return plan;
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

const Algorithm direct{
    .name = "direct",
    .collective = Collective::total_exchange,
    .source = "this project; the k-dimensional form of the classic ring patterns",
    .shapes = "torus, sides multiples of 4",
    .ports = "one",
    .steps = "N max(n_max, 8) / 8",
    .native = {.ports = 1},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::exchange
