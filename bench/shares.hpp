/// The work of a round among the workers of an executor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include <torus/executor.hpp>

namespace torus::bench {

/// Gives each worker a share of the items, the same in every round of as many, and then what others have left of theirs, as the engine
/// does.
class Shares {
 public:
  /// The executor must outlive this.
  explicit Shares(Executor& executor) : executor_{&executor}, shares_(executor.workers()) {}

  /// Calls part(first, end) for pieces of 0..items-1, each item in one of them, and leave() on each worker when nothing is left for it.
  template <class Part, class Leave>
  void each(std::uint64_t items, Part&& part, Leave&& leave) {
    const std::size_t workers = shares_.size();
    for (std::size_t w = 0; w < workers; ++w) {
      shares_[w].next.store(items * w / workers, std::memory_order_relaxed);
      shares_[w].end = items * (w + 1) / workers;
    }
    const std::uint64_t batch = std::max<std::uint64_t>(1, items / (workers * 64));
    executor_->share([&](unsigned worker) {
      for (std::size_t i = 0; i < workers; ++i) {
        Share& share = shares_[(worker + i) % workers];
        while (true) {
          const std::uint64_t first = share.next.fetch_add(batch, std::memory_order_relaxed);
          if (first >= share.end) break;
          part(first, std::min(first + batch, share.end));
        }
      }
      leave();
    });
  }

 private:
  struct alignas(128) Share {
    std::atomic<std::uint64_t> next{0};
    std::uint64_t end = 0;
  };

  Executor* executor_;
  std::vector<Share> shares_;
};

}  // namespace torus::bench
