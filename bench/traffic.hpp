/// Node programs that ask nothing of a node but the engine's own work, and clocks for them.
#pragma once

#include <torus/engine.hpp>

#include "bench/bare_hops.hpp"
#include "bench/host.hpp"

namespace torus::bench {

/// Clocks between two barriers of a run, which leaves out how it starts and ends.
struct Stretch {
  Step first, last;
  double wall = 0, core = 0;

  void at_barrier(Step step) {
    const double sign = step == first ? -1 : step == last ? +1 : 0;
    if (step == first) wall = core = 0;
    if (sign == 0) return;
    wall += sign * wall_s();
    core += sign * core_s();
  }
  double steps() const { return last - first; }
};

// ---- sleeping nodes ----

/// Tells the nodes along the lines of the dimensions from d on, half of each ring either way.
inline void tell_lines(Node& self, Dimension d, BlockId block) {
  for (; d < self.dimensions(); ++d) {
    const auto n = static_cast<Word>(self.extent(d));
    if (n > 1) self.send({{d, +1}}, {&block, 1}, {n / 2});
    if (n > 2) self.send({{d, -1}}, {&block, 1}, {(n - 1) / 2});
  }
}

/// The header says how many nodes of this line are still to be told.
inline void pass_on(Node& self, const Message& m) {
  const Word left = m.header()[0] - 1;
  if (left > 0) self.send({{m.dimension(), m.direction()}}, m.blocks(), {left});
  tell_lines(self, m.dimension() + 1, m.blocks()[0]);
}

/// All nodes of a torus sleep but node 0, which passes `steps` barriers and then wakes them by a block that everyone wants.
inline Program sleep_well(Node& self, Step steps) {
  if (self.rank() == 0) {
    for (Step step = 0; step < steps; ++step) co_await self.step();
    tell_lines(self, 0, self.blocks()[0]);
  } else {
    const Arrivals told = co_await self.arrival();
    pass_on(self, told.front());
  }
}

inline constexpr Bytes wake_up_bytes = 64;

inline Placement wake_up_call(const Machine& machine) { return Placement::replicated(machine.topology, {0}, wake_up_bytes); }

// ---- message-hops ----

inline constexpr std::uint32_t channels = BareHops::channels;

/// Each of the node's blocks goes out over a channel of its own, of the dimensions from d on.
inline void set_out(Node& self, Dimension d) {
  BlockId id = BlockId{self.rank()} * 2 * static_cast<BlockId>(self.dimensions() - d);
  for (; d < self.dimensions(); ++d) {
    for (const std::int32_t hops : {+1, -1}) {
      self.forward({{d, hops}}, {&id, 1});
      ++id;
    }
  }
}

/// Keeps every port of the dimensions from d on busy in every step: blocks travel straight on for half of the steps, and back home in the
/// other half.
inline Program travel(Node& self, Step half, Dimension d = 0) {
  set_out(self, d);
  for (Step step = 1; step < 2 * half; ++step) {
    const std::int32_t sign = step == half ? -1 : +1;
    for (const Message& m : co_await self.step()) self.forward({{m.dimension(), sign * m.direction()}}, m.blocks());
  }
  co_await self.step();
}

/// The blocks of travel() in the dimensions from d on, one on every channel in every step.
inline Placement travelling_blocks(const Machine& machine, Dimension d = 0) {
  return Placement::resident(machine.topology, 2 * static_cast<std::uint32_t>(machine.topology.dimensions() - d), BareHops::bytes);
}

}  // namespace torus::bench
