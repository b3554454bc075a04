#include "algorithms/total_exchange/all_port_line.hpp"

#include <algorithm>
#include <string>

#include "algorithms/common/shapes.hpp"

namespace torus::total_exchange {

AllPortLine::AllPortLine(Wiring wiring, std::int32_t extent) : wiring_{wiring}, extent_{extent} {
  if (wiring != Wiring::ring) return;
  lanes_.fill(std::vector<Hop>(steps()));
  if (extent % 2 == 1) {
    fill_odd_ring();
  } else {
    fill_even_ring();
  }
}

/// All nodes together, offset by offset, both ways round.
void AllPortLine::fill_odd_ring() {
  std::uint32_t t = 0;
  for (std::uint32_t offset = 1; offset <= static_cast<std::uint32_t>(extent_) / 2; t += offset, ++offset) {
    travel(0, t, offset);
    travel(1, t, offset);
  }
}

/// The blocks that go half way round, h = n/2, travel forwards from even nodes and backwards from odd ones: n/2 of them in one lane of each
/// direction. Meanwhile the other lane carries the blocks of a few short offsets D, of the one parity of nodes and then of the other; an
/// odd offset changes the parity that the lane starts from. Then both lanes carry the same offset, each for its parity.
void AllPortLine::fill_even_ring() {
  const std::uint32_t half = static_cast<std::uint32_t>(extent_) / 2;
  const std::uint32_t m = half / 2;
  travel(0, 0, half);
  if (m == 2) {  // rings of 8 and 10: D would have to be {1, 1}
    struct Start {
      std::uint16_t lane, start, offset;
    };
    static constexpr std::array<Start, 6> ring8{{{0, 4, 1}, {0, 5, 3}, {1, 0, 2}, {1, 2, 1}, {1, 3, 2}, {1, 5, 3}}};
    static constexpr std::array<Start, 8> ring10{{{0, 5, 1}, {0, 6, 1}, {0, 7, 2}, {0, 9, 4}, {1, 1, 2}, {1, 3, 3}, {1, 6, 3}, {1, 9, 4}}};
    if (extent_ == 8) {
      for (const Start& s : ring8) travel(s.lane, s.start, s.offset);
    } else {
      for (const Start& s : ring10) travel(s.lane, s.start, s.offset);
    }
    return;
  }
  std::vector<std::uint32_t> meanwhile;
  if (m % 2 == 1) meanwhile = {m};
  if (m % 2 == 0 && m > 0) meanwhile = {1, m - 1};
  std::uint32_t t = 0;
  for (const std::uint32_t offset : meanwhile) {
    travel(1, t, offset);
    travel(1, t + offset, offset);
    t += 2 * offset;
  }
  t = half;
  for (std::uint32_t offset = 1; offset < half; ++offset) {
    if (std::find(meanwhile.begin(), meanwhile.end(), offset) != meanwhile.end()) continue;
    travel(0, t, offset);
    travel(1, t, offset);
    t += offset;
  }
}

void AllPortLine::travel(std::size_t lane, std::uint32_t start, std::uint32_t offset) {
  for (std::uint32_t done = 0; done < offset; ++done) {
    lanes_[lane][start + done] = {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(done)};
  }
}

std::optional<Refusal> needs_tabled_steps(std::string_view algorithm, const Topology& topology,
                                          std::uint64_t (*steps_of)(const Topology& topology)) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24U;
  const std::uint64_t steps = steps_of(topology);
  if (steps <= most) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 std::string(algorithm) + " keeps a table of at most " + std::to_string(most) + " steps, not " + std::to_string(steps) +
                     " (a2 keeps none)",
                 smaller(topology, [&](const Topology& t) { return steps_of(t) <= most; }).text()};
}

}  // namespace torus::total_exchange
