/// Faults that are injected into a run, to test what notices them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/block.hpp>
#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus {

enum class FaultKind : std::uint8_t {
  drop,             ///< a message is lost
  twice,            ///< a message arrives, and again some steps later
  corrupt,          ///< a bit of a block's bytes is inverted on the way
  truncate,         ///< the second half of a block's bytes is lost: zeros stand there
  swap,             ///< two blocks that arrive in the step have each other's bytes
  wrong_neighbour,  ///< a message reaches another neighbour of its sender
  late,             ///< a message arrives some steps later
  stall             ///< a node does not run in the step, and gets what has arrived when it runs again
};
inline constexpr std::array all_fault_kinds{FaultKind::drop, FaultKind::twice,           FaultKind::corrupt, FaultKind::truncate,
                                            FaultKind::swap, FaultKind::wrong_neighbour, FaultKind::late,    FaultKind::stall};

/// drop, double, corrupt, truncate, swap, wrong-neighbour, late, stall.
std::string_view name(FaultKind kind) noexcept;

/// One fault, in one run. Where and how it strikes is the same for every executor.
struct Fault {
  FaultKind kind{};
  Step step = 0;                              ///< in which the message is sent; of a stall: in which the node does not run, from 1
  NodeId node = 0;                            ///< the message's sender; of a stall: the node
  std::optional<std::uint32_t> channel = {};  ///< the slot of the message's first channel (Topology::slot); none: its first message
  bool exact = true;       ///< false: the first step from `step` on, and the first node from `node` on, where it can strike
  std::uint64_t seed = 1;  ///< which byte, which bit, how many steps later
};

/// What a fault has done.
struct FaultRecord {
  Step step = 0;
  NodeId node = 0;
  std::string text;                   ///< one line: "step 2: the message from (0,1) to (0,2) is dropped"
  NodeId to = 0;                      ///< receiver of the message; of a stall: the node
  std::uint64_t carried = 0;          ///< blocks with bytes in the message; 0 of a stall
  std::vector<BlockId> changed = {};  ///< blocks whose bytes it changed; none if they were like that before, or of another kind
};

}  // namespace torus
