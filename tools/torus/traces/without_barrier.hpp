/// What the messages of a trace would do if no barrier kept the steps apart: torus verify --no-barrier.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/model/channel.hpp"

namespace torus::command {

/// A message that holds a channel while it asks for the next one of its route.
struct Dependence {
  ChannelName held, asked;
  Step step = 0;  ///< of the first message that does so
  NodeId source = 0, destination = 0;
};

/// The most that waits at a node to be sent on in a later step.
struct Buffered {
  std::uint64_t blocks = 0;
  Bytes bytes = 0;
};

/// The channel dependency graph of all messages (Dally & Seitz, IEEE Transactions on Computers C-36, 1987), as if routers were wormhole
/// with one flit of buffer a channel. A node sends a step's messages once it has received those of its earlier steps, and takes in whatever
/// arrives, at once. A message that waits for others to arrive therefore holds no channel; one that holds a channel waits for the next of
/// its route alone. Without a cycle no set of messages can wait for one another, so that all arrive, by induction over the steps of their
/// senders. O(hops log channels).
class WithoutBarrier {
 public:
  explicit WithoutBarrier(const TraceHeader& header);

  /// A route may leave the machine, which the judge says: what follows counts for nothing.
  void message(const TraceMessage& message);

  /// A shortest cycle of those through one channel; empty: there is none. datelines: the dimensions whose rings have two virtual channels;
  /// a message changes to the second at the ring's end.
  std::vector<Dependence> cycle(const std::vector<bool>& datelines = {}) const;
  /// The dimensions whose rings need a dateline: none of them can be left out. nullopt: two virtual channels a ring do not suffice.
  std::optional<std::vector<Dimension>> datelines() const;
  /// A block waits from its first arrival until it is sent last. Blocks that a node had from the beginning do not count.
  Buffered buffered() const;

 private:
  struct Crossing {
    ChannelName channel;
    bool over_the_end;  ///< of its ring, by this leg, before it takes the channel
    auto operator<=>(const Crossing&) const = default;
  };
  struct Wait {
    Step since = 0, until = 0;
    Bytes bytes = 0;
  };

  TraceHeader header_;
  std::map<std::pair<Crossing, Crossing>, Dependence> edges_;
  std::unordered_map<NodeId, std::unordered_map<std::uint64_t, Wait>> waits_;
};

}  // namespace torus::command
