/// Where the workers of a run are: for a thread that looks on, and for the handler of a crash.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <torus/machine.hpp>

namespace torus::detail {

struct Worker;

/// A node, by its rank in the machine, and the step that it is in.
struct Whereabouts {
  NodeId node = 0;
  Step step = 0;
  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;
};

/// Shows which nodes the workers of a run are at. A worker counts its batches of nodes for it; what else it reads they store anyway.
/// RunOptions::watch.
class Watch {
 public:
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Called by the engine: from now on these workers are watched, or none. They must stay until then.
  void follow(std::span<Worker> workers);
  /// By worker, the node that it runs; none if it runs none, or has begun with its nodes since the last look. From one thread.
  void look(std::vector<std::optional<Whereabouts>>& at);

 private:
  std::mutex mutex_;
  std::span<Worker> workers_;
  std::vector<std::uint32_t> seen_;  // Worker::batches at the last look
};

/// Has a run watched until the end of a scope.
class Watched {
 public:
  Watched(Watch* watch, std::span<Worker> workers) : watch_{watch} {
    if (watch_ != nullptr) watch_->follow(workers);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    if (watch_ != nullptr) watch_->follow({});
  }

 private:
  Watch* watch_;
};

/// The node whose program this thread runs; none if it runs none. The handler of a signal may call it.
std::optional<Whereabouts> whereabouts() noexcept;

}  // namespace torus::detail
