/// What a message-hop would cost if it were nothing but what it cannot do without: the denominator of the engine's.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <torus/executor.hpp>
#include <torus/machine.hpp>
#include <torus/topology.hpp>

#include "bench/shares.hpp"
#include "runtime/base/region.hpp"
#include "runtime/engine/network/links.hpp"

namespace torus::bench {

/// Blocks of 64 bytes, one on every channel of a 2D torus in every step, each straight on: a coroutine a node, the engine's queues, one
/// copy a hop. No routes, no messages, no rules, no tables of blocks, no sleeping nodes.
class BareHops {
 public:
  static constexpr std::uint32_t channels = 4;  // of a node
  static constexpr std::size_t bytes = 64;      // of a block

  /// The executor must outlive this.
  BareHops(const Topology& torus, Executor& executor);

  /// Moves every block so many hops; gives the seconds that it took.
  double run(Step hops);

  /// Whether every block is as many hops from where it began as all runs together made, byte for byte. Between two runs.
  bool complete();

 private:
  using Queue = torus::detail::ExclusiveLinks::Queue;
  using Place = torus::detail::LineNumber;  // what such queues hold

  /// A coroutine that is resumed for ever.
  struct Mover {
    struct promise_type {
      Mover get_return_object() noexcept { return Mover{std::coroutine_handle<promise_type>::from_promise(*this)}; }
      std::suspend_always initial_suspend() const noexcept { return {}; }
      std::suspend_always final_suspend() const noexcept { return {}; }
      void return_void() const noexcept {}
      void unhandled_exception() const noexcept { std::terminate(); }
    };

    explicit Mover(std::coroutine_handle<promise_type> of) noexcept : handle{of} {}
    Mover(Mover&& other) noexcept : handle{std::exchange(other.handle, nullptr)} {}
    Mover& operator=(Mover&&) = delete;
    ~Mover() {
      if (handle) handle.destroy();
    }

    std::coroutine_handle<promise_type> handle;
  };

  Mover mover(NodeId node);
  /// The in-channel at the end of so many hops over the channels of one direction.
  std::size_t in_channel(NodeId from, std::uint32_t slot, std::int32_t hops) const noexcept;
  std::byte* place(std::uint32_t i) noexcept { return memory_.data() + i * bytes; }
  std::uint32_t places() const noexcept { return torus_.nodes() * (channels + 1); }

  const Topology torus_;
  torus::detail::Region<std::byte> memory_;  // places of blocks: one a channel, and one a node to copy to
  torus::detail::Region<Queue> queues_;      // of places, an in-channel each
  std::vector<Mover> movers_;                // by rank
  Shares shares_;
  std::uint64_t hops_ = 0;  // that all blocks have made
};

}  // namespace torus::bench
