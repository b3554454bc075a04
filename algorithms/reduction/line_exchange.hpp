/// Who gives what to whom when the places of a line reduce by exchanges, and who holds what.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::reduction {

/// n places on a ring. In a round each has peers; being a peer is mutual. A place gives the part of place `owner` away in the latest round
/// in which a peer can still bring it there: once, and always to somebody who gives it on later.
///
/// Why everybody is counted once: reach(x, s) holds x and the reaches of x's peers from round s on, so what x gives in round s to x + h,
/// for an owner in reach(x + h, s + 1), is given on from there in a round after s, or is at home. Partials are only given away.
class LineExchange {
 public:
  /// Signed hops to the peers of a place in a round, in order of preference.
  using Peers = std::vector<std::int32_t> (*)(std::int32_t n, std::int32_t round, std::int32_t place);

  /// `period`: the peers of a place are those of the place so much farther.
  LineExchange(std::int32_t n, std::int32_t rounds, std::int32_t period, Peers peers_of);

  std::int32_t places() const noexcept { return n_; }
  std::int32_t rounds() const noexcept { return rounds_; }
  std::vector<std::int32_t> peers(std::int32_t round, std::int32_t place) const { return peers_(n_, round, place); }
  /// Owners whose parts a place gives to its i-th peer in a round.
  std::vector<std::int32_t> given(std::int32_t place, std::int32_t round, std::size_t peer) const;
  /// Owners whose parts a place has before a round; how many: the same for each place.
  std::vector<std::int32_t> held(std::int32_t place, std::int32_t round) const;
  /// False if some part would never come home.
  bool complete() const noexcept { return complete_; }
  std::size_t bytes() const noexcept { return moves_.size() * sizeof(Move); }

 private:
  struct Move {
    std::uint8_t round = 0;
    std::uint8_t peer = 0;
  };
  const Move& move(std::int32_t place, std::int32_t offset) const noexcept {
    return moves_[static_cast<std::size_t>(place % period_) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(offset)];
  }

  std::int32_t n_, rounds_, period_;
  Peers peers_;
  std::vector<Move> moves_;  // by place below the period, and by how far ahead the owner is
  bool complete_ = true;
};

}  // namespace torus::reduction
