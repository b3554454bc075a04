#include "algorithms/reduction/line_exchange.hpp"

#include <torus/topology.hpp>

namespace torus::reduction {

LineExchange::LineExchange(std::int32_t n, std::int32_t rounds, std::int32_t period, Peers peers_of)
    : n_{n}, rounds_{rounds}, period_{period}, peers_{peers_of} {
  // reach[s][x][d]: the place d ahead of x is in the reach of x from round s on.
  using Places = std::vector<std::vector<bool>>;
  std::vector<Places> reach(static_cast<std::size_t>(rounds) + 1,
                            Places(static_cast<std::size_t>(period), std::vector<bool>(static_cast<std::size_t>(n))));
  const auto in_reach = [&](std::int32_t from_round, std::int32_t place, std::int32_t owner) {
    return reach[static_cast<std::size_t>(from_round)][static_cast<std::size_t>(modulo(place, n) % period)]
                [static_cast<std::size_t>(modulo(owner - place, n))];
  };
  moves_.resize(static_cast<std::size_t>(period) * static_cast<std::size_t>(n));
  for (std::int32_t x = 0; x < period; ++x) reach.back()[static_cast<std::size_t>(x)][0] = true;
  for (std::int32_t round = rounds; round-- > 0;) {
    for (std::int32_t x = 0; x < period; ++x) {
      auto& now = reach[static_cast<std::size_t>(round)][static_cast<std::size_t>(x)];
      now = reach[static_cast<std::size_t>(round) + 1][static_cast<std::size_t>(x)];
      const std::vector<std::int32_t> hops = peers_of(n, round, x);
      for (std::int32_t ahead = 1; ahead < n; ++ahead) {
        if (now[static_cast<std::size_t>(ahead)]) continue;  // in a later round
        for (std::size_t i = 0; i < hops.size(); ++i) {
          if (!in_reach(round + 1, x + hops[i], x + ahead)) continue;
          now[static_cast<std::size_t>(ahead)] = true;
          moves_[static_cast<std::size_t>(x) * static_cast<std::size_t>(n) + static_cast<std::size_t>(ahead)] = {
              static_cast<std::uint8_t>(round), static_cast<std::uint8_t>(i)};
          break;
        }
      }
    }
  }
  for (const auto& of_place : reach.front()) {
    for (const bool reached : of_place) complete_ = complete_ && reached;
  }
}

std::vector<std::int32_t> LineExchange::given(std::int32_t place, std::int32_t round, std::size_t peer) const {
  std::vector<std::int32_t> out;
  for (std::int32_t ahead = 1; ahead < n_; ++ahead) {
    const Move& m = move(place, ahead);
    if (m.round == round && m.peer == peer) out.push_back(modulo(place + ahead, n_));
  }
  return out;
}

std::vector<std::int32_t> LineExchange::held(std::int32_t place, std::int32_t round) const {
  std::vector<std::int32_t> out{place};
  for (std::int32_t ahead = 1; ahead < n_; ++ahead) {
    if (move(place, ahead).round >= round) out.push_back(modulo(place + ahead, n_));
  }
  return out;
}

}  // namespace torus::reduction
