#include "runtime/engine/fabric.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/model/figures.hpp"

namespace torus::detail {
namespace {

/// Bytes of queues that stay in the caches from step to step, with all else that nodes have.
constexpr std::size_t links_kept_near = std::size_t{2} << 20U;

}  // namespace

Fabric::Fabric(const Machine& machine, const Placement& placement, Bytes spare, unsigned workers)
    : placement_{placement},
      topology_{machine.topology},
      dimensions_{static_cast<std::uint32_t>(topology_.dimensions())},
      slots_{static_cast<std::uint32_t>(topology_.channel_slots())},
      ports_{machine.ports},
      packet_{machine.switching == Switching::packet},
      ordered_{machine.switching == Switching::wormhole},
      shared_{machine.contention == Contention::share},
      block_bytes_{placement.longest()},
      hops_only_{packet_ && !shared_ && placement.uniform()},
      straight_{!packet_ && !shared_ && placement.uniform()},
      one_block_{placement.initial_total() == 1 && placement.one_block_a_bucket() ? std::optional(placement.in_bucket(0)) : std::nullopt},
      workers_(workers),
      budget_(spare),
      store_(placement, std::max(placement.initial_total(), placement.wanted_total()), budget_, workers),
      channels_(machine),
      messages_(std::size_t{2} * workers, budget_),
      arrived_(topology_.nodes(), slots_) {
  for (std::uint32_t i = 0; i < workers; ++i) {
    workers_[i].index = i;
    workers_[i].stock = &store_.stock(i);
    for (Passing& p : workers_[i].passing) p.message.begin(block_bytes_);
    for (unsigned parity = 0; parity < 2; ++parity) workers_[i].arenas[parity] = messages_.arena(2 * i + parity);
  }
  hop_slots_.fill(no_slot);
  for (Dimension d = 0; d < topology_.dimensions(); ++d) {
    longest_leg_ = std::max(longest_leg_, static_cast<std::size_t>(topology_.extent(d)));
    turns_[static_cast<std::size_t>(d)] =
        static_cast<std::int32_t>(std::find(machine.routing.begin(), machine.routing.end(), d) - machine.routing.begin());
    const bool linked = topology_.extent(d) > 1;
    const bool complete = topology_.wiring(d) == Wiring::complete;
    const auto first = static_cast<std::uint32_t>(topology_.first_slot(d));
    std::uint32_t* const row = &hop_slots_[static_cast<std::size_t>(d) * 4];
    row[0] = linked && !complete ? first + 1 : no_slot;
    row[2] = linked ? first : no_slot;
  }
  const std::size_t in_channels = std::size_t{topology_.nodes()} * slots_;
  far_ = in_channels * ExclusiveLinks::bytes_each() > links_kept_near;
  if (shared_) {
    shared_links_ = SharedLinks(in_channels);
    shared_bytes_.resize(channels_.entries());
    shared_messages_.resize(channels_.entries());
  } else {
    links_.emplace(in_channels, messages_);
  }
  for (ActiveSet& set : active_) set = ActiveSet(topology_.nodes(), workers);
}

void Fabric::make(unsigned part, unsigned parts) {
  workers_[part].make_inboxes(std::max(1U, slots_) * (shared_ ? SharedLinks::depth : 1));
  store_.populate(part, parts);
  channels_.make(part, parts);
  if (links_) links_->make(part, parts);
}

void Fabric::made() noexcept {
  if (links_) links_->made();
}

void Fabric::begin_run() {
  now_ = 0;
  stamp_ = 1;
  shown_.store(false, std::memory_order_relaxed);
  unique_ = placement_.initial_total() == placement_.wanted_total();
  arrived_.begin_step(0);
  ones_ = false;
  budget_.refill();
  store_.clear();
  for (Worker& w : workers_) {
    w.begin_run();
    w.next_active = &active_[1].part(w.index);
  }
}

void Fabric::begin_step() {
  ++now_;
  ++stamp_;
  arrived_.begin_step(now_);
  bool ones = hops_only_;
  for (Worker& w : workers_) {
    w.arena = &w.arenas[now_ & 1U];
    w.arena->clear();
    w.next_active = &active_[(now_ + 1) & 1U].part(w.index);
    if (std::exchange(w.copied, false)) unique_ = false;
    if (std::exchange(w.bundled, false)) ones = false;
  }
  ones_ = ones && unique_;
  store_.level();
}

void Fabric::place_initial(Worker& w, NodeId rank, std::uint64_t seed) {
  const std::uint64_t count = placement_.initial_count(rank);
  for (std::uint64_t i = 0; i < count; ++i) {
    const BlockId id = placement_.initial(rank, i);
    const Slot slot = store_.take(*w.stock);
    fill_block({store_.at(slot), static_cast<std::size_t>(placement_.bytes(id))}, seed, id);
    store_.adopt(*w.stock, rank, id, slot);
  }
  arrived_.clear(rank);
  active_[0].part(w.index).insert(rank);
}

void Fabric::sweep() {
  for (ActiveSet& set : active_) set.clear();
  if (shared_)
    shared_links_.clear();
  else
    links_->clear();
}

Fabric::ChannelUse Fabric::channel_use(unsigned part, unsigned parts) {
  ChannelUse use;
  channels_.each_of_part(part, parts, [this, &use](const ChannelEntry& entry) {
    use.used += channels_.used(entry) ? 1U : 0U;
    use.bytes += entry.bytes();
    use.most_bytes = std::max(use.most_bytes, entry.bytes());
  });
  return use;
}

void Fabric::send(Node& from, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) {
  Worker& w = worker();
  if ((hops_only_ || straight_) && route.size() == 1 && blocks.size() == 1 && header.empty()) {
    if (release)
      forward_block(from, route[0].dimension, route[0].hops, blocks[0]);
    else
      send_block(from, route[0].dimension, route[0].hops, blocks[0]);
    return;
  }
  use_port(w);
  if (blocks.size() == 1 && !release && !hops_only_)
    send_kept(w, from.rank(), route, blocks[0], header);
  else
    send_any(w, from.rank(), route, blocks, header, release);
}

void Fabric::send_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) {
  Worker& w = worker();
  use_port(w);
  if (straight_)
    send_straight(w, dimension, hops, block);
  else if (hops_only_)
    send_one(w, {dimension, hops}, block, false);
  else
    send_leg(w, dimension, hops, block);
}

/// The hot path of everything that is written in the constant model: a block goes on, in turn, that has just come in.
void Fabric::forward_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) {
  Worker& w = worker();
  use_port(w);
  const std::uint32_t out = hop_slot(dimension, hops);
  const Message& next = **w.turn;
  if (MessageArena::only_block(next) != block || !pass_on(w, next, block, MessageArena::word_of({dimension, hops}), out)) [[unlikely]] {
    return send_one(w, {dimension, hops}, block, true);
  }
  ++w.turn;
  if (w.passing_full()) post_passing(w);
}

bool Fabric::holds(const Node& node, BlockId id) const {
  settle(worker());
  return store_.find(node.rank(), id) != 0;
}

std::span<const BlockId> Fabric::blocks(const Node& node) {
  Worker& w = worker();
  settle(w);
  if (one_block_) return {&*one_block_, store_.find_at(node.rank(), 0, *one_block_) != 0 ? 1U : 0U};
  return all_blocks(w, node.rank());
}

[[gnu::noinline]] std::span<const BlockId> Fabric::all_blocks(Worker& w, NodeId rank) const {
  w.held.clear();
  store_.each_held(rank, BlockStore::Looks::at_names, [&](BlockId id, Slot) { w.held.push_back(id); });
  return w.held;
}

std::span<std::byte> Fabric::bytes(const Node& node, BlockId id) {
  settle(worker());
  make_copies(worker());
  shown_.store(true, std::memory_order_relaxed);
  const Slot slot = store_.find(node.rank(), id);
  if (slot == 0) return {};
  return {store_.at(slot), static_cast<std::size_t>(placement_.bytes(id))};
}

void Fabric::release(Node& node, BlockId id) {
  settle(worker());
  make_copies(worker());
  store_.release(*worker().stock, node.rank(), id);
}

void Fabric::enter_phase(const Node& node, const char* phase) {
  Worker& w = worker();
  if (w.step.phase != nullptr && w.phase_node <= node.rank()) return;
  w.step.phase = phase;
  w.phase_node = node.rank();
}

/// One block over one channel of a packet-switched machine, on from the message that brought it. It is copied and posted together with
/// others: nobody can see it meanwhile. False, and nothing done, if there is no such block any more or the machine forbids it.
[[gnu::always_inline]] inline bool Fabric::pass_on(Worker& w, const Message& brought, BlockId id, std::uint64_t leg, std::uint32_t out) {
  Slot& place = MessageArena::only_slot(const_cast<Message&>(brought));  // ours alone since it arrived
  const Slot from = place;
  if (out == no_slot || from == 0) return false;
  ChannelEntry& channel = w.out_channels[out];
  if (!ChannelTable::claim_own(channel, stamp_, block_bytes_)) return false;
  place = 0;
  put_off(w, leg, id, MessageArena::first_bucket(brought), out, channel.to, from);
  return true;
}

/// Notes a block down that post_passing() is to copy and to post.
[[gnu::always_inline]] inline void Fabric::put_off(Worker& w, std::uint64_t leg, BlockId id, std::uint32_t bucket, std::uint32_t out,
                                                   NodeId destination, Slot from) {
  const std::size_t in_channel = std::size_t{destination} * slots_ + out;
  links_->prefetch(in_channel);
  std::byte* const bytes = store_.at(from);
  __builtin_prefetch(bytes, 1);
  Passing& p = *w.passing_end++;
  p.from = bytes;
  p.queue = links_->queue(in_channel);
  p.out = out;
  p.message.fill(w.step_and_source, destination, id, leg, bucket, from);
}

/// Copies, writes and posts what has been noted down.
[[gnu::noinline]] void Fabric::post_passing(Worker& w) {
  if (store_.one_line_each())
    post_passing(w, BlockStore::copy_line);
  else
    post_passing(w, [this](std::byte* to, const std::byte* from) { store_.copy(to, from, block_bytes_); });
}

/// Each copy goes to the slot that the copy before it has left, which is in the cache.
template <class Copy>
[[gnu::always_inline]] inline void Fabric::post_passing(Worker& w, Copy copy) {
  // Forgotten first: where there is no room for one of them the run ends, and nothing may be posted twice.
  const Passing* const end = std::exchange(w.passing_end, w.passing.data());
  const auto count = static_cast<std::size_t>(end - w.passing.data());
  Slot spare = store_.take(*w.stock);
  std::byte* to = store_.at(spare);
  std::byte* line = w.arena->allocate_lines(count);  // where nothing can throw any more: a line of an arena is a message
  std::uint32_t line_number = links_->line_number(line);
  std::uint64_t digest = 0;
  for (const Passing* p = w.passing.data(); p != end; ++p, line += 64) {
    copy(to, p->from);
    p->message.write(line, spare);
    spare = p->message.slot();
    to = p->from;
    digest += p->message.digest();
    if (p->queue->push(line_number++)) [[likely]]
      announce(w, p->message.destination(), p->out);
    else
      w.suspect = true;
  }
  store_.give_back(*w.stock, spare);
  w.digest += digest;
  w.single_blocks += count;
}

/// One block over one leg, from anywhere.
[[gnu::noinline]] void Fabric::send_one(Worker& w, Leg leg, BlockId id, bool release) {
  if (!hops_only_) return send_any(w, w.rank(), {&leg, 1}, {&id, 1}, {}, release);
  const std::uint64_t leg_word = MessageArena::word_of(leg);
  const std::uint32_t out = out_slot(leg);
  if (const Message* const brought = release ? take_just_arrived_alone(w, id) : nullptr; brought != nullptr) {
    if (!pass_on(w, *brought, id, leg_word, out)) return refuse_one(w, leg_word, id);
    if (w.passing_full()) post_passing(w);
    return;
  }
  settle(w);
  const std::uint32_t bucket = placement_.bucket(id);
  if (bucket == Placement::no_bucket) return refuse_one(w, leg_word, id);
  Slot* const link = store_.link_at(w.rank(), bucket, id);
  const Slot from = *link;
  if (out == no_slot || from == 0) return refuse_one(w, leg_word, id);
  ChannelEntry& channel = w.out_channels[out];
  if (!ChannelTable::claim_own(channel, stamp_, block_bytes_)) return refuse_one(w, leg_word, id);
  if (release) {
    make_copies(w);
    store_.take_away_at(link);
    put_off(w, leg_word, id, bucket, out, channel.to, from);
    if (w.passing_full()) post_passing(w);
    return;
  }
  const Slot to = copy_kept(w, from, block_bytes_);
  w.copied = true;
  Message& m = *w.arena->allocate_one(w.step_and_source, channel.to, block_bytes_, id, leg_word);
  MessageArena::first_bucket(m) = bucket;
  MessageArena::only_slot(m) = to;
  ++w.single_blocks;
  w.digest += MessageArena::digest_one(w.step_and_source, block_bytes_, id, leg_word);
  deliver(w, m, channel.to, out);
}

/// Keeps an illegal message for the auditor.
[[gnu::cold, gnu::noinline]] void Fabric::refuse_one(Worker& w, std::uint64_t leg_word, BlockId id) {
  w.suspect = w.unsettled = true;
  settle(w);
  if (store_.find(w.rank(), id) == 0) not_held(w, id);
  const Leg leg = MessageArena::leg_of(leg_word);
  const RouteView legs(&leg, idle(leg) ? 0U : 1U);
  w.arena->allocate(w.step_and_source, w.rank(), block_bytes_, legs, {&id, 1}, {});
}

/// The slot of the channel that a hop of +1 or -1 takes; no_slot if the leg is no such hop. On a line there may be no link behind it.
[[gnu::always_inline]] inline std::uint32_t Fabric::hop_slot(Dimension dimension, std::int32_t hops) const noexcept {
  const auto row = static_cast<std::uint32_t>(dimension);
  const auto column = static_cast<std::uint32_t>(hops) + 1;  // of any hops without overflow
  return column < 3 && row < max_dimensions ? hop_slots_[4 * row + column] : no_slot;
}

/// The same for any single hop.
std::uint32_t Fabric::out_slot(Leg leg) const noexcept {
  const std::uint32_t slot = hop_slot(leg.dimension, leg.hops);
  return slot != no_slot ? slot : long_hop_slot(leg);
}

[[gnu::noinline]] std::uint32_t Fabric::long_hop_slot(Leg leg) const noexcept {
  if (leg.dimension < 0 || leg.dimension >= topology_.dimensions() || topology_.wiring(leg.dimension) != Wiring::complete) return no_slot;
  if (leg.hops < 1 || leg.hops >= topology_.extent(leg.dimension)) return no_slot;
  return static_cast<std::uint32_t>(topology_.slot(leg.dimension, leg.hops));
}

[[gnu::cold, gnu::noinline]] void Fabric::not_held(Worker& w, BlockId id) {
  w.suspect = true;
  w.violations.add(ViolationKind::block_not_held, now_, w.rank(), [&] {
    return "node " + node_text(topology_, w.rank()) + " sends block " + std::to_string(id) + ", which it does not hold";
  });
}

/// Adds up what shared channels carried in this step; returns the most messages on one.
std::uint64_t Fabric::share_channels(const std::vector<const Message*>& messages, StepRecord& record) {
  std::uint64_t most = 0;
  for (const Message* m : messages) {
    NodeId at = m->source();
    for (const Leg& leg : m->route()) {
      at = channels_
               .walk(at, leg,
                     [&](ChannelEntry& entry) {
                       const std::size_t i = channels_.index_of(entry);
                       if (entry.stamp != stamp_) shared_messages_[i] = shared_bytes_[i] = 0;
                       entry.stamp = stamp_;
                       entry.carry(m->bytes());
                       most = std::max(most, ++shared_messages_[i]);
                       record.most_bytes = std::max(record.most_bytes, shared_bytes_[i] += m->bytes());
                     })
               .node;
    }
  }
  return most;
}

std::vector<const Message*> Fabric::messages_of(Step step) const {
  std::vector<const Message*> messages;
  for (const Worker& w : workers_) w.arenas[step & 1U].for_each([&](const Message& m) { messages.push_back(&m); });
  return messages;
}

}  // namespace torus::detail
