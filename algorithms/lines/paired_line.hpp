/// What the places of a line do when each sends one message and receives one in a step, so that all hear of all in few steps.
///
/// Rings and lines: neighbours exchange in pairs, a place with its two neighbours in turns. On an odd ring one place is left over: it
/// rests, and the rest goes up by a place a step. Complete dimensions and rings of 3: every place sends 2^j places up in step j.
///
/// Steps    even ring n/2, odd ring (n+3)/2, line n-1 (n even) or n, complete ceil(log2 n). Lines of up to 8 places and rings of 5 to 12
///          cannot do with fewer: algorithms/fewest.md.
/// Proof    of (n+3)/2. Let r = (place - step) mod n: a place with r = 0 rests, odd r exchanges up, even r down. Going up, a block stays at
///          the same r while it moves: of odd r it moves in every step, of even r it waits once, of r = 0 twice. Going down, r falls by 2 a
///          move, and at r = 0 the block waits once; of odd r it waits once before. So in T steps the two ways of a block are T + (T-2)
///          places, (T-1) + (T-1), or of r = 0 (T-2) + (T-2): n+1, n+1 and n-1, all others.
/// Source   even rings: Chen, Zhang, Zhang & Yuan (2005); odd rings and lines: this project.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <torus/topology.hpp>

namespace torus::lines {

/// An immutable value of O(1) size. Steps count from 0.
class PairedLine {
 public:
  /// Places first, first + 1, .. round the line.
  struct Run {
    std::int32_t first, count;
  };
  /// A message of an all-reduce: a register of the sender, which keeps it or gives it away.
  struct Sum {
    std::int32_t offset;  ///< of the receiver
    int from;             ///< register 0: the sum of all that has come, 1: what goes on
    bool keeps;
    bool into_both;  ///< the receiver combines it into both registers, else into 0
    Run places;      ///< whose sum it is
  };

  explicit PairedLine(const DimensionShape& line) noexcept
      : n_{line.extent},
        line_{line.wiring == Wiring::line},
        doubles_{line.wiring == Wiring::complete || (line.wiring == Wiring::ring && line.extent == 3)},
        complete_{line.wiring == Wiring::complete} {}

  std::int32_t places() const noexcept { return n_; }
  std::int32_t steps() const noexcept;
  /// Offset of the place that a place sends to in a step, all that is known going to it; 0: none.
  std::int32_t target(std::int32_t place, std::int32_t step) const noexcept;
  /// Offset of the place that it hears from; 0: none.
  std::int32_t source(std::int32_t place, std::int32_t step) const noexcept;
  /// Hops to the place at an offset, which is a neighbour.
  std::int32_t hops(std::int32_t offset) const noexcept;

  /// All-gather: whose blocks come to a place. On a ring two places at most, those nearest to the sender: with all that is new in a message
  /// an odd ring's steps would be as many, and its bytes half as many again.
  Run gathered(std::int32_t place, std::int32_t step) const noexcept;
  /// Places whose blocks the longest message of that step has.
  std::int32_t longest_gathered(std::int32_t step) const noexcept;

  /// Total exchange: calls f(origin, destination) for the blocks, given by places, that a place sends. Each goes the way of fewest hops,
  /// and half way round an even ring the one that gets there in time.
  template <class F>
  void for_exchanged(std::int32_t place, std::int32_t step, F&& f) const;
  /// Signed hops of the way that a block goes; on a complete dimension the offset.
  std::int32_t way(std::int32_t origin, std::int32_t destination) const noexcept;
  /// Blocks of the longest message of that step.
  std::int32_t longest_exchanged(std::int32_t step) const noexcept;

  /// All-reduce: what a place sends, if anything. On an odd ring the rest goes back by a place in the last step: else a message would have
  /// to take a sum apart. A scan needs a first place that no sum reaches over to the other side of its receiver: place 0 of an even ring,
  /// n-2 of an odd one.
  std::optional<Sum> sum(std::int32_t place, std::int32_t step) const noexcept;
  /// Sums that the busiest place adds in that step: to what is in a register, which costs nothing while it is empty.
  std::int32_t combined(std::int32_t step) const noexcept { return doubles_ && step > 0 && message(0, step)->into_both ? 2 : 1; }

 private:
  /// How far a place has heard.
  struct Heard {
    std::int32_t behind, ahead;
  };

  bool odd_ring() const noexcept { return !line_ && !doubles_ && n_ % 2 != 0; }
  /// Offset of the place that a place exchanges with; 0: none. `back`: as sum() has it.
  std::int32_t partner(std::int32_t place, std::int32_t step, bool back = false) const noexcept;
  /// Before a step. `all`: if messages have all that is new.
  Heard heard(std::int32_t place, std::int32_t step, bool all) const noexcept;
  /// Steps that a block which goes up or down from an origin has waited, if it has to be somewhere else before that step.
  std::int32_t waited(std::int32_t origin, std::int32_t way, std::int32_t step) const noexcept;
  /// Hops of the block that goes farthest that way from an origin.
  std::int32_t reach(std::int32_t origin, std::int32_t way) const noexcept;
  std::optional<Sum> message(std::int32_t place, std::int32_t step) const noexcept;

  std::int32_t n_;
  bool line_, doubles_, complete_;
};

template <class F>
void PairedLine::for_exchanged(std::int32_t place, std::int32_t step, F&& f) const {
  if (doubles_) {  // bit `step` of the offset
    const std::int32_t bit = std::int32_t{1} << step;
    for (std::int32_t offset = bit; offset < n_; offset += offset % bit == bit - 1 ? bit + 1 : 1) {
      f(modulo(place + offset - offset % bit, n_), offset % bit);
    }
    return;
  }
  const std::int32_t way = partner(place, step);
  if (way == 0) return;
  for (std::int32_t wait = 0; wait <= 2 && wait <= step; ++wait) {
    const std::int32_t gone = step - wait, from = place - way * gone, origin = line_ ? from : modulo(from, n_);
    if (origin < 0 || origin >= n_ || std::min(step, waited(origin, way, step)) != wait) continue;
    for (std::int32_t to = gone + 1; to <= reach(origin, way); ++to) f(modulo(origin + way * to, n_), way * gone);
  }
}

}  // namespace torus::lines
