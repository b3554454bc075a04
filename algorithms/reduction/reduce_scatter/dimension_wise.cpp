/// Reduce-scatter, all-reduce and multi-node broadcast with one port: one dimension after the other, in each of them once along each of its
/// lines.
///
/// In phase d a node has the blocks of the owners that share its coordinates in the dimensions before d, and gives away those of every
/// other place on its line. Ring: to the next node, the blocks of the place farthest ahead first. Line: the same for the places ahead, then
/// by the other way for those behind. Complete: straight to each place. An all-reduce then runs the steps backwards, replacing.
/// Machine  any mix of rings, lines and complete dimensions; packet (single hops), one port, no channel shared.
/// Steps    for a half: sum of a ring's n-1, a line's 2 (n-1), a complete dimension's n-1.
/// Bytes    m (N-1)/N for a half on rings and complete dimensions, which is optimal with one port.   Memory  N blocks' ids a node.
/// Source   folklore; optimal on tori by Patarasuk & Yuan (2009).

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction::dimension_wise {
namespace {

/// What a place on a line gives away in a turn: the blocks of place `to`.
struct Turn {
  std::int32_t hops;
  std::int32_t to;
};

std::int32_t turns(const DimensionShape& line) { return line.wiring == Wiring::line ? 2 * (line.extent - 1) : line.extent - 1; }

/// The hops of all messages of a turn.
std::int32_t hops_of(const DimensionShape& line, std::int32_t number) {
  if (line.wiring == Wiring::complete) return number + 1;
  return line.wiring == Wiring::ring || number < line.extent - 1 ? +1 : -1;
}

std::optional<Turn> turn(const DimensionShape& line, std::int32_t place, std::int32_t number) {
  const std::int32_t n = line.extent, hops = hops_of(line, number);
  switch (line.wiring) {
    case Wiring::ring: return Turn{hops, modulo(place + n - 1 - number, n)};
    case Wiring::complete: return Turn{hops, modulo(place + hops, n)};
    case Wiring::line: break;
  }
  const std::int32_t to = hops > 0 ? place + (n - 1 - number) : place - (2 * (n - 1) - number);
  if (to < 0 || to >= n) return std::nullopt;
  return Turn{hops, to};
}

class DimensionWise final : public ReversibleReduceScatter {
 public:
  explicit DimensionWise(const Topology& topology) : topology_{topology}, linked_{linked_dimensions(topology)} {}

  std::uint64_t steps() const override {
    std::uint64_t sum = 0;
    for (const Dimension d : linked_) sum += static_cast<std::uint64_t>(turns(line(d)));
    return sum;
  }

  std::uint32_t pieces() const override { return 1; }

  void sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const auto [d, number] = when(step);
    const Coordinates at = self.coordinates();
    const auto mine = turn(line(d), at[static_cast<std::size_t>(d)], number);
    if (mine) append(at, d, mine->to, out.add({{d, mine->hops}}));
  }

  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const auto [d, number] = when(step);
    const DimensionShape shape = line(d);
    const Coordinates at = self.coordinates();
    std::int32_t sender = at[static_cast<std::size_t>(d)] - hops_of(shape, number);
    if (shape.wiring != Wiring::line) sender = modulo(sender, shape.extent);
    if (sender < 0 || sender >= shape.extent) return;
    const auto theirs = turn(shape, sender, number);
    if (theirs) append(at, d, theirs->to, out.add({{d, topology_.reverse(d, theirs->hops)}}));
  }

  Load load() const override {
    Load sum;
    for (const Dimension d : linked_) sum.channel += static_cast<std::uint64_t>(turns(line(d))) * bundle(d);
    sum.combined = sum.channel;
    return sum;
  }

 private:
  const DimensionShape& line(Dimension d) const { return topology_.shape()[static_cast<std::size_t>(d)]; }

  /// The dimension of a step, and the turn in it.
  std::pair<Dimension, std::int32_t> when(std::uint64_t step) const {
    auto number = static_cast<std::int32_t>(step);
    std::size_t phase = 0;
    for (; number >= turns(line(linked_[phase])); ++phase) number -= turns(line(linked_[phase]));
    return {linked_[phase], number};
  }

  /// Owners that share the coordinates up to dimension d: their ranks follow each other.
  NodeId bundle(Dimension d) const { return topology_.stride(d); }

  void append(const Coordinates& at, Dimension d, std::int32_t to, Sends::Blocks& blocks) const {
    Coordinates owner = at;
    owner[static_cast<std::size_t>(d)] = to;
    for (Dimension later = d + 1; later < topology_.dimensions(); ++later) owner[static_cast<std::size_t>(later)] = 0;
    blocks.resize(bundle(d));
    std::iota(blocks.begin(), blocks.end(), topology_.rank(owner));
  }

  Topology topology_;
  std::vector<Dimension> linked_;
};

Plan plan(const Machine& machine, const Request& request) {
  return plan_reversible(machine, request, std::make_shared<const DimensionWise>(machine.topology), "sum (n-1), of a line twice", 1);
}

constexpr Algorithm dimension_wise(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "dimension-wise",
          .collective = collective,
          .source = "folklore; optimal on tori with one port (Patarasuk & Yuan 2009)",
          .shapes = "any",
          .steps = steps,
          .idea = idea,
          .native = {.switching = Switching::packet, .ports = 1},
          .plan = plan};
}

constexpr Algorithm dimension_wise_reduce_scatter = dimension_wise(
    Collective::reduce_scatter, "sum of the sides less 1 each, of lines twice",
    {.first = "Along the first dimension each node passes sums on to the next: what is meant for the place farthest ahead goes first, and "
              "every node on the way adds its own.",
     .then = "Then each node has only the blocks of owners with its own coordinate there, and the next dimension does the same with these.",
     .good = "One send and one receive a step are enough, and on rings each node sends just what it must, the fewest bytes that one port "
             "allows."});
constexpr Algorithm dimension_wise_all_gather =
    dimension_wise(Collective::multinode_broadcast, "sum of the sides less 1 each, of lines twice",
                   {.first = "Along one dimension each node passes the blocks of its line on to the next, the block of one place in each "
                             "step, until all nodes of the line have all.",
                    .then = "Then the next dimension does the same with the bundles that have been gathered so far.",
                    .good = "One send and one receive a step are enough, and on rings each block comes to each node once, the fewest bytes "
                            "that one port allows."});
constexpr Algorithm dimension_wise_allreduce = dimension_wise(
    Collective::allreduce, "2 x the sum of the sides less 1 each, of lines twice",
    {.first = "First a reduce-scatter: along each dimension in turn the nodes pass sums on from place to place, so that each ends with the "
              "result of one block.",
     .then = "Then the same steps run backwards, and the results go round the lines of each dimension until all nodes have all of them.",
     .good =
         "One send and one receive a step are enough, and on rings no byte is sent that one port could save, so that long vectors gain."});

}  // namespace

extern const Entries entries{dimension_wise_reduce_scatter, dimension_wise_allreduce, dimension_wise_all_gather};

}  // namespace torus::reduction::dimension_wise
