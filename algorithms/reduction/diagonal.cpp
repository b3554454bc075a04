/// All-reduce and barrier in the fewest steps known where no channel is shared: gather to the diagonal, exchange there, spread.
///
/// The diagonals of the torus are numbered by o = i - j. In balanced quinary all rows and columns gather on the main diagonal at once, as
/// in the multi-node broadcast `log`. Its n nodes exchange in growing windows (window_rounds, two pieces a round): one piece travels up a
/// column and along a row, the other the other way round. Each row and column has one node of the diagonal, so nothing meets. Then the
/// results go back the way that the partials came. Circuits, n = 5^p: four pieces a round, +-t along one route and +-2t along the other.
/// Machine  square 2-D torus, all ports, no channel shared; wormhole in any routing order, or circuits.   Header  none.
/// Steps    2 ceil(log5 n) + ceil(log3 n); circuits, n = 5^p: 3 log5 n.   Bytes  steps m.   Memory  2 vectors a node.
/// Barrier  the same messages without blocks: 0 bytes.
/// Source   this project; the trees are those of Chen, Chen & Tseng's multi-node broadcast, section 3.1.1, the windows Bruck & Ho's.

#include "algorithms/multinode_broadcast/diagonal.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/reduction/one_order.hpp"
#include "algorithms/reduction/segment_bytes.hpp"
#include "algorithms/reduction/window_rounds.hpp"

namespace torus::reduction::diagonal {
namespace {

using multinode_broadcast::LineTree;

bool power_of_five(std::int32_t n) noexcept {
  while (n % 5 == 0) n /= 5;
  return n == 1;
}

struct Diagonal {
  Diagonal(const Machine& machine, bool without_blocks)
      : n{machine.topology.extent(0)},
        first{machine.routing[0]},
        circuits{machine.switching == Switching::circuit && power_of_five(n)},
        barrier{without_blocks},
        tree{LineTree::window(5, n)},
        rounds{window_rounds(n, 2)} {}
  std::uint64_t steps() const noexcept {
    const auto levels = static_cast<std::uint64_t>(tree.levels());
    return circuits ? 3 * levels : 2 * levels + rounds.size();
  }

  std::int32_t n;
  Dimension first;  // of a route
  bool circuits;
  bool barrier;
  LineTree tree;
  std::vector<WindowRound> rounds;
};

void hand_over(Node& self, const Diagonal& diagonal, std::int32_t position) {
  const LineTree::Vertex& v = diagonal.tree.at(position);
  const Leg leg = multinode_broadcast::diagonal_leg(position, v.parent, v.slot, 1);
  if (diagonal.barrier)
    self.send({leg}, {});
  else
    self.forward(combine, {leg}, {{0}});
}

void spread(Node& self, const Diagonal& diagonal, std::int32_t position, std::int32_t level) {
  constexpr BlockId block = 0;
  diagonal.tree.for_children(position, level, [&](std::int32_t child, std::int32_t slot) {
    self.send({multinode_broadcast::diagonal_leg(position, child, slot, 1)}, std::span(&block, diagonal.barrier ? 0 : 1));
  });
}

/// t places along the diagonal.
void send_along(Node& self, const Diagonal& diagonal, Dimension first, std::int32_t t, Combine into, BlockId block) {
  const Leg route[] = {{first, t}, {1 - first, t}};
  if (diagonal.barrier)
    self.send(RouteView(route), {});
  else
    self.send(into, RouteView(route), {{block}});
}

void exchange_windows(Node& self, const Diagonal& diagonal, const WindowRound& round) {
  for (std::size_t i = 0; i < round.pieces.size(); ++i) {
    const auto distance = static_cast<std::int32_t>(round.pieces[i].distance);
    send_along(self, diagonal, diagonal.first, i == 0 ? distance : distance - diagonal.n, round.last ? combine : combine_into({0, 1}),
               static_cast<BlockId>(round.pieces[i].from));
  }
}

void exchange_circuits(Node& self, const Diagonal& diagonal, std::int32_t t) {
  for (const std::int32_t direction : {+1, -1}) {
    send_along(self, diagonal, 0, direction * t, combine, 0);
    send_along(self, diagonal, 1, direction * 2 * t, combine, 0);
  }
}

Program program(Node& self, const Diagonal& diagonal) {
  const std::int32_t levels = diagonal.tree.levels();
  const std::int32_t position = multinode_broadcast::DiagonalSite::in_torus(self, diagonal.n).position;
  for (std::int32_t level = 0; level < levels; ++level) {
    self.phase("gather");
    if (diagonal.tree.at(position).level == level) hand_over(self, diagonal, position);
    co_await self.step();
  }
  if (diagonal.circuits) {
    for (std::int32_t t = 1; t < diagonal.n; t *= 5) {
      self.phase("diagonal");
      if (position == 0) exchange_circuits(self, diagonal, t);
      co_await self.step();
    }
  } else {
    for (const WindowRound& round : diagonal.rounds) {
      self.phase("diagonal");
      if (position == 0) exchange_windows(self, diagonal, round);
      co_await self.step();
    }
  }
  for (std::int32_t level = levels - 1; level >= 0; --level) {
    self.phase("spread");
    if (diagonal.tree.holds_at(position, level)) spread(self, diagonal, position, level);
    co_await self.step();
  }
}

/// Sum over the steps of the most partials that a node combines.
std::uint64_t combined(const Diagonal& diagonal) {
  std::uint64_t sum = 0;
  for (std::int32_t level = 0; level < diagonal.tree.levels(); ++level) {
    std::uint64_t most = 0;
    for (std::int32_t position = diagonal.tree.low(); position <= diagonal.tree.high(); ++position) {
      std::uint64_t children = 0;
      diagonal.tree.for_children(position, level, [&](std::int32_t, std::int32_t) { ++children; });
      most = std::max(most, children);
    }
    sum += most;
  }
  if (diagonal.circuits) return sum + 4 * static_cast<std::uint64_t>(diagonal.tree.levels());
  for (std::size_t i = 0; i < diagonal.rounds.size(); ++i) sum += diagonal.rounds[i].combined(i == 0);
  return sum;
}

Plan plan(const Machine& machine, const Request& request) {
  const bool barrier = request.collective == Collective::barrier;
  const auto diagonal = std::make_shared<const Diagonal>(machine, barrier);
  Plan plan;
  plan.start = [diagonal](Node& self) { return program(self, *diagonal); };
  plan.steps = diagonal->steps();
  plan.formula = diagonal->circuits ? "3 log5 n" : "2 ceil(log5 n) + ceil(log3 n)";
  if (barrier) return plan;
  plan.registers = diagonal->circuits ? 1 : 2;
  const SegmentBytes vector(request, 1);
  plan.channel_bytes = vector.of(plan.steps);
  plan.combined_bytes = vector.of(combined(*diagonal));
  return plan;
}

constexpr std::array terms{Term{"p", "power of 5 that the side is"}};

std::optional<Refusal> also_requires(const Machine&, const Request& request) { return differs_by_node("diagonal", request); }

constexpr Algorithm on_the_diagonal(Collective collective, const Idea& idea) {
  return {.name = "diagonal",
          .collective = collective,
          .source = "this project; trees after Chen, Chen & Tseng, windows of Bruck & Ho",
          .shapes = "torus n x n",
          .steps = "2 ceil(log5 n) + ceil(log3 n); circuits, n = 5^p: 3 log5 n",
          .idea = idea,
          .terms = terms,
          .needs = {.shape = Requirements::Shape::equal_torus,
                    .dimensions = 2,
                    .switching = Switching::wormhole,
                    .ports = Requirements::all_ports},
          .also_requires = also_requires,
          .plan = plan};
}

constexpr Algorithm diagonal_allreduce = on_the_diagonal(
    Collective::allreduce,
    {.first =
         "All rows and columns add up their vectors at the same time, five at a time, towards their node on the diagonal of the torus.",
     .then = "The nodes of the diagonal add up each other's sums in windows that treble in each step, and the result goes back the way "
             "that the parts came.",
     .good = "Each row and column has one node of the diagonal, so that nothing meets, and the steps are the fewest known without shared "
             "channels; each carries the whole vector, which suits short ones."});
constexpr Algorithm diagonal_barrier = on_the_diagonal(
    Collective::barrier,
    {.first =
         "All rows and columns report to their node on the diagonal of the torus at the same time, five nodes becoming one in each step.",
     .then = "The nodes of the diagonal tell one another in windows that treble in each step, and then the news goes back to all rows and "
             "columns.",
     .good = "No two messages meet, since each row and column has one node of the diagonal, so that few steps do where channels must not "
             "be shared."});

}  // namespace

extern const Entries entries{diagonal_allreduce, diagonal_barrier};

}  // namespace torus::reduction::diagonal
