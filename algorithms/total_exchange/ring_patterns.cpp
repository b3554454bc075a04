#include "algorithms/total_exchange/ring_patterns.hpp"

#include <algorithm>
#include <utility>

#include <torus/topology.hpp>

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

}  // namespace torus::total_exchange
