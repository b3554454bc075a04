#include "runtime/model/frames.hpp"

#include <map>
#include <new>

#include <torus/error.hpp>

namespace torus::detail {
namespace {

/// Counts what frames take of a pool that keeps those of each size for the next of that size, as the engine's does. Nothing else works.
class FrameScale final : public Network {
 public:
  void send(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool) override { refuse(); }
  void send_partials(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool, std::uint8_t) override { refuse(); }
  void send_block(Node&, Dimension, std::int32_t, BlockId) override { refuse(); }
  void forward_block(Node&, Dimension, std::int32_t, BlockId) override { refuse(); }
  bool holds(const Node&, BlockId) override { refuse(); }
  std::span<const BlockId> blocks(const Node&) override { refuse(); }
  std::span<std::byte> bytes(const Node&, BlockId) override { refuse(); }
  void release(Node&, BlockId) override { refuse(); }
  void enter_phase(const Node&, const char*) override { refuse(); }
  void* allocate_frame(Node&, std::size_t bytes) override {
    void* const frame = ::operator new(bytes);
    std::size_t& free = free_[units(bytes)];
    if (free > 0)
      --free;
    else
      bytes_ += units(bytes) * frame_unit;
    return frame;
  }
  void free_frame(Node&, void* frame, std::size_t bytes) noexcept override {
    ++free_[units(bytes)];  // allocate_frame() has made the entry
    ::operator delete(frame);
  }
  void keep_error(Node&, std::exception_ptr) noexcept override {}
  std::exception_ptr take_error(Node&) noexcept override { return nullptr; }

  Bytes bytes() const noexcept { return bytes_; }

 private:
  [[noreturn]] static void refuse() { throw RunError("what starts a node may only make its program"); }

  static std::size_t units(std::size_t bytes) noexcept { return (bytes + frame_unit - 1) / frame_unit; }

  std::map<std::size_t, std::size_t> free_;  // frames, by size
  Bytes bytes_ = 0;
};

thread_local std::optional<NodeId> named_node;

/// Says which node the thread is at; gives it back what it ran before.
class RunningScope {
 public:
  explicit RunningScope(NodeId named) noexcept : before_{running} { named_node = named; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;
  ~RunningScope() {
    running = before_;
    named_node.reset();
  }

 private:
  Running before_;
};

}  // namespace

Bytes frame_bytes(const Machine& machine, NodeId rank, const std::function<void(Node&)>& make, std::optional<NodeId> named) {
  FrameScale scale;
  World world{&machine, &scale, 0};
  Node node;
  NodeAccess::world(node) = &world;
  NodeAccess::rank(node) = rank;
  const RunningScope scope(named.value_or(rank));
  running.node = &node;
  make(node);
  return scale.bytes();
}

std::optional<NodeId> node_of_frames() noexcept { return named_node; }

}  // namespace torus::detail
