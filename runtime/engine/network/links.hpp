/// The in-channels of all nodes: bounded lock-free queues, and the flags that say which of them have something.
#pragma once

// The library keeps the producer's and the consumer's index a cache line apart, for the case that both spin on the queue. Ours are a
// barrier apart, a queue holds one message a step, and a node has 2k of them. Both indices in one line save a cache miss a hop and half
// the memory. The types of the elements are ours, so these layouts never meet those of a program that uses the library itself.
#include <boost/lockfree/detail/prefix.hpp>
#undef BOOST_LOCKFREE_CACHELINE_BYTES
#define BOOST_LOCKFREE_CACHELINE_BYTES 8
#include <algorithm>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <torus/machine.hpp>
#include <torus/message.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/network/message_arena.hpp"
#include "runtime/engine/processes/slab.hpp"
#include "runtime/engine/rules/violations.hpp"
#include "runtime/engine/workers/atomics.hpp"

namespace torus::detail {

/// The cache line at which a message begins, counted from the first of all arenas.
enum class LineNumber : std::uint32_t {};

/// Where contention is forbidden a channel carries one message a step. So an in-channel has one producer, the claimant of the channel. The
/// queue takes two messages, because a fast neighbour may send the next step's while this step's still waits to be read.
class ExclusiveLinks {
 public:
  using Queue = boost::lockfree::spsc_queue<LineNumber, boost::lockfree::capacity<2>>;

  static constexpr std::size_t bytes_each() noexcept { return sizeof(Queue); }

  /// The memory of the messages must outlive this.
  ExclusiveLinks(std::size_t channels, MessageMemory& messages) : first_line_{messages.first_line()}, queues_(channels) {}
  ExclusiveLinks(const ExclusiveLinks&) = delete;
  ExclusiveLinks& operator=(const ExclusiveLinks&) = delete;
  ~ExclusiveLinks() {
    clear_each([](Queue& queue) { queue.~Queue(); });
  }

  /// Constructs the queues of some channels; all are made in parts. made() follows all parts, and precedes the first push.
  void make(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) new (&queues_[i]) Queue;
  }
  void made(std::size_t from, std::size_t to) noexcept {
    first_made_ = from;
    end_made_ = to;
  }

  LineNumber line_number(const std::byte* line) const noexcept {
    return LineNumber{static_cast<std::uint32_t>(static_cast<std::size_t>(line - first_line_) / 64)};
  }
  Queue* queue(std::size_t channel) noexcept { return queues_.data() + channel; }
  /// For the claimant of the channel. False if the queue is full.
  bool push(std::size_t channel, const Message& message) {
    return queue(channel)->push(line_number(reinterpret_cast<const std::byte*>(&message)));
  }
  /// For the receiver's worker. Calls f(message) with the oldest message of a queue, if it has one.
  template <class F>
  [[gnu::always_inline]] void pop(Queue& queue, F&& f) {
    queue.consume_one(
        [&](LineNumber line) { f(reinterpret_cast<Message*>(first_line_ + std::size_t{64} * static_cast<std::uint32_t>(line))); });
  }

  /// Prefetches the queues of consecutive channels. Inlined always, like all functions that only prefetch: g++ drops calls of functions
  /// that seem to have no effect.
  [[gnu::always_inline]] void prefetch(std::size_t channel, std::size_t count = 1) const noexcept {
    const auto* const first = reinterpret_cast<const std::byte*>(queues_.data() + channel);
    for (std::size_t at = 0; at < count * sizeof(Queue); at += 64) __builtin_prefetch(first + at, 1);
    if (count > 1) __builtin_prefetch(first + count * sizeof(Queue) - 1, 1);
  }

  void clear() {
    clear_each([](Queue& queue) { queue.reset(); });
  }

 private:
  static_assert(sizeof(Queue) == 32, "two in a cache line");

  template <class F>
  void clear_each(F&& f) {
    for (std::size_t i = first_made_; i < end_made_; ++i) f(queues_[i]);
  }

  std::byte* first_line_;
  Region<Queue> queues_;
  std::size_t first_made_ = 0, end_made_ = 0;
};

/// Where channels are shared several producers may meet at an in-channel: multi-producer queues, one pair an in-channel, for even and odd
/// steps.
class SharedLinks {
 public:
  static constexpr std::size_t depth = shared_queue_depth;
  /// With two sums: see Channels::share().
  static constexpr std::size_t bytes_each() noexcept { return 2 * (sizeof(Queue) + 16 + sizeof(std::unique_ptr<Queue>)) + 16; }

  /// For `channels` channels from `first` on.
  SharedLinks(std::size_t first, std::size_t channels) : first_{2 * first} {
    for (std::size_t i = 0; i < 2 * channels; ++i) queues_.push_back(std::make_unique<Queue>());
  }

  /// For any worker. False if the queue is full.
  bool push(std::size_t channel, Message& message) { return push(channel, message, message.step()); }
  /// As if it had been sent in `step`.
  bool push(std::size_t channel, Message& message, Step step) { return queue(channel, step).push(&message); }

  /// For the receiver's worker. Calls f(message) for the messages sent in `step`, by source, those of one source as it sent them.
  template <class F>
  void drain(std::size_t channel, Step step, F&& f) {
    Message* messages[depth];
    std::size_t count = 0;
    Queue& queue = this->queue(channel, step);
    const auto by_source = [](const Message* a, const Message* b) { return a->source() < b->source(); };
    for (; count < depth && queue.pop(messages[count]); ++count) {
      Message** const last = messages + count;
      std::rotate(std::upper_bound(messages, last, *last, by_source), last, last + 1);
    }
    for (std::size_t i = 0; i < count; ++i) f(messages[i]);
  }

  void clear() {
    for (const auto& queue : queues_) queue->consume_all([](Message*) {});
  }

 private:
  using Queue = boost::lockfree::queue<Message*, boost::lockfree::capacity<depth>>;

  Queue& queue(std::size_t channel, Step step) noexcept { return *queues_[2 * channel + (step & 1U) - first_]; }

  std::size_t first_;
  std::vector<std::unique_ptr<Queue>> queues_;
};

/// A byte an in-channel, for messages sent in even and in odd steps apart: a receiver looks at those queues only that have something for
/// it, and a fast neighbour that sends the next step's message already raises another flag. Bytes, not bits, so that raising is a plain
/// store. Raising has no order: the gate publishes all that a step has raised.
template <class Atomics>
class BasicArrivalFlags {
 public:
  BasicArrivalFlags() = default;
  BasicArrivalFlags(NodeId nodes, std::size_t channels)
      : pitch_{pitch_for(channels)},
        channels_{channels},
        every_{channels >= 1 && channels <= 8 ? std::uint64_t{0x0101010101010101} >> (64 - 8 * channels) : no_word},
        flags_{Region<std::uint8_t>(nodes * pitch_), Region<std::uint8_t>(nodes * pitch_)} {}

  static std::size_t bytes_each(std::size_t channels) noexcept { return 2 * pitch_for(channels); }

  /// Starts a step: flags raised in the last one can be read.
  void begin_step(Step now) noexcept {
    raised_ = flags_[now & 1U].data();
    seen_ = flags_[(now + 1) & 1U].data();
  }

  /// Any worker.
  void raise(NodeId node, std::uint32_t channel) noexcept {
    typename Atomics::template Ref<std::uint8_t>(raised_[node * pitch_ + channel]).store(1, std::memory_order_relaxed);
  }
  /// Raises a flag for a message of the step before that has been taken, or comes late. Between two steps.
  void raise_again(NodeId node, std::uint32_t channel) noexcept { seen_[node * pitch_ + channel] = 1; }
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept { __builtin_prefetch(raised_ + node * pitch_, 1); }
  // For the worker that runs the node: the flags that were raised in the step before.

  bool any(NodeId node) const noexcept { return all(node) != 0; }
  /// True if several channels have something; may be false when there are more than 8.
  bool several(NodeId node) const noexcept {
    const std::uint64_t set = all(node);
    return (set & (set - 1)) != 0;
  }
  /// Calls f(channel) for the flags of a node, ascending.
  template <class F>
  void each(NodeId node, F&& f) const {
    for (std::size_t at = 0; at < pitch_; at += 8) each_set_byte(word(node, at), [&](std::size_t i) { f(at + i); });
  }
  /// Like each(), and lowers the flags. Where all flags of a node are raised, none is searched for.
  template <class F>
  [[gnu::always_inline]] void take(NodeId node, F&& f) {
    std::uint8_t* const flags = seen_ + node * pitch_;
    std::size_t at = 0;
    do {
      const std::uint64_t set = Atomics::read_word(flags + at);
      Atomics::clear_word(flags + at);
      if (set == every_) {
        for (std::size_t i = 0; i < channels_; ++i) f(i);
        return;
      }
      each_set_byte(set, [&](std::size_t i) { f(at + i); });
      at += 8;
    } while (at < pitch_);
  }
  /// Forgets what was raised in any step.
  void clear(NodeId node) noexcept {
    for (Region<std::uint8_t>& flags : flags_) std::memset(flags.data() + node * pitch_, 0, pitch_);
  }

 private:
  static constexpr std::uint64_t no_word = ~std::uint64_t{0};  // of flags
  static std::size_t pitch_for(std::size_t channels) noexcept { return std::max<std::size_t>(8, (channels + 7) / 8 * 8); }
  std::uint64_t all(NodeId node) const noexcept {
    std::uint64_t set = word(node, 0);
    for (std::size_t at = 8; at < pitch_; at += 8) set |= word(node, at);
    return set;
  }
  std::uint64_t word(NodeId node, std::size_t at) const noexcept { return Atomics::read_word(seen_ + node * pitch_ + at); }

  std::size_t pitch_ = 0;
  std::size_t channels_ = 0;
  std::uint64_t every_ = no_word;   // flag of a node is raised
  Region<std::uint8_t> flags_[2];   // by parity of the step in which they are raised
  std::uint8_t* raised_ = nullptr;  // in the present step
  std::uint8_t* seen_ = nullptr;    // in the one before
};

using ArrivalFlags = BasicArrivalFlags<StandardAtomics>;

/// All in-channels of the nodes of a slab, of either kind, by (node, channel slot).
class Links {
 public:
  /// The slab and the memory of the messages must outlive this.
  Links(const Machine& machine, const Slab& own, MessageMemory& messages)
      : own_{own}, slots_{static_cast<std::uint32_t>(machine.topology.channel_slots())}, arrived_(machine.topology.nodes(), slots_) {
    if (machine.contention == Contention::share)
      shared_.emplace(channel(own.begin(), 0), std::size_t{own.nodes()} * slots_);
    else
      exclusive_.emplace(std::size_t{machine.topology.nodes()} * slots_, messages);
  }

  void make(unsigned part, unsigned parts) {
    if (exclusive_) exclusive_->make(channel(own_.part_begin(part, parts), 0), channel(own_.part_begin(part + 1, parts), 0));
  }
  void made() noexcept {
    if (exclusive_) exclusive_->made(channel(own_.begin(), 0), channel(own_.end(), 0));
  }
  /// After the barrier: what was sent in the step before `now` can be received.
  void begin_step(Step now) noexcept { arrived_.begin_step(now); }
  /// Empties what a run that did not end by itself has left in queues.
  void clear() {
    if (exclusive_)
      exclusive_->clear();
    else
      shared_->clear();
  }
  /// Lowers the flags that such a run has left at a node.
  void forget(NodeId node) noexcept { arrived_.clear(node); }

  // ---- for senders ----

  /// Puts a message into an in-channel. False if its queue is full.
  [[gnu::always_inline]] bool push(Message& m, NodeId destination, std::uint32_t slot) {
    TORUS_ASSERT(slot < slots_);
    const std::size_t channel = std::size_t{destination} * slots_ + slot;
    if (!(exclusive_ ? exclusive_->push(channel, m) : shared_->push(channel, m))) [[unlikely]]
      return false;
    arrived_.raise(destination, slot);
    return true;
  }
  /// Puts a message into an in-channel as if it had been sent in the last step, `sent`. Between two steps, after begin_step(). False if its
  /// queue is full.
  bool put_back(Message& m, NodeId destination, std::uint32_t slot, Step sent) {
    const std::size_t in_channel = channel(destination, slot);
    if (!(exclusive_ ? exclusive_->push(in_channel, m) : shared_->push(in_channel, m, sent))) return false;
    arrived_.raise_again(destination, slot);
    return true;
  }
  /// Prefetches what push() is going to write.
  [[gnu::always_inline]] void prefetch_push(NodeId destination, std::uint32_t slot) const noexcept {
    if (exclusive_) exclusive_->prefetch(std::size_t{destination} * slots_ + slot);
    arrived_.prefetch(destination);
  }
  /// The two halves of push() to an exclusive link.
  ExclusiveLinks& exclusive() noexcept { return *exclusive_; }
  std::size_t channel(NodeId destination, std::uint32_t slot) const noexcept { return std::size_t{destination} * slots_ + slot; }
  [[gnu::always_inline]] void raise(NodeId destination, std::uint32_t slot) noexcept { arrived_.raise(destination, slot); }

  // ---- for the worker that runs the receiver ----

  /// Whether something has arrived.
  bool any(NodeId node) const noexcept { return arrived_.any(node); }
  /// Prefetches the queues that have something.
  [[gnu::always_inline]] void prefetch(NodeId node) const noexcept {
    if (!exclusive_) return;
    if (arrived_.several(node))
      exclusive_->prefetch(std::size_t{node} * slots_, slots_);
    else
      arrived_.each(node, [&](std::size_t slot) { exclusive_->prefetch(std::size_t{node} * slots_ + slot); });
  }
  /// Moves what was sent to a node in the step before `now` to `room`, by (in-channel, source), and prefetches it. Returns the end.
  [[gnu::always_inline]] inline Message** take(NodeId node, Step now, Message** room) {
    return exclusive_ ? take_exclusive(node, room) : take_shared(node, now, room);
  }

 private:
  [[gnu::always_inline]] inline Message** take_exclusive(NodeId node, Message** room) {
    ExclusiveLinks& links = *exclusive_;
    ExclusiveLinks::Queue* const queues = links.queue(std::size_t{node} * slots_);
    arrived_.take(node, [&, queues](std::size_t slot) {
      links.pop(queues[slot], [&](Message* m) {
        __builtin_prefetch(m, 1);
        *room++ = m;
      });
    });
    return room;
  }
  [[gnu::noinline]] Message** take_shared(NodeId node, Step now, Message** room) {
    arrived_.take(node,
                  [&](std::size_t slot) { shared_->drain(std::size_t{node} * slots_ + slot, now - 1, [&](Message* m) { *room++ = m; }); });
    return room;
  }

  const Slab& own_;
  std::uint32_t slots_;  // in-channels of a node
  std::optional<ExclusiveLinks> exclusive_;
  std::optional<SharedLinks> shared_;
  ArrivalFlags arrived_;
};

}  // namespace torus::detail
