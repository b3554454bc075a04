/// Sending: a message is written, its channels are claimed, its blocks are copied, and it is posted to its receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <torus/message.hpp>
#include <torus/route.hpp>

#include "runtime/engine/run_state.hpp"
#include "runtime/engine/worker.hpp"

namespace torus::detail {

/// A send makes three independent choices: where the block is (it has just arrived, or it is in the node's table), whether the node keeps
/// it, and how the channels are claimed (its own hop now, a leg later, any route later). outbox_policies.hpp has a policy for each.
///
/// There are two ways to post. Single blocks that leave over a channel of their own are claimed at once; their copies, messages and queues
/// follow 32 at a time. All other messages are written and copied at once; their claims and queues follow up to 64 at a time. Meanwhile the
/// memory that is going to be written is prefetched.
namespace outbox {

// What nodes call; see Network. send_block() and forward_block() are in outbox_policies.hpp.
void send(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release);
/// registers: those of the receiver that the partials are combined into; 0: they replace what it holds.
void send_partials(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                   std::uint8_t registers);

/// The same for a message that keeps w.out.kept_route.
void send_keeping(RunState& run, Worker& w, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release);

/// Posts the single blocks that wait; posts the other messages that wait.
void post_forwards(RunState& run, Worker& w);
void post_claims(RunState& run, Worker& w);
/// Makes the copies that are put off: before their sources change, and before the barrier.
inline void make_copies(RunState& run, Worker& w) { run.payload.copier.make_all(w.out.copies); }
/// Posts and copies all that waits. After a worker's last node of a step at the latest.
inline void finish(RunState& run, Worker& w) {
  if (w.out.forwards_end != w.out.forwards.data()) post_forwards(run, w);
  if (!w.out.claims.empty()) post_claims(run, w);
  make_copies(run, w);
}

/// Makes a node run in the next step.
[[gnu::always_inline]] inline void activate(Worker& w, NodeId rank) noexcept {
  if (w.out.next_active->insert(rank)) ++w.tally.activated;
}

}  // namespace outbox
}  // namespace torus::detail
