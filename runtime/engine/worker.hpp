/// All that one worker of the engine writes during a step.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include <torus/placement.hpp>
#include <torus/result.hpp>

#include "runtime/engine/network/channels.hpp"
#include "runtime/engine/network/links.hpp"
#include "runtime/engine/network/message_arena.hpp"
#include "runtime/engine/payload/copier.hpp"
#include "runtime/engine/payload/slot_pool.hpp"
#include "runtime/engine/rules/violations.hpp"
#include "runtime/engine/workers/active_set.hpp"
#include "runtime/engine/workers/frame_pool.hpp"
#include "runtime/engine/workers/shared_range.hpp"

namespace torus::detail {

/// What has arrived for a node, in order; room for all its in-channels.
struct alignas(64) ArrivedMessages {
  std::vector<Message*> room;  ///< and behind the last message one of no block
  std::size_t size = 0;

  std::span<Message* const> messages() const noexcept { return {room.data(), size}; }
};

/// The node that the worker runs. Written by inbox.
struct RunningNode {
  std::uint64_t step_and_source = 0;     ///< of what it sends. Watch reads it where it has not changed for long
  ChannelEntry* out_channels = nullptr;  ///< under packet switching
  int ports_left = 0;                    ///< for messages of this step
  ArrivedMessages* arrived = nullptr;
  /// Where every message is one block over one leg: from here to the end none has been forwarded or stored. Else the end.
  Message* const* next = nullptr;
  Message* const* end = nullptr;
  bool unstored = false;  ///< others may have been neither forwarded nor stored

  NodeId rank() const noexcept { return MessageArena::source_of(step_and_source); }
  void enter(std::uint64_t to) noexcept {
#ifdef __SANITIZE_THREAD__
    std::atomic_ref(step_and_source).store(to, std::memory_order_relaxed);
#else
    step_and_source = to;  // one instruction; of the atomic store g++ keeps the address in a register, which the loop over nodes needs
#endif
  }
};

/// Counts of the present step. Written by inbox and outbox; the engine takes them at the barrier.
struct Tally {
  StepRecord step;
  NodeId phase_node = 0;  ///< that named the phase; meaningful if step.phase is set
  std::uint64_t digest = 0;
  std::uint64_t further_hops = 0;   ///< beyond one a message
  Bytes further_bytes_hops = 0;     ///< message bytes times those
  std::uint64_t single_blocks = 0;  ///< messages of one block over one leg without a header, where blocks are equally long
  std::uint64_t blocks = 0;         ///< in all other messages
  std::uint64_t header_words = 0;
  Bytes combined_bytes = 0;      ///< of the arrivals of the last step
  Bytes most_combined = 0;       ///< of them, max of a node
  std::uint64_t activated = 0;   ///< nodes that this worker put into the next step
  std::uint64_t ended = 0;       ///< programs
  std::uint64_t duplicates = 0;  ///< of the run
};

/// What the barrier must know of the present step. Written by inbox, outbox and step runner.
struct Findings {
  bool copied = false;             ///< a node sent a block and kept it
  bool bundled = false;            ///< a node sent a message other than one block over one hop
  bool suspect = false;            ///< a message of this step breaks a rule; the auditor names it
  bool suspect_receives = false;   ///< a node received more messages of the last step than it has ports
  NodeId overloaded_receiver = 0;  ///< the lowest such node; meaningful if there is one
  Violations violations;           ///< those that the messages do not show: blocks not held
  std::exception_ptr error;        ///< of the program that has just thrown
  std::exception_ptr failure;      ///< that ends the run
  NodeId failed_node = 0;          ///< the lowest node with a failure; meaningful if there is one

  void suspect_receive(NodeId node) noexcept {
    if (!suspect_receives || node < overloaded_receiver) overloaded_receiver = node;
    suspect_receives = true;
  }
  /// Ends the run after its step with what was thrown while a node ran. The lowest node's failure counts.
  void fail(NodeId node, std::exception_ptr thrown) {
    if (failure && failed_node <= node) return;
    failure = std::move(thrown);
    failed_node = node;
  }
};

/// A block that leaves its node over a channel that is claimed already. It waits for its copy and its queue.
struct PendingForward {
  MessageArena::Draft message;
  ExclusiveLinks::Queue* queue;  ///< the channel's
  std::byte* from;               ///< the block's bytes
  std::uint32_t out;             ///< the channel's slot
};

/// Messages on their way out. Belongs to outbox.
struct Outgoing {
  MessageArena* arena = nullptr;                        ///< of the present step
  ActiveSet::Part* next_active = nullptr;               ///< nodes that this worker makes run in the next step
  alignas(64) std::array<PendingForward, 32> forwards;  ///< aligned: hops are some 1 % faster
  PendingForward* forwards_end = forwards.data();
  ClaimList claims;
  CopyQueue copies;
  std::vector<Leg> legs;                 ///< scratch: a route without its idle legs
  MessageArena arenas[2];                ///< of even and odd steps
  std::vector<const Message*> crossing;  ///< that leave the slab, in the order in which they were sent; for the border
  ClaimList border_claims;               ///< scratch of the border
  std::vector<Leg> group_route;          ///< scratch: the machine's route for one of a group
  std::vector<Leg> kept_route;           ///< of the message that is sent, by its program: see Groups::carries()

  bool forwards_full() const noexcept { return forwards_end == forwards.data() + forwards.size(); }
};

/// What a message says in the machine's terms; see LocalArrivals.
struct MachineTerms {
  NodeId source;
  Leg first_leg;
};
/// And if it has several legs, or has gone to another node than it was for.
struct FurtherTerms {
  Message* message;
  NodeId destination;
};

/// Messages that have arrived. Belongs to inbox.
struct Incoming {
  static constexpr std::size_t nodes_a_stage = 4;
  static constexpr std::size_t max_stages = 4;  ///< between a node's first prefetch and its program

  Message* no_block = MessageArena::no_block();
  ArrivedMessages none;
  std::array<ArrivedMessages, max_stages * nodes_a_stage> nodes;  ///< of the node that runs, and of those in earlier stages
  std::vector<BlockId> held;                                      ///< last result of Node::blocks()
  // The running node's arrivals, while its program sees them in its group's terms:
  std::vector<MachineTerms> machine_terms;                ///< room for all; by message
  std::vector<FurtherTerms> further_terms;                ///< of those that have more
  std::vector<Leg> further_legs;                          ///< theirs, one message after the other
  std::vector<std::byte> rewritten;                       ///< copies with the routes that their programs named
  std::vector<std::pair<Message**, Message*>> originals;  ///< where such a copy is in the list, and of what

  /// Room for `most` messages a node. The worker's own thread calls it: then the allocator keeps the memory apart from other threads'.
  void make(std::size_t most) {
    for (ArrivedMessages& each : nodes) each.room.resize(most + 1);
    none.room = {no_block};
    machine_terms.resize(most);
  }
};

/// The worker's share of the nodes of a step. Belongs to the step runner.
struct WorkShare {
  std::vector<NodeId> nodes;        ///< room for those of the groups that it is going to run
  alignas(64) SharedRange<> items;  ///< others steal here
};

/// On cache lines of its own. Each part names its owner.
struct alignas(128) Worker {
  std::uint32_t index = 0;
  const Worker* all = nullptr;     ///< the workers of the process, by their indices
  std::uint32_t batches = 0;       ///< of nodes, begun and ended: odd while it runs nodes. Written by the step runner, for Watch
  FreeList* free_slots = nullptr;  ///< the first of its free lists
  RunningNode node;
  Tally tally;
  Findings findings;
  Outgoing out;
  Incoming in;
  FramePool frames;
  WorkShare share;

  /// The most bytes that frames and messages have taken in this run.
  Bytes used() const noexcept { return frames.used() + out.arenas[0].used() + out.arenas[1].used(); }
  /// Forgets the last run; keeps the memory.
  void begin_run() {
    node = {};
    tally = {};
    findings = {};
    for (MessageArena& each : out.arenas) each.begin_run();
    out.forwards_end = out.forwards.data();
    out.claims.clear();
    out.crossing.clear();
    out.copies.clear();
    out.kept_route.clear();
    frames.reset();
  }
};

}  // namespace torus::detail
