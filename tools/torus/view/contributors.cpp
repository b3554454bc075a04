#include "tools/torus/view/contributors.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <unordered_map>

#include "runtime/base/figures.hpp"

namespace torus::command {
namespace {

std::uint64_t segments_of(const TraceHeader& header) {
  return std::uint64_t{header.segments} * (facts_of(header.collective).takes_sizes() ? header.machine.topology.nodes() : 1);
}

}  // namespace

bool ContributorCounts::follows(std::string_view collective) {
  const CollectiveFacts& facts = facts_of(collective);
  return facts.combines || !facts.carries_bytes();
}

std::optional<std::string> ContributorCounts::too_large(const TraceHeader& header) {
  const std::uint64_t nodes = header.machine.topology.nodes();
  if (!facts_of(header.collective).carries_bytes()) {
    if (nodes * nodes <= max_pairs) return std::nullopt;
    return fmt::format("each of {} nodes is to hear of all, and at most {} such pairs are followed", grouped(nodes), grouped(max_pairs));
  }
  const double blocks = static_cast<double>(segments_of(header)) * header.registers;
  if (static_cast<double>(nodes) * blocks <= static_cast<double>(max_partials)) return std::nullopt;
  return fmt::format("each of {} nodes may hold {} partials, and at most {} in all are followed", grouped(nodes),
                     grouped(segments_of(header) * header.registers), grouped(max_partials));
}

ContributorCounts::ContributorCounts(const TraceHeader& header)
    : facts_{facts_of(header.collective)},
      topology_{header.machine.topology},
      nodes_{topology_.nodes()},
      living_up_to_(nodes_),
      root_{header.sources.empty() ? 0 : header.sources.front()},
      pieces_{header.segments},
      segments_{segments_of(header)},
      registers_{header.registers},
      blocks_{segments_ * registers_},
      had_(nodes_) {
  for (NodeId rank = 0; rank < nodes_; ++rank) {
    const NodeId node = header.mapped() ? header.groups.front()[rank] : rank;
    if (topology_.living(node)) ++living_;
    living_up_to_[node] = living_;
  }
  if (!facts_.carries_bytes()) {
    heard_.emplace(detail::Participants(topology_));
  } else {
    now_.resize(nodes_ * blocks_);
    most_.resize(facts_.wanted == Wanted::at_root || facts_.wanted == Wanted::at_owner ? segments_ : nodes_ * segments_, 1);
  }
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!topology_.living(node)) continue;
    if (!heard_) std::fill_n(now_.begin() + static_cast<std::ptrdiff_t>(node * blocks_), segments_, 1U);
    if (const std::uint64_t own = wanted_segments(node); own > 0) gain(node, own);
  }
}

std::uint64_t ContributorCounts::wanted_segments(NodeId node) const noexcept {
  if (!topology_.living(node)) return 0;
  if (facts_.wanted == Wanted::at_owner) return pieces_;
  return heard_ ? 1 : facts_.wanted == Wanted::at_root && node != root_ ? 0 : segments_;
}

std::optional<std::uint64_t> ContributorCounts::wanted_index(NodeId node, std::uint64_t segment) const noexcept {
  if (!facts_.wants(node, static_cast<NodeId>(segment / pieces_), root_)) return std::nullopt;
  return facts_.wanted == Wanted::at_root || facts_.wanted == Wanted::at_owner ? segment : node * segments_ + segment;
}

std::uint64_t ContributorCounts::gain(NodeId node, std::uint64_t more) {
  const bool before = had_[node] == wanted(node);
  had_[node] += more;
  if (!before && had_[node] == wanted(node)) ++complete_;
  return more;
}

void ContributorCounts::sent(const TraceMessage& m) {
  messages_.push_back({m.destination, m.bytes, m.blocks.size()});
  if (heard_) return heard_->sent(m.source, m.destination);
  const auto number = static_cast<std::uint32_t>(messages_.size() - 1);
  for (const std::uint64_t block : m.blocks) {
    if (block >= blocks_) continue;
    const auto from = static_cast<std::uint32_t>(m.source * blocks_ + block);
    if (now_[from] == 0) continue;
    if (m.releases) given_.push_back(from);
    const std::uint64_t to = m.destination * blocks_;
    detail::each_place(m, block, registers_, segments_, [&](std::uint64_t at, bool combines) {
      arrivals_.push_back({static_cast<std::uint32_t>(to + at), now_[from], number, combines});
    });
  }
}

std::uint64_t ContributorCounts::arrive(const Arrival& a, std::uint64_t& combined) {
  std::uint32_t& now = now_[a.cell];
  if (a.combines && now > 0) ++combined;
  // Where contributors may be counted twice (min and max), a count stays within the number of living nodes.
  now = a.combines ? now + std::min(a.count, living_ - now) : a.count;
  const auto node = static_cast<NodeId>(a.cell / blocks_);
  const std::uint64_t segment = a.cell % blocks_;
  const auto index = segment < segments_ ? wanted_index(node, segment) : std::nullopt;
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
