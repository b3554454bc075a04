/// What a node knows of one part of a swath: its places, counted from the source, and its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <torus/node.hpp>

#include "algorithms/broadcast/swath_schedule.hpp"

namespace torus::broadcast {

struct SwathView;

/// Sends in place of a node what is not one message of one source: those that relay bundles, or several swaths at once, have their own.
class SwathOutlet {
 public:
  /// Segments first .. first + count - 1 over a leg.
  virtual void send(const SwathView& view, Leg leg, std::uint32_t first, std::uint32_t count) = 0;

 protected:
  ~SwathOutlet() = default;
};

/// One part of the message, as one node sees it.
struct SwathView {
  Node& self;
  const SwathSchedule& schedule;
  std::size_t number;
  NodeId root;
  std::span<const BlockId> blocks;
  SwathOutlet* outlet = nullptr;  ///< none: the blocks themselves

  const SwathSchedule::Part& part() const { return schedule.parts()[number]; }
  std::int32_t extent(std::size_t e) const { return self.extent(part().order[e]); }
  /// The node's place in dimension order[e], counted from the source.
  std::int32_t place(std::size_t e) const {
    const Dimension d = part().order[e];
    return modulo(self.coordinate(d) - self.topology().coordinate(root, d), self.extent(d));
  }
  /// Whether the node lies as the source does in the dimensions order[from], ..
  bool level_from(std::size_t from) const {
    for (std::size_t e = from; e < part().order.size(); ++e) {
      if (place(e) != 0) return false;
    }
    return true;
  }
  /// The first of the blocks that the node's places in the first dimensions of the part's order leave.
  std::uint32_t bundle(std::size_t level) const {
    std::uint32_t block = part().first_block;
    for (std::size_t e = 0; e < level; ++e)
      block += static_cast<std::uint32_t>(part().levels[e].gather.class_of(place(e))) * part().levels[e].stride;
    return block;
  }
  void send(std::size_t along, std::int32_t hops, std::uint32_t first, std::uint32_t count) const {
    const Leg leg{part().order[along], hops};
    if (outlet != nullptr)
      outlet->send(*this, leg, first, count);
    else
      self.send({leg}, blocks.subspan(first, count));
  }
  void send_pieces(std::size_t along, std::int32_t hops, std::int32_t first, std::int32_t pieces) const {
    const std::uint32_t size = part().piece_blocks;
    send(along, hops, bundle(schedule.levels()) + static_cast<std::uint32_t>(first) * size, static_cast<std::uint32_t>(pieces) * size);
  }
};

}  // namespace torus::broadcast
