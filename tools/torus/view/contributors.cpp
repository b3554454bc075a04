#include "tools/torus/view/contributors.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <unordered_map>

#include "runtime/base/figures.hpp"

namespace torus::command {
namespace {

std::uint64_t segments_of(const TraceHeader& header) {
  return std::uint64_t{header.segments} * (header.collective == "reduce-scatter" ? header.machine.topology.nodes() : 1);
}

}  // namespace

bool ContributorCounts::follows(std::string_view collective) noexcept {
  return collective == "reduce" || collective == "allreduce" || collective == "reduce-scatter" || collective == "scan" ||
         collective == "barrier";
}

std::optional<std::string> ContributorCounts::too_large(const TraceHeader& header) {
  const std::uint64_t nodes = header.machine.topology.nodes();
  if (header.collective == "barrier") {
    if (nodes * nodes <= max_pairs) return std::nullopt;
    return fmt::format("each of {} nodes is to hear of all, and at most {} such pairs are followed", grouped(nodes), grouped(max_pairs));
  }
  const double blocks = static_cast<double>(segments_of(header)) * header.registers;
  if (static_cast<double>(nodes) * blocks <= static_cast<double>(max_partials)) return std::nullopt;
  return fmt::format("each of {} nodes may hold {} partials, and at most {} in all are followed", grouped(nodes),
                     grouped(segments_of(header) * header.registers), grouped(max_partials));
}

ContributorCounts::ContributorCounts(const TraceHeader& header)
    : wants_{header.collective == "reduce"           ? Wants::root
             : header.collective == "reduce-scatter" ? Wants::owner
             : header.collective == "scan"           ? Wants::prefix
             : header.collective == "barrier"        ? Wants::hearing
                                                     : Wants::everywhere},
      topology_{header.machine.topology},
      nodes_{topology_.nodes()},
      living_before_(nodes_ + std::size_t{1}),
      root_{header.sources.empty() ? 0 : header.sources.front()},
      pieces_{header.segments},
      segments_{segments_of(header)},
      registers_{header.registers},
      blocks_{segments_ * registers_},
      had_(nodes_),
      words_{(std::size_t{nodes_} + 63) / 64} {
  for (NodeId node = 0; node < nodes_; ++node) living_before_[node + 1] = living_before_[node] + (topology_.living(node) ? 1 : 0);
  if (wants_ == Wants::hearing) {
    heard_.resize(nodes_ * words_);
    copied_.resize(nodes_);
    for (NodeId node = 0; node < nodes_; ++node) {
      if (!topology_.living(node)) continue;
      heard_[node * words_ + node / 64] |= std::uint64_t{1} << (node % 64);
      gain(node, 1);
    }
    return;
  }
  now_.resize(nodes_ * blocks_);
  most_.resize(wants_ == Wants::root || wants_ == Wants::owner ? segments_ : nodes_ * segments_, 1);
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!topology_.living(node)) continue;
    std::fill_n(now_.begin() + static_cast<std::ptrdiff_t>(node * blocks_), segments_, 1U);
    const std::uint64_t own = wants_ == Wants::owner ? pieces_ : wants_ == Wants::root && node != root_ ? 0 : segments_;
    if (own > 0) gain(node, own);
  }
}

std::uint64_t ContributorCounts::wanted(NodeId node) const noexcept {
  if (!topology_.living(node)) return 0;
  switch (wants_) {
    case Wants::root: return node == root_ ? segments_ * contributors(node) : 0;
    case Wants::everywhere:
    case Wants::prefix: return segments_ * contributors(node);
    case Wants::owner: return pieces_ * contributors(node);
    case Wants::hearing: return contributors(node);
  }
  return 0;
}

std::optional<std::uint64_t> ContributorCounts::wanted_index(NodeId node, std::uint64_t segment) const noexcept {
  if (wants_ == Wants::root) return node == root_ ? std::optional(segment) : std::nullopt;
  if (wants_ == Wants::owner) return segment / pieces_ == node ? std::optional(segment) : std::nullopt;
  return node * segments_ + segment;
}

std::uint64_t ContributorCounts::gain(NodeId node, std::uint64_t more) {
  const bool before = had_[node] == wanted(node);
  had_[node] += more;
  if (!before && had_[node] == wanted(node)) ++complete_;
  return more;
}

void ContributorCounts::hear(const TraceMessage& m) {
  if (copied_[m.source] == 0) {
    const auto set = heard_.begin() + static_cast<std::ptrdiff_t>(m.source * words_);
    coming_.insert(coming_.end(), set, set + static_cast<std::ptrdiff_t>(words_));
    copied_[m.source] = static_cast<std::uint32_t>(coming_.size() / words_);
  }
  messages_.back().set = copied_[m.source] - 1;
}

void ContributorCounts::sent(const TraceMessage& m) {
  messages_.push_back({m.destination, 0, m.bytes, m.blocks.size()});
  if (wants_ == Wants::hearing) return hear(m);
  const auto number = static_cast<std::uint32_t>(messages_.size() - 1);
  for (const std::uint64_t block : m.blocks) {
    if (block >= blocks_) continue;
    const auto from = static_cast<std::uint32_t>(m.source * blocks_ + block);
    if (now_[from] == 0) continue;
    if (m.releases) given_.push_back(from);
    const std::uint64_t to = m.destination * blocks_;
    if (m.registers == 0) arrivals_.push_back({static_cast<std::uint32_t>(to + block), now_[from], number, false});
    for (std::uint32_t r = 0; r < registers_; ++r) {
      if ((unsigned{m.registers} >> r & 1U) == 0) continue;
      arrivals_.push_back({static_cast<std::uint32_t>(to + r * segments_ + block % segments_), now_[from], number, true});
    }
  }
}

std::uint64_t ContributorCounts::arrive(const Arrival& a, std::uint64_t& combined) {
  std::uint32_t& now = now_[a.cell];
  if (a.combines && now > 0) ++combined;
  // Where contributors may be counted twice (min and max), a count stays within the number of living nodes.
  const std::uint32_t all = living_before_.back();
  now = a.combines ? now + std::min(a.count, all - now) : a.count;
  const auto node = static_cast<NodeId>(a.cell / blocks_);
  const std::uint64_t segment = a.cell % blocks_;
  const auto index = segment < segments_ ? wanted_index(node, segment) : std::nullopt;
  if (!index) return 0;
  const std::uint32_t had = most_[*index];
  const std::uint32_t has = std::max(had, wants_ == Wants::prefix ? std::min(now, contributors(node)) : now);
  most_[*index] = has;
  return has > had ? gain(node, has - had) : 0;
}

const std::vector<ContributorCounts::Effect>& ContributorCounts::end_step() {
  effects_.assign(messages_.size(), {});
  for (const std::uint32_t cell : given_) now_[cell] = 0;
  std::vector<std::uint64_t> combined(messages_.size());  // blocks
  for (const Arrival& a : arrivals_) effects_[a.message].gained += arrive(a, combined[a.message]);
  std::unordered_map<NodeId, Bytes> by_node;
  most_combined_ = 0;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Sent& m = messages_[i];
    if (wants_ == Wants::hearing) {
      std::uint64_t news = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        std::uint64_t& heard = heard_[m.destination * words_ + w];
        news += static_cast<std::uint64_t>(std::popcount(coming_[m.set * words_ + w] & ~heard));
        heard |= coming_[m.set * words_ + w];
      }
      if (news > 0) effects_[i].gained = gain(m.destination, news);
    } else if (combined[i] > 0) {
      effects_[i].combined = m.bytes / m.blocks * combined[i] + m.bytes % m.blocks * combined[i] / m.blocks;
      most_combined_ = std::max(most_combined_, by_node[m.destination] += effects_[i].combined);
    }
  }
  if (wants_ == Wants::hearing) std::fill(copied_.begin(), copied_.end(), 0U);
  coming_.clear();
  messages_.clear();
  given_.clear();
  arrivals_.clear();
  return effects_;
}

}  // namespace torus::command
