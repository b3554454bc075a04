/// The network between the nodes: it ties the rooms of a run together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include <torus/machine.hpp>
#include <torus/node.hpp>

#include "runtime/engine/network/idle_networks.hpp"
#include "runtime/engine/run_state.hpp"
#include "runtime/engine/worker.hpp"

namespace torus::detail {

/// Carries what nodes send. Different workers may run different nodes at once, between two barriers.
class Fabric final : public Network {
 public:
  /// For the nodes of a slab. spare: bytes for messages, and for copies of blocks beyond those that nodes hold in the end. pages:
  /// where the memory of blocks comes from; null: the kernel. All must outlive this.
  Fabric(const Machine& machine, const Members& members, const Slab& own, Bytes spare, unsigned workers, KeptPages* pages);

  /// Constructs part `part` of `parts`, each on its own worker; made() when all are.
  void make(unsigned part, unsigned parts);
  void made() noexcept {
    run_.links.made();
    run_.channels.made();
  }

  // ---- between two runs or steps, one thread ----

  /// Forgets the last run, except for its tables.
  void begin_run();
  /// Clears part `part` of `parts` of the tables.
  void clear_tables(unsigned part, unsigned parts) {
    run_.payload.tables.clear(run_.own, part, parts);
    run_.channels.clear(part, parts);
  }
  /// Gives a node its first blocks and makes it run in step 0. One worker a node.
  void place_initial(Worker& w, NodeId rank, std::uint64_t seed);
  /// Starts the next step; messages of the last one can be received.
  void begin_step();
  /// States how many workers run the nodes of the present step, the first ones: if it is one, no other claims channels.
  void run_by(unsigned called) noexcept {
    called_[run_.now & 1U] = called;
    run_.single_worker = called == 1;
  }
  /// A worker that begins to run nodes of the present step. On its own thread.
  Worker& enter(unsigned worker) noexcept;
  /// Empties what a run that did not end by itself has left in queues and sets.
  void sweep();

  Step now() const noexcept { return run_.now; }
  std::vector<Worker>& workers() noexcept { return workers_; }
  const std::vector<Worker>& workers() const noexcept { return workers_; }
  /// Those that have run the present step: the others have counted nothing.
  std::span<Worker> workers_of_step() noexcept { return std::span(workers_).first(called_[run_.now & 1U]); }
  std::span<const Worker> workers_of_step() const noexcept { return std::span(workers_).first(called_[run_.now & 1U]); }
  Payload& payload() noexcept { return run_.payload; }
  const Payload& payload() const noexcept { return run_.payload; }
  /// The nodes that run in the present step.
  ActiveSet& active() noexcept { return run_.active[run_.now & 1U]; }
  /// Moves the groups that hold one to `out`, before the step is run.
  void take_groups(std::vector<ActiveSet::Group>& out) { active().take_groups(called_[(run_.now + 1) & 1U], out); }
  /// Messages sent in this step or the one before, in no particular order.
  std::vector<const Message*> messages_of(Step step) const;
  bool shares_channels() const noexcept { return run_.channels.shared(); }
  /// A message or a block found no room in this run, and its sender got an exception.
  bool out_of_memory() const noexcept { return run_.budget.exhausted(); }
  /// Sums what shared channels carried in the present step.
  SharedLoad share_channels(std::span<const Message* const> messages) { return run_.channels.share(messages, run_.stamp); }
  /// Channel use of part `part` of `parts`; excludes channels to other processes.
  ChannelUse channel_use(unsigned part, unsigned parts) { return run_.channels.use(part, parts); }
  const Slab& own() const noexcept { return run_.own; }

  // ---- during a step ----

  /// What inbox and outbox work on.
  RunState& run() noexcept { return run_; }

  /// The network of nodes that have not been opened yet.
  Network& closed() noexcept { return closed_; }
  /// The network of nodes whose run has ended.
  Network& ended() noexcept { return ended_; }

  // ---- what nodes call ----
  //
  // The calling node is the one that the worker runs. Its own rank is that of its group.

  void send(Node&, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) override;
  void send_partials(Node&, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                     std::uint8_t registers) override;
  void send_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) override;
  void forward_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) override;
  bool holds(const Node& node, BlockId id) override;
  std::span<const BlockId> blocks(const Node& node) override;
  std::span<std::byte> bytes(const Node& node, BlockId id) override;
  void release(Node& node, BlockId id) override;
  void enter_phase(const Node& node, const char* phase) override;
  void* allocate_frame(Node&, std::size_t bytes) override { return worker().frames.allocate(bytes); }
  void free_frame(Node&, void* frame, std::size_t bytes) noexcept override { worker().frames.free(frame, bytes); }
  void keep_error(Node&, std::exception_ptr error) noexcept override { worker().findings.error = std::move(error); }
  std::exception_ptr take_error(Node&) noexcept override { return std::exchange(worker().findings.error, nullptr); }

  /// The worker that runs the calling node.
  static Worker& worker() noexcept {
    TORUS_ASSERT(running.worker != nullptr);
    return *static_cast<Worker*>(running.worker);
  }

 private:
  /// Gives a node all segments of its vector, in a reduction.
  void place_contribution(Worker& w, NodeId rank, std::uint64_t seed);
  std::span<const BlockId> all_blocks(Worker& w, NodeId rank);

  RunState run_;
  ClosedNetwork closed_{*this};
  EndedNetwork ended_{*this};
  std::vector<Worker> workers_;
  std::array<unsigned, 2> called_{};  // how many ran the present step and the one before, or made nodes, by parity
};

}  // namespace torus::detail
