/// The violations of one step: their number, and the first of them in words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/message.hpp>
#include <torus/violation.hpp>

namespace torus {

/// Capacity of an in-channel's queue in one step where channels are shared; it is 1 where they are exclusive. Only a machine with more
/// ports can overflow it alone: with fewer, the node receives too many messages as well, and that is reported first.
inline constexpr int shared_queue_depth = 8;

/// The order in which the violations of a step are reported.
inline bool reported_before(const Violation& a, const Violation& b) noexcept {
  return std::tie(a.node, a.kind, a.text) < std::tie(b.node, b.kind, b.text);
}

/// Counts the violations of a step and keeps the first max_kept: on a large machine, the texts of all could take more memory than the run.
class Violations {
 public:
  static constexpr std::size_t max_kept = 1000;
  static constexpr std::size_t max_messages = 4, max_legs = 32;  ///< of each that is kept

  bool empty() const noexcept { return found_ == 0; }
  std::uint64_t found() const noexcept { return found_; }
  /// text() says what is wrong, without the step; called only if the violation may be among the first.
  template <class Text>
  void add(ViolationKind kind, Step step, NodeId node, std::span<const Message* const> messages, Text&& text) {
    ++found_;
    if (last_ && *last_ < std::pair(node, kind)) return;
    kept_.push_back({kind, step, node, "step " + std::to_string(step) + ": " + text()});
    for (const Message* m : messages.first(std::min(messages.size(), max_messages))) kept_.back().messages.push_back(shown(*m));
    if (kept_.size() == 2 * max_kept) drop_last();
  }
  /// One of which there are no messages.
  template <class Text>
  void add(ViolationKind kind, Step step, NodeId node, Text&& text) {
    add(kind, step, node, {}, std::forward<Text>(text));
  }
  /// Adds violations of the same step that were found elsewhere.
  void add(const Violations& more) {
    found_ += more.found_;
    kept_.insert(kept_.end(), more.kept_.begin(), more.kept_.end());
    if (kept_.size() > max_kept) drop_last();
  }
  /// The first max_kept, in the order of reported_before().
  std::vector<Violation> first() const {
    std::vector<Violation> sorted = kept_;
    std::sort(sorted.begin(), sorted.end(), reported_before);
    sorted.resize(std::min(sorted.size(), max_kept));
    return sorted;
  }

 private:
  static ViolatingMessage shown(const Message& m) {
    const RouteView route = RouteView(m.route()).first(std::min(m.route().size(), max_legs));
    return {m.source(), {route.begin(), route.end()}, m.blocks().size(), m.blocks().empty() ? 0 : m.blocks().front(), m.bytes()};
  }
  void drop_last() {
    std::nth_element(kept_.begin(), kept_.begin() + (max_kept - 1), kept_.end(), reported_before);
    kept_.resize(max_kept);
    last_ = {kept_.back().node, kept_.back().kind};
  }

  std::uint64_t found_ = 0;
  std::vector<Violation> kept_;
  std::optional<std::pair<NodeId, ViolationKind>> last_;  // violations behind this one are not among the first
};

}  // namespace torus
