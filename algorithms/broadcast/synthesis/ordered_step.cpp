// One matching, hence one file: what each message can reach, Hopcroft and Karp on it, and the routes of the result.
#include "algorithms/broadcast/synthesis/ordered_step.hpp"

#include <algorithm>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
namespace {

constexpr std::uint32_t none = ~0U;

}  // namespace

OrderedStep::OrderedStep(const Topology& topology) : topology_{topology} {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  if (!linked.empty()) last_ = linked.back();
  rows_ = topology.extent(last_);
  ring_ = topology.wiring(last_) == Wiring::ring;
  role_.resize(topology.nodes());
  up_.resize(topology.nodes());
  down_.resize(topology.nodes());
  index_.resize(topology.nodes());
}

std::size_t OrderedStep::solve(std::span<const NodeId> senders, std::span<const NodeId> targets) {
  std::fill(role_.begin(), role_.end(), Role::none);
  targets_.assign(targets.begin(), targets.end());
  for (const NodeId node : senders) role_[node] = Role::sender;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    role_[targets_[i]] = Role::target;
    index_[targets_[i]] = i;
  }
  for (NodeId first = 0; first < topology_.nodes(); first += static_cast<NodeId>(rows_)) mark_gaps(first);
  find_pairs(senders);
  sort_pairs();
  greedy_start();
  while (find_levels()) {
    for (std::uint32_t i = 0; i < targets_.size(); ++i) {
      if (taken_[i] == none) augment(i);
    }
  }
  return targets_.size() - static_cast<std::size_t>(std::count(taken_.begin(), taken_.end(), none));
}

/// The next sender or target of each node of a cell, both ways.
void OrderedStep::mark_gaps(NodeId first) {
  const auto sweep = [&](std::vector<NodeId>& next, std::int32_t way) {
    NodeId met = none;
    for (std::int32_t turn = 0; turn < (ring_ ? 2 : 1); ++turn) {
      for (std::int32_t i = 0; i < rows_; ++i) {
        const NodeId node = first + static_cast<NodeId>(way > 0 ? rows_ - 1 - i : i);
        next[node] = met == none ? node : met;
        if (role_[node] != Role::none) met = node;
      }
    }
  };
  sweep(up_, +1);
  sweep(down_, -1);
}

void OrderedStep::find_pairs(std::span<const NodeId> senders) {
  messages_.clear();
  found_.clear();
  for (const NodeId sender : senders) {
    for (const std::int32_t way : {+1, -1}) {
      const auto message = static_cast<std::uint32_t>(messages_.size());
      messages_.push_back({sender, last_});
      const NodeId next = way > 0 ? up_[sender] : down_[sender];
      if (next != sender && role_[next] == Role::target) found_.push_back({index_[next], {message, way * gap(sender, next, way), 0}});
    }
    for (Dimension d = 0; d < last_; ++d) {
      if (topology_.extent(d) == 1) continue;
      for (const std::int32_t way : {+1, -1}) {
        const auto message = static_cast<std::uint32_t>(messages_.size());
        messages_.push_back({sender, d});
        std::optional<NodeId> at = sender;
        for (std::int32_t hops = 1; hops < topology_.extent(d); ++hops) {
          at = topology_.neighbour(*at, d, way);
          if (!at || role_[*at] == Role::sender) break;
          offer(message, *at, way * hops);
        }
      }
    }
  }
}

/// The targets that a message reaches which comes to a node along another dimension: the node itself, and those at the ends of its gap.
void OrderedStep::offer(std::uint32_t message, NodeId at, std::int32_t hops) {
  if (role_[at] == Role::target) found_.push_back({index_[at], {message, hops, 0}});
  const NodeId up = up_[at], down = down_[at];
  const bool to_up = up != at && role_[up] == Role::target, to_down = down != at && role_[down] == Role::target;
  const std::int32_t hops_up = gap(at, up, +1), hops_down = gap(at, down, -1);
  const bool alone = up == down;  // it ends the gap both ways: the shorter way will do
  if (to_up && !(alone && hops_down < hops_up)) found_.push_back({index_[up], {message, hops, hops_up}});
  if (to_down && !(alone && hops_up <= hops_down)) found_.push_back({index_[down], {message, hops, -hops_down}});
}

/// Hops from one node of a cell to another in one direction.
std::int32_t OrderedStep::gap(NodeId from, NodeId to, std::int32_t way) const {
  const std::int32_t up = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
  const std::int32_t hops = way > 0 ? up : -up;
  return hops < 0 ? hops + rows_ : hops;
}

/// By target, each target's in the order of the messages.
void OrderedStep::sort_pairs() {
  first_.assign(targets_.size() + 1, 0);
  for (const auto& [target, pair] : found_) ++first_[target + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  next_.assign(first_.begin(), first_.end() - 1);
  pairs_.resize(found_.size());
  for (const auto& [target, pair] : found_) pairs_[next_[target]++] = pair;
  looks_ += found_.size();
}

void OrderedStep::greedy_start() {
  taken_.assign(targets_.size(), none);
  served_.assign(messages_.size(), none);
  for (const auto& [target, pair] : found_) {
    if (taken_[target] != none || served_[pair.message] != none) continue;
    for (std::uint32_t i = first_[target];; ++i) {
      if (pairs_[i].message != pair.message) continue;
      taken_[target] = i;
      break;
    }
    served_[pair.message] = target;
  }
}

/// Levels of the targets by alternating paths from those without a message; false if none of the paths ends at a free message.
bool OrderedStep::find_levels() {
  level_.assign(targets_.size(), none);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    next_[i] = first_[i];
    if (taken_[i] != none) continue;
    level_[i] = 0;
    queue.push_back(i);
  }
  bool ends = false;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t target = queue[head];
    for (std::uint32_t i = first_[target]; i < first_[target + 1]; ++i) {
      ++looks_;
      const std::uint32_t other = served_[pairs_[i].message];
      if (other == none) {
        ends = true;
      } else if (level_[other] == none) {
        level_[other] = level_[target] + 1;
        queue.push_back(other);
      }
    }
  }
  return ends;
}

bool OrderedStep::augment(std::uint32_t target) {
  for (std::uint32_t& i = next_[target]; i < first_[target + 1]; ++i) {
    ++looks_;
    const std::uint32_t message = pairs_[i].message, other = served_[message];
    if (other != none && (level_[other] != level_[target] + 1 || !augment(other))) continue;
    served_[message] = target;
    taken_[target] = i;
    return true;
  }
  level_[target] = none;
  return false;
}

std::vector<NodeId> OrderedStep::unserved() const {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (taken_[i] == none) nodes.push_back(targets_[i]);
  }
  return nodes;
}

std::vector<Circuit> OrderedStep::messages() const {
  std::vector<Circuit> all;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (taken_[i] == none) continue;
    const Pair& pair = pairs_[taken_[i]];
    const auto [sender, dimension] = messages_[pair.message];
    Circuit circuit{sender, targets_[i], {{dimension, pair.hops}}};
    if (pair.cell_hops != 0) circuit.route.push_back({last_, pair.cell_hops});
    all.push_back(std::move(circuit));
  }
  return all;
}

}  // namespace torus::broadcast
