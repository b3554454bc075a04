#include "runtime/engine/injector.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "runtime/engine/outbox.hpp"
#include "runtime/model/channel.hpp"
#include "runtime/model/figures.hpp"
#include "runtime/model/words.hpp"

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
  end_stall();
  deliver_late();
  if (!record_) strike();
  return woken_;
}

void Injector::wake(NodeId node) {
  RunState& run = fabric_.run();
  if (run.active[run.now & 1U].part(0).insert(node)) ++woken_;
}

// ---- what is in the queues ----

Injector::Delivery Injector::delivery_of(Message& m) const { return {m.destination(), in_slot_of(fabric_.run().machine.topology, m), &m}; }

std::vector<Message*> Injector::sent_in_last_step() const {
  const Step last = fabric_.now() - 1;
  std::vector<const Message*> all = fabric_.messages_of(last);
  std::erase_if(all, [last](const Message* m) { return m->step() != last; });  // what has come late is told by its step
  std::sort(all.begin(), all.end(), trace_order);
  std::vector<Message*> messages;
  for (const Message* m : all) messages.push_back(const_cast<Message*>(m));  // all are the arenas', which this may change
  return messages;
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

bool Injector::deliver(const Delivery& at) {
  RunState& run = fabric_.run();
  std::vector<Delivery> there = take_all(at.node);
  const bool room =
      there.size() < static_cast<std::size_t>(run.ports) &&
      (run.channels.shared() || std::none_of(there.begin(), there.end(), [&](const Delivery& each) { return each.slot == at.slot; }));
  for (const Delivery& each : there) put_back(each);
  if (!room) return false;
  put_back(at);
  wake(at.node);
  run.all_single_block = false;
  return true;
}

void Injector::take_out(const Delivery& at) {
  for (const Delivery& each : take_all(at.node)) {
    if (each.message != at.message) put_back(each);
  }
}

std::vector<std::pair<BlockId, Slot>> Injector::held_bytes(const Message& m) const {
  std::vector<std::pair<BlockId, Slot>> held;
  for (std::size_t i = 0; i < m.blocks().size(); ++i) {
    if (fabric_.run().placement.bytes(m.blocks()[i]) > 0) held.emplace_back(m.blocks()[i], MessageArena::slots(m)[i]);
  }
  return held;
}

std::uint64_t Injector::random(std::uint64_t below) noexcept { return mixed(fault_.seed + ++draws_ * mixed_step) % below; }

std::string Injector::text_of(const Message& m) const {
  const Topology& topology = fabric_.run().machine.topology;
  return "the message from " + node_text(topology, m.source()) + " to " + node_text(topology, m.destination());
}

void Injector::note(NodeId node, Step step, const std::string& text) {
  record_ = FaultRecord{step, node, "step " + std::to_string(step) + ": " + text};
}

// ---- when and where ----

void Injector::strike() {
  const Step step = fault_.kind == FaultKind::stall ? fabric_.now() : fabric_.now() - 1;
  if (fault_.exact ? step != fault_.step : step < fault_.step) return;
  const NodeId nodes = fabric_.run().machine.topology.nodes();
  const NodeId from = step == fault_.step ? fault_.node : 0;
  if (fault_.kind == FaultKind::stall) {
    for (NodeId rank = from; rank < (fault_.exact ? from + 1 : nodes); ++rank) {
      if (stall(rank)) return;
    }
    return;
  }
  for (Message* m : sent_in_last_step()) {
    if (fault_.exact ? m->source() != from : m->source() < from) continue;
    if (strike_message(*m)) return;
  }
}

bool Injector::strike_message(Message& m) {
  const Topology& topology = fabric_.run().machine.topology;
  if (fault_.channel) {
    const Leg first = m.route().front();
    const bool complete = topology.wiring(first.dimension) == Wiring::complete;
    const std::int32_t direction = complete ? modulo(first.hops, topology.extent(first.dimension)) : first.hops;
    if (static_cast<std::uint32_t>(topology.slot(first.dimension, direction)) != *fault_.channel) return false;
  }
  const Delivery at = delivery_of(m);
  switch (fault_.kind) {
    case FaultKind::drop: return drop(at);
    case FaultKind::twice: return twice(at);
    case FaultKind::corrupt: return corrupt(at);
    case FaultKind::truncate: return truncate(at);
    case FaultKind::swap: return swap(at);
    case FaultKind::wrong_neighbour: return misdirect(at);
    case FaultKind::late: return put_off(at);
    case FaultKind::stall: break;
  }
  return false;
}

// ---- what ----

bool Injector::drop(const Delivery& at) {
  Message& m = *at.message;
  take_out(at);
  Worker& w = fabric_.workers().front();
  for (std::size_t i = 0; i < m.blocks().size(); ++i) fabric_.payload().slots.give_back(*w.free_slots, MessageArena::slots(m)[i]);
  note(m.source(), m.step(), text_of(m) + " is dropped");
  return true;
}

bool Injector::twice(const Delivery& at) {
  Message& m = *at.message;
  RunState& run = fabric_.run();
  SavedMessage copy(m);
  Worker& w = fabric_.workers().front();
  for (std::size_t i = 0; i < copy.slots().size(); ++i) {
    const Slot from = copy.slots()[i];
    copy.slots()[i] = run.payload.copy_to_new(*w.free_slots, from, run.bytes_of(copy.blocks()[i]));
    if (run.reduces) run.payload.partials.signature(copy.slots()[i]) = run.payload.partials.signature(from);
  }
  run.payload.copier.fence();
  run.no_duplicates = run.all_single_block = false;
  late_.push_back({run.now + 1 + static_cast<Step>(random(3)), {at.node, at.slot}, std::move(copy)});
  note(m.source(), m.step(), text_of(m) + " arrives twice");
  return true;
}

bool Injector::corrupt(const Delivery& at) {
  const auto held = held_bytes(*at.message);
  if (held.empty()) return false;
  const auto [id, slot] = held[random(held.size())];
  const std::uint64_t offset = random(fabric_.run().placement.bytes(id));
  fabric_.payload().slots.at(slot)[offset] ^= std::byte{1} << random(8);
  note(at.message->source(), at.message->step(),
       text_of(*at.message) + " has a wrong bit in block " + std::to_string(id) + ", offset " + std::to_string(offset));
  return true;
}

bool Injector::truncate(const Delivery& at) {
  const auto held = held_bytes(*at.message);
  if (held.empty()) return false;
  const auto [id, slot] = held.back();
  const Bytes bytes = fabric_.run().placement.bytes(id);
  std::byte* const begin = fabric_.payload().slots.at(slot);
  std::fill(begin + bytes / 2, begin + bytes, std::byte{0});
  note(at.message->source(), at.message->step(),
       text_of(*at.message) + " loses block " + std::to_string(id) + " from offset " + std::to_string(bytes / 2) + " on");
  return true;
}

bool Injector::swap(const Delivery& at) {
  const auto held = held_bytes(*at.message);
  if (held.empty()) return false;
  const auto [id, slot] = held.front();
  const RunState& run = fabric_.run();
  std::vector<Message*> others{at.message};
  for (Message* m : sent_in_last_step()) others.push_back(m);
  for (const Message* m : others) {
    for (const auto& [other_id, other_slot] : held_bytes(*m)) {
      if (other_id == id || run.placement.bytes(other_id) != run.placement.bytes(id)) continue;
      std::byte* const begin = fabric_.payload().slots.at(slot);
      std::swap_ranges(begin, begin + run.placement.bytes(id), fabric_.payload().slots.at(other_slot));
      note(at.message->source(), at.message->step(),
           text_of(*at.message) + " brings the bytes of block " + std::to_string(other_id) + " for block " + std::to_string(id) + ", and " +
               text_of(*m) + " the other way round");
      return true;
    }
  }
  return false;
}

bool Injector::misdirect(const Delivery& at) {
  Message& m = *at.message;
  const Topology& topology = fabric_.run().machine.topology;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    for (const std::int32_t hop : {1, -1}) {
      if (topology.extent(d) == 1 || (topology.wiring(d) == Wiring::complete && hop < 0)) continue;
      const auto other = topology.neighbour(m.source(), d, hop);
      if (!other || *other == m.destination()) continue;
      if (!deliver({*other, static_cast<std::uint32_t>(topology.slot(d, hop)), &m})) continue;
      take_out(at);
      note(m.source(), m.step(), text_of(m) + " goes to " + node_text(topology, *other));
      return true;
    }
  }
  return false;
}

bool Injector::put_off(const Delivery& at) {
  Message& m = *at.message;
  take_out(at);
  late_.push_back({fabric_.now() + 1 + static_cast<Step>(random(3)), {at.node, at.slot}, SavedMessage(m)});
  note(m.source(), m.step(), text_of(m) + " is late");
  return true;
}

/// The schedule passes over a node whose program has ended.
bool Injector::stall(NodeId rank) {
  Node& node = nodes_[rank];
  const Wait wait = NodeDoor::wait(node);
  const std::vector<Delivery> there = take_all(rank);
  if (wait == Wait::ended || (wait == Wait::arrival && there.empty())) {
    for (const Delivery& each : there) put_back(each);
    return false;
  }
  for (const Delivery& each : there) late_.push_back({fabric_.now() + 1, {each.node, each.slot}, SavedMessage(*each.message)});
  stalled_ = Stalled{rank, wait};
  NodeDoor::wait(node) = Wait::ended;
  note(rank, fabric_.now(), "node " + node_text(fabric_.run().machine.topology, rank) + " does not run");
  return true;
}

void Injector::end_stall() {
  if (!stalled_) return;
  NodeDoor::wait(nodes_[stalled_->node]) = stalled_->wait;
  if (stalled_->wait != Wait::arrival) wake(stalled_->node);
  stalled_.reset();
}

void Injector::deliver_late() {
  RunState& run = fabric_.run();
  MessageArena& arena = fabric_.workers().front().out.arenas[(run.now + 1) & 1U];  // of the step whose messages arrive now
  std::vector<Late> waiting = std::exchange(late_, {});
  for (Late& each : waiting) {
    if (each.due > run.now) {
      late_.push_back(std::move(each));
      continue;
    }
    each.to.message = &each.message.restore(arena);
    if (!deliver(each.to)) late_.push_back(std::move(each));
  }
}

}  // namespace detail
}  // namespace torus
