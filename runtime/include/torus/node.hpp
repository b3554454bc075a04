/// What a node program sees: its own node.
#pragma once

#include <concepts>
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

/// What a program is suspended for.
enum class Wait : std::uint8_t {
  none,     ///< it has not started, or is running
  step,     ///< the barrier
  arrival,  ///< a message
  call,     ///< not at all: a sub-program was called or has returned
  ended
};

namespace detail {

struct NodeAccess;

// The engine behind the nodes. Programs have no use for it; it stands here because every call of a Node goes through it.

/// Carries what nodes send: the engine, or in a test a script that plays the rest of the machine.
class Network {
 public:
  virtual void send(Node& from, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) = 0;
  /// registers: those of the receiver that the blocks are combined into, a bit each.
  virtual void send_partials(Node& from, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                             std::uint8_t registers) = 0;
  /// Fast path: one block, one leg, no header; kept, or released. Passed as two integers, because a leg that is written in halves and read
  /// as a whole waits for the store buffer.
  virtual void send_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) = 0;
  virtual void forward_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) = 0;
  virtual bool holds(const Node& node, BlockId id) = 0;
  virtual std::span<const BlockId> blocks(const Node& node) = 0;
  virtual std::span<std::byte> bytes(const Node& node, BlockId id) = 0;
  virtual void release(Node& node, BlockId id) = 0;
  virtual void enter_phase(const Node& node, const char* phase) = 0;
  virtual void* allocate_frame(Node& node, std::size_t bytes) = 0;
  virtual void free_frame(Node& node, void* frame, std::size_t bytes) noexcept = 0;
  /// Keeps what a program has thrown, until its caller or the engine takes it, which is next.
  virtual void keep_error(Node& node, std::exception_ptr error) noexcept = 0;
  virtual std::exception_ptr take_error(Node& node) noexcept = 0;

 protected:
  ~Network() = default;
};

/// What all nodes of a run share.
struct World {
  const Machine* machine = nullptr;
  Network* network = nullptr;
  Step now = 0;
};

/// What a thread makes, runs or destroys at the moment. What only the running node needs is here, and not in every node.
struct Running {
  Node* node = nullptr;
  void* worker = nullptr;     // of the engine
  Arrivals arrivals;          // for the node
  void* destroyed = nullptr;  // the frame of a sub-program that went before its caller: see ProgramPromise::destroy()
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local Running running;

/// Throws RunError: a program names a dimension that the machine does not have.
[[noreturn, gnu::cold]] void no_such_dimension(const Topology& topology, Dimension d);

}  // namespace detail

/// Control words as an argument: a list in place, or any contiguous range of words.
class Words {
 public:
  Words() = default;
  Words(std::initializer_list<Word> words) noexcept : words_{words.begin(), words.size()} {}
  Words(std::span<const Word> words) noexcept : words_{words} {}
  template <class Range>
  requires std::convertible_to<const Range&, std::span<const Word>> Words(const Range& words)
  noexcept : words_{words} {}
  std::span<const Word> span() const noexcept { return words_; }

 private:
  std::span<const Word> words_;
};

/// In a reduction: says that the blocks of a message are to be combined with what the receiver holds of the same segments, in register 0 or
/// in the registers named. Where the receiver holds nothing, it takes them.
struct Combine {
  std::uint8_t registers = 1;  ///< a bit each
};
inline constexpr Combine combine{};
/// Registers 0 to 7.
constexpr Combine combine_into(std::initializer_list<int> registers) noexcept {
  Combine into{0};
  for (const int r : registers) into.registers |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(r));
  return into;
}

/// A virtual node: its rank and coordinates, the machine's public rules, the step number, the blocks that it holds, what has arrived.
///
/// What the engine calls to start a node (Engine::run) gets the node before the first step. There it may read the first group below, and
/// make the program; all other calls throw RunError. The body of the program may call everything.
///
/// Threads: a program runs on one thread at a time, but not always on the same one. It calls its own node only, and no node may be called
/// from a thread that the program starts.
class Node {
 public:
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Where am I?
  NodeId rank() const noexcept { return rank_; }
  const Machine& machine() const noexcept { return *world_->machine; }
  const Topology& topology() const noexcept { return world_->machine->topology; }
  // Those that take a dimension throw RunError if the machine has none of this number.
  std::int32_t coordinate(Dimension d) const { return topology().coordinate(rank_, checked(d)); }
  Coordinates coordinates() const noexcept { return topology().coordinates(rank_); }
  std::int32_t extent(Dimension d) const { return topology().extent(checked(d)); }
  Dimension dimensions() const noexcept { return topology().dimensions(); }
  /// The node at the end of a leg from here; none if the leg leaves a line.
  std::optional<NodeId> neighbour(Leg leg) const { return topology().neighbour(rank_, checked(leg.dimension), leg.hops); }
  /// The present step, from 0.
  Step now() const noexcept { return world_->now; }

  // What do I hold?
  bool holds(BlockId id) const { return world_->network->holds(*this, id); }
  /// All blocks held, ascending (personalised placements: in the order of the node's table). Valid until the next call on any node of the
  /// same thread or the next wait. O(table of the node); of a scatter or gather, whose blocks are hashed, O(sqrt(nodes) + blocks log
  /// blocks).
  BlocksView blocks() const { return BlocksView{world_->network->blocks(*this)}; }
  /// A held block's bytes, the node's own copy; empty if not held. Mutable, so that tests can inject faults. Invalid after forward() or
  /// release() of the block.
  std::span<std::byte> bytes(BlockId id) { return world_->network->bytes(*this, id); }
  /// Drops a block. Ignored if not held.
  void release(BlockId id) { world_->network->release(*this, id); }

  /// Sends blocks and control words along a route; they arrive at the start of the next step. The bytes are copied before the call returns,
  /// as far as the sender can see: it may change its own copy at once.
  /// What the machine forbids is recorded as a violation and ends the run after this step. Throws RunError when the run's memory is used
  /// up, which ends the run even if the program catches it. Cost: O(hops + blocks + header) and a copy of the bytes.
  void send(RouteView route, std::span<const BlockId> blocks, Words header = {}) {
    world_->network->send(*this, route, blocks, header.span(), false);
  }
  void send(std::initializer_list<Leg> route, std::span<const BlockId> blocks, Words header = {}) {
    send_legs({route.begin(), route.size()}, blocks, header.span(), false);
  }
  /// To a node, by the shortest route in the machine's routing order (ties on rings go +). Throws InputError if there is no such node.
  void send(NodeId destination, std::span<const BlockId> blocks, Words header = {}) { send(route_to(destination), blocks, header); }
  /// Sends blocks and releases them here, as nodes on the way of a personalised exchange do. Else like send().
  void forward(RouteView route, std::span<const BlockId> blocks, Words header = {}) {
    world_->network->send(*this, route, blocks, header.span(), true);
  }
  void forward(std::initializer_list<Leg> route, std::span<const BlockId> blocks, Words header = {}) {
    send_legs({route.begin(), route.size()}, blocks, header.span(), true);
  }
  void forward(NodeId destination, std::span<const BlockId> blocks, Words header = {}) { forward(route_to(destination), blocks, header); }

  // In a reduction, where blocks are partials (Placement::contributed). A block that arrives takes the place of what the receiver holds,
  // or, with `combine`, is combined with it. A node that forwards a partial gives its contributors away; one that sends it keeps them, too.
  // What it sends is what has been combined up to this step. Arrivals are combined in their order, own op first op second, before the
  // receiver's program runs. Else like send() and forward(); RunError where the blocks of the run are no partials, or have no such
  // register.
  void send(Combine into, RouteView route, std::span<const BlockId> blocks, Words header = {}) {
    world_->network->send_partials(*this, route, blocks, header.span(), false, into.registers);
  }
  void send(Combine into, std::initializer_list<Leg> route, std::span<const BlockId> blocks, Words header = {}) {
    send(into, RouteView{route.begin(), route.size()}, blocks, header);
  }
  void send(Combine into, NodeId destination, std::span<const BlockId> blocks, Words header = {}) {
    send(into, route_to(destination), blocks, header);
  }
  void forward(Combine into, RouteView route, std::span<const BlockId> blocks, Words header = {}) {
    world_->network->send_partials(*this, route, blocks, header.span(), true, into.registers);
  }
  void forward(Combine into, std::initializer_list<Leg> route, std::span<const BlockId> blocks, Words header = {}) {
    forward(into, RouteView{route.begin(), route.size()}, blocks, header);
  }
  void forward(Combine into, NodeId destination, std::span<const BlockId> blocks, Words header = {}) {
    forward(into, route_to(destination), blocks, header);
  }

  /// States that the present step belongs to a phase of the algorithm. The report sums steps, bytes and model time by phase. The text must
  /// outlive the run (a literal). All nodes that name a phase in a step should name the same; the lowest rank's name counts.
  void phase(const char* name) { world_->network->enter_phase(*this, name); }

  /// Empty: a member would lie in every frame, once for each wait of the program.
  template <Wait what>
  struct Awaiter {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { detail::running.node->wait_ = what; }
    const Arrivals& await_resume() const noexcept { return detail::running.arrivals; }
  };
  /// `co_await self.step()`: resumes in the next step and returns what arrived for it (often nothing), valid until the next wait.
  Awaiter<Wait::step> step() noexcept { return {}; }
  /// `co_await self.arrival()`: sleeps until a step in which messages have arrived, and returns them. A sleeping node costs nothing.
  Awaiter<Wait::arrival> arrival() noexcept { return {}; }

 private:
  friend struct detail::NodeAccess;

  Dimension checked(Dimension d) const {
    if (static_cast<std::uint32_t>(d) >= static_cast<std::uint32_t>(dimensions())) [[unlikely]]
      detail::no_such_dimension(topology(), d);
    return d;
  }
  Route route_to(NodeId destination) const { return shortest_route(topology(), rank_, destination, machine().routing); }
  void send_legs(RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
    if (route.size() != 1) return world_->network->send(*this, route, blocks, header, release);
    const auto [dimension, hops] = route[0];
    if (blocks.size() != 1 || !header.empty())
      send_leg(dimension, hops, blocks, header, release);
    else if (release)
      world_->network->forward_block(*this, dimension, hops, blocks[0]);
    else
      world_->network->send_block(*this, dimension, hops, blocks[0]);
  }
  /// Out of line: keeps the leg in registers on the common path.
  [[gnu::noinline]] void send_leg(Dimension dimension, std::int32_t hops, std::span<const BlockId> blocks, std::span<const Word> header,
                                  bool release) {
    const Leg leg{dimension, hops};
    world_->network->send(*this, {&leg, 1}, blocks, header, release);
  }

  detail::World* world_ = nullptr;
  std::coroutine_handle<> innermost_;  // of the program and the sub-programs that it waits for; none if it has ended
  NodeId rank_ = 0;
  Step last_arrival_ = 0;  // 1 + the step that brought the last message; 0: none yet
  Wait wait_ = Wait::none;
};

namespace detail {

/// How the engine and the coroutine types reach a node's private parts.
struct NodeAccess {
  static World*& world(Node& n) noexcept { return n.world_; }
  static Network& network(Node& n) noexcept { return *n.world_->network; }
  static std::coroutine_handle<>& innermost(Node& n) noexcept { return n.innermost_; }
  static NodeId& rank(Node& n) noexcept { return n.rank_; }
  static Wait& wait(Node& n) noexcept { return n.wait_; }
  static Step& last_arrival(Node& n) noexcept { return n.last_arrival_; }
};

}  // namespace detail
}  // namespace torus
