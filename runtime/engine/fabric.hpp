/// What stands behind the nodes: their blocks, channels, queues and messages on the way.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <torus/machine.hpp>
#include <torus/node.hpp>
#include <torus/placement.hpp>

#include "runtime/engine/active_set.hpp"
#include "runtime/engine/arrival_flags.hpp"
#include "runtime/engine/block_store.hpp"
#include "runtime/engine/channel_table.hpp"
#include "runtime/engine/links.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/message_arena.hpp"
#include "runtime/engine/region.hpp"
#include "runtime/engine/worker.hpp"

namespace torus::detail {

/// Carries what nodes send. A send claims the channels, copies the bytes, queues the message at its receiver and wakes it for the next
/// step; a receive empties the in-channels of one node. All of it may go on for different nodes on different workers at once, between two
/// barriers.
class Fabric final : public Network {
 public:
  /// spare: bytes that messages may take, and further copies of blocks than nodes hold in the end.
  Fabric(const Machine& machine, const Placement& placement, Bytes spare, unsigned workers);

  /// Builds part `part` of `parts`, each on its own worker; made() when all are.
  void make(unsigned part, unsigned parts);
  void made() noexcept;

  // ---- between two runs or steps, one thread ----

  /// Forgets the last run, but for its tables.
  void begin_run();
  /// Forgets part `part` of `parts` of the tables.
  void clear_tables(unsigned part, unsigned parts) {
    store_.clear_tables(part, parts);
    channels_.clear(part, parts);
  }
  /// Gives a node its first blocks and makes it run in step 0. One worker a node.
  void place_initial(Worker& w, NodeId rank, std::uint64_t seed);
  /// Goes over the barrier: what was sent arrives.
  void begin_step();
  /// Says whether one worker runs all nodes of the present step: then it need not mind what others claim.
  void run_alone(bool alone) noexcept { alone_ = alone; }
  /// Empties what a run that did not end by itself has left in queues and sets.
  void sweep();

  Step now() const noexcept { return now_; }
  std::vector<Worker>& workers() noexcept { return workers_; }
  const std::vector<Worker>& workers() const noexcept { return workers_; }
  BlockStore& store() noexcept { return store_; }
  const BlockStore& store() const noexcept { return store_; }
  /// The nodes that run in the present step.
  ActiveSet& active() noexcept { return active_[now_ & 1U]; }
  /// Messages sent in this step or the one before, in no particular order.
  std::vector<const Message*> messages_of(Step step) const;
  bool shares_channels() const noexcept { return shared_; }
  /// A message or a block found no room in this run, and its sender was told so.
  bool out_of_memory() const noexcept { return budget_.exhausted(); }
  /// Adds up what shared channels carried in the present step; returns the most messages on one.
  std::uint64_t share_channels(const std::vector<const Message*>& messages, StepRecord& record);

  struct ChannelUse {
    std::uint64_t used = 0;  ///< channels that carried something
    Bytes bytes = 0;         ///< of all of them
    Bytes most_bytes = 0;    ///< of the busiest
  };
  /// Of part `part` of `parts` of the channels.
  ChannelUse channel_use(unsigned part, unsigned parts);

  // ---- during a step, for the node that a worker runs ----

  // Nodes are run a few at a time, in stages, so that what the next stage looks at is on its way from memory meanwhile.

  /// Whether what nodes have is so large that it is not in a cache unless fetched; else expect() may be left out.
  bool far() const noexcept { return far_; }
  /// Whether the blocks that have arrived should be fetched before programs look at them. If not, pass_on() does it, soon enough, or they
  /// stay and their places in the nodes' tables are near; then expect_blocks() may be left out.
  bool blocks_far() const noexcept { return unique_ ? far_ || !ones_ : far_ && !one_block_; }
  /// Fetches what nodes' numbers lead to. `all` are the machine's nodes, in all three stages.
  void expect(std::span<const NodeId> nodes, const Node* all) const noexcept;
  /// Fills the inboxes with what was sent to the nodes in the last step, by (in-channel, source), and fetches the messages and the
  /// programs.
  void receive(std::span<const NodeId> nodes, Node* all, Inbox* inboxes, Worker& w);
  /// Whether all messages of the last step have one block and one leg, and no block has a second copy.
  bool ones() const noexcept { return ones_; }
  /// Whether expect_lists() may be of use.
  bool lists() const noexcept { return !ones_ && !one_block_; }
  /// Fetches what says where the blocks are that messages of many have brought.
  void expect_lists(std::span<const Inbox> inboxes) const noexcept;
  /// Fetches the blocks that have arrived.
  void expect_blocks(std::span<const NodeId> nodes, const Inbox* inboxes) const noexcept;
  /// The program of a node begins to look at its inbox.
  void open(NodeId rank, Inbox& inbox, Worker& w) noexcept {
    w.step_and_source = MessageArena::step_and_source(now_, rank);
    w.out_channels = channels_.of_node(rank);
    w.ports_left = ports_;
    w.inbox = &inbox;
    w.turns_end = inbox.room.data() + inbox.size;
    w.turn = ones_ ? inbox.room.data() : w.turns_end;
    w.unsettled = !ones_ && inbox.size > 0;
  }
  /// Blocks are adopted only when the program has run, or asks: most that are in transit leave again in the same step, and forward() finds
  /// them in the message that brought them, so that they never see the node's table.
  void settle(Worker& w) const {
    if (w.turn != w.turns_end || w.unsettled) adopt_all(w);
  }
  /// The program has run. What has arrived and stays is adopted now, or by settle_all() when the programs of some more nodes have run: then
  /// what the tables say of it is fetched for all of it at once.
  void close(Inbox& inbox, Worker& w) const {
    if (ones_)
      settle(w);
    else if (!w.unsettled)
      inbox.size = 0;
  }
  void settle_all(std::span<const NodeId> nodes, std::span<const Inbox> inboxes, Worker& w) const;
  /// Posts the messages that nodes have sent and that still wait here. After the last node of a step at the latest.
  void finish_sends(Worker& w) {
    if (w.passing_end != w.passing.data()) post_passing(w);
    if (!w.sent.empty()) post(w);
    make_copies(w);
  }
  /// Makes a node run in the next step.
  void activate(Worker& w, NodeId rank) noexcept {
    if (w.next_active->insert(rank)) ++w.activated;
  }

  // ---- what nodes call ----

  void send(Node& from, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) override;
  void send_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) override;
  void forward_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) override;
  bool holds(const Node& node, BlockId id) const override;
  std::span<const BlockId> blocks(const Node& node) override;
  std::span<std::byte> bytes(const Node& node, BlockId id) override;
  void release(Node& node, BlockId id) override;
  void enter_phase(const Node& node, const char* phase) override;
  void* allocate_frame(Node&, std::size_t bytes) override { return worker().frames.allocate(bytes); }
  void free_frame(Node&, void* frame, std::size_t bytes) noexcept override { worker().frames.free(frame, bytes); }
  void keep_error(Node&, std::exception_ptr error) noexcept override { worker().error = std::move(error); }
  std::exception_ptr take_error(Node&) noexcept override { return std::exchange(worker().error, nullptr); }

 private:
  struct Path {
    NodeId destination = 0;
    std::uint32_t hops = 0;
    std::uint32_t in_slot = 0;  // of the destination
    bool legal = false;
    bool idle_leg = false;  // the route has a leg of 0 hops
  };

  static constexpr std::uint32_t no_slot = 0xffffffff;
  /// Blocks of a message whose bytes are fetched ahead of the copy: first to the second cache, which waits for more lines at once than the
  /// first, and then to the first.
  static constexpr std::size_t far_ahead = 64;
  static constexpr std::size_t near_ahead = 16;
  /// Of the node that calls.
  static Worker& worker() noexcept { return *static_cast<Worker*>(running.worker); }

  const Message** empty_links(NodeId rank, const Message** room);
  const Message** empty_shared_links(NodeId rank, const Message** room);
  std::span<const BlockId> all_blocks(Worker& w, NodeId rank) const;
  void adopt_all(Worker& w) const;
  void adopt_all(Worker& w, NodeId rank, const Inbox& inbox) const;
  void adopt_bundle(Worker& w, NodeId rank, const Message& m) const;
  void use_port(Worker& w) const noexcept {
    if (--w.ports_left < 0) [[unlikely]]
      w.suspect = true;
  }
  const Message* take_just_arrived_alone(Worker& w, BlockId id) const noexcept;
  Slot* take_just_arrived(Worker& w, std::span<const BlockId> blocks) const;

  void send_one(Worker& w, Leg leg, BlockId id, bool release);
  bool pass_on(Worker& w, const Message& brought, BlockId id, std::uint64_t leg, std::uint32_t out);
  void put_off(Worker& w, std::uint64_t leg, BlockId id, std::uint32_t bucket, std::uint32_t out, NodeId destination, Slot from);
  void post_passing(Worker& w);
  template <class Copy>
  void post_passing(Worker& w, Copy copy);
  void refuse_one(Worker& w, std::uint64_t leg, BlockId id);
  void send_kept(Worker& w, NodeId source, RouteView route, BlockId id, std::span<const Word> header);
  void send_straight(Worker& w, Dimension dimension, std::int32_t hops, BlockId id);
  void send_leg(Worker& w, Dimension dimension, std::int32_t hops, BlockId id);
  void send_any(Worker& w, NodeId source, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release);
  void count_further_hops(Worker& w, std::uint32_t hops, Bytes bytes);
  void count(Worker& w, const Path& path, Bytes bytes, std::size_t blocks, std::size_t header_words);
  void note_sent(Worker& w, const Message& m, std::uint32_t in_slot);
  void claim(Worker& w) const;
  void post(Worker& w);
  /// Puts a message into its in-channel and its receiver among the nodes that run in the next step.
  [[gnu::always_inline]] void deliver(Worker& w, const Message& m, NodeId destination, std::uint32_t in_slot) {
    const std::size_t in_channel = std::size_t{destination} * slots_ + in_slot;
    bool room = false;
    if (links_) [[likely]]
      room = links_->push(in_channel, m);
    else
      room = shared_links_.push(in_channel, &m);
    if (room) [[likely]]
      announce(w, destination, in_slot);
    else
      w.suspect = true;  // which of several senders' messages finds no room is chance: the auditor counts them
  }
  /// Fetches what deliver() is going to write.
  [[gnu::always_inline]] void expect_delivery(const Worker& w, NodeId destination, std::uint32_t in_slot) const noexcept {
    if (links_) links_->prefetch(std::size_t{destination} * slots_ + in_slot);
    arrived_.prefetch(destination);
    w.next_active->prefetch(destination);
  }
  [[gnu::always_inline]] void announce(Worker& w, NodeId destination, std::uint32_t in_slot) {
    arrived_.raise(destination, in_slot);
    activate(w, destination);
  }
  Bytes bytes_of(BlockId id) const noexcept { return placement_.uniform() ? block_bytes_ : placement_.bytes(id); }
  Bytes payload_of(std::span<const BlockId> blocks) const noexcept;

  std::uint32_t hop_slot(Dimension dimension, std::int32_t hops) const noexcept;
  std::uint32_t out_slot(Leg leg) const noexcept;
  std::uint32_t long_hop_slot(Leg leg) const noexcept;
  Path follow_hop(Worker& w, NodeId source, const Leg& leg);
  /// A leg that moves nothing, and that a route means the same without.
  bool idle(const Leg& leg) const noexcept { return leg.hops == 0 && leg.dimension >= 0 && leg.dimension < topology_.dimensions(); }
  RouteView moving_legs(RouteView route, std::vector<Leg>& scratch) const;
  Path follow(Worker& w, NodeId source, RouteView legs);
  Path follow_any(Worker& w, NodeId source, RouteView legs);

  bool find_all(Worker& w, NodeId source, std::span<const BlockId> blocks, Slot* slots, bool release);
  void move_lines(BlockStore::Stock& stock, std::span<const Slot> from, Slot* to);
  void copy_all(Worker& w, std::span<const BlockId> blocks, const Slot* from, Slot* to, bool release);
  /// Copies a block that its sender keeps to a new slot, the receiver's: at once, or a few sends later if it is long.
  [[gnu::always_inline]] Slot copy_kept(Worker& w, Slot from, Bytes bytes) {
    if (!store_.puts_off(bytes) || shown_.load(std::memory_order_relaxed)) return store_.copy_to_new(*w.stock, from, bytes);
    const Slot to = store_.take(*w.stock);
    store_.put_off(w.copies, {from, to, bytes});
    return to;
  }
  /// Makes the copies that copy_kept() has put off: before their sources change, and before the barrier.
  void make_copies(Worker& w) { store_.make_all(w.copies); }
  void not_held(Worker& w, BlockId id);

  const Placement& placement_;
  const Topology& topology_;
  const std::uint32_t dimensions_;
  const std::uint32_t slots_;
  const int ports_;
  const bool packet_;
  const bool ordered_;  // routes take the dimensions in the machine's order
  const bool shared_;
  const Bytes block_bytes_;                 // where all blocks are equally long
  const bool hops_only_;                    // send_one() may serve
  const bool straight_;                     // send_straight() may serve
  const std::optional<BlockId> one_block_;  // where there is only one
  std::vector<Worker> workers_;
  MemoryBudget budget_;
  mutable BlockStore store_;  // adopting late changes only when, not what
  ChannelTable channels_;
  MessageMemory messages_;
  std::optional<ExclusiveLinks> links_;
  SharedLinks shared_links_;
  std::vector<std::uint64_t> shared_messages_, shared_bytes_;  // of the present step, where channels are shared
  ArrivalFlags arrived_;
  std::array<std::int32_t, max_dimensions> turns_{};         // of the dimensions in the machine's routing order
  std::size_t longest_leg_ = 1;                              // channels
  std::array<std::uint32_t, 4 * max_dimensions> hop_slots_;  // 4 a dimension: the channel slots of hops -1, 0, +1
  ActiveSet active_[2];                                      // by parity of the step
  Step now_ = 0;
  std::uint32_t stamp_ = 1;          // of the channels claimed in the present step: 1 + now_, kept because every hop asks
  std::atomic<bool> shown_ = false;  // a program has asked for its blocks' bytes, and may write them at any time from then on
  bool alone_ = false;               // one worker runs the present step
  bool far_ = false;
  bool ones_ = false;    // every message of the last step has one block and one leg, and no block has a second copy
  bool unique_ = false;  // of each block there is one copy in the machine, so far
};

}  // namespace torus::detail
