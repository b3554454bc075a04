/// Injects a fault into a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/fault.hpp>
#include <torus/node.hpp>

#include "runtime/engine/fabric.hpp"
#include "runtime/engine/region.hpp"
#include "runtime/engine/saved_message.hpp"

namespace torus::detail {

/// Works between two steps, on what is in the queues: neither sending nor receiving knows of it, and a run without a fault has none. What
/// the trace, the auditor and the counts see is what nodes sent. A message that comes later than it should keeps to the rules of arrivals:
/// it waits until its last channel is free and its receiver has a port for it.
class Injector {
 public:
  /// All must outlive this.
  Injector(const Fault& fault, Fabric& fabric, Region<Node>& nodes) : fault_{fault}, fabric_{fabric}, nodes_{nodes} {}

  /// True if a message is still on its way, or a node stalls: the run has not ended.
  bool pending() const noexcept { return !late_.empty() || stalled_.has_value(); }
  /// After the barrier, before the nodes of the new step run. Returns how many it has made run in it.
  std::uint64_t begin_step();
  /// What the fault has done; none if it could not strike yet.
  const std::optional<FaultRecord>& record() const noexcept { return record_; }

 private:
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
  bool strike_message(Message& m);
  bool stall(NodeId rank);

  bool drop(const Delivery& at);
  bool twice(const Delivery& at);
  bool corrupt(const Delivery& at);
  bool truncate(const Delivery& at);
  bool swap(const Delivery& at);
  bool misdirect(const Delivery& at);
  bool put_off(const Delivery& at);

  Delivery delivery_of(Message& m) const;
  std::vector<Message*> sent_in_last_step() const;
  std::vector<Delivery> take_all(NodeId node);
  void put_back(const Delivery& at);
  /// False if the in-channel has a message in this step, or the node one for each port.
  bool deliver(const Delivery& at);
  void take_out(const Delivery& at);
  void wake(NodeId node);
  /// Of blocks with bytes: the slot of each, with its id.
  std::vector<std::pair<BlockId, Slot>> held_bytes(const Message& m) const;
  std::uint64_t random(std::uint64_t below) noexcept;
  void note(NodeId node, Step step, const std::string& text);
  std::string text_of(const Message& m) const;

  const Fault fault_;
  Fabric& fabric_;
  Region<Node>& nodes_;
  std::vector<Late> late_;
  std::optional<Stalled> stalled_;
  std::optional<FaultRecord> record_;
  std::uint64_t woken_ = 0;
  std::uint64_t draws_ = 0;
};

}  // namespace torus::detail
