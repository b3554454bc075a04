/// Programs that break one rule of the machine each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <torus/engine.hpp>

#include "tests/support/run.hpp"

namespace torus::support {

/// A wrong program: what its node 5 does in step 2 (other nodes may help), and what must be said about it.
struct Wrong {
  std::string what;
  Machine machine;
  ViolationKind kind;
  void (*sends)(Node&);
  NodeId named = 5;
};

inline void none(Node&) {}

template <Leg... legs>
void one_by(Node& self) {
  if (self.rank() == 5) self.send({legs...}, no_blocks);
}

/// Where channels are shared.
inline Machine shared(const char* shape, Switching switching) { return Machine(Topology::parse(shape), 0, switching, Contention::share); }

inline Machine square(const char* shape, Switching switching, int ports = 0, std::vector<Dimension> routing = {}) {
  return Machine(Topology::parse(shape), ports, switching, Contention::forbid, std::move(routing));
}

inline void same_channel(Node& self) {
  if (self.rank() != 5) return;
  self.send({{1, +1}}, no_blocks, {1U});
  self.send({{1, +1}}, no_blocks, {2U});
}

/// Nodes 5 and 6 of a row meet on the channel from 6 to 7; the later in the order of senders is named.
inline void two_worms(Node& self) {
  if (self.rank() == 5 || self.rank() == 6) self.send({{1, +2}}, no_blocks);
}

inline void two_sends(Node& self) {
  if (self.rank() != 5) return;
  self.send({{0, +1}}, no_blocks);
  self.send({{1, +1}}, no_blocks);
}

/// From left and right into node 5.
inline void two_receives(Node& self) {
  if (self.rank() == 4) self.send({{1, +1}}, no_blocks);
  if (self.rank() == 6) self.send({{1, -1}}, no_blocks);
}

inline void not_held(Node& self) {
  const std::vector<BlockId> other{7};
  if (self.rank() == 5) self.send({{1, +1}}, other);
}

/// One message more than a queue takes.
inline void nine_times(Node& self) {
  if (self.rank() != 5) return;
  for (Word i = 0; i < 9; ++i) self.send({{0, +1}}, no_blocks, {i});
}
inline void eight_times(Node& self) {
  if (self.rank() != 5) return;
  for (Word i = 0; i < 8; ++i) self.send({{0, +1}}, no_blocks, {i});
}

/// Nine nodes of the line 0, 16, 32, .., by worms that end in the channel to 160.
inline void nine_worms(Node& self) {
  const auto x = static_cast<std::int32_t>(self.rank() / 16);
  if (self.rank() % 16 == 0 && x >= 1 && x <= 9) self.send({{0, 10 - x}}, no_blocks);
}

/// Node 4 has the channel from 5 to 6 before node 5, which crosses it twice.
inline void twice_after_another(Node& self) {
  if (self.rank() == 4) self.send({{1, +2}}, no_blocks);
  if (self.rank() == 5) self.send({{1, +1}, {1, -1}, {1, +1}}, no_blocks);
}

inline void does_not_exist(Node& self) {
  const std::vector<BlockId> other{BlockId{1} << 31U};
  if (self.rank() == 5) self.send({{1, +1}}, other);
}

inline std::vector<Wrong> all_wrong() {
  const auto packet = Switching::packet;
  const auto wormhole = Switching::wormhole;
  const auto circuit = Switching::circuit;
  return {
      {"no leg", square("4x4", wormhole), ViolationKind::empty_route, one_by<>},
      {"no leg, one hop a step", square("4x4", packet), ViolationKind::empty_route, one_by<>},
      {"a leg of no hops", square("4x4", wormhole), ViolationKind::empty_route, one_by<Leg{0, 0}>},
      {"a leg of no hops, one hop a step", square("4x4", packet), ViolationKind::empty_route, one_by<Leg{0, 0}>},
      {"a third dimension", square("4x4", wormhole), ViolationKind::unknown_dimension, one_by<Leg{2, 1}>},
      {"a third dimension, one hop a step", square("4x4", packet), ViolationKind::unknown_dimension, one_by<Leg{2, 1}>},
      {"dimension -1", square("4x4", circuit), ViolationKind::unknown_dimension, one_by<Leg{0, 1}, Leg{-1, 1}>},
      {"dimension -1 for 0 hops, behind a leg that moves nothing", square("4x4", circuit), ViolationKind::unknown_dimension,
       one_by<Leg{0, 1}, Leg{1, 0}, Leg{-1, 0}, Leg{0, -1}>},
      {"a third dimension for 0 hops", square("4x4", packet), ViolationKind::unknown_dimension, one_by<Leg{2, 0}>},
      {"over the end of a line", square("4x4m", wormhole), ViolationKind::leaves_the_machine, one_by<Leg{1, 3}>},
      {"over the end of a line, one hop a step", square("2mx4", packet), ViolationKind::leaves_the_machine, one_by<Leg{0, 1}>},
      {"over the end of a line on the way", square("4x4m", circuit), ViolationKind::leaves_the_machine, one_by<Leg{1, -3}, Leg{1, 2}>},
      {"round an extent of 1", square("1x8", wormhole), ViolationKind::leaves_the_machine, one_by<Leg{0, 1}>},
      {"round an extent of 1, one hop a step", square("1x8", packet), ViolationKind::leaves_the_machine, one_by<Leg{0, 1}>},
      {"to an offset past a complete dimension", square("2x4c", wormhole), ViolationKind::leaves_the_machine, one_by<Leg{1, 4}>},
      {"to a negative offset of a complete dimension", square("2x4c", packet), ViolationKind::leaves_the_machine, one_by<Leg{1, -1}>},
      {"two hops at once", square("4x4", packet), ViolationKind::more_than_one_hop, one_by<Leg{1, 2}>},
      {"round the corner at once", square("4x4", packet), ViolationKind::more_than_one_hop, one_by<Leg{0, 1}, Leg{1, 1}>},
      {"dimensions in the wrong order", square("4x4", wormhole), ViolationKind::not_dimension_ordered, one_by<Leg{1, 1}, Leg{0, 1}>},
      {"dimensions in the machine's wrong order", square("4x4", wormhole, 0, {1, 0}), ViolationKind::not_dimension_ordered,
       one_by<Leg{0, 1}, Leg{1, 1}>},
      {"a dimension twice", square("4x4", wormhole), ViolationKind::not_dimension_ordered, one_by<Leg{0, 1}, Leg{0, 1}>},
      {"more than once round", square("4x4", wormhole), ViolationKind::channel_crossed_twice, one_by<Leg{1, 5}>},
      {"forth, back and forth", square("4x4", circuit), ViolationKind::channel_crossed_twice, one_by<Leg{1, 1}, Leg{1, -1}, Leg{1, 1}>},
      {"forth, back and forth, channels shared", shared("4x4", circuit), ViolationKind::channel_crossed_twice,
       one_by<Leg{1, 1}, Leg{1, -1}, Leg{1, 1}>},
      {"forth, back and forth on another's channel", shared("4x4", circuit), ViolationKind::channel_crossed_twice, twice_after_another},
      {"one channel, two messages", square("4x4", wormhole), ViolationKind::channel_used_twice, same_channel},
      {"one channel, two messages, one hop a step", square("4x4", packet), ViolationKind::channel_used_twice, same_channel},
      {"one channel, messages of two nodes", square("4x8", wormhole), ViolationKind::channel_used_twice, two_worms, 6},
      {"two sends by one port", square("4x4", wormhole, 1), ViolationKind::too_many_sends, two_sends},
      {"two sends by one port, one hop a step", square("4x4", packet, 1), ViolationKind::too_many_sends, two_sends},
      {"two receives by one port", square("4x8", wormhole, 1), ViolationKind::too_many_receives, two_receives},
      {"two receives by one port, one hop a step", square("4x8", packet, 1), ViolationKind::too_many_receives, two_receives},
      {"more messages by a channel than its queue takes", shared("2^10", wormhole), ViolationKind::queue_overflow, nine_times, 5 + 512},
      {"more messages by a channel than its queue takes, one hop a step", shared("2^10", packet), ViolationKind::queue_overflow, nine_times,
       5 + 512},
      {"more messages by an offset than its queue takes", shared("2cx10c", wormhole), ViolationKind::queue_overflow, nine_times, 15},
      {"more messages of several nodes by a channel than its queue takes", shared("16x2x2x2x2", wormhole), ViolationKind::queue_overflow,
       nine_worms, 160},
      {"as many and too few ports", shared("16x16", wormhole), ViolationKind::too_many_receives, nine_worms, 160},
      {"another node's block", square("4x4", wormhole), ViolationKind::block_not_held, not_held},
      {"a block that does not exist", square("4x4", wormhole), ViolationKind::block_not_held, does_not_exist},
  };
}

/// Node 5 breaks the rule in step 2; else nothing happens.
inline Program break_rule(Node& self, const Wrong& wrong) {
  co_await self.step();
  co_await self.step();
  wrong.sends(self);
  while (true) co_await self.step();  // the violation ends the run
}

}  // namespace torus::support
