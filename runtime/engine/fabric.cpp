#include "runtime/engine/fabric.hpp"

#include <algorithm>

#include "runtime/base/figures.hpp"
#include "runtime/engine/network/inbox.hpp"
#include "runtime/engine/network/outbox_policies.hpp"
#include "runtime/model/contribution.hpp"

namespace torus::detail {
namespace {

/// Bytes of queues that stay in the caches from step to step, with all else that nodes have.
constexpr std::size_t queues_in_cache = std::size_t{2} << 20U;

bool outgrows_cache(const Topology& topology) {
  return std::size_t{topology.nodes()} * static_cast<std::size_t>(topology.channel_slots()) * ExclusiveLinks::bytes_each() >
         queues_in_cache;
}

/// Whether single blocks may take the fast paths: all are equally long, and none carries a signature.
bool plain(const Placement& placed) noexcept { return placed.uniform() && !placed.reduces(); }

}  // namespace

RunState::RunState(const Machine& run_on, const Members& all, const Slab& slab, Bytes spare, unsigned workers, KeptPages* pages)
    : machine{run_on},
      members{all},
      placement{all.placement()},
      own{slab},
      ports{all.seen().ports},
      block_bytes{placement.longest()},
      own_hops{run_on.switching == Switching::packet && run_on.contention == Contention::forbid && plain(placement)},
      straight_legs{run_on.switching != Switching::packet && run_on.contention == Contention::forbid && plain(placement)},
      reduces{placement.reduces()},
      only_block{placement.initial_total() == 1 && placement.one_block_a_bucket() ? std::optional(placement.in_bucket(0)) : std::nullopt},
      exceeds_cache{outgrows_cache(run_on.topology)},
      budget(spare),
      payload(all, slab, budget, workers, pages),
      channels(run_on, slab),
      messages(std::size_t{2} * workers, budget),
      links(run_on, slab, messages) {
  for (ActiveSet& set : active) set = ActiveSet(run_on.topology.nodes(), workers);
}

Fabric::Fabric(const Machine& machine, const Members& members, const Slab& own, Bytes spare, unsigned workers, KeptPages* pages)
    : run_(machine, members, own, spare, workers, pages), workers_(workers) {
  for (std::uint32_t i = 0; i < workers; ++i) {
    Worker& w = workers_[i];
    w.index = i;
    w.all = workers_.data();
    w.free_slots = &run_.payload.slots.free_lists(i);
    for (PendingForward& each : w.out.forwards) each.message.begin(run_.block_bytes);
    for (unsigned parity = 0; parity < 2; ++parity) w.out.arenas[parity] = run_.messages.arena(2 * i + parity);
  }
}

void Fabric::make(unsigned part, unsigned parts) {
  const auto slots = static_cast<std::size_t>(run_.machine.topology.channel_slots());
  workers_[part].in.make(std::max<std::size_t>(1, slots) * (run_.channels.shared() ? SharedLinks::depth : 1));
  run_.payload.populate(part, parts);
  run_.channels.make(part, parts);
  run_.links.make(part, parts);
}

void Fabric::begin_run() {
  run_.now = 0;
  run_.stamp = 1;
  run_.payload_exposed.store(false, std::memory_order_relaxed);
  run_.no_duplicates = !run_.reduces && run_.placement.initial_total() == run_.placement.wanted_total();
  run_.all_single_block = false;
  run_.links.begin_step(0);
  run_.budget.refill();
  run_.payload.clear();
  for (Worker& w : workers_) w.begin_run();
  called_.fill(static_cast<unsigned>(workers_.size()));  // all make nodes
  enter(0);
}

Worker& Fabric::enter(unsigned worker) noexcept {
  Worker& w = workers_[worker];
  w.out.arena = &w.out.arenas[run_.now & 1U];
  w.out.next_active = &run_.active[(run_.now + 1) & 1U].part(worker);
  return w;
}

void Fabric::begin_step() {
  ++run_.now;
  ++run_.stamp;
  run_.links.begin_step(run_.now);
  bool single_blocks = run_.own_hops;
  for (Worker& w : std::span(workers_).first(called_[(run_.now + 1) & 1U])) {
    if (std::exchange(w.findings.copied, false)) run_.no_duplicates = false;
    if (std::exchange(w.findings.bundled, false)) single_blocks = false;
  }
  // Those that ran two steps ago have messages there that nobody reads any more.
  for (Worker& w : workers_of_step()) w.out.arenas[run_.now & 1U].clear();
  enter(0);
  run_.all_single_block = single_blocks && run_.no_duplicates;
  run_.payload.slots.level();
}

void Fabric::place_initial(Worker& w, NodeId rank, std::uint64_t run_seed) {
  const std::uint64_t seed = run_.members.seed_of(rank, run_seed);
  if (run_.reduces) {
    place_contribution(w, rank, seed);
  } else {
    const std::uint64_t count = run_.members.initial_count(rank);
    for (std::uint64_t i = 0; i < count; ++i) {
      const BlockId id = run_.members.initial(rank, run_.placement.hashes() ? count - 1 - i : i);  // the first ones first in their chains
      const Bytes bytes = run_.placement.bytes(id);
      const Slot slot = run_.payload.take(*w.free_slots, bytes);
      fill_block({run_.payload.slots.at(slot), static_cast<std::size_t>(bytes)}, seed, id);
      run_.payload.tables.add(rank, run_.placement.bucket(id), id, slot);
    }
  }
  run_.links.forget(rank);
  run_.active[0].part(w.index).insert(rank);
}

void Fabric::place_contribution(Worker& w, NodeId rank, std::uint64_t seed) {
  const Placement& placement = run_.placement;
  const NodeId local = run_.members.local(rank);
  const std::uint64_t key = contributor_key(seed, local);
  const std::span<Slot> table = run_.payload.tables.links_to(rank, 0, run_.members.initial_count(rank));
  // Segments side by side in memory are filled at once.
  std::byte *begin = nullptr, *end = nullptr;
  BlockId first = 0;
  const auto fill = [&] {
    if (begin == end) return;
    fill_contribution({begin, end}, placement.contributions().reduction, placement.nodes(), seed, local, placement.first_element(first));
  };
  for (BlockId segment = 0; segment < table.size(); ++segment) {
    const Slot slot = run_.payload.slots.take(*w.free_slots);
    if (std::byte* const bytes = run_.payload.slots.at(slot); bytes != end) {
      fill();
      begin = end = bytes;
      first = segment;
    }
    end += placement.bytes(segment);
    table[segment] = slot;
    run_.payload.partials.signature(slot) = key;
  }
  fill();
}

void Fabric::sweep() {
  for (ActiveSet& set : run_.active) set.clear(run_.own.begin(), run_.own.end());
  run_.links.clear();
}

std::vector<const Message*> Fabric::messages_of(Step step) const {
  std::vector<const Message*> messages;
  for (const Worker& w : workers_) w.out.arenas[step & 1U].for_each([&](const Message& m) { messages.push_back(&m); });
  return messages;
}

void Fabric::send(Node&, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
  outbox::send(run_, worker(), route, blocks, header, release);
}

void Fabric::send_partials(Node&, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                           std::uint8_t registers) {
  const unsigned existing = run_.reduces ? (1U << run_.placement.contributions().registers) - 1 : 0;
  if (registers == 0 || (registers & ~existing) != 0) {
    throw RunError("step " + std::to_string(run_.now) + ": node " + node_text(run_.machine.topology, worker().node.rank()) +
                   (run_.reduces ? " sends partials to registers that nodes do not have: they have " +
                                       std::to_string(run_.placement.contributions().registers) + " (Plan::registers)"
                                 : " sends partials to be combined, but the blocks of this collective are none; leave out `combine`"));
  }
  outbox::send_partials(run_, worker(), route, blocks, header, release, registers);
}

void Fabric::send_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) {
  outbox::send_block(run_, worker(), dimension, hops, block);
}

void Fabric::forward_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) {
  outbox::forward_block(run_, worker(), dimension, hops, block);
}

bool Fabric::holds(const Node&, BlockId id) {
  Worker& w = worker();
  inbox::store_arrivals(run_, w);
  return run_.payload.tables.find(w.node.rank(), id) != 0;
}

std::span<const BlockId> Fabric::blocks(const Node&) {
  Worker& w = worker();
  inbox::store_arrivals(run_, w);
  NodeTables& tables = run_.payload.tables;
  if (run_.only_block) return {&*run_.only_block, *tables.link_to(w.node.rank(), 0, *run_.only_block) != 0 ? 1U : 0U};
  return all_blocks(w, w.node.rank());
}

/// Apart, so that blocks() is short where there is one block.
[[gnu::noinline]] std::span<const BlockId> Fabric::all_blocks(Worker& w, NodeId rank) {
  w.in.held.clear();
  const auto list = [&w](BlockId id, Slot) { w.in.held.push_back(id); };
  run_.payload.tables.each_held(rank, list, [](Slot) {});
  if (run_.placement.hashes()) std::sort(w.in.held.begin(), w.in.held.end());
  return w.in.held;
}

std::span<std::byte> Fabric::bytes(const Node&, BlockId id) {
  Worker& w = worker();
  inbox::store_arrivals(run_, w);
  outbox::make_copies(run_, w);
  run_.payload_exposed.store(true, std::memory_order_relaxed);
  const Slot slot = run_.payload.tables.find(w.node.rank(), id);
  if (slot == 0) return {};
  return {run_.payload.slots.at(slot), static_cast<std::size_t>(run_.placement.bytes(id))};
}

void Fabric::release(Node&, BlockId id) {
  Worker& w = worker();
  inbox::store_arrivals(run_, w);
  outbox::make_copies(run_, w);
  if (const Slot slot = run_.payload.tables.take_away(w.node.rank(), id); slot != 0)
    run_.payload.give_back(*w.free_slots, slot, run_.bytes_of(id));
}

void Fabric::enter_phase(const Node&, const char* phase) {
  Worker& w = worker();
  if (w.tally.step.phase != nullptr && w.tally.phase_node <= w.node.rank()) return;
  w.tally.step.phase = phase;
  w.tally.phase_node = w.node.rank();
}

}  // namespace torus::detail
