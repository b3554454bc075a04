/// Total exchange with one port on any product of rings, lines and complete graphs, dimension by dimension, the last first.
///
/// Algorithm A2 on G = A x B: for each r in A, an exchange in all copies of B of what goes to (r, .); then for each w in B, an exchange in
/// all copies of A of what came from (., w). With A one dimension and B the product of the later ones, in turn exchanged by A2, this is:
/// along dimension i, one exchange for each choice of the destination's coordinates before i and of the origin's coordinates behind i.
/// Machine  packet, one port, any topology.
/// Steps    sum over i of (N/n_i) T_i, T_i the steps of one exchange along dimension i; meets bound (3) on tori, hypercubes and
///          generalised hypercubes.
/// Header   none.   Memory  O(1) a node.
/// Source   Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: algorithm A2.

#include <torus/algorithm.hpp>

#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::total_exchange::a2 {
namespace {

// The exchange along one dimension with one port, in the fewest steps: ring floor(n^2/4), line floor((n^2 - 1)/2), complete n - 1. All
// nodes of a ring, a line or a complete dimension run it side by side. Source: the paper's single dimension.

/// The blocks that are exchanged along one dimension: the one that node a of it has for node b of it.
struct LineBlocks {
  Dimension dimension = 0;
  std::int32_t own = 0;  ///< this node's coordinate in it
  BlockId first = 0;     ///< the block of node 0 for node 0
  BlockId of_next = 0;   ///< what to add for the next a
  BlockId for_next = 0;  ///< what to add for the next b
  BlockId block(std::int32_t a, std::int32_t b) const noexcept {
    return first + static_cast<BlockId>(a) * of_next + static_cast<BlockId>(b) * for_next;
  }
};

/// Steps of one exchange along a dimension of n nodes.
constexpr std::uint64_t one_port_steps(Wiring wiring, std::int32_t extent) noexcept {
  const auto n = static_cast<std::uint64_t>(extent);
  switch (wiring) {
    case Wiring::ring: return n * n / 4;
    case Wiring::line: return (n * n - 1) / 2;
    case Wiring::complete: return n - 1;
  }
  return 0;
}

/// Offset by offset: all nodes pass the blocks of this offset on, hop by hop; who is half way round goes forwards.
Program exchange_ring(Node& self, const LineBlocks& blocks) {
  const std::int32_t n = self.extent(blocks.dimension);
  for (std::int32_t direction = +1; direction >= -1; direction -= 2) {
    const std::int32_t farthest = direction > 0 ? n / 2 : (n - 1) / 2;
    for (std::int32_t offset = 1; offset <= farthest; ++offset) {
      BlockId passing = blocks.block(blocks.own, modulo(blocks.own + direction * offset, n));
      for (std::int32_t hop = 0; hop < offset; ++hop) {
        self.forward({{blocks.dimension, direction}}, {&passing, 1});
        passing = (co_await self.step()).front().blocks().front();
      }
    }
  }
}

/// What a node of a line still has to pass on in one direction: first all that goes to the far end, its own block before those of the nodes
/// behind it, from near to far; then all that goes to the node before that; and so on. Every block has then arrived when its turn comes.
struct Stream {
  std::int32_t direction;
  std::int32_t source;
  std::int32_t destination;
};

Stream stream_of(const LineBlocks& blocks, std::int32_t n, std::int32_t direction) {
  return {direction, blocks.own, direction > 0 ? n - 1 : 0};
}

void pass_next(Node& self, const LineBlocks& blocks, std::int32_t n, Stream& stream) {
  if (stream.destination == blocks.own) return;  // all has passed
  const BlockId passing = blocks.block(stream.source, stream.destination);
  self.forward({{blocks.dimension, stream.direction}}, {&passing, 1});
  stream.source -= stream.direction;
  if (stream.source < 0 || stream.source >= n) {
    stream.source = blocks.own;
    stream.destination -= stream.direction;
  }
}

/// Every other step, a node exchanges with its neighbour on the one side; in between, with the one on the other side.
Program exchange_line(Node& self, const LineBlocks& blocks) {
  const std::int32_t n = self.extent(blocks.dimension);
  Stream up = stream_of(blocks, n, +1);
  Stream down = stream_of(blocks, n, -1);
  const auto steps = static_cast<std::uint32_t>(one_port_steps(Wiring::line, n));
  // The link in the middle, out of node n/2 - 1, has the most to carry: it begins.
  const std::uint32_t parity = static_cast<std::uint32_t>(blocks.own + n / 2 + 1) & 1U;
  for (std::uint32_t step = 0; step < steps; ++step) {
    pass_next(self, blocks, n, (step & 1U) == parity ? up : down);
    co_await self.step();
  }
}

/// In step `offset` every node sends to the one at that offset.
Program exchange_complete(Node& self, const LineBlocks& blocks) {
  const std::int32_t n = self.extent(blocks.dimension);
  for (std::int32_t offset = 1; offset < n; ++offset) {
    const BlockId own = blocks.block(blocks.own, modulo(blocks.own + offset, n));
    self.forward({{blocks.dimension, offset}}, {&own, 1});
    co_await self.step();
  }
}

Program exchange_along(Node& self, const LineBlocks& blocks) {
  switch (self.topology().wiring(blocks.dimension)) {
    case Wiring::ring: return exchange_ring(self, blocks);
    case Wiring::line: return exchange_line(self, blocks);
    case Wiring::complete: return exchange_complete(self, blocks);
  }
  return exchange_ring(self, blocks);
}

// The product.

/// The blocks of one exchange along dimension d: those whose destination has the rank `before` in the dimensions before d and whose origin
/// has the rank `behind` in those behind it. They are still at their origin's place in the former and already at their destination's in the
/// latter.
LineBlocks blocks_of(const Node& self, Dimension d, NodeId before, NodeId behind) {
  const Topology& topology = self.topology();
  const BlockId nodes = topology.nodes();
  const NodeId stride = topology.stride(d);
  const NodeId slab = static_cast<NodeId>(topology.extent(d)) * stride;
  const NodeId own_before = self.rank() / slab;
  const NodeId own_behind = self.rank() % stride;
  return {.dimension = d,
          .own = topology.coordinate(self.rank(), d),
          .first = (BlockId{own_before} * slab + behind) * nodes + BlockId{before} * slab + own_behind,
          .of_next = stride * nodes,
          .for_next = stride};
}

/// Coordinates before d, all together.
NodeId choices_before(const Topology& topology, Dimension d) {
  return topology.nodes() / (static_cast<NodeId>(topology.extent(d)) * topology.stride(d));
}

Program a2_program(Node& self) {
  for (Dimension d = self.dimensions() - 1; d >= 0; --d) {
    if (self.extent(d) == 1) continue;
    for (NodeId before = 0; before < choices_before(self.topology(), d); ++before) {
      for (NodeId behind = 0; behind < self.topology().stride(d); ++behind) {
        const LineBlocks blocks = blocks_of(self, d, before, behind);
        co_await exchange_along(self, blocks);
      }
    }
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Plan plan;
  plan.start = [](Node& self) { return a2_program(self); };
  plan.node_bytes += frames_of_calls(machine, [](Node& self) { make(exchange_along(self, LineBlocks{})); });
  for (const DimensionShape& dimension : topology.shape()) {
    plan.steps += topology.nodes() / static_cast<std::uint64_t>(dimension.extent) * one_port_steps(dimension.wiring, dimension.extent);
  }
  plan.formula = "sum (N/n_i) T_i";
  plan.route_hops = plan.steps;
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes);
  return plan;
}

const Algorithm a2{
    .name = "a2",
    .collective = Collective::total_exchange,
    .source = "Dimakopoulos & Dimopoulos, total exchange in multidimensional networks, algorithm A2",
    .shapes = "any product of rings, lines and complete graphs",
    .steps = "sum (N/n_i) T_i; T_i: ring floor(n^2/4), line floor((n^2-1)/2), complete n-1",
    .idea = {.first = "The last dimension comes first: its lines exchange the blocks in rounds, one round for each place that blocks go to "
                      "in the dimensions before, a block a message.",
             .then = "The dimension before does the same with what has come, until each block has the right place in every dimension.",
             .good = "Each block goes a shortest way and the one port is seldom idle, so that on tori and hypercubes no exchange of single "
                     "blocks through one port takes fewer steps."},
    .native = {.switching = Switching::packet, .ports = 1},
    .plan = plan,
};

}  // namespace

extern const Entries entries{a2};

}  // namespace torus::total_exchange::a2
