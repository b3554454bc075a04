#include "algorithms/multinode_broadcast/joint_frame.hpp"

#include <torus/block.hpp>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/multinode_broadcast/shared_scatter.hpp"

namespace torus::multinode {
namespace {

using broadcast::Ways;

/// Two blocks a piece where the classes are as many as the shortest ring allows, since a gather may split a piece; and of long parts more,
/// for shares. No block is empty that need not be, and the blocks of all nodes have room.
std::uint32_t blocks_of_part(Bytes bytes, std::uint32_t parts, std::uint32_t pieces, double copies) {
  constexpr std::uint64_t most = 64, most_of_shares = 128;
  constexpr Bytes long_block = 1024;
  const Bytes part = bytes / std::max(1U, parts);
  const std::uint64_t wish = std::max(std::min<std::uint64_t>(2 * std::uint64_t{pieces}, std::max<std::uint64_t>(most, pieces)),
                                      std::min<std::uint64_t>(most_of_shares, part / long_block / pieces * pieces));
  const std::uint64_t filled = std::max<std::uint64_t>(1, part);
  const auto room = static_cast<std::uint64_t>(std::max(1.0, static_cast<double>(most_blocks) / copies / std::max(1U, parts)));
  return static_cast<std::uint32_t>(std::min({wish, filled, room}));
}

}  // namespace

JointFrame::JointFrame(const Machine& machine, Bytes message, std::uint32_t pieces, double sources)
    : topology{machine.topology},
      ways{machine.ports == 1 ? Ways::forward : Ways::both},
      linked{linked_dimensions(machine.topology)},
      parts{ways == Ways::forward ? 1 : static_cast<std::uint32_t>(machine.ports) / 2},
      shortest{largest_extent(machine.topology)},
      cost{machine.cost},
      bytes{message},
      h{pieces} {
  parts = std::min(parts, static_cast<std::uint32_t>(linked.size()));
  for (const Dimension d : linked) shortest = std::min(shortest, topology.extent(d));
  part_blocks = blocks_of_part(bytes, parts, h > 0 ? h : static_cast<std::uint32_t>(shortest), topology.nodes() * std::max(1.0, sources));
}

std::vector<std::int32_t> JointFrame::candidates() const {
  if (h > 0) return {static_cast<std::int32_t>(h)};
  std::vector<std::int32_t> found;
  const std::int32_t most = most_pieces();
  for (std::int32_t pieces = 1; pieces <= most; pieces += pieces < 8 ? 1 : pieces / (pieces < 24 ? 4 : 2)) found.push_back(pieces);
  for (std::int32_t sources = 1; sources <= 8; ++sources) found.push_back(std::clamp(shortest / sources, 1, most));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Bytes JointFrame::schedule_bytes(std::int32_t sources) const noexcept {
  constexpr Bytes at_once = 3;  // the best, another, and its rounds
  const auto most_rounds = static_cast<Bytes>(rounds(sources, h > 0 ? static_cast<std::int32_t>(h) : most_pieces()));
  Bytes sends = 0;  // of a round: a place of the rings lies in one class, and has a column at most
  for (std::uint32_t part = 0; part < parts; ++part) sends += 2 * static_cast<Bytes>(topology.extent(along(part, 0)));
  return at_once * most_rounds * sends * (sizeof(ScatterSend) + 2 * sizeof(std::int32_t));
}

}  // namespace torus::multinode
