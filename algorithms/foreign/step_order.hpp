/// The order of an MSCCL program in lock step: which receive goes with which send, which step is after which, and in which step of the
/// machine each message leaves.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/foreign/msccl.hpp"

namespace torus::foreign {

class StepOrder {
 public:
  /// Throws InputError: a send without a receive, steps that wait for each other, a route that leads elsewhere.
  StepOrder(const MscclProgram& program, const Content::Place& place);

  /// All steps, each after all that it waits for.
  std::span<const std::uint32_t> steps() const noexcept { return order_; }
  const std::vector<MscclMessage>& messages() const noexcept { return messages_; }
  /// The number of the message that a step sends, and of the one that a step receives.
  std::uint32_t sent_by(std::uint32_t step) const noexcept { return message_[step]; }
  std::uint32_t received_by(std::uint32_t step) const noexcept { return message_[partner_[step]]; }
  /// MscclProgram::routes of a message, or no_step.
  std::uint32_t route_of(const MscclMessage& message) const noexcept { return routed_ ? step(message.send).route : no_step; }
  /// Whether a step is after another, which stands before it in the order: by threadblock, dependency or queue. `position`: of each step in
  /// the order. True after very many steps of search.
  bool ordered(std::uint32_t first, std::uint32_t second, std::span<const std::uint32_t> position);

  /// A message is to leave in this step of the machine or later; false if it does. Then order() finds the steps anew.
  bool delay(std::uint32_t message, Step not_before);
  /// The first step of the machine in which each message can leave. A threadblock sends one a step.
  void order();

 private:
  const MscclStep& step(std::uint32_t at) const { return program_.steps[at]; }
  const Threadblock& block_of(std::uint32_t at) const { return program_.blocks[step(at).block]; }
  /// It leads where the message goes; whether the machine has its channels says the judge.
  void check_route(std::uint32_t at) const;
  void check_hops() const;
  /// The n-th send on a queue goes with its n-th receive.
  void match();
  [[noreturn]] void refuse_circle(const std::vector<std::uint8_t>& waits) const;

  const MscclProgram& program_;
  const Content::Place& place_;
  std::vector<std::uint32_t> partner_;  // of a receive: its send
  std::vector<std::pair<std::uint32_t, std::uint32_t>> receive_of_;
  std::vector<MscclMessage> messages_;
  std::vector<std::uint32_t> message_;  // of a step that sends
  std::vector<Step> not_before_, ready_;
  std::vector<std::uint32_t> order_;
  bool routed_;  // the routes of the file are this machine's
  // What ordered() works with:
  std::vector<std::uint32_t> stamps_, trail_;
  std::uint32_t stamp_ = 0;
  std::uint64_t search_ = 0;
};

}  // namespace torus::foreign
