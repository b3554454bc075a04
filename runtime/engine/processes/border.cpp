#include "runtime/engine/processes/border.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/engine/network/outbox.hpp"
#include "runtime/engine/rules/auditor.hpp"
#include "runtime/model/channel.hpp"

namespace torus::detail {
namespace {

constexpr std::size_t padded(Bytes bytes) noexcept { return static_cast<std::size_t>((bytes + 7) / 8 * 8); }

/// Under packet switching every legal route is one hop.
bool one_hop(const RunState& run, const Message& m) noexcept {
  if (m.route().size() > 1) return false;
  const Leg leg = m.route().front();
  return run.machine.switching == Switching::packet || leg.hops == 1 || leg.hops == -1 ||
         run.machine.topology.wiring(leg.dimension) == Wiring::complete;
}

}  // namespace

std::byte* Box::add(Kind kind, std::span<const std::byte> image, std::size_t payload, MemoryBudget& budget) {
  const std::size_t at = bytes_.size();
  const std::size_t size = at + sizeof(Head) + image.size() + payload;
  if (size > bytes_.capacity()) {
    const std::size_t more = std::max(size, 2 * bytes_.capacity());
    if (!budget.take(more - bytes_.capacity())) {
      budget.refuse("what a step sends to another process needs " + std::to_string(size) +
                    " bytes beside the blocks, and the memory limit allows no more; raise the memory limit (RunOptions::memory_limit)");
    }
    bytes_.reserve(more);
  }
  bytes_.resize(size);
  const Head head{static_cast<std::uint32_t>(image.size() / 8) << 2U | static_cast<std::uint32_t>(kind),
                  static_cast<std::uint32_t>(payload / 8)};
  std::memcpy(bytes_.data() + at, &head, sizeof head);
  std::memcpy(bytes_.data() + at + sizeof head, image.data(), image.size());
  return bytes_.data() + at + sizeof head + image.size();
}

Border::Border(RunState& run) : run_{run}, boxes_(run.own.processes()) {
  const Topology& topology = run.machine.topology;
  if (run.machine.switching != Switching::packet || run.machine.contention != Contention::forbid) return;
  const auto slots = static_cast<std::size_t>(topology.channel_slots());
  stamps_ = Region<std::uint32_t>(run.own.nodes() * slots);
  for (NodeId node = run.own.begin(); node < run.own.end(); ++node) {
    topology.each_link(node, [&](Dimension d, std::int32_t direction, NodeId to) {
      if (run.own.owns(to)) return;
      border_.push_back((node - run.own.begin()) * slots + static_cast<std::size_t>(topology.slot(d, direction)));
    });
  }
}

void Border::begin_run() noexcept {
  for (const std::size_t channel : border_) stamps_[channel] = 0;
  for (Box& box : boxes_) box = {};
}

std::uint64_t Border::used() const noexcept {
  return static_cast<std::uint64_t>(std::count_if(border_.begin(), border_.end(), [this](std::size_t i) { return stamps_[i] != 0; }));
}

// ---- out ----

/// A route stays in the slab if each of its legs ends there, and none goes round a ring that the slab has only a part of.
bool Border::leaves(const Message& m) const noexcept {
  if (!run_.own.owns(m.destination())) return true;
  if (one_hop(run_, m)) return false;
  const Topology& topology = run_.machine.topology;
  NodeId at = m.source();
  for (const Leg& leg : m.route()) {
    const NodeId to = *topology.neighbour(at, leg.dimension, leg.hops);
    if (!run_.own.owns(to)) return true;
    if (run_.own.cuts(leg.dimension) && topology.wiring(leg.dimension) == Wiring::ring && (leg.hops > 0 ? to <= at : to >= at)) return true;
    at = to;
  }
  return false;
}

bool Border::living(const Message& m) const noexcept {
  const Topology& topology = run_.machine.topology;
  if (topology.whole()) return true;
  bool living = true;
  each_channel(topology, m.source(), m.route(),
               [&](const ChannelName& c) { living = living && topology.passes(c.from, c.dimension, c.hop); });
  return living;
}

/// The only channel of a message, under packet switching.
bool Border::claim_over_border(const Message& m) noexcept {
  const Leg leg = m.route().front();
  const std::uint32_t slot = run_.channels.out_slot(leg);
  std::uint32_t& stamp = stamps_[(m.source() - run_.own.begin()) * static_cast<std::size_t>(run_.machine.topology.channel_slots()) + slot];
  if (stamp == run_.stamp) return false;
  stamp = run_.stamp;
  run_.channels.of_node(m.source())[slot].carry_alone(m.bytes());
  return true;
}

/// The sender keeps no block of a message that is delivered here: it goes the usual way.
void Border::deliver_here(Worker& w, const Claim& claim) {
  const NodeId to = claim.message->destination();
  if (!run_.own.owns(to)) return;
  if (run_.links.push(*claim.message, to, claim.in_slot))
    outbox::activate(w, to);
  else
    w.findings.suspect = true;
}

bool Border::set_aside(Worker& w) {
  bool all = true;
  ClaimList& own = w.out.border_claims;
  own.clear();
  for (Claim& each : w.out.claims.claims()) {
    if (each.message == nullptr || !leaves(*each.message)) continue;
    Message& m = *each.message;
    each.message = nullptr;
    const bool packet = stamps_.size() > 0;
    if (!living(m) || (packet && !claim_over_border(m))) {
      all = false;
      continue;
    }
    if (!packet && !run_.channels.shared()) {
      run_.channels.each_own(m, [&own](ChannelEntry& entry) {
        *own.channels().room_for(1) = &entry;
        own.channels().append(own.channels().room_for(1) + 1);
      });
    }
    own.add(m, each.in_slot);
  }
  if (!stamps_.size() && !run_.channels.shared() && !run_.channels.claim(own, w.index, run_.stamp, run_.single_worker)) all = false;
  for (const Claim& each : own.claims()) {
    if (each.message == nullptr) continue;
    deliver_here(w, each);
    w.out.crossing.push_back(each.message);
  }
  return all;
}

bool Border::far(std::span<const Worker> workers) const noexcept {
  return std::any_of(workers.begin(), workers.end(), [this](const Worker& w) {
    return std::any_of(w.out.crossing.begin(), w.out.crossing.end(), [this](const Message* m) { return !one_hop(run_, *m); });
  });
}

/// Calls f(process) once for each other process that has the receiver of a message or a channel of its route.
template <class F>
void Border::each_process(const Message& m, F&& f) {
  processes_.assign({run_.own.self(), run_.own.owner(m.destination())});
  if (processes_[0] != processes_[1]) f(processes_[1]);
  if (one_hop(run_, m)) return;
  std::uint32_t last = run_.own.self();
  each_channel(run_.machine.topology, m.source(), m.route(), [&](const ChannelName& channel) {
    const std::uint32_t process = run_.own.owner(channel.from);
    if (process == std::exchange(last, process) || std::find(processes_.begin(), processes_.end(), process) != processes_.end()) return;
    processes_.push_back(process);
    f(process);
  });
}

/// Adds a message without its blocks, and returns the room for those.
std::byte* Border::add_delivery(std::uint32_t process, const Message& m, RouteView kept) {
  if (!kept.empty()) {
    std::vector<std::byte> image(MessageArena::image(m).begin(), MessageArena::image(m).end());
    image.insert(image.end(), std::as_bytes(kept).begin(), std::as_bytes(kept).end());
    return boxes_[process].add(Box::Kind::delivery, image, payload_of(m), run_.budget);
  }
  if (MessageArena::is_one(m) && run_.placement.uniform() && !run_.reduces) {
    const Box::Single single{m.source(), m.destination(), MessageArena::word_of(m.route().front()), m.blocks().front()};
    return boxes_[process].add(Box::Kind::single, std::as_bytes(std::span(&single, 1)), padded(run_.block_bytes), run_.budget);
  }
  return boxes_[process].add(Box::Kind::delivery, MessageArena::image(m), payload_of(m), run_.budget);
}

std::size_t Border::payload_of(const Message& m) const noexcept {
  std::size_t payload = 0;
  for (const BlockId id : m.blocks()) payload += (run_.reduces ? sizeof(std::uint64_t) : 0) + padded(run_.bytes_of(id));
  return payload;
}

void Border::pack_blocks(const Message& m, std::byte* to, FreeList& free) {
  Payload& payload = run_.payload;
  const std::size_t signature = run_.reduces ? sizeof(std::uint64_t) : 0;
  const Slot* slots = MessageArena::slots(m);
  for (const BlockId id : m.blocks()) {
    const Slot slot = *slots++;
    if (signature > 0) std::memcpy(to, &payload.partials.signature(slot), signature);
    const auto bytes = static_cast<std::size_t>(run_.bytes_of(id));
    if (bytes > 0) std::memcpy(to + signature, payload.slots.at(slot), bytes);
    to += signature + padded(bytes);
    payload.give_back(free, slot, bytes);
  }
}

std::span<Box> Border::pack(std::span<Worker> workers) {
  nothing();
  FreeList& free = *workers.front().free_slots;
  for (Worker& w : workers) {
    for (const Message* m : w.out.crossing) {
      const std::uint32_t receiver = run_.own.owner(m->destination());
      each_process(*m, [&](std::uint32_t process) {
        if (process != receiver) return add_claim(process, *m);
        pack_blocks(*m, add_delivery(process, *m, w.out.arena->kept(*m)), free);
      });
    }
    w.out.crossing.clear();
  }
  return boxes_;
}

std::span<Box> Border::pack_for_first(std::span<const Message* const> messages) {
  nothing();
  if (run_.own.self() == 0) return boxes_;
  for (const Message* m : messages) add_claim(0, *m);
  return boxes_;
}

std::span<Box> Border::pack_for_audit(std::span<const Message* const> messages) {
  const Machine& machine = run_.machine;
  nothing();
  for (const Message* m : messages) {
    const RouteCheck check = check_route(machine, m->source(), m->route());
    if (!run_.own.owns(m->source()) || !leads_somewhere(check.violation)) continue;
    processes_.assign({run_.own.self()});
    const auto touches = [&](NodeId node) {
      const std::uint32_t process = run_.own.owner(node);
      if (std::find(processes_.begin(), processes_.end(), process) != processes_.end()) return;
      processes_.push_back(process);
      add_claim(process, *m);
    };
    touches(check.destination);
    each_channel(machine.topology, m->source(), m->route(), [&](const ChannelName& channel) { touches(channel.from); });
  }
  return boxes_;
}

// ---- in ----

void Border::unpack_blocks(Message& m, const std::byte* from, FreeList& free) {
  Payload& payload = run_.payload;
  if (m.blocks().size() != 1) MessageArena::forwarded(m) = 0;
  Slot* slots = MessageArena::slots(m);
  for (const BlockId id : m.blocks()) {
    const auto bytes = static_cast<std::size_t>(run_.bytes_of(id));
    const Slot slot = payload.take(free, bytes);
    *slots++ = slot;
    if (run_.reduces) {
      std::memcpy(&payload.partials.signature(slot), from, sizeof(std::uint64_t));
      from += sizeof(std::uint64_t);
    }
    if (bytes > 0) std::memcpy(payload.slots.at(slot), from, bytes);
    from += padded(bytes);
  }
}

Message& Border::unpack_image(Box::Kind kind, std::span<const std::byte> image, MessageArena& arena) const {
  if (kind != Box::Kind::single) {
    const std::size_t size = MessageArena::image(MessageArena::in_place(image)).size();
    Message& m = arena.adopt(image.first(size));
    if (image.size() > size) {
      std::vector<Leg> kept((image.size() - size) / sizeof(Leg));
      std::memcpy(kept.data(), image.data() + size, image.size() - size);
      arena.keep(m, kept);
    }
    return m;
  }
  Box::Single single;
  std::memcpy(&single, image.data(), sizeof single);
  Message& m = arena.write_one(MessageArena::step_and_source(run_.now, single.source), single.destination, run_.block_bytes, single.block,
                               single.leg);
  MessageArena::first_bucket(m) = run_.placement.bucket(single.block);
  return m;
}

bool Border::unpack(std::span<const std::byte> box, Worker& w) {
  bool all = true;
  const bool claims = stamps_.size() == 0 && !run_.channels.shared();
  Box::each(box, [&](Box::Kind kind, std::span<const std::byte> image, std::span<const std::byte> blocks) {
    Message& m = unpack_image(kind, image, *w.out.arena);
    if (claims && !one_hop(run_, m)) {
      run_.channels.each_own(m, [&](ChannelEntry& entry) { all &= ChannelTable::claim_late(entry, run_.stamp, m.bytes()); });
    }
    if (kind == Box::Kind::claim) return;
    unpack_blocks(m, blocks.data(), *w.free_slots);
    if (run_.links.push(m, m.destination(), in_slot_of(run_.machine.topology, m)))
      outbox::activate(w, m.destination());
    else
      all = false;
  });
  return all;
}

}  // namespace torus::detail
