/// Networks that carry nothing: those of nodes that have not been opened, and of nodes whose run has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include <torus/error.hpp>
#include <torus/node.hpp>

#include "runtime/engine/workers/frame_pool.hpp"

namespace torus::detail {

/// What is sent goes nowhere, and nodes hold nothing. Where frames come from is for others to say.
class SilentNetwork : public Network {
 public:
  void send(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool) final {}
  void send_partials(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool, std::uint8_t) final {}
  void send_block(Node&, Dimension, std::int32_t, BlockId) final {}
  void forward_block(Node&, Dimension, std::int32_t, BlockId) final {}
  bool holds(const Node&, BlockId) final { return false; }
  std::span<const BlockId> blocks(const Node&) final { return {}; }
  std::span<std::byte> bytes(const Node&, BlockId) final { return {}; }
  void release(Node&, BlockId) final {}
  void enter_phase(const Node&, const char*) final {}

 protected:
  ~SilentNetwork() = default;
};

/// Stands behind the nodes while the engine starts them. So the network of a run need not ask at each call whether a node is open.
class ClosedNetwork final : public Network {
 public:
  /// frames: where frames come from. It must outlive this.
  explicit ClosedNetwork(Network& frames) noexcept : frames_{frames} {}

  void send(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool) override { refuse("send() or forward()"); }
  void send_partials(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool, std::uint8_t) override {
    refuse("send() or forward()");
  }
  void send_block(Node&, Dimension, std::int32_t, BlockId) override { refuse("send()"); }
  void forward_block(Node&, Dimension, std::int32_t, BlockId) override { refuse("forward()"); }
  bool holds(const Node&, BlockId) override { refuse("holds()"); }
  std::span<const BlockId> blocks(const Node&) override { refuse("blocks()"); }
  std::span<std::byte> bytes(const Node&, BlockId) override { refuse("bytes()"); }
  void release(Node&, BlockId) override { refuse("release()"); }
  void enter_phase(const Node&, const char*) override { refuse("phase()"); }
  void* allocate_frame(Node& node, std::size_t bytes) override { return frames_.allocate_frame(node, bytes); }
  void free_frame(Node& node, void* frame, std::size_t bytes) noexcept override { frames_.free_frame(node, frame, bytes); }
  void keep_error(Node& node, std::exception_ptr error) noexcept override { frames_.keep_error(node, std::move(error)); }
  std::exception_ptr take_error(Node& node) noexcept override { return frames_.take_error(node); }

 private:
  [[noreturn]] static void refuse(const char* call) {
    throw RunError(std::string(call) +
                   " before its program runs; what starts a node may only make its program, whose body may call everything");
  }

  Network& frames_;
};

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
