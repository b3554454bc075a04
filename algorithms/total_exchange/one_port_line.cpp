#include "algorithms/total_exchange/one_port_line.hpp"

namespace torus::exchange {
namespace {

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

}  // namespace

Program exchange_along(Node& self, const LineBlocks& blocks) {
  switch (self.topology().wiring(blocks.dimension)) {
    case Wiring::ring: return exchange_ring(self, blocks);
    case Wiring::line: return exchange_line(self, blocks);
    case Wiring::complete: return exchange_complete(self, blocks);
  }
  return exchange_ring(self, blocks);
}

}  // namespace torus::exchange
