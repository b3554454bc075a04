/// Injects a fault into a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torus/injection.hpp>
#include <torus/message.hpp>
#include <torus/node.hpp>
#include <torus/processes.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/fabric.hpp"
#include "runtime/engine/network/message_arena.hpp"

namespace torus::detail {

/// All that a message says, and the slots with its blocks' bytes: their owner until restore().
class SavedMessage {
 public:
  explicit SavedMessage(const Message& m)
      : destination_{m.destination()},
        step_and_source_{MessageArena::step_and_source(m.step(), m.source())},
        bytes_{m.bytes()},
        registers_{m.registers()},
        releases_{m.releases()},
        first_bucket_{MessageArena::first_bucket(m)},
        legs_(m.route().begin(), m.route().end()),
        blocks_(m.blocks().begin(), m.blocks().end()),
        header_(m.header().begin(), m.header().end()),
        slots_(m.blocks().size()) {
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = MessageArena::slot(m, i);
  }

  std::span<const BlockId> blocks() const noexcept { return blocks_; }
  std::vector<std::uint32_t>& slots() noexcept { return slots_; }

  /// The message again, in an arena. As it was before its receiver forwarded any of it.
  Message& restore(MessageArena& arena) const {
    Message& m = arena.write(step_and_source_, destination_, bytes_, legs_, blocks_, header_);
    MessageArena::mark(m, registers_, releases_);
    MessageArena::first_bucket(m) = first_bucket_;
    if (blocks_.size() != 1) MessageArena::forwarded(m) = 0;
    std::copy(slots_.begin(), slots_.end(), MessageArena::slots(m));
    return m;
  }

 private:
  NodeId destination_;
  std::uint64_t step_and_source_;
  Bytes bytes_;
  std::uint8_t registers_;
  bool releases_;
  std::uint32_t first_bucket_;
  std::vector<Leg> legs_;
  std::vector<BlockId> blocks_;
  std::vector<Word> header_;
  std::vector<std::uint32_t> slots_;
};

/// Works between two steps, on what is in the queues: neither sending nor receiving knows of it, and a run without a fault has none. What
/// the trace, the auditor and the counts see is what nodes sent. A message that comes later than it should keeps to the rules of arrivals:
/// it waits until its last channel is free and its receiver has a port for it.
///
/// On several processes all see the messages of the step in which the fault may strike, and take the same decisions; the one that has a
/// message's receiver changes the message.
class Injector {
 public:
  using OnFault = std::function<void(const FaultRecord&)>;

  /// All must outlive this. processes: null for one. on_fault: called once, when the fault strikes; may be empty.
  Injector(const Fault& fault, Fabric& fabric, Region<Node>& nodes, Processes* processes, const OnFault& on_fault)
      : fault_{fault}, fabric_{fabric}, nodes_{nodes}, processes_{processes}, on_fault_{on_fault} {}

  /// True if a message is still on its way, or a node stalls: the run has not ended. Together.
  bool pending() { return any(!late_.empty() || stalled_.has_value()); }
  /// After the barrier, before the nodes of the new step run. Returns how many of this process it has made run in it. Together.
  std::uint64_t begin_step();
  /// What the fault has done; none if it could not strike yet.
  const std::optional<FaultRecord>& record() const noexcept { return record_; }

 private:
  /// A message that was sent in the last step.
  struct Sent {
    const Message* message = nullptr;
    Message* here = nullptr;  // where it lies, in the process of its receiver
  };
  /// A message in a queue: who receives it, and over which of its in-channels.
  struct Delivery {
    NodeId node = 0;
    std::uint32_t slot = 0;
    Message* message = nullptr;
  };
  struct Late {
    Step due = 0;
    Delivery to;  // without the message
    SavedMessage message;
  };
  struct Stalled {
    NodeId node = 0;
    Wait wait = Wait::none;
  };

  void end_stall();
  void deliver_late();
  void strike();
  bool strike_message(const Sent& sent, std::span<const Sent> all);
  void stall_first(NodeId from, NodeId end);
  bool can_stall(NodeId rank);
  void stall(NodeId rank);

  // Each returns whether it could strike.
  bool drop(const Sent& sent);
  bool twice(const Sent& sent);
  bool corrupt(const Sent& sent);
  bool truncate(const Sent& sent);
  bool swap(const Sent& sent, std::span<const Sent> all);
  bool misdirect(const Sent& sent);
  bool put_off(const Sent& sent);

  bool any(bool here);
  Delivery delivery_of(Message& m) const;
  std::vector<Sent> sent_in_last_step();
  /// False if the bytes are equal.
  bool swap_bytes(const Sent& a, Slot a_slot, const Sent& b, Slot b_slot, Bytes bytes);
  Message* moved(const Sent& sent, NodeId to);
  MessageArena& arena_of_last_step();
  std::vector<Delivery> take_all(NodeId node);
  void put_back(const Delivery& at);
  /// False if the in-channel has a message in this step, or the node one for each port.
  bool has_room(NodeId node, std::uint32_t slot);
  void deliver(const Delivery& at);
  void take_out(const Delivery& at);
  void wake(NodeId node);
  /// The slot of each block that has bytes, with its id.
  std::vector<std::pair<BlockId, Slot>> held_bytes(const Message& m) const;
  std::byte* bytes_at(Slot slot) { return fabric_.payload().slots.at(slot); }
  std::uint64_t random(std::uint64_t below) noexcept;
  void note(FaultRecord record);
  void note(const Message& m, const std::string& text, std::vector<BlockId> changed = {});
  std::string text_of(const Message& m) const;

  const Fault fault_;
  Fabric& fabric_;
  Region<Node>& nodes_;
  Processes* const processes_;
  const OnFault& on_fault_;
  std::vector<std::vector<std::byte>> images_;  // of the messages of the last step, by process; sent_in_last_step()
  std::vector<Late> late_;                      // for this process's nodes
  std::optional<Stalled> stalled_;              // if it is one of them
  std::optional<FaultRecord> record_;
  std::uint64_t woken_ = 0;
  std::uint64_t draws_ = 0;
};

}  // namespace torus::detail
