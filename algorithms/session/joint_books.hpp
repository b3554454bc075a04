/// What several collectives have in common, a global step at a time: channels, ports, queues, and the model time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <torus/session.hpp>

#include "runtime/engine/rules/violations.hpp"

namespace torus::detail {

/// What the books must know of one collective.
struct JointMember {
  std::string name;
  const Engine* engine = nullptr;        ///< asked what nodes hold when a step ends
  const Placement* placement = nullptr;  ///< of a group's nodes, where there are groups
};

/// Adds up the messages of all, and finds the rules that collectives break together. A rule that one breaks by itself its engine finds. One
/// thread at a time. Time: O(hops) a step. All that it is given must outlive it. Of several processes only process 0 gives messages; it
/// asks the others what their nodes hold, so that all must call step().
class JointBooks {
 public:
  /// processes: of all engines; null: one.
  JointBooks(const Machine& machine, std::span<const JointMember> members, Processes* processes);
  /// The memory that the books take for a number of collectives.
  static Bytes bytes(const Machine& machine, std::size_t members) noexcept;

  /// Books a global step in which some collective took part, and returns its model time in seconds. Where two break a rule together, the
  /// violations are then in the run.
  double step(Step step, std::span<const StepSends> sends, SessionRun& run);
  /// Books as many steps in which none took part.
  void idle(Step steps, SessionRun& run);
  /// Adds what is known only in the end.
  void close(SessionRun& run) const;

 private:
  struct HeldBlock {
    NodeId node = 0;
    BlockId block = 0;
    friend auto operator<=>(const HeldBlock&, const HeldBlock&) = default;
  };
  /// The collectives that use a node or channel in a step.
  struct Users {
    std::uint64_t step = 0;  // of these counts, from 1; others are of an earlier step
    std::uint32_t first = 0;
    bool several = false;
  };
  struct NodeUse {
    Users senders, receivers;
    std::uint32_t sent = 0, received = 0;
    std::uint64_t combining_step = 0;  // of `combined`
    Bytes combined = 0;
  };
  struct ChannelUse {
    Users users;
    std::uint32_t messages = 0;
    std::uint32_t queued = 0;  // messages that arrive by it
    Bytes bytes = 0;
  };

  /// Notes that a collective uses it in this step. True if it is the first to do so.
  bool note(Users& users, std::uint32_t member) const noexcept;
  std::size_t channel(NodeId from, Dimension d, std::int32_t hop) const noexcept;
  void book(std::uint32_t member, const Message& message, StepRecord& record);
  void book_combining(std::uint32_t member, std::span<const Message* const> messages, StepRecord& record);
  std::vector<bool> held(const Engine& engine, std::span<const HeldBlock> asked) const;
  Violations clashes(Step step, std::span<const StepSends> sends) const;
  double add(const StepRecord& record, SessionRun& run) const;

  const Machine& machine_;
  const Topology& topology_;
  const std::span<const JointMember> members_;
  Processes* const processes_;
  std::vector<NodeUse> nodes_;
  std::vector<ChannelUse> channels_;
  std::vector<std::vector<Bytes>> carried_;  // by member and channel, over the whole run
  std::vector<std::uint8_t> users_;          // by channel, over the whole run
  std::uint64_t now_ = 0;                    // the present step, from 1
  std::uint64_t max_channel_load_ = 0;
  std::uint64_t shared_crossings_ = 0;
  bool suspect_ = false;  // of this step: collectives may break a rule together
};

}  // namespace torus::detail
