/// The result of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <torus/block.hpp>
#include <torus/groups.hpp>
#include <torus/injection.hpp>
#include <torus/machine.hpp>
#include <torus/node.hpp>
#include <torus/placement.hpp>
#include <torus/violation.hpp>

namespace torus {

/// The first difference between what nodes hold at the end and what they must hold, by (node, block).
struct WrongDelivery {
  enum class Kind : std::uint8_t {
    missing,
    unasked,
    damaged,
    lacks_contributor,  ///< one node has not contributed to a partial
    contributor_twice,  ///< one node has contributed twice to a partial
    contributors,       ///< a partial's contributors are wrong in some other way
    not_a_rounding,     ///< no order of combining leads to the result: where rounds(Reduction)
    disagrees,          ///< all nodes must have one result, and this one has other bits than another node
    not_heard           ///< in a barrier: the node has not heard of another one; torus::run() finds that, not the engine
  };
  Kind kind{};
  NodeId node = 0;
  BlockId block = 0;
  std::uint64_t offset = 0;  ///< damaged: of the first wrong byte
  std::uint8_t got = 0;
  std::uint8_t wanted = 0;
  NodeId contributor = 0;  ///< lacks_contributor, contributor_twice, not_heard: which; disagrees: with which
  double got_number = 0;   ///< not_a_rounding: the element at the offset, and what it is without rounding
  double exact_number = 0;
  std::optional<NodeId> group = {};  ///< the node's, of a run with groups; block is then a number of that group
  std::optional<NodeId> rank = {};   ///< the node's, where all nodes have other ranks; block then goes by ranks

  void place_in(const Groups& groups) {
    const NodeId own = groups.group_of(node);
    if (groups.renames())
      rank = groups.local(node);
    else if (own != Groups::none)
      group = groups.number_of(own);
  }
};

/// What one step carried.
struct StepRecord {
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;  ///< without blocks
  std::uint64_t hops = 0;
  Bytes bytes = 0;                  ///< of all messages, headers included
  Bytes payload_bytes = 0;          ///< of the blocks alone
  Bytes most_bytes = 0;             ///< max on one channel
  Bytes combined_bytes = 0;         ///< of partials, out of its arrivals
  Bytes most_combined = 0;          ///< of them, max of a node
  double channel_time_s = 0;        ///< max over the channels of their bytes times their T_c: the byte term of the model time
  std::uint32_t longest_route = 0;  ///< max hops of one message
  const char* phase = nullptr;      ///< Node::phase(); none if no program named one
  /// True if it carried messages, and none with blocks.
  bool control_only() const noexcept { return messages > 0 && control_messages == messages; }
};

/// The sums over the steps of a phase.
struct PhaseTotals {
  const char* phase = nullptr;  ///< none: the steps that no program named
  std::uint64_t steps = 0;
  std::uint64_t control_steps = 0;  ///< of them, with control messages alone
  std::uint64_t messages = 0;
  Bytes bytes = 0;          ///< of all messages, headers included
  Bytes channel_bytes = 0;  ///< sum of the steps' max on one channel
  double model_time_s = 0;
};

/// A run that would have waited for ever.
struct Hang {
  struct Waiting {
    NodeId node = 0;
    Wait waits_for = Wait::arrival;
    std::optional<Step> last_arrival;  ///< the step that brought its last message
  };
  std::uint64_t nodes = 0;           ///< nodes that had not ended
  std::vector<Waiting> first;        ///< the first of them, by rank
  std::optional<Step> last_traffic;  ///< the last step with a message
  bool stepping = false;             ///< nodes kept passing barriers, without traffic for more than RunOptions::idle_steps
};

struct RunResult {
  /// The most steps that step_records keeps, and the most phases that `phases` tells apart: the memory of a result does not grow with the
  /// run. Steps of further phases count as steps without a name.
  static constexpr std::size_t max_step_records = 65'536;
  static constexpr std::size_t max_phases = 256;

  // What happened. Reproducible: equal for every executor and number of threads. After a violation: the steps before it, and its own
  // step if only the receivers noticed it; the channel figures then depend on which of the colliding messages was first.
  std::uint64_t steps = 0;          ///< barriers crossed until all programs had ended
  std::uint64_t busy_steps = 0;     ///< of them, with a message
  std::uint64_t control_steps = 0;  ///< of them, with control messages alone
  std::uint64_t messages = 0;
  std::uint64_t control_messages = 0;
  std::uint64_t hops = 0;
  std::uint64_t blocks_delivered = 0;
  std::uint64_t duplicates = 0;        ///< blocks that reached a node that held them already
  Bytes bytes_delivered = 0;           ///< of all blocks of all messages, once a delivery
  Bytes control_bytes = 0;             ///< of all headers
  Bytes bytes_hops = 0;                ///< message bytes times hops
  std::uint64_t max_channel_load = 0;  ///< max messages on one channel in one step
  Bytes channel_bytes_max = 0;         ///< over the whole run, on the busiest channel
  double channel_bytes_mean = 0;       ///< over all channels
  double channel_idle_share = 0;       ///< share of the channels that never carried anything
  Bytes channel_bytes_sum = 0;         ///< sum over the steps of the max bytes on one channel: the L of the model time
  double channel_time_s = 0;           ///< sum over the steps of the byte terms; L times T_c, where all channels have one T_c
  std::uint64_t route_hops_sum = 0;    ///< sum over the steps of the max hops of one message: the H of the model time
  Bytes combined_bytes = 0;            ///< of partials that met one that the receiver held, in reductions
  Bytes node_combined_sum = 0;         ///< sum over the steps of the most bytes that one node combined: the G of the model time
  double model_time_s = 0;
  std::uint64_t trace_digest = 0;           ///< sum of the hashes of all messages
  std::vector<PhaseTotals> phases;          ///< in the order of their first steps
  std::shared_ptr<const void> phase_texts;  ///< where several processes ran: keeps the names of phases
  std::vector<StepRecord> step_records;     ///< of the first max_step_records steps; all sums cover every step

  std::optional<Buffered> buffered;  ///< by a watcher that counts it; none: nobody has

  // How it ended.
  std::vector<Violation> violations;   ///< of the first step that has any, by node; the first 1000
  std::uint64_t violations_found = 0;  ///< the number of violations in that step
  std::optional<Hang> hang;
  std::optional<WrongDelivery> wrong;
  /// Where rounds(Reduction), and the bytes were verified: the largest error of an element at any node, in units of the last place of the
  /// exact result; of a sum, of the smallest contribution where that is larger.
  std::optional<double> error_ulp;
  bool verified = false;  ///< every wanted block is where it must be, byte for byte, and nothing else; false if verification was turned off
  bool interrupted = false;
  std::optional<FaultRecord> fault;  ///< what RunOptions::fault did; none: there was none, or it could not strike
  /// True if nothing went wrong. Whether the bytes were verified is another question: see `verified`.
  bool good() const noexcept { return violations.empty() && !hang && !wrong && !interrupted; }

  // Time and memory on this host.
  double setup_s = 0;  ///< memory, queues, filling, making programs
  double run_s = 0;
  double verify_s = 0;
  unsigned threads = 0;    ///< of a process
  unsigned processes = 1;  ///< that did the run together
  Bytes memory_bytes = 0;  ///< the estimate, of all processes
  /// Counted, of this process: what the engine has taken, with the most that frames and messages took. What programs allocate themselves is
  /// not in it, nor are the pages that the kernel rounds up to.
  Bytes used_bytes = 0;
};

}  // namespace torus
