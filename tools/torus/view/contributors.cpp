#include "tools/torus/view/contributors.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <unordered_map>

#include "runtime/base/figures.hpp"

namespace torus::command {
namespace {

/// The segments of the whole vector of a group of so many nodes.
std::uint64_t segments_of(const TraceHeader& header, NodeId nodes) {
  return std::uint64_t{header.segments} * (facts_of(header.collective).takes_sizes() ? nodes : 1);
}

}  // namespace

bool ContributorCounts::follows(std::string_view collective) {
  const CollectiveFacts& facts = facts_of(collective);
  return facts.combines || !facts.carries_bytes();
}

std::optional<std::string> ContributorCounts::too_large(const TraceHeader& header) {
  const std::uint64_t nodes = header.machine.topology.nodes();
  const NodeId group = TraceGroups(header).most_nodes();
  if (!facts_of(header.collective).carries_bytes()) {
    if (nodes * group <= max_pairs) return std::nullopt;
    return fmt::format("each of {} nodes is to hear of {}, and at most {} such pairs are followed", grouped(nodes),
                       group == nodes ? "all" : grouped(group), grouped(max_pairs));
  }
  const std::uint64_t segments = segments_of(header, group);
  if (static_cast<double>(nodes) * static_cast<double>(segments) * header.registers <= static_cast<double>(max_partials))
    return std::nullopt;
  return fmt::format("each of {} nodes may hold {} partials, and at most {} in all are followed", grouped(nodes),
                     grouped(segments * header.registers), grouped(max_partials));
}

ContributorCounts::ContributorCounts(const TraceHeader& header)
    : facts_{facts_of(header.collective)},
      topology_{header.machine.topology},
      groups_{header},
      nodes_{topology_.nodes()},
      living_up_to_(nodes_),
      root_{header.sources.empty() ? 0 : header.sources.front()},
      pieces_{header.segments},
      segments_{segments_of(header, groups_.most_nodes())},
      registers_{header.registers},
      blocks_{segments_ * registers_},
      had_(nodes_) {
  for (NodeId group = 0; group < groups_.count(); ++group) {
    std::uint32_t living = 0;
    for (NodeId rank = 0; rank < groups_.nodes(group); ++rank)
      living_up_to_[groups_.node(group, rank)] = living += groups_.living(group, rank) ? 1U : 0U;
  }
  if (facts_.carries_bytes()) {
    now_.resize(nodes_ * blocks_);
    most_.resize(facts_.wanted == Wanted::at_root    ? groups_.count() * segments_
                 : facts_.wanted == Wanted::at_owner ? nodes_ * pieces_
                                                     : nodes_ * segments_,
                 1);
  } else {
    heard_.emplace(nodes_, groups_.most_nodes());
  }
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!follows(node)) continue;
    if (heard_) hear_of_itself(node);
    if (!heard_) std::fill_n(now_.begin() + static_cast<std::ptrdiff_t>(node * blocks_), segments(node), 1U);
    if (const std::uint64_t own = wanted_segments(node); own > 0) gain(node, own);
  }
}

/// And of the dead, for whom nobody waits.
void ContributorCounts::hear_of_itself(NodeId node) {
  const auto [group, own] = groups_.place(node);
  for (NodeId rank = 0; rank < groups_.nodes(group); ++rank) {
    if (rank == own || !groups_.living(group, rank)) heard_->hear(node, rank);
  }
}

std::uint32_t ContributorCounts::living_in_group(NodeId node) const noexcept {
  const NodeId group = groups_.place(node).group;
  return group == TraceGroups::none ? 0 : living_up_to_[groups_.node(group, groups_.nodes(group) - 1)];
}

std::uint64_t ContributorCounts::segments(NodeId node) const noexcept {
  const NodeId group = groups_.place(node).group;
  if (group == TraceGroups::none) return 0;
  return facts_.takes_sizes() ? pieces_ * groups_.nodes(group) : segments_;
}

std::uint64_t ContributorCounts::wanted_segments(NodeId node) const noexcept {
  if (!follows(node)) return 0;
  if (facts_.wanted == Wanted::at_owner) return pieces_;
  return heard_ ? 1 : facts_.wanted == Wanted::at_root && groups_.place(node).rank != root_ ? 0 : segments_;
}

std::optional<std::uint64_t> ContributorCounts::wanted_index(NodeId node, std::uint64_t segment) const noexcept {
  const auto [group, rank] = groups_.place(node);
  if (!facts_.wants(rank, static_cast<NodeId>(segment / pieces_), root_)) return std::nullopt;
  return facts_.wanted == Wanted::at_root    ? group * segments_ + segment
         : facts_.wanted == Wanted::at_owner ? node * pieces_ + segment % pieces_
                                             : node * segments_ + segment;
}

std::uint64_t ContributorCounts::gain(NodeId node, std::uint64_t more) {
  const bool before = had_[node] == wanted(node);
  had_[node] += more;
  if (!before && had_[node] == wanted(node)) ++complete_;
  return more;
}

void ContributorCounts::sent(const TraceMessage& m) {
  messages_.push_back({m.destination, m.bytes, m.blocks.size()});
  const bool leaves = groups_.place(m.source).group != groups_.place(m.destination).group;  // its group: that tells nobody anything
  if (heard_) return heard_->sent(m.source, leaves ? m.source : m.destination);
  if (leaves) return;
  const auto number = static_cast<std::uint32_t>(messages_.size() - 1);
  const std::uint64_t vector = segments(m.source);
  for (const std::uint64_t block : m.blocks) {
    if (block >= vector * registers_) continue;
    const auto from = static_cast<std::uint32_t>(m.source * blocks_ + block);
    if (now_[from] == 0) continue;
    if (m.releases) given_.push_back(from);
    const std::uint64_t to = m.destination * blocks_;
    detail::each_place(m, block, registers_, vector, [&](std::uint64_t at, bool combines) {
      arrivals_.push_back({static_cast<std::uint32_t>(to + at), now_[from], number, combines});
    });
  }
}

std::uint64_t ContributorCounts::arrive(const Arrival& a, std::uint64_t& combined) {
  std::uint32_t& now = now_[a.cell];
  if (a.combines && now > 0) ++combined;
  // Where contributors may be counted twice (min and max), a count stays within the number of living nodes.
  const auto node = static_cast<NodeId>(a.cell / blocks_);
  now = a.combines ? now + std::min(a.count, living_in_group(node) - now) : a.count;
  const std::uint64_t segment = a.cell % blocks_;
  const auto index = segment < segments(node) ? wanted_index(node, segment) : std::nullopt;
  if (!index) return 0;
  const std::uint32_t had = most_[*index];
  const std::uint32_t has = std::max(had, facts_.wanted == Wanted::of_prefix ? std::min(now, contributors(node)) : now);
  most_[*index] = has;
  return has > had ? gain(node, has - had) : 0;
}

const std::vector<ContributorCounts::Effect>& ContributorCounts::end_step() {
  effects_.assign(messages_.size(), {});
  for (const std::uint32_t cell : given_) now_[cell] = 0;
  std::vector<std::uint64_t> combined(messages_.size());  // blocks
  for (const Arrival& a : arrivals_) effects_[a.message].gained += arrive(a, combined[a.message]);
  if (heard_) {
    const std::vector<std::uint64_t>& gained = heard_->end_step();
    for (std::size_t i = 0; i < gained.size(); ++i) effects_[i].gained = gain(messages_[i].destination, gained[i]);
  }
  std::unordered_map<NodeId, Bytes> by_node;
  most_combined_ = 0;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Sent& m = messages_[i];
    if (combined[i] > 0) {
      effects_[i].combined = m.bytes / m.blocks * combined[i] + m.bytes % m.blocks * combined[i] / m.blocks;
      most_combined_ = std::max(most_combined_, by_node[m.destination] += effects_[i].combined);
    }
  }
  messages_.clear();
  given_.clear();
  arrivals_.clear();
  return effects_;
}

}  // namespace torus::command
