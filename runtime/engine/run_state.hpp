/// What sending and receiving share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <torus/machine.hpp>
#include <torus/placement.hpp>

#include "runtime/engine/members.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/network/channels.hpp"
#include "runtime/engine/network/links.hpp"
#include "runtime/engine/network/message_arena.hpp"
#include "runtime/engine/payload/payload.hpp"
#include "runtime/engine/workers/active_set.hpp"

namespace torus::detail {

class Border;

/// The rooms of a run, and the state of the present step. Workers read it during a step; only the barrier writes it.
struct RunState {
  RunState(const Machine& run_on, const Members& all, const Slab& slab, Bytes spare, unsigned workers, KeptPages* pages);

  // ---- fixed ----

  const Machine& machine;
  const Members& members;
  const Placement& placement;  ///< theirs: what all nodes have in common, such as the blocks' lengths
  const Slab& own;             ///< the nodes of this process
  const int ports;
  const Bytes block_bytes;                  ///< where all blocks are equally long
  const bool own_hops;                      ///< packet switching, channels not shared, blocks equally long
  const bool straight_legs;                 ///< like own_hops, with routes of any length
  const bool reduces;                       ///< blocks are partials of a reduction
  const std::optional<BlockId> only_block;  ///< where there is only one
  const bool exceeds_cache;                 ///< true if the in-queues outgrow 2 MiB, so that prefetching them pays

  // ---- rooms ----

  MemoryBudget budget;
  Payload payload;
  Channels channels;
  MessageMemory messages;
  Links links;
  ActiveSet active[2];       ///< by parity of the step
  Border* border = nullptr;  ///< to other processes, where there are any

  // ---- the present step ----

  Step now = 0;
  std::uint32_t stamp = 1;                    ///< of the channels claimed in it: 1 + now, kept because every hop asks
  bool single_worker = false;                 ///< one worker runs all its nodes
  bool all_single_block = false;              ///< every message of the last step is one block over one hop, and no_duplicates
  bool no_duplicates = false;                 ///< of each block there is one copy in the machine, so far
  std::atomic<bool> payload_exposed = false;  ///< a program has asked for its blocks' bytes, and may write them from then on

  Bytes bytes_of(BlockId id) const noexcept { return placement.uniform() ? block_bytes : placement.bytes(id); }
};

}  // namespace torus::detail
