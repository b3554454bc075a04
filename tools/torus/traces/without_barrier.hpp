/// What the messages of a trace would do if no barrier kept the steps apart: torus verify --no-barrier.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/model/channel.hpp"
#include "runtime/trace/buffers.hpp"

namespace torus::command {

/// A message that holds a channel while it asks for the next one of its route.
struct Dependence {
  ChannelName held, asked;
  Step step = 0;  ///< of the first message that does so
  NodeId source = 0, destination = 0;
};

/// Nodes each of which sends to the next one, and the last to the first, in one step.
struct Circle {
  Step step = 0;
  std::vector<NodeId> nodes;  ///< empty: there is none
};

/// What the messages of a trace would do if sends had no buffer at all: a node's send ends when its receiver takes it, and a node takes
/// what comes in a step once all that it sends in it has been taken (MPI_Ssend, then MPI_Recv). Nodes wait for one another for ever if and
/// only if they form a circle in a step: a node waits for one that is in an earlier step, which gets on by induction, or for one that
/// still sends in its own. O(messages of a step).
class BlockingSends {
 public:
  /// The steps ascending.
  void message(const TraceMessage& message);
  /// The first one.
  Circle circle() const;

 private:
  std::vector<NodeId> circle_of_step() const;

  Circle circle_;                                    // once found; until then its step is the one that is being read
  std::map<NodeId, std::vector<NodeId>> receivers_;  // in this step, by sender
};

/// The channel dependency graph of all messages (Dally & Seitz, IEEE Transactions on Computers C-36, 1987), as if routers were wormhole
/// with one flit of buffer a channel. A node sends a step's messages once it has received those of its earlier steps, and takes in whatever
/// arrives, at once. A message that waits for others to arrive therefore holds no channel; one that holds a channel waits for the next of
/// its route alone. Without a cycle no set of messages can wait for one another, so that all arrive, by induction over the steps of their
/// senders. O(hops log channels).
class WithoutBarrier {
 public:
  explicit WithoutBarrier(const TraceHeader& header);

  /// The steps ascending. A route may leave the machine, which the judge says: what follows counts for nothing.
  void message(const TraceMessage& message);

  /// A shortest cycle of those through one channel; empty: there is none. datelines: the dimensions whose rings have two virtual channels;
  /// a message changes to the second at the ring's end.
  std::vector<Dependence> cycle(const std::vector<bool>& datelines = {}) const;
  /// The dimensions whose rings need a dateline: none of them can be left out. nullopt: two virtual channels a ring do not suffice.
  std::optional<std::vector<Dimension>> datelines() const;
  Buffered buffered() const { return buffers_.most(); }
  Circle circle() const { return sends_.circle(); }

 private:
  struct Crossing {
    ChannelName channel;
    bool over_the_end;  ///< of its ring, by this leg, before it takes the channel
    auto operator<=>(const Crossing&) const = default;
  };

  Topology topology_;
  std::map<std::pair<Crossing, Crossing>, Dependence> edges_;
  detail::Buffers buffers_;
  BlockingSends sends_;
};

}  // namespace torus::command
