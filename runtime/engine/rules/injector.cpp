#include "runtime/engine/rules/injector.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "runtime/base/figures.hpp"
#include "runtime/base/words.hpp"
#include "runtime/engine/network/outbox.hpp"
#include "runtime/engine/processes/border.hpp"
#include "runtime/engine/processes/together.hpp"
#include "runtime/model/channel.hpp"

namespace torus {

std::string_view name(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::drop: return "drop";
    case FaultKind::twice: return "double";
    case FaultKind::corrupt: return "corrupt";
    case FaultKind::truncate: return "truncate";
    case FaultKind::swap: return "swap";
    case FaultKind::wrong_neighbour: return "wrong-neighbour";
    case FaultKind::late: return "late";
    case FaultKind::stall: return "stall";
  }
  return "";
}

namespace detail {

std::uint64_t Injector::begin_step() {
  woken_ = 0;
  try {
    end_stall();
    deliver_late();
    if (!record_) strike();
  } catch (...) {  // no memory here: the others learn of it at the end of the step
    if (processes_ == nullptr) throw;
    fabric_.workers().front().findings.fail(fabric_.own().begin(), std::current_exception());
  }
  return woken_;
}

void Injector::wake(NodeId node) {
  RunState& run = fabric_.run();
  if (run.active[run.now & 1U].part(0).insert(node)) ++woken_;
}

// ---- what is in the queues ----

bool Injector::any(bool here) {
  if (processes_ == nullptr) return here;
  const std::vector<bool> all = exchange_each(*processes_, here);
  return std::find(all.begin(), all.end(), true) != all.end();
}

Injector::Delivery Injector::delivery_of(Message& m) const { return {m.destination(), in_slot_of(fabric_.run().machine.topology, m), &m}; }

/// In the order of the trace, which is that of all processes.
std::vector<Injector::Sent> Injector::sent_in_last_step() {
  const Step last = fabric_.now() - 1;
  std::vector<Sent> all;
  std::vector<std::byte> mine;
  for (const Message* m : fabric_.messages_of(last)) {
    // Late messages are recognised by their step. Messages that leave the slab lie at their receiver as well.
    if (m->step() != last || !fabric_.own().owns(m->destination())) continue;
    all.push_back({m, const_cast<Message*>(m)});  // the arenas are the fabric's, which this may change
    if (processes_ == nullptr) continue;
    const std::span<const std::byte> image = MessageArena::image(*m);
    mine.insert(mine.end(), image.begin(), image.end());
  }
  if (processes_ != nullptr) images_ = gather_bytes(*processes_, mine);
  for (unsigned p = 0; p < images_.size(); ++p) {  // none if this process is alone
    if (p == processes_->self()) continue;
    for (std::span<const std::byte> left = images_[p]; !left.empty(); left = left.subspan(MessageArena::image(*all.back().message).size()))
      all.push_back({&MessageArena::in_place(left), nullptr});
  }
  std::sort(all.begin(), all.end(), [](const Sent& a, const Sent& b) { return trace_order(a.message, b.message); });
  return all;
}

std::vector<Injector::Delivery> Injector::take_all(NodeId node) {
  RunState& run = fabric_.run();
  std::vector<Message*> room(static_cast<std::size_t>(std::max(1, run.machine.topology.channel_slots())) *
                             (run.channels.shared() ? SharedLinks::depth : 1));
  Message** const end = run.links.take(node, run.now, room.data());
  std::vector<Delivery> taken;
  std::for_each(room.data(), end, [&](Message* m) {
    taken.push_back(delivery_of(*m));
    taken.back().node = node;
  });
  return taken;
}

void Injector::put_back(const Delivery& at) { fabric_.run().links.put_back(*at.message, at.node, at.slot, fabric_.now() - 1); }

bool Injector::has_room(NodeId node, std::uint32_t slot) {
  const RunState& run = fabric_.run();
  const std::vector<Delivery> there = take_all(node);
  for (const Delivery& each : there) put_back(each);
  return there.size() < static_cast<std::size_t>(run.ports) &&
         (run.channels.shared() || std::none_of(there.begin(), there.end(), [&](const Delivery& each) { return each.slot == slot; }));
}

void Injector::deliver(const Delivery& at) {
  put_back(at);
  wake(at.node);
  fabric_.run().all_single_block = false;
}

void Injector::take_out(const Delivery& at) {
  for (const Delivery& each : take_all(at.node)) {
    if (each.message != at.message) put_back(each);
  }
}

std::vector<std::pair<BlockId, Slot>> Injector::held_bytes(const Message& m) const {
  std::vector<std::pair<BlockId, Slot>> held;
  for (std::size_t i = 0; i < m.blocks().size(); ++i) {
    if (fabric_.run().placement.bytes(m.blocks()[i]) > 0) held.emplace_back(m.blocks()[i], MessageArena::slot(m, i));
  }
  return held;
}

std::uint64_t Injector::random(std::uint64_t below) noexcept { return mixed(fault_.seed + ++draws_ * mixed_step) % below; }

std::string Injector::text_of(const Message& m) const {
  const Topology& topology = fabric_.run().machine.topology;
  return "the message from " + node_text(topology, m.source()) + " to " + node_text(topology, m.destination());
}

void Injector::note(FaultRecord record) {
  record.text = "step " + std::to_string(record.step) + ": " + record.text;
  record_ = std::move(record);
  if (on_fault_) on_fault_(*record_);
}

void Injector::note(const Message& m, const std::string& text, std::vector<BlockId> changed) {
  std::uint64_t carried = 0;
  for (const BlockId id : m.blocks()) carried += fabric_.run().placement.bytes(id) > 0 ? 1U : 0U;
  note({m.step(), m.source(), text_of(m) + text, m.destination(), carried, std::move(changed)});
}

// ---- when and where ----

void Injector::strike() {
  const Step step = fault_.kind == FaultKind::stall ? fabric_.now() : fabric_.now() - 1;
  if (fault_.exact ? step != fault_.step : step < fault_.step) return;
  const NodeId nodes = fabric_.run().machine.topology.nodes();
  const NodeId from = step == fault_.step ? fault_.node : 0;
  if (fault_.kind == FaultKind::stall) return stall_first(from, fault_.exact ? from + 1 : nodes);
  const std::vector<Sent> all = sent_in_last_step();
  for (const Sent& sent : all) {
    if (fault_.exact ? sent.message->source() != from : sent.message->source() < from) continue;
    if (strike_message(sent, all)) return;
  }
}

bool Injector::strike_message(const Sent& sent, std::span<const Sent> all) {
  const Topology& topology = fabric_.run().machine.topology;
  if (fault_.channel) {
    const Leg first = sent.message->route().front();
    const bool complete = topology.wiring(first.dimension) == Wiring::complete;
    const std::int32_t direction = complete ? modulo(first.hops, topology.extent(first.dimension)) : first.hops;
    if (static_cast<std::uint32_t>(topology.slot(first.dimension, direction)) != *fault_.channel) return false;
  }
  switch (fault_.kind) {
    case FaultKind::drop: return drop(sent);
    case FaultKind::twice: return twice(sent);
    case FaultKind::corrupt: return corrupt(sent);
    case FaultKind::truncate: return truncate(sent);
    case FaultKind::swap: return swap(sent, all);
    case FaultKind::wrong_neighbour: return misdirect(sent);
    case FaultKind::late: return put_off(sent);
    case FaultKind::stall: break;
  }
  return false;
}

// ---- what ----

bool Injector::drop(const Sent& sent) {
  if (Message* const m = sent.here) {
    take_out(delivery_of(*m));
    Worker& w = fabric_.workers().front();
    for (std::size_t i = 0; i < m->blocks().size(); ++i)
      fabric_.payload().give_back(*w.free_slots, MessageArena::slot(*m, i), fabric_.run().bytes_of(m->blocks()[i]));
  }
  note(*sent.message, " is dropped");
  return true;
}

bool Injector::twice(const Sent& sent) {
  RunState& run = fabric_.run();
  const Step due = run.now + 1 + static_cast<Step>(random(3));
  run.no_duplicates = run.all_single_block = false;
  if (sent.here != nullptr) {
    const Delivery at = delivery_of(*sent.here);
    SavedMessage copy(*sent.here);
    Worker& w = fabric_.workers().front();
    for (std::size_t i = 0; i < copy.slots().size(); ++i) {
      const Slot from = copy.slots()[i];
      copy.slots()[i] = run.payload.copy_to_new(*w.free_slots, from, run.bytes_of(copy.blocks()[i]));
      if (run.reduces) run.payload.partials.signature(copy.slots()[i]) = run.payload.partials.signature(from);
    }
    run.payload.copier.fence();
    late_.push_back({due, {at.node, at.slot}, std::move(copy)});
  }
  note(*sent.message, " arrives twice");
  return true;
}

bool Injector::corrupt(const Sent& sent) {
  const auto held = held_bytes(*sent.message);
  if (held.empty()) return false;
  const auto [id, slot] = held[random(held.size())];
  const std::uint64_t offset = random(fabric_.run().placement.bytes(id));
  const std::byte bit = std::byte{1} << random(8);
  if (sent.here != nullptr) bytes_at(slot)[offset] ^= bit;
  note(*sent.message, " has a wrong bit in block " + std::to_string(id) + ", offset " + std::to_string(offset), {id});
  return true;
}

bool Injector::truncate(const Sent& sent) {
  const auto held = held_bytes(*sent.message);
  if (held.empty()) return false;
  const auto [id, slot] = held.back();
  const Bytes bytes = fabric_.run().placement.bytes(id);
  bool changes = false;
  if (sent.here != nullptr) {
    const std::span<std::byte> half(bytes_at(slot) + bytes / 2, bytes_at(slot) + bytes);
    changes = std::any_of(half.begin(), half.end(), [](std::byte b) { return b != std::byte{0}; });
    std::fill(half.begin(), half.end(), std::byte{0});
  }
  std::vector<BlockId> changed;
  if (any(changes)) changed.push_back(id);
  note(*sent.message, " loses block " + std::to_string(id) + " from offset " + std::to_string(bytes / 2) + " on", std::move(changed));
  return true;
}

bool Injector::swap(const Sent& sent, std::span<const Sent> all) {
  const auto held = held_bytes(*sent.message);
  if (held.empty()) return false;
  const auto [id, slot] = held.front();
  const Placement& placement = fabric_.run().placement;
  std::vector<Sent> others{sent};
  others.insert(others.end(), all.begin(), all.end());
  for (const Sent& other : others) {
    for (const auto& [other_id, other_slot] : held_bytes(*other.message)) {
      if (other_id == id || placement.bytes(other_id) != placement.bytes(id)) continue;
      std::vector<BlockId> changed;
      if (swap_bytes(sent, slot, other, other_slot, placement.bytes(id))) changed = {id, other_id};
      note(*sent.message,
           " brings the bytes of block " + std::to_string(other_id) + " for block " + std::to_string(id) + ", and " +
               text_of(*other.message) + " the other way round",
           std::move(changed));
      return true;
    }
  }
  return false;
}

bool Injector::swap_bytes(const Sent& a, Slot a_slot, const Sent& b, Slot b_slot, Bytes bytes) {
  bool differ = false;
  if (a.here != nullptr && b.here != nullptr) {
    differ = !std::equal(bytes_at(a_slot), bytes_at(a_slot) + bytes, bytes_at(b_slot));
    std::swap_ranges(bytes_at(a_slot), bytes_at(a_slot) + bytes, bytes_at(b_slot));
  }
  const Slab& own = fabric_.own();
  if (own.owner(a.message->destination()) == own.owner(b.message->destination())) return any(differ);
  std::vector<std::span<const std::byte>> out(own.processes());
  std::vector<std::span<std::byte>> in(own.processes());
  std::vector<std::byte> sent;
  const auto give = [&](Slot slot, const Sent& to) {
    sent.assign(bytes_at(slot), bytes_at(slot) + bytes);
    out[own.owner(to.message->destination())] = sent;
    in[own.owner(to.message->destination())] = {bytes_at(slot), static_cast<std::size_t>(bytes)};
  };
  if (a.here != nullptr) give(a_slot, b);
  if (b.here != nullptr) give(b_slot, a);
  processes_->exchange(out, in);
  if (a.here != nullptr) differ = !std::equal(sent.begin(), sent.end(), bytes_at(a_slot));
  return any(differ);
}

bool Injector::misdirect(const Sent& sent) {
  const Message& m = *sent.message;
  const Topology& topology = fabric_.run().machine.topology;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    for (const std::int32_t hop : {1, -1}) {
      if (topology.extent(d) == 1 || (topology.wiring(d) == Wiring::complete && hop < 0)) continue;
      const auto other = topology.neighbour(m.source(), d, hop);
      if (!other || *other == m.destination()) continue;
      const auto slot = static_cast<std::uint32_t>(topology.slot(d, hop));
      if (!any(fabric_.own().owns(*other) && has_room(*other, slot))) continue;
      RunState& run = fabric_.run();
      // Groups number their blocks alike: another group may hold one of the same number.
      if (run.members.group_of(*other) != run.members.group_of(m.destination())) run.no_duplicates = false;
      if (sent.here != nullptr) take_out(delivery_of(*sent.here));
      if (Message* const there = moved(sent, *other)) deliver({*other, slot, there});
      note(m, " goes to " + node_text(topology, *other));
      return true;
    }
  }
  return false;
}

/// A message, with its blocks, in the process of another node than its receiver; null in all others.
Message* Injector::moved(const Sent& sent, NodeId to) {
  RunState& run = fabric_.run();
  const std::uint32_t giver = run.own.owner(sent.message->destination()), taker = run.own.owner(to);
  if (giver == taker) return sent.here;
  Border& border = *run.border;
  Worker& w = fabric_.workers().front();
  std::vector<std::span<const std::byte>> out(run.own.processes());
  std::vector<std::span<std::byte>> in(run.own.processes());
  std::vector<std::byte> blocks(border.payload_of(*sent.message));
  if (run.own.self() == giver) {
    border.pack_blocks(*sent.here, blocks.data(), *w.free_slots);
    out[taker] = blocks;
  }
  if (run.own.self() == taker) in[giver] = blocks;
  processes_->exchange(out, in);
  if (run.own.self() != taker) return nullptr;
  // It lies already in the processes of its sender and of its channels.
  Message* there = nullptr;
  for (const Message* m : fabric_.messages_of(fabric_.now() - 1)) {
    if (!trace_order(m, sent.message) && !trace_order(sent.message, m)) there = const_cast<Message*>(m);
  }
  if (there == nullptr) there = &arena_of_last_step().adopt(MessageArena::image(*sent.message));
  border.unpack_blocks(*there, blocks.data(), *w.free_slots);
  return there;
}

bool Injector::put_off(const Sent& sent) {
  const Step due = fabric_.now() + 1 + static_cast<Step>(random(3));
  if (sent.here != nullptr) {
    const Delivery at = delivery_of(*sent.here);
    take_out(at);
    late_.push_back({due, {at.node, at.slot}, SavedMessage(*sent.here)});
  }
  note(*sent.message, " is late");
  return true;
}

/// Stalls the first node of [from, end) that can stall. All processes choose the same.
void Injector::stall_first(NodeId from, NodeId end) {
  const Slab& own = fabric_.own();
  NodeId rank = std::max(from, own.begin());
  const NodeId own_end = std::min(end, own.end());
  while (rank < own_end && !can_stall(rank)) ++rank;
  NodeId first = rank < own_end ? rank : end;
  if (processes_ != nullptr) {
    for (const NodeId each : exchange_each(*processes_, first)) first = std::min(first, each);
  }
  if (first == end) return;
  if (own.owns(first)) stall(first);
  note({fabric_.now(), first, "node " + node_text(fabric_.run().machine.topology, first) + " does not run", first});
}

bool Injector::can_stall(NodeId rank) {
  const Wait wait = NodeAccess::wait(nodes_[rank]);
  return wait != Wait::ended && (wait != Wait::arrival || fabric_.run().links.any(rank));
}

/// The schedule passes over a node whose program has ended.
void Injector::stall(NodeId rank) {
  for (const Delivery& each : take_all(rank)) late_.push_back({fabric_.now() + 1, {each.node, each.slot}, SavedMessage(*each.message)});
  stalled_ = Stalled{rank, NodeAccess::wait(nodes_[rank])};
  NodeAccess::wait(nodes_[rank]) = Wait::ended;
}

void Injector::end_stall() {
  if (!stalled_) return;
  NodeAccess::wait(nodes_[stalled_->node]) = stalled_->wait;
  if (stalled_->wait != Wait::arrival) wake(stalled_->node);
  stalled_.reset();
}

MessageArena& Injector::arena_of_last_step() { return fabric_.workers().front().out.arenas[(fabric_.now() + 1) & 1U]; }

void Injector::deliver_late() {
  std::vector<Late> waiting = std::exchange(late_, {});
  for (Late& each : waiting) {
    if (each.due > fabric_.now() || !has_room(each.to.node, each.to.slot)) {
      late_.push_back(std::move(each));
      continue;
    }
    each.to.message = &each.message.restore(arena_of_last_step());
    deliver(each.to);
  }
}

}  // namespace detail
}  // namespace torus
