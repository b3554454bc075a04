// SPDX-License-Identifier: MIT
#include "runtime/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "runtime/auditor.hpp"
#include "runtime/detail/active_set.hpp"
#include "runtime/detail/block_store.hpp"
#include "runtime/detail/channel_table.hpp"
#include "runtime/detail/frame_pool.hpp"
#include "runtime/detail/links.hpp"
#include "runtime/detail/message_arena.hpp"
#include "runtime/detail/region.hpp"
#include "runtime/host_memory.hpp"
#include "runtime/verifier.hpp"

namespace torus {
namespace {

using detail::ActiveSet;
using detail::ChannelEntry;
using detail::MessageArena;
using detail::NodeDoor;
using detail::Slot;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::size_t most_named_waiters = 8;

/// Blocks of a message whose bytes are fetched ahead of the copy: what a core can have under way to memory.
constexpr std::size_t copies_ahead = 24;

/// All that a worker writes during a step: its own cache lines, its own pools.
struct alignas(128) Worker {
  std::uint32_t index = 0;
  detail::BlockStore::Stock* stock = nullptr;
  StepRecord step;                       // of the present step
  NodeId phase_node = 0;                 // who named the phase; meaningful if step.phase is set
  std::uint64_t digest = 0;
  std::uint64_t further_hops = 0;        // of the present step, beyond one a message
  Bytes further_bytes_hops = 0;          // message bytes times those
  std::uint64_t single_blocks = 0;       // of the present step: messages of one block and one hop
  std::uint64_t blocks = 0;              // of the run
  std::uint64_t header_words = 0;        // of the present step
  std::uint64_t duplicates = 0;
  std::uint64_t activated = 0;           // nodes put into the next step by this worker
  std::uint64_t ended = 0;
  bool unsettled = false;                // the node that runs has not yet adopted what has arrived
  bool copied = false;                   // in this step a node sent a block and kept it
  bool suspect = false;                  // a message of this step breaks a rule
  bool suspect_receives = false;         // a node got more messages of the last step than it has ports
  std::vector<Violation> violations;     // those that cannot be told from the messages: blocks not held
  NodeId failed_node = 0;                // lowest node whose program threw
  std::exception_ptr failure;
  MessageArena* arena = nullptr;         // of the present step
  MessageArena arenas[2];                // of even and odd steps
  std::vector<const Message*> inbox;     // of the node that runs, room for all its in-channels
  std::size_t inbox_size = 0;
  std::vector<BlockId> held;             // what Node::blocks() showed last
  std::vector<Leg> legs;                 // scratch of send()
  detail::FramePool frames;
  alignas(64) std::atomic<std::uint64_t> cursor{0};  // next item of this worker's share; others steal here
  std::uint64_t share_end = 0;
};

}  // namespace

MemoryEstimate estimate_memory(const Machine& machine, const Placement& placement, Bytes program_bytes) {
  const Topology& topology = machine.topology;
  const Bytes nodes = topology.nodes();
  const Bytes slots = static_cast<Bytes>(topology.channel_slots());
  const Bytes blocks = std::max(placement.initial_total(), placement.wanted_total());
  const Bytes link = machine.contention == Contention::share ? detail::SharedLinks::bytes_each() : detail::ExclusiveLinks::bytes_each();
  constexpr Bytes usual_frame = 384;
  MemoryEstimate estimate;
  estimate.payload = blocks * detail::BlockStore::stride_for(placement.longest());
  estimate.blocks = blocks * detail::BlockStore::slot_overhead + nodes * placement.buckets() * detail::BlockStore::bucket_overhead;
  estimate.nodes = nodes * (sizeof(Node) + usual_frame + slots * (link + sizeof(ChannelEntry))) + 2 * ActiveSet::bytes_for(topology.nodes()) + nodes * 2;
  estimate.flight = 2 * (nodes * 64 + placement.initial_total() * 12);
  estimate.programs = program_bytes;
  return estimate;
}

class Engine::Impl final : public Network {
 public:
  Impl(const Machine& machine, const Placement& placement, RunOptions options)
      : machine_{machine},
        placement_{placement},
        options_{std::move(options)},
        topology_{machine_.topology},
        slots_{static_cast<std::uint32_t>(topology_.channel_slots())},
        packet_{machine_.switching == Switching::packet},
        shared_{machine_.contention == Contention::share},
        block_bytes_{placement_.longest()},
        hops_only_{packet_ && !shared_ && placement_.uniform()},
        estimate_{estimate_memory(machine_, placement_, options_.program_bytes)},
        limit_{options_.memory_limit > 0 ? options_.memory_limit : available_memory() / 5 * 4} {
    const Clock::time_point start = Clock::now();
    refuse_too_large();
    executor_ = make_executor(options_.executor, options_.threads);
    workers_ = std::vector<Worker>(executor_->workers());
    for (std::uint32_t i = 0; i < workers_.size(); ++i) workers_[i].index = i;
    const std::uint64_t expected = std::max(placement_.initial_total(), placement_.wanted_total());
    const bool streaming = expected * placement_.longest() > last_level_cache();
    store_ = std::make_unique<detail::BlockStore>(placement_, expected, std::max<Bytes>(limit_, estimate_.payload + estimate_.blocks + (Bytes{1} << 24U)),
                                                  executor_->workers(), streaming && placement_.one_block_a_bucket());
    for (Worker& w : workers_) w.stock = &store_->stock(w.index);
    nodes_ = detail::Region<Node>(topology_.nodes());
    arrived_ = detail::Region<std::uint8_t>(2 * std::size_t{topology_.nodes()});
    channels_ = detail::ChannelTable(machine_);
    for (Dimension d = 0; d < topology_.dimensions(); ++d) {
      hops_.push_back({static_cast<std::uint32_t>(topology_.first_slot(d)), topology_.extent(d) - 1, topology_.wiring(d) == Wiring::complete});
    }
    const std::size_t in_channels = std::size_t{topology_.nodes()} * slots_;
    if (shared_) {
      shared_links_ = detail::SharedLinks(in_channels);
      shared_bytes_.resize(in_channels);
      shared_messages_.resize(in_channels);
    } else {
      links_.emplace(in_channels);
    }
    active_[0] = ActiveSet(topology_.nodes());
    active_[1] = ActiveSet(topology_.nodes());
    world_ = {&machine_, this, 0};
    const auto parts = static_cast<unsigned>(workers_.size());
    executor_->run([&](unsigned part) {
      store_->populate(part, parts);
      channels_.make(part, parts);
      if (links_) links_->make(part, parts);
      const NodeId to = part_end(part);
      for (NodeId rank = part_begin(part); rank < to; ++rank) {
        Node& node = *new (&nodes_[rank]) Node;
        NodeDoor::world(node) = &world_;
        NodeDoor::rank(node) = rank;
      }
    });
    if (links_) links_->made();
    allocation_s_ = seconds_since(start);
  }

  ~Impl() { destroy_programs(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  RunResult run(const std::function<Program(Node&)>& start) {
    RunResult result;
    result.threads = static_cast<unsigned>(workers_.size());
    result.memory_bytes = estimate_.total();
    try {
      const Clock::time_point setup_start = Clock::now();
      prepare(start);
      result.setup_s = std::exchange(allocation_s_, 0) + seconds_since(setup_start);  // allocation counts once, in the first run
      const Clock::time_point run_start = Clock::now();
      emulate(result);
      result.run_s = seconds_since(run_start);
    } catch (...) {
      destroy_programs();
      sweep();
      throw;
    }
    total(result);
    if (result.violations.empty() && !result.interrupted && options_.verify) {
      const Clock::time_point verify_start = Clock::now();
      result.wrong = verify(placement_, *store_, options_.seed, *executor_);
      result.verify_s = seconds_since(verify_start);
      result.verified = !result.wrong && !result.hang;
    }
    destroy_programs();
    if (!result.violations.empty() || result.interrupted || result.hang) sweep();
    return result;
  }

  std::span<const std::byte> bytes_of(NodeId node, BlockId id) const {
    const Slot slot = store_->find(node, id);
    if (slot == 0) return {};
    return {std::as_const(*store_).at(slot), static_cast<std::size_t>(placement_.bytes(id))};
  }

  // ---- what nodes call (Network) ----

  void send(Node& from, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) override {
    Worker& w = worker_of(from);
    if (NodeDoor::sends(from)++ >= machine_.ports) w.suspect = true;
    if (hops_only_ && route.size() == 1 && blocks.size() == 1 && header.empty()) return send_one(w, from.rank(), route[0], blocks[0], release);
    send_any(w, from.rank(), route, blocks, header, release);
  }

  bool holds(const Node& node, BlockId id) const override {
    settle(worker_of(node), node.rank());
    return store_->find(node.rank(), id) != 0;
  }

  std::span<const BlockId> blocks(const Node& node) override {
    settle(worker_of(node), node.rank());
    std::vector<BlockId>& held = worker_of(node).held;
    held.clear();
    store_->each_held(node.rank(), [&](BlockId id, Slot) { held.push_back(id); });
    return held;
  }

  std::span<std::byte> bytes(const Node& node, BlockId id) override {
    settle(worker_of(node), node.rank());
    const Slot slot = store_->find(node.rank(), id);
    if (slot == 0) return {};
    return {store_->at(slot), static_cast<std::size_t>(placement_.bytes(id))};
  }

  void release(Node& node, BlockId id) override {
    settle(worker_of(node), node.rank());
    store_->release(*worker_of(node).stock, node.rank(), id);
  }

  void enter_phase(const Node& node, const char* phase) override {
    Worker& w = worker_of(node);
    if (w.step.phase != nullptr && w.phase_node <= node.rank()) return;
    w.step.phase = phase;
    w.phase_node = node.rank();
  }

  void* allocate_frame(Node& node, std::size_t bytes) override { return worker_of(node).frames.allocate(bytes); }
  void free_frame(Node& node, void* frame, std::size_t bytes) noexcept override { worker_of(node).frames.free(frame, bytes); }

 private:
  struct Path {
    NodeId destination = 0;
    std::uint32_t in_slot = 0;
    std::uint32_t hops = 0;
    bool legal = false;
    RouteView legs;
  };

  static Worker& worker_of(const Node& node) noexcept { return *static_cast<Worker*>(NodeDoor::worker(node)); }

  // ---- set-up ----

  static Bytes last_level_cache() {
    const long bytes = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? static_cast<Bytes>(bytes) : Bytes{32} << 20U;
  }

  NodeId part_begin(unsigned part) const { return static_cast<NodeId>(std::uint64_t{topology_.nodes()} * part / workers_.size()); }
  NodeId part_end(unsigned part) const { return static_cast<NodeId>(std::uint64_t{topology_.nodes()} * (part + 1) / workers_.size()); }

  void refuse_too_large() const {
    if (estimate_.total() <= limit_) return;
    const std::uint64_t blocks = std::max<std::uint64_t>(1, std::max(placement_.initial_total(), placement_.wanted_total()));
    const Bytes rest = estimate_.total() - estimate_.payload;
    std::string text = "a run of " + std::to_string(topology_.nodes()) + " nodes and " + std::to_string(blocks) + " blocks of " +
                       std::to_string(placement_.longest()) + " bytes needs " + bytes_text(estimate_.total()) + " (blocks " + bytes_text(estimate_.payload) +
                       ", their bookkeeping " + bytes_text(estimate_.blocks) + ", nodes " + bytes_text(estimate_.nodes) + ", messages " + bytes_text(estimate_.flight) +
                       ", programs " + bytes_text(estimate_.programs) + ") and " + bytes_text(limit_) + " may be used; ";
    if (rest < limit_) {
      text += "blocks of at most " + std::to_string((limit_ - rest) / blocks / 64 * 64) + " bytes would fit";
    } else {
      text += "choose a smaller shape: without any payload it needs " + bytes_text(rest);
    }
    throw InputError(text);
  }

  void prepare(const std::function<Program(Node&)>& start) {
    now_ = 0;
    first_epoch_ = ++epoch_;
    unique_ = placement_.initial_total() == placement_.wanted_total();
    world_.now = 0;
    next_active_ = &active_[1];
    store_->clear();
    channels_.clear_loads();
    for (Worker& w : workers_) {
      w.digest = w.further_hops = w.further_bytes_hops = w.blocks = w.header_words = w.duplicates = w.activated = w.ended = 0;
      w.suspect = w.suspect_receives = w.unsettled = w.copied = false;
      w.violations.clear();
      w.failure = nullptr;
      w.step = {};
      w.single_blocks = 0;
      w.arenas[0].clear();
      w.arenas[1].clear();
      w.arena = &w.arenas[0];
      w.inbox.resize(std::max(1U, slots_) * (shared_ ? detail::SharedLinks::depth : 1));
    }
    const auto parts = static_cast<unsigned>(workers_.size());
    executor_->run([&](unsigned part) { store_->clear_tables(part, parts); });
    executor_->run([&](unsigned part) {
      Worker& w = workers_[part];
      try {
        const NodeId to = part_end(part);
        for (NodeId rank = part_begin(part); rank < to; ++rank) prepare_node(w, rank, start);
      } catch (...) {
        w.failure = std::current_exception();
      }
    });
    throw_failure();
  }

  void prepare_node(Worker& w, NodeId rank, const std::function<Program(Node&)>& start) {
    Node& node = nodes_[rank];
    const std::uint64_t count = placement_.initial_count(rank);
    for (std::uint64_t i = 0; i < count; ++i) {
      const BlockId id = placement_.initial(rank, i);
      const Slot slot = store_->take(*w.stock);
      fill_block({store_->at(slot), static_cast<std::size_t>(placement_.bytes(id))}, options_.seed, id);
      store_->adopt(*w.stock, rank, id, slot);
    }
    arrived_[2 * std::size_t{rank}] = arrived_[2 * std::size_t{rank} + 1] = 0;
    active_[0].insert(rank);
    NodeDoor::worker(node) = &w;
    NodeDoor::wait(node) = Wait::none;
    NodeDoor::last_arrival(node) = 0;
    NodeDoor::sends(node) = 0;
    auto program = start(node).take();
    NodeDoor::innermost(node) = program;
    NodeDoor::program(node) = program.address();
  }

  void destroy_programs() noexcept {
    executor_->run([&](unsigned part) {
      const NodeId to = part_end(part);
      for (NodeId rank = part_begin(part); rank < to; ++rank) destroy_program(nodes_[rank], workers_[part]);
    });
  }

  /// Empties what a run that did not end by itself has left in queues and sets.
  void sweep() {
    for (ActiveSet& set : active_) {
      set.take_groups(groups_);
      for (const std::uint32_t group : groups_) set.take_nodes(group, [](NodeId) {});
    }
    if (shared_) shared_links_.clear();
    else links_->clear();
  }

  void destroy_program(Node& node, Worker& w) noexcept {
    void*& address = NodeDoor::program(node);
    if (address == nullptr) return;
    NodeDoor::worker(node) = &w;
    std::coroutine_handle<>::from_address(address).destroy();
    address = nullptr;
  }

  // ---- the loop of steps ----

  void emulate(RunResult& result) {
    const std::uint64_t idle_limit = idle_steps_allowed();
    std::uint64_t idle = 0;
    std::uint64_t expected_active = topology_.nodes();
    std::optional<Step> last_traffic;
    while (true) {
      run_step(expected_active);
      throw_failure();
      if (gather_violations(result)) return;
      StepRecord record = gather_record();
      expected_active = 0;
      std::uint64_t ended = 0;
      for (Worker& w : workers_) {
        expected_active += std::exchange(w.activated, 0);
        ended += w.ended;
      }
      if (expected_active == 0) {  // nobody waits for the barrier and nothing crosses it
        if (ended < topology_.nodes()) result.hang = name_the_waiting(last_traffic, false);
        return;
      }
      if (record.messages > 0) cross_with_messages(record, result);
      result.step_records.push_back(record);
      if (options_.on_step) options_.on_step(now_);
      idle = record.messages > 0 ? 0 : idle + 1;
      if (record.messages > 0) last_traffic = now_;
      ++now_;
      ++epoch_;
      world_.now = now_;
      for (Worker& w : workers_) {
        w.arena = &w.arenas[now_ & 1U];
        w.arena->clear();
      }
      next_active_ = &active_[(now_ + 1) & 1U];
      if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
        result.interrupted = true;
        return;
      }
      if (idle > idle_limit) {
        result.hang = name_the_waiting(last_traffic, true);
        return;
      }
      if (epoch_ == std::numeric_limits<std::uint32_t>::max() - 1) throw RunError("more than 2^32 - 2 steps in one process");
    }
  }

  /// Steps without a message after which nodes that only pass barriers are taken to wait for ever.
  std::uint64_t idle_steps_allowed() const {
    std::uint64_t sides = 0;
    for (const DimensionShape& dimension : topology_.shape()) sides += static_cast<std::uint64_t>(dimension.extent);
    return 64 + 4 * sides;
  }

  /// Runs all active nodes once. `expected` is how many there are, or a few more.
  void run_step(std::uint64_t expected) {
    ActiveSet& active = active_[now_ & 1U];
    active.take_groups(groups_);
    if (options_.executor == ExecutorKind::shuffled) return run_shuffled(active);
    const bool by_node = expected < 2048;  // few nodes are shared out singly, many in groups
    if (by_node) {
      active_nodes_.clear();
      for (const std::uint32_t group : groups_) active.take_nodes(group, [&](NodeId rank) { active_nodes_.push_back(rank); });
    }
    const std::uint64_t items = by_node ? active_nodes_.size() : groups_.size();
    if (workers_.size() == 1 || not_worth_a_barrier(expected)) {
      for (std::uint64_t item = 0; item < items; ++item) run_item(active, by_node, item, workers_[0]);
      store_->fence();
      return;
    }
    const std::uint64_t batch = std::max<std::uint64_t>(1, items / (workers_.size() * 64));
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].cursor.store(items * i / workers_.size(), std::memory_order_relaxed);
      workers_[i].share_end = items * (i + 1) / workers_.size();
    }
    executor_->run([&, by_node, batch](unsigned worker) {
      Worker& w = workers_[worker];
      // First its own share, the same nodes in every step as long as all are active; then what the others have left.
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& owner = workers_[(worker + i) % workers_.size()];
        while (true) {
          const std::uint64_t from = owner.cursor.fetch_add(batch, std::memory_order_relaxed);
          if (from >= owner.share_end) break;
          const std::uint64_t to = std::min(from + batch, owner.share_end);
          for (std::uint64_t item = from; item < to; ++item) run_item(active, by_node, item, w);
        }
      }
      store_->fence();
    });
  }

  /// A step of a few microseconds is done before other workers have noticed it. Only a guess at speed: the result is the same.
  bool not_worth_a_barrier(std::uint64_t nodes) const {
    const double ports = std::min<double>(machine_.ports, 8);
    const double copied = std::max(static_cast<double>(nodes) * ports * static_cast<double>(placement_.longest()), static_cast<double>(last_payload_));
    return static_cast<double>(nodes) * 100 + copied / 20 < 8000;  // nanoseconds
  }

  void run_item(ActiveSet& active, bool by_node, std::uint64_t item, Worker& w) {
    if (by_node) run_node(active_nodes_[item], w);
    else active.take_nodes(groups_[item], [&](NodeId rank) { run_node(rank, w); });
  }

  void run_shuffled(ActiveSet& active) {
    active_nodes_.clear();
    for (const std::uint32_t group : groups_) active.take_nodes(group, [&](NodeId rank) { active_nodes_.push_back(rank); });
    std::mt19937_64 random(options_.seed ^ (0x9E3779B97F4A7C15U * (now_ + 1)));
    std::shuffle(active_nodes_.begin(), active_nodes_.end(), random);
    for (const NodeId rank : active_nodes_) run_node(rank, workers_[0]);
  }

  /// Gives a node what arrived for it and lets its program go on to its next wait.
  void run_node(NodeId rank, Worker& w) {
    Node& node = nodes_[rank];
    NodeDoor::worker(node) = &w;
    w.inbox_size = 0;
    if (now_ > 0) {
      std::uint8_t& arrived = arrived_[2 * std::size_t{rank} + ((now_ - 1) & 1U)];
      if (arrived != 0) {
        arrived = 0;
        receive(node, w);
      }
    }
    const Wait wait = NodeDoor::wait(node);
    if (wait == Wait::ended || (wait == Wait::arrival && w.inbox_size == 0)) return settle(w, rank);
    NodeDoor::arrivals(node) = Arrivals(w.inbox.data(), w.inbox_size);
    NodeDoor::sends(node) = 0;
    do {
      NodeDoor::wait(node) = Wait::none;
      NodeDoor::innermost(node).resume();
    } while (NodeDoor::wait(node) == Wait::call);
    settle(w, rank);
    switch (NodeDoor::wait(node)) {
      case Wait::step:
        if (next_active_->insert(rank)) ++w.activated;
        break;
      case Wait::ended: end_program(node, w); break;
      default: break;
    }
  }

  void receive(Node& node, Worker& w) {
    const NodeId rank = node.rank();
    const std::size_t first = std::size_t{rank} * slots_;
    const Step sent = now_ - 1;
    const Message** const inbox = w.inbox.data();
    std::size_t size = 0;
    if (shared_) {
      for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        shared_links_.drain(first + slot, sent, [&](const Message* m) { inbox[size++] = m; });
      }
    } else {
      detail::ExclusiveLinks& links = *links_;
      for (std::uint32_t slot = 0; slot < slots_; ++slot) {
        const Message* const m = links.pop(first + slot, sent);
        inbox[size] = m;
        size += m != nullptr ? 1 : 0;
      }
    }
    w.inbox_size = size;
    if (size > static_cast<std::size_t>(machine_.ports)) w.suspect_receives = true;
    w.unsettled = size > 0;
    NodeDoor::last_arrival(node) = now_;
  }

  /// Blocks are adopted only when the program has run, or asks: most that are in transit leave again in the same step, and forward() finds them in the
  /// message that brought them, so that they never see the node's table.
  void settle(Worker& w, NodeId rank) const {
    if (w.unsettled) adopt_all(w, rank);
  }
  [[gnu::noinline]] void adopt_all(Worker& w, NodeId rank) const {
    w.unsettled = false;
    for (const Message* m : inbox_of(w)) {
      const std::span<const BlockId> ids = m->blocks();
      const Slot* const slots = MessageArena::slots(*m);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (slots[i] == 0) continue;  // passed on
        const std::uint32_t bucket = i == 0 ? MessageArena::first_bucket(*m) : placement_.bucket(ids[i]);
        if (!store_->adopt_at(*w.stock, rank, bucket, ids[i], slots[i])) ++w.duplicates;
      }
    }
  }

  /// The message that has just brought this block alone, if it is among the first few and has not been adopted or passed on. Only where every block
  /// is unique: else the node might hold another copy.
  [[gnu::always_inline]] inline const Message* just_arrived_alone(const Worker& w, BlockId id) const noexcept {
    if (!w.unsettled || !unique_) return nullptr;
    const std::size_t few = std::min<std::size_t>(w.inbox_size, 8);
    for (std::size_t i = 0; i < few; ++i) {
      const Message* const m = w.inbox[i];
      if (m->blocks().size() == 1 && m->blocks()[0] == id && *MessageArena::slots(*m) != 0) return m;
    }
    return nullptr;
  }

  /// The slots of blocks that are a part of a message not yet adopted, none of them passed on before; null if they are not.
  Slot* slots_just_arrived(const Worker& w, std::span<const BlockId> blocks) const {
    if (!w.unsettled || !unique_ || blocks.empty()) return nullptr;
    for (const Message* m : inbox_of(w)) {
      const std::span<const BlockId> ids = m->blocks();
      const auto before = std::less<const BlockId*>();
      if (before(blocks.data(), ids.data()) || before(ids.data() + ids.size(), blocks.data() + blocks.size())) continue;
      Slot* const slots = MessageArena::slots(const_cast<Message&>(*m)) + (blocks.data() - ids.data());  // ours alone since it arrived
      return std::find(slots, slots + blocks.size(), Slot{0}) == slots + blocks.size() ? slots : nullptr;
    }
    return nullptr;
  }

  static std::span<const Message* const> inbox_of(const Worker& w) noexcept { return {w.inbox.data(), w.inbox_size}; }

  /// Copies such blocks to new slots, the next receiver's.
  void pass_on(Worker& w, std::span<const BlockId> blocks, Slot* from, Message& m) {
    Slot* const slots = MessageArena::slots(m);
    MessageArena::first_bucket(m) = placement_.bucket(blocks.front());
    detail::BlockStore::Stock& stock = *w.stock;
    const bool uniform = placement_.uniform();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i + copies_ahead < blocks.size()) store_->prefetch(from[i + copies_ahead]);
      slots[i] = store_->take(stock);
      store_->copy(slots[i], from[i], uniform ? block_bytes_ : placement_.bytes(blocks[i]));
      store_->give_back(stock, std::exchange(from[i], 0));
    }
  }

  void end_program(Node& node, Worker& w) {
    const auto program = Program::Handle::from_address(NodeDoor::program(node));
    if (program.promise().error() && (!w.failure || node.rank() < w.failed_node)) {
      w.failure = program.promise().error();
      w.failed_node = node.rank();
    }
    destroy_program(node, w);
    ++w.ended;
  }

  // ---- sending ----

  /// One block over one channel of a packet-switched machine: the hot path of everything that is written in the constant model.
  [[gnu::always_inline]] inline void send_one(Worker& w, NodeId source, const Leg& leg, BlockId id, bool release) {
    const Bytes bytes = block_bytes_;
    detail::BlockStore& store = *store_;
    const std::uint32_t out = out_slot(leg);
    const Message* const brought = release ? just_arrived_alone(w, id) : nullptr;
    Slot* link = nullptr;  // what names the block's slot here: the message that brought it, or the node's table
    std::uint32_t bucket = 0;
    if (brought != nullptr) {
      link = MessageArena::slots(const_cast<Message&>(*brought));  // the receiver's alone since it arrived
      bucket = MessageArena::first_bucket(*brought);
    } else {
      settle(w, source);
      bucket = placement_.bucket(id);
      if (bucket == Placement::no_bucket) return refuse_one(w, source, leg, id);
      link = store.link_at(source, bucket, id);
    }
    const Slot from = *link;
    if (out == no_slot || from == 0) return refuse_one(w, source, leg, id);
    ChannelEntry& channel = channels_.of_node(source, out);
    if (channel.to == detail::no_node || !detail::ChannelTable::claim_own(channel, epoch_, bytes)) return refuse_one(w, source, leg, id);
    Message& m = *w.arena->allocate_one(now_, source, channel.to, out, bytes, id, leg);
    const Slot to = store.take(*w.stock);
    store.copy(to, from, bytes);
    MessageArena::only_slot(m) = to;
    MessageArena::first_bucket(m) = bucket;
    if (brought != nullptr) {
      *link = 0;
      store.give_back(*w.stock, from);
    } else if (release) {
      store.release_at(*w.stock, link);
    } else {
      w.copied = true;
    }
    ++w.single_blocks;
    w.digest += MessageArena::digest_one(m);
    deliver(w, m, channel.to, out);
  }

  /// Keeps an illegal message for the auditor.
  [[gnu::cold, gnu::noinline]] void refuse_one(Worker& w, NodeId source, const Leg& leg, BlockId id) {
    w.suspect = true;
    settle(w, source);
    if (store_->find(source, id) == 0) not_held(w, source, id);
    const RouteView legs(&leg, leg.hops == 0 ? 0U : 1U);
    Message& m = *w.arena->allocate(1, legs.size(), 0);
    MessageArena::set_ends(m, now_, source, source, 0, block_bytes_);
    copy_few(MessageArena::legs(m), legs);
    *MessageArena::blocks(m) = id;
  }

  [[gnu::noinline]] void send_any(Worker& w, NodeId source, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
    const Bytes bytes = payload_of(blocks) + sizeof(Word) * header.size();
    const Path path = packet_ && route.size() == 1 ? claim_hop(source, route[0], bytes) : claim_route(source, moving_legs(route, w.legs), bytes);
    Message& m = *w.arena->allocate(blocks.size(), path.legs.size(), header.size());
    MessageArena::set_ends(m, now_, source, path.destination, path.in_slot, bytes);
    copy_few(MessageArena::legs(m), path.legs);
    copy_few(MessageArena::blocks(m), blocks);
    copy_few(MessageArena::header(m), header);
    if (!path.legal) w.suspect = true;
    if (!blocks.empty() && !release) w.copied = true;
    if (Slot* const arrived = release && path.legal ? slots_just_arrived(w, blocks) : nullptr; arrived != nullptr) {
      pass_on(w, blocks, arrived, m);
    } else {
      settle(w, source);
      if (!find_all(w, source, blocks, m) || !path.legal) return;
      copy_all(w, source, blocks, MessageArena::slots(m), release);
    }
    if (blocks.empty()) ++w.step.control_messages;
    w.step.messages += 1;
    w.step.bytes += bytes;
    w.step.most_bytes = std::max(w.step.most_bytes, bytes);
    if (path.hops > 1) {
      w.further_hops += path.hops - 1;
      w.further_bytes_hops += bytes * (path.hops - 1);
      w.step.longest_route = std::max(w.step.longest_route, path.hops);
    }
    w.header_words += header.size();
    w.blocks += blocks.size();
    w.digest += MessageArena::digest(m);
    deliver(w, m, path.destination, path.in_slot);
  }

  /// Puts a message into its in-channel and its receiver among the nodes that run in the next step.
  [[gnu::always_inline]] inline void deliver(Worker& w, const Message& m, NodeId destination, std::uint32_t in_slot) {
    const std::size_t in_channel = std::size_t{destination} * slots_ + in_slot;
    if (!(shared_ ? shared_links_.push(in_channel, &m) : links_->push(in_channel, &m))) {
      w.suspect = true;  // which of several senders' messages finds no room is chance: the auditor counts them
      return;
    }
    // Read after the barrier.
    std::atomic_ref(arrived_[2 * std::size_t{destination} + (now_ & 1U)]).store(1, std::memory_order_relaxed);
    if (next_active_->insert(destination)) ++w.activated;
  }

  Bytes payload_of(std::span<const BlockId> blocks) const noexcept {
    if (placement_.uniform()) return block_bytes_ * blocks.size();
    Bytes payload = 0;
    for (const BlockId id : blocks) payload += placement_.bytes(id);
    return payload;
  }

  /// Mostly one value: that one without a call.
  template <class T>
  static void copy_few(T* to, std::span<const T> from) noexcept {
    if (from.size() == 1) std::memcpy(to, from.data(), sizeof(T));
    else if (!from.empty()) std::memcpy(to, from.data(), from.size_bytes());
  }

  static constexpr std::uint32_t no_slot = 0xffffffff;

  /// The slot of the channel that a single hop takes; no_slot if the leg is no such hop. On a line there may be no link behind it.
  [[gnu::always_inline]] inline std::uint32_t out_slot(const Leg& leg) const noexcept {
    if (static_cast<std::uint32_t>(leg.dimension) >= hops_.size()) return no_slot;
    const HopSlots& hop = hops_[static_cast<std::size_t>(leg.dimension)];
    if (!hop.complete) return leg.hops == 1 && hop.last > 0 ? hop.first : leg.hops == -1 && hop.last > 0 ? hop.first + 1 : no_slot;
    return leg.hops >= 1 && leg.hops <= hop.last ? hop.first + static_cast<std::uint32_t>(leg.hops) - 1 : no_slot;
  }

  /// One hop under packet switching: only the sender can claim the channel, and its entry says where it ends.
  Path claim_hop(NodeId source, const Leg& leg, Bytes bytes) {
    Path path{source, 0, 1, false, {&leg, leg.hops == 0 ? 0U : 1U}};
    const std::uint32_t out = out_slot(leg);
    if (out == no_slot) return path;
    ChannelEntry& channel = channels_.of_node(source, out);
    if (channel.to == detail::no_node) return path;
    path.destination = channel.to;
    path.in_slot = out;
    path.legal = shared_ || detail::ChannelTable::claim_own(channel, epoch_, bytes);
    return path;
  }

  /// The route without legs of 0 hops.
  static RouteView moving_legs(RouteView route, std::vector<Leg>& scratch) {
    const auto still = [](const Leg& leg) { return leg.hops == 0; };
    if (std::none_of(route.begin(), route.end(), still)) return route;
    scratch.clear();
    std::remove_copy_if(route.begin(), route.end(), std::back_inserter(scratch), still);
    return scratch;
  }

  /// Any route: checks it and claims its channels.
  Path claim_route(NodeId source, RouteView legs, Bytes bytes) {
    Path path{source, 0, 0, false, legs};
    const RouteCheck check = check_route(machine_, source, legs);
    path.hops = static_cast<std::uint32_t>(check.hops);
    if (check.offence) return path;
    NodeId at = source;
    bool free = true;
    for (const Leg& leg : legs) {
      if (!shared_ && free) {
        free = channels_.each(at, topology_.coordinate(at, leg.dimension), leg,
                              [&](ChannelEntry& entry) { return detail::ChannelTable::claim(entry, epoch_, bytes); });
      }
      at = *topology_.neighbour(at, leg.dimension, leg.hops);
    }
    path.destination = at;
    path.in_slot = static_cast<std::uint32_t>(topology_.slot(legs.back().dimension, legs.back().hops));
    path.legal = free;
    return path;
  }

  /// Writes to the message where the sender holds the blocks; false, with a violation, if it does not hold one of them.
  bool find_all(Worker& w, NodeId source, std::span<const BlockId> blocks, Message& m) {
    Slot* const slots = MessageArena::slots(m);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::uint32_t bucket = placement_.bucket(blocks[i]);
      if (i == 0) MessageArena::first_bucket(m) = bucket;
      slots[i] = bucket == Placement::no_bucket ? 0 : store_->find_at(source, bucket, blocks[i]);
      if (slots[i] != 0) continue;
      not_held(w, source, blocks[i]);
      return false;
    }
    return true;
  }

  [[gnu::cold, gnu::noinline]] void not_held(Worker& w, NodeId source, BlockId id) {
    w.suspect = true;
    w.violations.push_back({Offence::block_not_held, now_, source,
                            "step " + std::to_string(now_) + ": node " + std::to_string(source) + " sends block " + std::to_string(id) +
                                ", which it does not hold"});
  }

  /// Copies the blocks to new slots, the receiver's, and replaces the sender's slots by them.
  void copy_all(Worker& w, NodeId source, std::span<const BlockId> blocks, Slot* slots, bool release) {
    const bool uniform = placement_.uniform();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i + copies_ahead < blocks.size()) store_->prefetch(slots[i + copies_ahead]);
      const Slot to = store_->take(*w.stock);
      store_->copy(to, slots[i], uniform ? block_bytes_ : placement_.bytes(blocks[i]));
      slots[i] = to;
      if (release) store_->release(*w.stock, source, blocks[i]);
    }
  }

  // ---- at the barrier ----

  void throw_failure() {
    const Worker* first = nullptr;
    for (const Worker& w : workers_) {
      if (w.failure && (first == nullptr || w.failed_node < first->failed_node)) first = &w;
    }
    if (first != nullptr) std::rethrow_exception(first->failure);
  }

  std::vector<const Message*> messages_of(Step step) const {
    std::vector<const Message*> messages;
    for (const Worker& w : workers_) w.arenas[step & 1U].for_each([&](const Message& m) { messages.push_back(&m); });
    return messages;
  }

  /// True if a rule was broken: the violations of the earliest step are then in the result.
  bool gather_violations(RunResult& result) {
    bool suspect = false;
    bool suspect_receives = false;
    for (const Worker& w : workers_) {
      suspect |= w.suspect;
      suspect_receives |= w.suspect_receives;
    }
    if (suspect_receives) result.violations = audit(machine_, messages_of(now_ - 1));
    if (suspect && result.violations.empty()) {
      result.violations = audit(machine_, messages_of(now_));
      for (Worker& w : workers_) result.violations.insert(result.violations.end(), w.violations.begin(), w.violations.end());
      std::sort(result.violations.begin(), result.violations.end(), [](const Violation& a, const Violation& b) {
        return std::tie(a.node, a.offence, a.text) < std::tie(b.node, b.offence, b.text);
      });
    }
    TORUS_ASSERT(suspect || suspect_receives == !result.violations.empty());
    return suspect || suspect_receives;
  }

  StepRecord gather_record() {
    StepRecord record;
    NodeId phase_node = 0;
    for (Worker& w : workers_) {
      StepRecord part = std::exchange(w.step, {});
      const std::uint64_t singles = std::exchange(w.single_blocks, 0);
      part.messages += singles;
      part.bytes += singles * block_bytes_;
      if (singles > 0) part.most_bytes = std::max(part.most_bytes, block_bytes_);
      w.blocks += singles;
      record.messages += part.messages;
      record.control_messages += part.control_messages;
      record.hops += part.messages + std::exchange(w.further_hops, 0);
      record.bytes += part.bytes;
      record.payload_bytes += part.bytes - sizeof(Word) * std::exchange(w.header_words, 0);
      record.most_bytes = std::max(record.most_bytes, part.most_bytes);
      record.longest_route = std::max(record.longest_route, part.longest_route);
      if (std::exchange(w.copied, false)) unique_ = false;
      if (part.phase != nullptr && (record.phase == nullptr || w.phase_node < phase_node)) {
        record.phase = part.phase;
        phase_node = w.phase_node;
      }
    }
    if (record.messages > 0) record.longest_route = std::max(record.longest_route, 1U);
    last_payload_ = record.payload_bytes;
    return record;
  }

  void cross_with_messages(StepRecord& record, RunResult& result) {
    std::uint64_t load = 1;
    if (shared_ || options_.on_messages) {
      const std::vector<const Message*> messages = messages_of(now_);
      if (shared_) load = share_channels(messages, record);
      if (options_.on_messages) options_.on_messages(messages);
    }
    result.max_channel_load = std::max(result.max_channel_load, load);
  }

  /// Adds up what shared channels carried in this step; returns the most messages on one.
  std::uint64_t share_channels(const std::vector<const Message*>& messages, StepRecord& record) {
    std::uint64_t most = 0;
    for (const Message* m : messages) {
      NodeId at = m->source();
      for (const Leg& leg : m->route()) {
        channels_.each(at, topology_.coordinate(at, leg.dimension), leg, [&](ChannelEntry& entry) {
          const std::size_t i = channels_.index_of(entry);
          if (entry.stamp != epoch_ + 1) shared_messages_[i] = shared_bytes_[i] = 0;
          entry.stamp = epoch_ + 1;
          entry.bytes += m->bytes();
          most = std::max(most, ++shared_messages_[i]);
          record.most_bytes = std::max(record.most_bytes, shared_bytes_[i] += m->bytes());
          return true;
        });
        at = *topology_.neighbour(at, leg.dimension, leg.hops);
      }
    }
    return most;
  }

  Hang name_the_waiting(std::optional<Step> last_traffic, bool stepping) {
    Hang hang;
    hang.last_traffic = last_traffic;
    hang.stepping = stepping;
    for (NodeId rank = 0; rank < topology_.nodes(); ++rank) {
      Node& node = nodes_[rank];
      if (NodeDoor::wait(node) == Wait::ended) continue;
      if (++hang.nodes > most_named_waiters) continue;
      const Step last = NodeDoor::last_arrival(node);
      hang.first.push_back({rank, NodeDoor::wait(node), last == 0 ? std::nullopt : std::optional<Step>(last - 1)});
    }
    return hang;
  }

  // ---- the sums ----

  void total(RunResult& result) const {
    result.steps = result.step_records.size();
    for (const StepRecord& record : result.step_records) {
      result.busy_steps += record.messages > 0 ? 1 : 0;
      result.messages += record.messages;
      result.control_messages += record.control_messages;
      result.hops += record.hops;
      result.bytes_delivered += record.payload_bytes;
      result.control_bytes += record.bytes - record.payload_bytes;
      result.bytes_hops += record.bytes;
      result.channel_bytes_sum += record.most_bytes;
      result.model_time_s += machine_.cost.step(record.most_bytes, record.longest_route);
    }
    for (const Worker& w : workers_) {
      result.bytes_hops += w.further_bytes_hops;
      result.blocks_delivered += w.blocks;
      result.duplicates += w.duplicates;
      result.trace_digest += w.digest;
    }
    std::uint64_t used = 0;
    Bytes sum = 0;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const ChannelEntry& entry = channels_[i];
      used += entry.stamp > first_epoch_ ? 1 : 0;
      sum += entry.bytes;
      result.channel_bytes_max = std::max(result.channel_bytes_max, entry.bytes);
    }
    const auto channels = static_cast<double>(std::max<std::uint64_t>(1, topology_.channels()));
    result.channel_bytes_mean = static_cast<double>(sum) / channels;
    result.channel_idle_share = 1 - static_cast<double>(used) / channels;
  }

  /// Where the channels of a dimension are among a node's, for single hops.
  struct HopSlots {
    std::uint32_t first;
    std::int32_t last;  // greatest offset of a complete dimension; else 0 where there are no channels
    bool complete;
  };

  const Machine machine_;
  const Placement placement_;
  RunOptions options_;
  const Topology& topology_;
  const std::uint32_t slots_;
  const bool packet_;
  const bool shared_;
  const Bytes block_bytes_;                  // where all blocks are equally long
  const bool hops_only_;                     // send_one() may serve
  const MemoryEstimate estimate_;
  const Bytes limit_;
  double allocation_s_ = 0;

  std::unique_ptr<Executor> executor_;
  std::vector<Worker> workers_;
  std::unique_ptr<detail::BlockStore> store_;
  detail::Region<Node> nodes_;
  detail::Region<std::uint8_t> arrived_;     // by node and parity of the sending step: something was sent to it
  detail::ChannelTable channels_;
  std::optional<detail::ExclusiveLinks> links_;
  detail::SharedLinks shared_links_;
  std::vector<std::uint64_t> shared_messages_, shared_bytes_;  // of the present step, where channels are shared
  ActiveSet active_[2];                      // by parity of the step
  ActiveSet* next_active_ = nullptr;         // of the next step
  World world_;
  Step now_ = 0;
  std::uint32_t epoch_ = 0;                  // like now_, but goes on from run to run: stamps need no clearing
  std::uint32_t first_epoch_ = 0;            // of the present run
  bool unique_ = false;                      // of each block there is one copy in the machine, so far
  Bytes last_payload_ = 0;                   // of the step before
  std::vector<HopSlots> hops_;
  std::vector<std::uint32_t> groups_;
  std::vector<NodeId> active_nodes_;
};

Engine::Engine(const Machine& machine, const Placement& placement, RunOptions options)
    : impl_{std::make_unique<Impl>(machine, placement, std::move(options))} {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
RunResult Engine::run(const std::function<Program(Node&)>& start) { return impl_->run(start); }
std::span<const std::byte> Engine::bytes(NodeId node, BlockId id) const { return impl_->bytes_of(node, id); }

}  // namespace torus
