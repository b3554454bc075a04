/// The bounded lock-free queues of all in-channels.
#pragma once

// The library keeps the producer's and the consumer's index a cache line apart, for the case that both spin on the queue. Ours are a
// barrier apart, one queue holds one message a step, and a node has 2k of them: together in one line they cost a cache miss less a hop and
// half the memory.
#include <boost/lockfree/detail/prefix.hpp>
#undef BOOST_LOCKFREE_CACHELINE_BYTES
#define BOOST_LOCKFREE_CACHELINE_BYTES 8
#include <algorithm>
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <torus/message.hpp>

#include "runtime/engine/message_arena.hpp"
#include "runtime/engine/region.hpp"
#include "runtime/engine/violations.hpp"

namespace torus::detail {

/// Where contention is forbidden a channel carries one message a step, so an in-channel has one producer: whoever claimed the channel. The
/// queue takes two messages, because a fast neighbour may already send the next step's while this step's still waits to be read.
class ExclusiveLinks {
 public:
  using Queue = boost::lockfree::spsc_queue<std::uint32_t, boost::lockfree::capacity<2>>;  // of numbers of cache lines

  static constexpr std::size_t bytes_each() noexcept { return sizeof(Queue); }

  /// The memory of the messages must outlive this.
  ExclusiveLinks(std::size_t channels, const MessageMemory& messages) : first_line_{messages.first_line()}, queues_(channels) {}
  ExclusiveLinks(const ExclusiveLinks&) = delete;
  ExclusiveLinks& operator=(const ExclusiveLinks&) = delete;
  ~ExclusiveLinks() {
    for (std::size_t i = 0; i < made_; ++i) queues_[i].~Queue();
  }

  /// Builds part `part` of `parts` of the queues; all parts before the first push.
  void make(unsigned part, unsigned parts) {
    const std::size_t to = queues_.size() * (part + 1) / parts;
    for (std::size_t i = queues_.size() * part / parts; i < to; ++i) new (&queues_[i]) Queue;
  }
  void made() noexcept { made_ = queues_.size(); }

  /// The claimant of the in-channel. False if the queue is full.
  bool push(std::size_t channel, const Message& message) {
    return queue(channel)->push(line_number(reinterpret_cast<const std::byte*>(&message)));
  }
  /// What queues hold of a message: which of the cache lines it begins at.
  std::uint32_t line_number(const std::byte* line) const noexcept {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(line - first_line_) / 64);
  }
  Queue* queue(std::size_t channel) noexcept { return queues_.data() + channel; }

  /// The receiver's worker. Calls f(message) with the oldest message of a queue, if it has one.
  template <class F>
  [[gnu::always_inline]] void pop(Queue& queue, F&& f) {
    queue.consume_one([&](std::uint32_t line) { f(reinterpret_cast<const Message*>(first_line_ + std::size_t{64} * line)); });
  }

  /// Fetches the queues of channels that follow each other. Inlined always, like all that only fetches: g++ leaves out calls of what it
  /// takes for functions without effects.
  [[gnu::always_inline]] void prefetch(std::size_t channel, std::size_t count = 1) const noexcept {
    const auto* const first = reinterpret_cast<const std::byte*>(queues_.data() + channel);
    for (std::size_t at = 0; at < count * sizeof(Queue); at += 64) __builtin_prefetch(first + at, 1);
    if (count > 1) __builtin_prefetch(first + count * sizeof(Queue) - 1, 1);
  }

  void clear() {
    for (std::size_t i = 0; i < made_; ++i) queues_[i].reset();
  }

 private:
  static_assert(sizeof(Queue) == 32, "two in a cache line");

  const std::byte* first_line_;
  Region<Queue> queues_;
  std::size_t made_ = 0;
};

/// Where channels are shared several producers may meet at an in-channel: multi-producer queues, one pair an in-channel, for even and odd
/// steps.
class SharedLinks {
 public:
  static constexpr std::size_t depth = shared_queue_depth;
  static constexpr std::size_t bytes_each() noexcept {
    return 2 * (sizeof(Queue) + 16 + sizeof(std::unique_ptr<Queue>)) + 16;
  }  // and two sums

  SharedLinks() = default;
  explicit SharedLinks(std::size_t channels) {
    for (std::size_t i = 0; i < 2 * channels; ++i) queues_.push_back(std::make_unique<Queue>());
  }

  /// Any worker. False if the queue is full.
  bool push(std::size_t channel, const Message* message) { return queues_[2 * channel + (message->step() & 1U)]->push(message); }

  /// The receiver's worker: calls f(message) for the messages sent in `step`, by source, those of one source as it sent them.
  template <class F>
  void drain(std::size_t channel, Step step, F&& f) {
    const Message* messages[depth];
    std::size_t count = 0;
    Queue& queue = *queues_[2 * channel + (step & 1U)];
    const auto by_source = [](const Message* a, const Message* b) { return a->source() < b->source(); };
    for (; count < depth && queue.pop(messages[count]); ++count) {
      const Message** const last = messages + count;
      std::rotate(std::upper_bound(messages, last, *last, by_source), last, last + 1);
    }
    for (std::size_t i = 0; i < count; ++i) f(messages[i]);
  }

  void clear() {
    for (const auto& queue : queues_) queue->consume_all([](const Message*) {});
  }

 private:
  using Queue = boost::lockfree::queue<const Message*, boost::lockfree::capacity<depth>>;
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace torus::detail
