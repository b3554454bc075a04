/// The network of nodes whose run has ended: destructors may call it, and nothing comes of it.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>

#include "runtime/engine/frame_pool.hpp"
#include "runtime/engine/silent_network.hpp"

namespace torus::detail {

/// Stands behind the nodes while the programs of a run that ended early are destroyed. What the destructors of their locals send goes
/// nowhere: no step follows. They must not throw, so that nothing is refused here.
class EndedNetwork final : public SilentNetwork {
 public:
  /// frames: where frames come from. It must outlive this.
  explicit EndedNetwork(Network& frames) noexcept : frames_{frames} {}

  void* allocate_frame(Node& node, std::size_t bytes) override { return frames_.allocate_frame(node, bytes); }
  /// The next run takes all frames of the pools back at once. Until then no other frame gets an address that ProgramPromise::destroy()
  /// may still compare.
  void free_frame(Node& node, void* frame, std::size_t bytes) noexcept override {
    if (!FramePool::pools(bytes)) frames_.free_frame(node, frame, bytes);
  }
  void keep_error(Node& node, std::exception_ptr error) noexcept override { frames_.keep_error(node, std::move(error)); }
  std::exception_ptr take_error(Node& node) noexcept override { return frames_.take_error(node); }

 private:
  Network& frames_;
};

}  // namespace torus::detail
