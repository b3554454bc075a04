#include "runtime/trace/contributors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/base/words.hpp"

namespace torus::detail {
namespace {

std::uint64_t key_of(NodeId node) noexcept { return mixed((std::uint64_t{node} + 1) * mixed_step); }

/// The lowest node of a set of bits, or of the nodes that are not in it; none if there is none.
std::optional<NodeId> lowest(const std::uint64_t* set, std::size_t words) noexcept {
  for (std::size_t i = 0; i < words; ++i) {
    if (set[i] != 0) return static_cast<NodeId>(64 * i + static_cast<unsigned>(std::countr_zero(set[i])));
  }
  return std::nullopt;
}

/// Sets are written when a trace is opened.
bool in_memory(double bytes, Bytes most = NodeSets::most) {
  return bytes <= std::min(static_cast<double>(most), static_cast<double>(usable_memory()) / 4);
}

}  // namespace

NodeSets::NodeSets(std::uint64_t cells, std::uint64_t nodes, Bytes most_exact)
    : exact_{in_memory(static_cast<double>(cells) * 8 * std::ceil(static_cast<double>(nodes) / 64), most_exact)},
      words_{exact_ ? static_cast<std::size_t>((nodes + 63) / 64) : 1},
      sets_{fitting(cells, nodes) * words_} {}

/// The cells, if at least a word of each fits.
std::uint64_t NodeSets::fitting(std::uint64_t cells, std::uint64_t nodes) {
  if (in_memory(static_cast<double>(cells) * 8)) return cells;
  throw InputError(fmt::format("trace: judging the partials of {} nodes takes {} of memory; use a smaller machine or fewer segments", nodes,
                               bytes_text(8 * cells)));
}

void NodeSets::add(std::uint64_t* set, NodeId node) const noexcept {
  if (exact_)
    set[node / 64] |= std::uint64_t{1} << (node % 64);
  else
    *set += key_of(node);
}

Contributors::Contributors(const TraceHeader& header, Report report, std::function<std::string(NodeId)> node_text, Bytes most_exact)
    : report_{std::move(report)},
      node_text_{std::move(node_text)},
      collective_{header.collective},
      topology_{header.machine.topology},
      nodes_{header.machine.topology.nodes()},
      root_{header.sources.empty() ? 0 : header.sources.front()},
      pieces_{header.segments},
      segments_{header.segments * (collective_ == "reduce-scatter" ? std::uint64_t{nodes_} : 1)},
      blocks_{segments_ * header.registers},
      registers_{header.registers},
      overlap_{header.overlap},
      sets_{nodes_ * blocks_, nodes_, most_exact},
      held_((nodes_ * blocks_ + 63) / 64) {
  if (overlap_ && !sets_.exact())
    throw InputError("trace: contributors that may be counted twice are judged by exact sets, and these do not fit in memory");
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!topology_.living(node)) continue;
    for (std::uint64_t segment = 0; segment < segments_; ++segment) {
      sets_.add(sets_.of(cell(node, segment)), node);
      hold(cell(node, segment), true);
    }
  }
}

void Contributors::hold(std::uint64_t cell, bool held) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (cell % 64);
  held ? held_[cell / 64] |= bit : held_[cell / 64] &= ~bit;
}

std::string Contributors::text_of(std::uint64_t message) const {
  const auto& [from, to] = messages_[message];
  return fmt::format("message from node {} to {}", node_text_(from), node_text_(to));
}

void Contributors::sent(const TraceMessage& m) {
  const std::uint64_t number = messages_.size();
  messages_.emplace_back(m.source, m.destination);
  if (unsigned{m.registers} >> registers_ != 0)
    return report_(text_of(number) + fmt::format(" combines into a register that is none of the {}", registers_));
  std::vector<std::uint64_t> ids = m.blocks;
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) return report_(text_of(number) + " has a block twice");
  for (const std::uint64_t id : m.blocks) {
    if (id >= blocks_ || !holds(cell(m.source, id))) {
      return report_(text_of(number) +
                     fmt::format(" sends block {}, which {}", id, id < blocks_ ? "the node does not hold" : "does not exist"));
    }
    const std::uint64_t from = cell(m.source, id);
    if (m.releases) given_.push_back(from);
    const std::size_t set = coming_.size();
    coming_.insert(coming_.end(), sets_.of(from), sets_.of(from) + sets_.words());
    if (m.registers == 0) arrivals_.push_back({cell(m.destination, id), set, number, false});
    for (unsigned r = 0; r < registers_; ++r) {
      if ((unsigned{m.registers} >> r & 1U) == 0) continue;
      arrivals_.push_back({cell(m.destination, r * segments_ + id % segments_), set, number, true});
    }
  }
}

void Contributors::end_step() {
  std::sort(given_.begin(), given_.end());
  if (const auto twice = std::adjacent_find(given_.begin(), given_.end()); twice != given_.end()) {
    report_(
        fmt::format("node {} gives block {} away twice in a step", node_text_(static_cast<NodeId>(*twice / blocks_)), *twice % blocks_));
  }
  for (const std::uint64_t gone : given_) {
    std::fill_n(sets_.of(gone), sets_.words(), 0);
    hold(gone, false);
  }
  std::stable_sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) { return a.cell < b.cell; });
  std::uint64_t most = 0, of_node = 0;
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    const Arrival& a = arrivals_[i];
    const std::uint64_t block = a.cell % blocks_;
    if (i > 0 && arrivals_[i - 1].cell / blocks_ != a.cell / blocks_) of_node = 0;
    if (i > 0 && arrivals_[i - 1].cell == a.cell && (!a.combines || !arrivals_[i - 1].combines))
      report_(text_of(a.message) + fmt::format(": block {} is replaced at a node where more arrives for it", block));
    if (a.combines && holds(a.cell)) {
      ++combined_;
      most = std::max(most, ++of_node);
    }
    receive(block, a);
  }
  most_combined_sum_ += most;
  given_.clear();
  arrivals_.clear();
  coming_.clear();
  messages_.clear();
}

void Contributors::receive(std::uint64_t block, const Arrival& a) {
  std::uint64_t* const held = sets_.of(a.cell);
  const std::uint64_t* const come = coming_.data() + a.set;
  std::vector<std::uint64_t> wrong(sets_.words());
  if (sets_.exact()) {
    for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] = a.combines ? held[i] & come[i] : held[i] & ~come[i];
  }
  if (const auto node = lowest(wrong.data(), wrong.size())) {
    if (a.combines && !overlap_)
      report_(text_of(a.message) + fmt::format(": block {}: node {} would be counted twice", block, node_text_(*node)));
    if (!a.combines && block < segments_)
      report_(text_of(a.message) +
              fmt::format(": block {}: replaces a partial, and node {}'s contribution with it", block, node_text_(*node)));
  }
  for (std::size_t i = 0; i < wrong.size(); ++i) held[i] = !a.combines ? come[i] : sets_.exact() ? held[i] | come[i] : held[i] + come[i];
  hold(a.cell, true);
}

std::uint64_t Contributors::finish() {
  std::vector<std::uint64_t> want(sets_.words()), wrong(sets_.words());
  const bool scan = collective_ == "scan";
  for (NodeId node = 0; node < (scan ? 0 : nodes_); ++node) {
    if (topology_.living(node)) sets_.add(want.data(), node);
  }
  std::uint64_t failures = 0;
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!topology_.living(node)) continue;
    if (scan) sets_.add(want.data(), node);
    for (std::uint64_t block = 0; block < segments_; ++block) {
      if (collective_ == "reduce-scatter" && !topology_.living(static_cast<NodeId>(block / pieces_))) continue;
      const bool wanted = collective_ == "reduce" ? node == root_ : collective_ == "reduce-scatter" ? block / pieces_ == node : true;
      if (!wanted) {
        if (holds(cell(node, block))) ++unasked_;
        continue;
      }
      const std::uint64_t* const held = sets_.of(cell(node, block));
      if (std::equal(want.begin(), want.end(), held)) continue;
      if (failures++ > 0) continue;
      std::string who = ": not every contributor once";
      if (sets_.exact()) {
        for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] = want[i] & ~held[i];
        const auto lacks = lowest(wrong.data(), wrong.size());
        for (std::size_t i = 0; i < wrong.size(); ++i) wrong[i] = held[i] & ~want[i];
        who = lacks ? " lacks node " + node_text_(*lacks)
                    : " has node " + node_text_(lowest(wrong.data(), wrong.size()).value_or(0)) + " too";
      }
      report_(fmt::format("node {} block {}{}", node_text_(node), block, who));
    }
  }
  return failures;
}

Heard::Heard(const Topology& topology) : topology_{topology}, nodes_{topology.nodes()}, words_{(std::size_t{nodes_} + 63) / 64} {
  if (!in_memory(8.0 * static_cast<double>(words_) * nodes_)) {
    throw InputError(fmt::format("trace: judging a barrier of {} nodes takes {} of memory; use a smaller machine", nodes_,
                                 bytes_text(8 * words_ * nodes_)));
  }
  heard_.resize(words_ * nodes_);
  for (NodeId node = 0; node < nodes_; ++node) heard_[node * words_ + node / 64] |= std::uint64_t{1} << (node % 64);
}

void Heard::sent(NodeId from, NodeId to) {
  news_.emplace_back(to, coming_.size());
  const auto begin = heard_.begin() + static_cast<std::ptrdiff_t>(from * words_);
  coming_.insert(coming_.end(), begin, begin + static_cast<std::ptrdiff_t>(words_));
}

void Heard::end_step() {
  for (const auto& [to, set] : news_) {
    for (std::size_t i = 0; i < words_; ++i) heard_[to * words_ + i] |= coming_[set + i];
  }
  news_.clear();
  coming_.clear();
}

void Heard::finish(const std::function<void(NodeId, NodeId)>& f) const {
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!topology_.living(node)) continue;
    for (NodeId other = 0; other < nodes_; ++other) {
      if (!topology_.living(other) || (heard_[node * words_ + other / 64] >> (other % 64) & 1U) != 0) continue;
      f(node, other);
      break;
    }
  }
}

}  // namespace torus::detail
