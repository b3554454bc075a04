/// Windows that grow round by round until each holds all places of a circle: what is sent how far.
///
/// Register 0 of a place has the sum F of the w places that end with it, register 1 the same without itself, G. To make w' of w, the place
/// takes p pieces from behind, end to end, each of the length needed: F of w places, or G of w - 1. Source: Bruck & Ho 1993.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace torus::reduction {

struct WindowPiece {
  std::int64_t distance;  ///< from the sender forwards to the place that takes it
  int from;               ///< the sender's register
};

struct WindowRound {
  std::vector<WindowPiece> pieces;  ///< at most p
  bool last;                        ///< they go into register 0 alone, else into 0 and 1
  /// Combinations at a place: the first piece of all finds register 1 empty.
  std::uint64_t combined(bool first) const noexcept {
    return last ? pieces.size() : 2 * pieces.size() - (first && !pieces.empty() ? 1 : 0);
  }
};

/// ceil(log_{p+1} places) rounds. The sizes are made from the last one down: w_T = places, w_(j-1) = ceil(w_j / (p+1)).
inline std::vector<WindowRound> window_rounds(std::int64_t places, std::int64_t pieces) {
  std::vector<std::int64_t> sizes{places};
  while (sizes.back() > 1) sizes.push_back((sizes.back() + pieces) / (pieces + 1));
  std::vector<WindowRound> rounds;
  for (std::size_t j = sizes.size() - 1; j > 0; --j) {
    const std::int64_t w = sizes[j], grown = sizes[j - 1], shorter = (pieces + 1) * w - grown;  // so many pieces are one place shorter
    WindowRound round{{}, j == 1};
    std::int64_t end = w;
    for (std::int64_t i = 0; i < pieces - shorter; ++i, end += w) round.pieces.push_back({end, 0});
    for (std::int64_t i = 0; i < shorter && w > 1; ++i, end += w - 1) round.pieces.push_back({end - 1, 1});
    rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace torus::reduction
