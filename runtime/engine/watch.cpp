#include "runtime/engine/watch.hpp"

#include <atomic>
#include <cstdint>

#include <torus/node.hpp>

#include "runtime/engine/worker.hpp"
#include "runtime/model/frames.hpp"

namespace torus::detail {
namespace {

Whereabouts of(std::uint64_t step_and_source) noexcept {
  return {MessageArena::source_of(step_and_source), static_cast<Step>(step_and_source)};
}

}  // namespace

void Watch::follow(std::span<Worker> workers) {
  const std::lock_guard lock(mutex_);
  workers_ = workers;
}

void Watch::look(std::vector<std::optional<Whereabouts>>& at) {
  const std::lock_guard lock(mutex_);
  at.assign(workers_.size(), std::nullopt);
  seen_.resize(workers_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::uint32_t batches = std::atomic_ref(workers_[i].batches).load(std::memory_order_relaxed);
    if (batches % 2 == 1 && batches == seen_[i])
      at[i] = of(std::atomic_ref(workers_[i].node.step_and_source).load(std::memory_order_relaxed));
    seen_[i] = batches;
  }
}

std::optional<Whereabouts> whereabouts() noexcept {
  if (const auto measured = node_of_frames()) return Whereabouts{*measured, 0};
  if (running.worker == nullptr || running.node == nullptr) return std::nullopt;
  return of(static_cast<const Worker*>(running.worker)->node.step_and_source);
}

}  // namespace torus::detail
