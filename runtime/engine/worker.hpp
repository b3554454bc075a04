/// What belongs to one worker of the engine.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <torus/block.hpp>
#include <torus/inline_vector.hpp>
#include <torus/result.hpp>

#include "runtime/engine/active_set.hpp"
#include "runtime/engine/block_store.hpp"
#include "runtime/engine/channel_table.hpp"
#include "runtime/engine/copy_queue.hpp"
#include "runtime/engine/frame_pool.hpp"
#include "runtime/engine/links.hpp"
#include "runtime/engine/message_arena.hpp"
#include "runtime/engine/violations.hpp"

namespace torus::detail {

/// What has arrived for a node, in order; room for all its in-channels.
struct alignas(64) Inbox {
  std::vector<const Message*> room;  // and behind the last a message of no block
  std::size_t size = 0;

  std::span<const Message* const> messages() const noexcept { return {room.data(), size}; }
};

/// A message whose channels are still to be claimed.
struct Sent {
  const Message* message;
  std::uint32_t in_slot;     // at its receiver
  std::size_t channels_end;  // of its channels in the worker's list; they begin where those of the message before end
};

/// Channels in the order in which messages cross them.
class CrossedChannels {
 public:
  std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - room_.get()); }
  ChannelEntry* operator[](std::size_t i) const noexcept { return room_[i]; }
  std::span<ChannelEntry* const> last(std::size_t count) const noexcept { return {end_ - count, count}; }
  /// Where to write the next ones, `most` at most; take() then takes those before an end.
  ChannelEntry** room_for(std::size_t most) {
    if (static_cast<std::size_t>(limit_ - end_) < most) [[unlikely]]
      grow(most);
    return end_;
  }
  void take(ChannelEntry** end) noexcept { end_ = end; }
  /// Forgets all but the first.
  void cut(std::size_t size) noexcept { end_ = room_.get() + size; }

 private:
  [[gnu::cold, gnu::noinline]] void grow(std::size_t most) {
    const std::size_t had = size();
    const std::size_t room = 2 * (had + most);
    auto larger = std::make_unique_for_overwrite<ChannelEntry*[]>(room);  // not touched before it is used: it may be a long line's
    std::copy_n(room_.get(), had, larger.get());
    room_ = std::move(larger);
    cut(had);
    limit_ = room_.get() + room;
  }

  std::unique_ptr<ChannelEntry*[]> room_;
  ChannelEntry** end_ = nullptr;
  ChannelEntry** limit_ = nullptr;
};

/// A block that leaves the node that had it, with a channel claimed for it.
struct Passing {
  MessageArena::Draft message;
  ExclusiveLinks::Queue* queue;  // the channel's
  std::byte* from;               // the block's bytes
  std::uint32_t out;             // the channel's slot
};

/// All that a worker writes during a step: its own cache lines, its own pools.
struct alignas(128) Worker {
  static constexpr std::size_t nodes_a_stage = 4;
  static constexpr std::size_t sent_at_once = 64;
  static constexpr std::size_t channels_at_once = std::size_t{1} << 16U;  // where routes are long, fewer messages

  std::uint32_t index = 0;
  BlockStore::Stock* stock = nullptr;
  StepRecord step;                  // of the present step
  NodeId phase_node = 0;            // who named the phase; meaningful if step.phase is set
  std::uint64_t digest = 0;         // of the present step
  std::uint64_t further_hops = 0;   // of the present step, beyond one a message
  Bytes further_bytes_hops = 0;     // message bytes times those
  std::uint64_t single_blocks = 0;  // of the present step: messages of one block and one hop
  std::uint64_t blocks = 0;         // of the present step, in all other messages
  std::uint64_t header_words = 0;   // of the present step
  std::uint64_t duplicates = 0;     // of the run
  std::uint64_t activated = 0;      // nodes put into the next step by this worker
  std::uint64_t ended = 0;
  // Of the node that runs:
  std::uint64_t step_and_source = 0;     // of what it sends
  ChannelEntry* out_channels = nullptr;  // under packet switching
  int ports_left = 0;                    // for messages of this step
  Inbox* inbox = nullptr;
  const Message* const* turn =
      nullptr;  // where all are of one block, those from here to the end have been neither passed on nor adopted; else the end
  const Message* const* turns_end = nullptr;
  bool unsettled = false;         // the same may be true of others
  bool copied = false;            // in this step a node sent a block and kept it
  bool bundled = false;           // in this step a node sent something else than one block over one leg
  bool suspect = false;           // a message of this step breaks a rule
  bool suspect_receives = false;  // a node got more messages of the last step than it has ports
  Violations violations;          // those that cannot be told from the messages: blocks not held
  std::exception_ptr error;       // of the program that has just thrown
  std::exception_ptr failure;
  NodeId failed_node = 0;  // the lowest node with a failure; meaningful if there is one
  const Message* const no_block = MessageArena::no_block();
  MessageArena* arena = nullptr;           // of the present step
  ActiveSet::Part* next_active = nullptr;  // nodes that this worker makes run in the next step
  MessageArena arenas[2];                  // of even and odd steps
  Inbox no_arrivals;
  std::array<Inbox, 4 * nodes_a_stage> inboxes;  // of that node and those that run after it, which are in four stages
  std::vector<BlockId> held;                     // what Node::blocks() showed last
  std::vector<Leg> legs;                         // scratch of send(): a route without its idle legs
  std::array<Passing, 32> passing;
  Passing* passing_end = passing.data();
  InlineVector<Sent, sent_at_once> sent;  // messages not yet posted, whose channels are on their way from memory
  CrossedChannels channels;               // that those cross
  CopyQueue copies;
  FramePool frames;
  std::vector<NodeId> nodes;                         // room for those of the groups that it is going to run
  alignas(64) std::atomic<std::uint64_t> cursor{0};  // next item of this worker's share; others steal here
  std::uint64_t share_end = 0;

  /// The node that runs.
  NodeId rank() const noexcept { return MessageArena::source_of(step_and_source); }
  /// No room for another block on its way.
  bool passing_full() const noexcept { return passing_end == passing.data() + passing.size(); }

  /// Room for `most` messages in each. To be called by the worker's own thread: then the allocator keeps the memory apart from other
  /// threads'.
  void make_inboxes(std::size_t most) {
    for (Inbox& each : inboxes) each.room.resize(most + 1);
    no_arrivals.room = {no_block};
  }

  /// Ends the run after its step with what was thrown while a node ran; of several nodes' the lowest one's counts.
  void fail(NodeId node, std::exception_ptr thrown) {
    if (failure && failed_node <= node) return;
    failure = std::move(thrown);
    failed_node = node;
  }

  /// Forgets the last run; keeps the memory.
  void begin_run() {
    step = {};
    digest = further_hops = further_bytes_hops = single_blocks = blocks = header_words = duplicates = activated = ended = 0;
    copied = bundled = suspect = suspect_receives = false;
    violations = {};
    error = failure = nullptr;
    for (MessageArena& each : arenas) each.begin_run();
    passing_end = passing.data();
    sent.clear();
    channels.cut(0);
    copies.clear();
    frames.reset();
    arena = &arenas[0];
  }
};

}  // namespace torus::detail
