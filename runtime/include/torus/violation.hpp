/// What a node program can do against the rules of the machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus {

/// Messages that the queue of an in-channel takes in one step where channels are shared; one where they are exclusive. Only a machine with
/// more ports can overflow it by that alone: with fewer, the node has too many receives as well, and that is named first.
inline constexpr int shared_queue_depth = 8;

enum class Offence : std::uint8_t {
  empty_route,            ///< no hop at all
  unknown_dimension,      ///< a leg names a dimension that the machine has not
  leaves_the_machine,     ///< over the end of a line, along an extent of 1, or to offset 0 of a complete dimension
  more_than_one_hop,      ///< under packet switching
  not_dimension_ordered,  ///< under wormhole switching
  channel_crossed_twice,  ///< by one message
  channel_used_twice,     ///< by two messages of a step, where contention is forbidden
  too_many_sends,         ///< more than the ports
  too_many_receives,      ///< more than the ports
  block_not_held,         ///< sent without being held
  queue_overflow          ///< more messages by one in-channel than shared_queue_depth
};

std::string_view name(Offence offence) noexcept;

/// One offence: where, when and, in words, who.
struct Violation {
  Offence offence{};
  Step step = 0;
  NodeId node = 0;   ///< the sender; the receiver for too_many_receives and queue_overflow
  std::string text;  ///< one line that names step, node or channel, and the messages
};

/// The order in which those of a step are reported.
inline bool reported_before(const Violation& a, const Violation& b) noexcept {
  return std::tie(a.node, a.offence, a.text) < std::tie(b.node, b.offence, b.text);
}

/// The violations of one step: how many, and the first of them in words. A rule broken on every channel of a large machine would else take
/// more memory than the run.
class Violations {
 public:
  static constexpr std::size_t most_told = 1000;

  bool empty() const noexcept { return found_ == 0; }
  std::uint64_t found() const noexcept { return found_; }
  /// text() says what is wrong, without the step; called only if the violation may be among the first.
  template <class Text>
  void add(Offence offence, Step step, NodeId node, Text&& text) {
    ++found_;
    if (last_ && *last_ < std::pair(node, offence)) return;
    told_.push_back({offence, step, node, "step " + std::to_string(step) + ": " + text()});
    if (told_.size() == 2 * most_told) cut();
  }
  /// More of the same step.
  void add(const Violations& more) {
    found_ += more.found_;
    told_.insert(told_.end(), more.told_.begin(), more.told_.end());
    if (told_.size() > most_told) cut();
  }
  /// The first `most_told`, in the order in which they are reported.
  std::vector<Violation> told() const {
    std::vector<Violation> sorted = told_;
    std::sort(sorted.begin(), sorted.end(), reported_before);
    sorted.resize(std::min(sorted.size(), most_told));
    return sorted;
  }

 private:
  void cut() {
    std::nth_element(told_.begin(), told_.begin() + (most_told - 1), told_.end(), reported_before);
    told_.resize(most_told);
    last_ = {told_.back().node, told_.back().offence};
  }

  std::uint64_t found_ = 0;
  std::vector<Violation> told_;
  std::optional<std::pair<NodeId, Offence>> last_;  // what comes behind this is not among the first
};

}  // namespace torus
