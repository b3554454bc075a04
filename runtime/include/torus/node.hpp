/// What a node program sees: its own node, and nothing else.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <span>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>

namespace torus {

class Node;

/// What stands behind a node: the engine, or in a test a script that plays the rest of the machine.
class Network {
 public:
  virtual void send(Node& from, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) = 0;
  /// The same for one block over one leg without a header, what algorithms in the constant model send all the time: kept, or released. The
  /// leg comes in its two parts: written apart and read as a whole it would wait for the processor's store buffer.
  virtual void send_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) = 0;
  virtual void forward_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) = 0;
  virtual bool holds(const Node& node, BlockId id) const = 0;
  virtual std::span<const BlockId> blocks(const Node& node) = 0;
  virtual std::span<std::byte> bytes(const Node& node, BlockId id) = 0;
  virtual void release(Node& node, BlockId id) = 0;
  virtual void enter_phase(const Node& node, const char* phase) = 0;
  virtual void* allocate_frame(Node& node, std::size_t bytes) = 0;
  virtual void free_frame(Node& node, void* frame, std::size_t bytes) noexcept = 0;
  /// What a program has thrown, until its caller or the engine asks for it, which is next.
  virtual void keep_error(Node& node, std::exception_ptr error) noexcept = 0;
  virtual std::exception_ptr take_error(Node& node) noexcept = 0;

 protected:
  ~Network() = default;
};

/// What all nodes of a run share: the machine, the network and the step.
struct World {
  const Machine* machine = nullptr;
  Network* network = nullptr;
  Step now = 0;
};

/// What a program is suspended for.
enum class Wait : std::uint8_t {
  none,     ///< it has not started, or is running
  step,     ///< the barrier
  arrival,  ///< a message
  call,     ///< not at all: a sub-program was called or has returned
  ended
};

namespace detail {

struct NodeDoor;

/// What a thread is at while it makes, runs or destroys programs. What only the node that runs needs is kept here, not in every node.
struct Running {
  Node* node = nullptr;
  void* worker = nullptr;  // of the engine
  Arrivals arrivals;       // for the node
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Running running;

}  // namespace detail

/// A virtual node: rank, coordinates, the machine's public rules, the step number, the blocks it holds, what has arrived. 32 bytes.
class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Where am I?
  NodeId rank() const noexcept { return rank_; }
  const Machine& machine() const noexcept { return *world_->machine; }
  const Topology& topology() const noexcept { return world_->machine->topology; }
  std::int32_t coordinate(Dimension d) const noexcept { return topology().coordinate(rank_, d); }
  Coordinates coordinates() const noexcept { return topology().coordinates(rank_); }
  std::int32_t extent(Dimension d) const noexcept { return topology().extent(d); }
  Dimension dimensions() const noexcept { return topology().dimensions(); }
  /// The node that a leg from here ends at; none if it leaves a line.
  std::optional<NodeId> neighbour(Leg leg) const noexcept { return topology().neighbour(rank_, leg.dimension, leg.hops); }
  /// The present step, from 0.
  Step now() const noexcept { return world_->now; }

  // What do I hold?
  bool holds(BlockId id) const { return world_->network->holds(*this, id); }
  /// All blocks held, ascending (personalised placements: in the order of the node's table). Valid until the next call on any node of the
  /// same thread or the next wait. O(table of the node).
  std::span<const BlockId> blocks() const { return world_->network->blocks(*this); }
  /// A held block's bytes, the node's own copy: to read, and to write for who wants to see the verifier at work. Empty if not held. Valid
  /// until the block is forwarded or released.
  std::span<std::byte> bytes(BlockId id) { return world_->network->bytes(*this, id); }
  /// Forgets a block. Ignored if not held.
  void release(BlockId id) { world_->network->release(*this, id); }

  /// Sends blocks and control words along a route; they arrive at the start of the next step. What arrives are the bytes as they are
  /// now, whatever the sender does with its own from here on.
  /// What the machine forbids is recorded as a violation and ends the run after this step. Throws RunError when the run's memory is used
  /// up, which ends the run also where a program catches it. Cost: O(hops + blocks + header) and a copy of the bytes.
  void send(RouteView route, std::span<const BlockId> blocks, std::span<const Word> header = {}) {
    world_->network->send(*this, route, blocks, header, false);
  }
  void send(std::initializer_list<Leg> route, std::span<const BlockId> blocks, std::span<const Word> header = {}) {
    hand_over({route.begin(), route.size()}, blocks, header, false);
  }
  /// The same with the control words in place: send(route, blocks, {length, stage}).
  void send(RouteView route, std::span<const BlockId> blocks, std::initializer_list<Word> header) {
    world_->network->send(*this, route, blocks, {header.begin(), header.size()}, false);
  }
  void send(std::initializer_list<Leg> route, std::span<const BlockId> blocks, std::initializer_list<Word> header) {
    world_->network->send(*this, {route.begin(), route.size()}, blocks, {header.begin(), header.size()}, false);
  }
  /// To a node, by the shortest route in the machine's routing order (ties on rings go +). Throws InputError if there is no such node.
  void send(NodeId destination, std::span<const BlockId> blocks, std::span<const Word> header = {}) {
    send(RouteView(shortest_route(topology(), rank_, destination, machine().routing)), blocks, header);
  }
  /// Sends blocks on and releases them here: what a node in the middle of a personalised exchange does.
  void forward(RouteView route, std::span<const BlockId> blocks, std::span<const Word> header = {}) {
    world_->network->send(*this, route, blocks, header, true);
  }
  void forward(std::initializer_list<Leg> route, std::span<const BlockId> blocks, std::span<const Word> header = {}) {
    hand_over({route.begin(), route.size()}, blocks, header, true);
  }

  /// Says that the present step belongs to a phase of the algorithm; the report sums steps, bytes and model time by phase. The text must
  /// outlive the run (a literal). All nodes that say something in a step should say the same; the lowest rank's word counts.
  void phase(const char* name) { world_->network->enter_phase(*this, name); }

  /// Empty: what it kept would lie in every frame, a piece for each wait of the program.
  template <Wait what>
  struct Awaiter {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { detail::running.node->wait_ = what; }
    const Arrivals& await_resume() const noexcept { return detail::running.arrivals; }
  };
  /// `co_await self.step()`: goes on in the next step, with what arrived for it (often nothing); it is there until the next wait.
  Awaiter<Wait::step> step() noexcept { return {}; }
  /// `co_await self.arrival()`: sleeps until a step in which messages have arrived; gives them. A sleeping node costs nothing.
  Awaiter<Wait::arrival> arrival() noexcept { return {}; }

 private:
  friend struct detail::NodeDoor;

  void hand_over(RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
    if (route.size() != 1) return world_->network->send(*this, route, blocks, header, release);
    const auto [dimension, hops] = route[0];
    if (blocks.size() != 1 || !header.empty())
      hand_over(dimension, hops, blocks, header, release);
    else if (release)
      world_->network->forward_block(*this, dimension, hops, blocks[0]);
    else
      world_->network->send_block(*this, dimension, hops, blocks[0]);
  }
  /// Apart, so that a leg need not be in memory before it is known that it must.
  [[gnu::noinline]] void hand_over(Dimension dimension, std::int32_t hops, std::span<const BlockId> blocks, std::span<const Word> header,
                                   bool release) {
    const Leg leg{dimension, hops};
    world_->network->send(*this, {&leg, 1}, blocks, header, release);
  }

  World* world_ = nullptr;
  std::coroutine_handle<> innermost_;  // of the program and those that it waits for; none if it has ended
  NodeId rank_ = 0;
  Step last_arrival_ = 0;  // 1 + the step that brought the last message; 0: none yet
  Wait wait_ = Wait::none;
};

namespace detail {

/// The engine's and the coroutine machinery's way into a node.
struct NodeDoor {
  static World*& world(Node& n) noexcept { return n.world_; }
  static Network& network(Node& n) noexcept { return *n.world_->network; }
  static std::coroutine_handle<>& innermost(Node& n) noexcept { return n.innermost_; }
  static NodeId& rank(Node& n) noexcept { return n.rank_; }
  static Wait& wait(Node& n) noexcept { return n.wait_; }
  static Step& last_arrival(Node& n) noexcept { return n.last_arrival_; }
};

}  // namespace detail
}  // namespace torus
