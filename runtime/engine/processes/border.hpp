/// The border of a slab: messages whose route leaves it, on their way out and in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <torus/message.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/run_state.hpp"
#include "runtime/engine/worker.hpp"

namespace torus::detail {

/// Messages packed for one other process.
///
/// A record is 8 bytes of lengths and kind, an image of the message, and for a delivery its blocks: each its bytes, padded to 8, and in a
/// reduction its signature before them.
class Box {
 public:
  enum class Kind : std::uint8_t {
    delivery,  ///< the receiver is there; the image is the message as it lies in the arena
    single,    ///< a delivery of one block over one leg, where blocks are equally long; the image is a Single
    claim      ///< only channels that the route takes are there; without the blocks' bytes
  };
  /// The fields in which such messages differ. The cost of a box is the transfer of its bytes from core to core.
  struct Single {
    NodeId source, destination;
    std::uint64_t leg;  // MessageArena::word_of()
    BlockId block;
  };

  std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), bytes_.size()}; }
  void clear() noexcept { bytes_.clear(); }
  /// Adds a record and returns room for `payload` bytes behind it. The budget pays for what the box grows.
  std::byte* add(Kind kind, std::span<const std::byte> image, std::size_t payload, MemoryBudget& budget);

  /// Calls f(kind, image, payload) for each record of a box.
  template <class F>
  static void each(std::span<const std::byte> box, F&& f);

 private:
  struct Head {
    std::uint32_t kind_and_image;  // two bits of kind; image and payload: in words of 8 bytes
    std::uint32_t payload;
  };

  std::vector<std::byte> bytes_;
};

/// A worker hands over what leaves the slab; the barrier packs it for the processes of its receiver and of its channels, and unpacks what
/// they have sent. Channels are claimed by the process of the node that they leave.
class Border {
 public:
  /// The state must outlive this, and know this as its border.
  explicit Border(RunState& run);

  /// Forgets the last run.
  void begin_run() noexcept;

  // ---- during a step ----

  /// Takes the messages that leave the slab out of a worker's claims, and claims their channels as far as they are the slab's. Those that
  /// end in the slab are delivered. False if a channel is refused.
  bool set_aside(Worker& w);
  /// Whether a leg from a node ends in another slab.
  bool leaves(NodeId from, Leg leg) const noexcept {
    const auto to = run_.machine.topology.neighbour(from, leg.dimension, leg.hops);
    return to && !run_.own.owns(*to);
  }

  // ---- between two steps, one thread ----

  /// Packs what the workers have set aside in this step: a box for each process, empty for this one. Frees the blocks' slots.
  std::span<Box> pack(std::span<Worker> workers);
  /// Packs all messages that the nodes of the slab have sent in this step, legal or not, without their blocks, for each process whose nodes
  /// or channels they touch.
  std::span<Box> pack_for_audit(std::span<const Message* const> messages);
  /// Packs messages, without their blocks, for process 0, unless this is it.
  std::span<Box> pack_for_first(std::span<const Message* const> messages);
  /// Empty boxes.
  std::span<Box> nothing() noexcept {
    for (Box& box : boxes_) box.clear();
    return boxes_;
  }
  /// Claims channels for the messages of a box from another process, and delivers those that end here. In the step in which they were sent.
  /// False if a channel or a queue is refused.
  bool unpack(std::span<const std::byte> box, Worker& w);
  /// The bytes that the blocks of a message take in a box.
  std::size_t payload_of(const Message& m) const noexcept;
  /// Writes the blocks of a message to a box, and frees their slots.
  void pack_blocks(const Message& m, std::byte* to, FreeList& free);
  /// Reads them from there into slots of their own.
  void unpack_blocks(Message& m, const std::byte* from, FreeList& free);
  /// Whether a message of this step that is set aside takes several channels, so that other processes may refuse it.
  bool far(std::span<const Worker> workers) const noexcept;
  /// Channels over the border that have been claimed in this run and that Channels::use() does not see.
  std::uint64_t used() const noexcept;

 private:
  bool leaves(const Message& m) const noexcept;
  bool living(const Message& m) const noexcept;
  bool claim_over_border(const Message& m) noexcept;
  void deliver_here(Worker& w, const Claim& claim);
  void add_claim(std::uint32_t process, const Message& m) { boxes_[process].add(Box::Kind::claim, MessageArena::image(m), 0, run_.budget); }
  std::byte* add_delivery(std::uint32_t process, const Message& m, RouteView kept);
  Message& unpack_image(Box::Kind kind, std::span<const std::byte> image, MessageArena& arena) const;
  template <class F>
  void each_process(const Message& m, F&& f);

  RunState& run_;
  std::vector<Box> boxes_;                // by process
  Region<std::uint32_t> stamps_;          // by own node and slot: of channels that leave the slab, under packet switching
  std::vector<std::size_t> border_;       // the indices of those
  std::vector<std::uint32_t> processes_;  // scratch: of one message
};

template <class F>
void Box::each(std::span<const std::byte> box, F&& f) {
  while (!box.empty()) {
    Head head;
    std::memcpy(&head, box.data(), sizeof head);
    box = box.subspan(sizeof head);
    const std::size_t image = 8 * std::size_t{head.kind_and_image >> 2U}, payload = 8 * std::size_t{head.payload};
    f(static_cast<Kind>(head.kind_and_image & 3U), box.first(image), box.subspan(image, payload));
    box = box.subspan(image + payload);
  }
}

}  // namespace torus::detail
