#include "runtime/trace/contributors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/base/words.hpp"

namespace torus::detail {
namespace {

std::uint64_t key_of(NodeId node) noexcept { return mixed((std::uint64_t{node} + 1) * mixed_step); }

/// The lowest node of a word of a set that is not empty.
NodeId lowest(std::size_t word, std::uint64_t bits) noexcept {
  return static_cast<NodeId>(64 * word + static_cast<unsigned>(std::countr_zero(bits)));
}

bool in_memory(double bytes, Bytes most = NodeSets::most) {
  return bytes <= std::min(static_cast<double>(most), static_cast<double>(usable_memory()) / 4);
}

}  // namespace

NodeSets::NodeSets(std::uint64_t cells, NodeId nodes, Bytes most_exact)
    : exact_{in_memory(static_cast<double>(cells) * 8 * std::ceil(static_cast<double>(nodes) / 64), most_exact)},
      words_{exact_ ? (std::size_t{nodes} + 63) / 64 : 1} {
  if (!in_memory(static_cast<double>(cells) * 8)) {
    throw InputError(fmt::format("trace: judging the partials of {} nodes takes {} of memory; use a smaller machine or fewer segments",
                                 nodes, bytes_text(8 * cells)));
  }
  sets_.resize((std::size_t{nodes} + 1) * words_);
  users_.resize(std::size_t{nodes} + 1, 1);
  for (NodeId node = 0; node < nodes; ++node) add(of(node), node);
}

void NodeSets::add(Id set, NodeId node) noexcept {
  std::uint64_t* const words = &sets_[set * words_];
  if (exact_)
    words[node / 64] |= std::uint64_t{1} << (node % 64);
  else
    *words += key_of(node);
}

NodeSets::Id NodeSets::make() {
  if (free_.empty()) {
    free_.push_back(static_cast<Id>(users_.size()));
    users_.push_back(0);
    sets_.resize(sets_.size() + words_);
  }
  const Id set = free_.back();
  free_.pop_back();
  users_[set] = 1;
  return set;
}

void NodeSets::drop(Id set) {
  if (set != none && --users_[set] == 0) free_.push_back(set);
}

NodeSets::Union NodeSets::united(Id a, Id b) {
  if (a != last_a_ || b != last_b_ || last_.set == none) {
    use(a);
    use(b);
    for (const Id old : {last_a_, last_b_, last_.set}) drop(old);
    last_ = {make(), {}};
    last_a_ = a;
    last_b_ = b;
    std::uint64_t* const both = &sets_[last_.set * words_];
    for (std::size_t i = 0; i < words_; ++i) {
      const std::uint64_t common = words(a)[i] & words(b)[i];
      both[i] = exact_ ? words(a)[i] | words(b)[i] : words(a)[i] + words(b)[i];
      if (exact_ && common != 0 && !last_.twice) last_.twice = lowest(i, common);
    }
  }
  use(last_.set);
  return last_;
}

std::optional<NodeId> NodeSets::lowest_beyond(Id set, Id other) const {
  if (!exact_ || set == none || set == other) return std::nullopt;
  for (std::size_t i = 0; i < words_; ++i) {
    const std::uint64_t beyond = words(set)[i] & ~words(other)[i];
    if (beyond != 0) return lowest(i, beyond);
  }
  return std::nullopt;
}

NodeSets::Id NodeSets::with(Id set, NodeId node) {
  const Id more = make();
  std::copy_n(words(set), words_, &sets_[more * words_]);
  add(more, node);
  return more;
}

NodeSets::Id NodeSets::all_living(const Participants& participants) {
  const Id all = make();
  std::fill_n(&sets_[all * words_], words_, 0);
  for (NodeId node = 0; node < participants.nodes(); ++node) {
    if (participants.living(node)) add(all, node);
  }
  return all;
}

Contributors::Contributors(const TraceHeader& header, Participants participants, Report report,
                           std::function<std::string(NodeId)> node_text, Bytes most_exact)
    : report_{std::move(report)},
      node_text_{std::move(node_text)},
      collective_{header.collective},
      participants_{std::move(participants)},
      nodes_{participants_.nodes()},
      root_{header.sources.empty() ? 0 : header.sources.front()},
      pieces_{header.segments},
      segments_{header.segments * (collective_ == "reduce-scatter" ? std::uint64_t{nodes_} : 1)},
      blocks_{segments_ * header.registers},
      registers_{header.registers},
      overlap_{header.overlap},
      sizes_{header.sizes},
      sets_{nodes_ * blocks_, nodes_, most_exact},
      cells_{static_cast<std::size_t>(nodes_ * blocks_)},
      work_(nodes_) {
  if (overlap_ && !sets_.exact())
    throw InputError("trace: contributors that may be counted twice are judged by exact sets, and these do not fit in memory");
}

NodeSets::Id Contributors::held(NodeId node, std::uint64_t block) const noexcept {
  const std::uint32_t held = cells_[node * blocks_ + block].held;
  if (held > 0) return held - 1;
  return block < segments_ && participants_.living(node) ? NodeSets::of(node) : NodeSets::none;
}

/// The node becomes the set's user in place of the caller.
void Contributors::hold(NodeId node, std::uint64_t block, NodeSets::Id set) {
  std::uint32_t& held = cell(node, block).held;
  if (held > 1) sets_.drop(held - 1);
  held = set + 1;
}

std::string Contributors::text_of(std::uint32_t message) const {
  const auto& [from, to] = messages_[message];
  return fmt::format("message from node {} to {}", node_text_(from), node_text_(to));
}

void Contributors::sent(NodeId source, NodeId destination, const TraceMessage& m) {
  const auto number = static_cast<std::uint32_t>(messages_.size());
  messages_.emplace_back(source, destination);
  if (unsigned{m.registers} >> registers_ != 0)
    return report_(text_of(number) + fmt::format(" combines into a register that is none of the {}", registers_));
  if (std::adjacent_find(m.blocks.begin(), m.blocks.end(), std::greater_equal<>()) != m.blocks.end()) {
    sorted_ = m.blocks;
    std::sort(sorted_.begin(), sorted_.end());
    if (std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end()) return report_(text_of(number) + " has a block twice");
  }
  for (const std::uint64_t id : m.blocks) {
    const NodeSets::Id set = id < blocks_ ? held(source, id) : NodeSets::none;
    if (set == NodeSets::none) {
      return report_(text_of(number) +
                     fmt::format(" sends block {}, which {}", id, id < blocks_ ? "the node does not hold" : "does not exist"));
    }
    if (m.releases) given_away_.emplace_back(source, id);
    const auto arrives = [&](std::uint64_t block, bool combines) {
      sets_.use(set);
      arrivals_.push_back({block, set, number, combines});
    };
    each_place(m, id, registers_, segments_, arrives);
  }
}

std::uint64_t Contributors::end_step() {
  bool twice = false;
  for (const auto& [node, block] : given_away_) {
    if (held(node, block) == NodeSets::none && !std::exchange(twice, true))
      report_(fmt::format("node {} gives block {} away twice in a step", node_text_(node), block));
    hold(node, block, NodeSets::none);
  }
  for (const Arrival& arrival : arrivals_) receive(arrival);
  ++step_;
  given_away_.clear();
  arrivals_.clear();
  messages_.clear();
  return std::exchange(most_combined_, 0);
}

void Contributors::receive(const Arrival& a) {
  const NodeId node = messages_[a.message].second;
  std::uint32_t& last = cell(node, a.block).last;
  if (last / 2 == step_ && (!a.combines || last % 2 == 0))
    report_(text_of(a.message) + fmt::format(": block {} is replaced at a node where more arrives for it", a.block));
  last = 2 * step_ + (a.combines ? 1 : 0);
  const NodeSets::Id held = this->held(node, a.block);
  if (!a.combines) {
    const auto lost = sets_.lowest_beyond(held, a.set);
    if (lost && a.block < segments_)
      report_(text_of(a.message) +
              fmt::format(": block {}: replaces a partial, and node {}'s contribution with it", a.block, node_text_(*lost)));
    return hold(node, a.block, a.set);
  }
  if (held == NodeSets::none) return hold(node, a.block, a.set);
  ++combined_;
  Work& work = work_[node];
  if (work.step != step_) work = {step_, 0};
  most_combined_ = std::max(most_combined_, ++work.combined);
  const NodeSets::Union both = sets_.united(held, a.set);
  if (both.twice && !overlap_)
    report_(text_of(a.message) + fmt::format(": block {}: node {} would be counted twice", a.block, node_text_(*both.twice)));
  sets_.drop(a.set);
  hold(node, a.block, both.set);
}

std::uint64_t Contributors::finish() {
  const bool scan = collective_ == "scan";
  NodeSets::Id want = scan ? NodeSets::none : sets_.all_living(participants_);
  std::uint64_t failures = 0;
  for (NodeId node = 0; node < nodes_; ++node) {
    if (!participants_.living(node)) continue;
    if (scan) want = sets_.with(want, node);
    NodeSets::Id right = want;  // the last that was equal
    for (std::uint64_t block = 0; block < segments_; ++block) {
      if (!sizes_.empty() && sizes_[block] == 0) continue;
      if (collective_ == "reduce-scatter" && !participants_.living(static_cast<NodeId>(block / pieces_))) continue;
      const bool wanted = collective_ == "reduce" ? node == root_ : collective_ == "reduce-scatter" ? block / pieces_ == node : true;
      const NodeSets::Id held = this->held(node, block);
      if (!wanted) {
        if (held != NodeSets::none) ++unasked_;
        continue;
      }
      if (held == right) continue;
      if (sets_.equal(held, want)) {
        right = held;
        continue;
      }
      if (failures++ > 0) continue;
      std::string who = ": not every contributor once";
      if (const auto lacks = sets_.lowest_beyond(want, held))
        who = " lacks node " + node_text_(*lacks);
      else if (const auto beyond = sets_.lowest_beyond(held, want))
        who = " has node " + node_text_(*beyond) + " too";
      report_(fmt::format("node {} block {}{}", node_text_(node), block, who));
    }
  }
  return failures;
}

Heard::Heard(NodeId nodes, NodeId followed) : followed_{followed}, words_{(std::size_t{followed} + 63) / 64}, heard_(nodes * words_) {
  coming_.reserve(heard_.size());  // a set of each node: enough where a node's messages stand together
}

Heard::Heard(const Participants& participants) : Heard(participants.nodes(), participants.nodes()) {
  for (NodeId of = 0; of < followed_; ++of) {
    hear(of, of);
    for (NodeId node = 0; !participants.living(of) && node < followed_; ++node) hear(node, of);
  }
}

void Heard::check_memory(NodeId nodes) {
  const std::uint64_t words = (std::uint64_t{nodes} + 63) / 64;
  if (!in_memory(8.0 * static_cast<double>(words) * nodes)) {
    throw InputError(fmt::format("trace: judging a barrier of {} nodes takes {} of memory; use a smaller machine", nodes,
                                 bytes_text(8 * words * nodes)));
  }
}

void Heard::sent(NodeId from, NodeId to) {
  if (news_.empty() || news_.back().from != from) {
    const auto set = heard_.begin() + static_cast<std::ptrdiff_t>(from * words_);
    coming_.insert(coming_.end(), set, set + static_cast<std::ptrdiff_t>(words_));
  }
  news_.push_back({from, to, coming_.size() - words_});
}

const std::vector<std::uint64_t>& Heard::end_step() {
  gained_.assign(news_.size(), 0);
  for (std::size_t message = 0; message < news_.size(); ++message) {
    for (std::size_t i = 0; i < words_; ++i) {
      const std::uint64_t coming = coming_[news_[message].set + i];
      std::uint64_t& heard = heard_[news_[message].to * words_ + i];
      gained_[message] += static_cast<std::uint64_t>(std::popcount(coming & ~heard));
      heard |= coming;
    }
  }
  news_.clear();
  coming_.clear();
  return gained_;
}

std::optional<NodeId> Heard::unheard(NodeId node) const noexcept {
  for (NodeId first = 0; first < followed_; first += 64) {
    const std::uint64_t unheard = ~heard_[node * words_ + first / 64];
    const NodeId of = lowest(first / 64, unheard);
    if (unheard != 0 && of < followed_) return of;
  }
  return std::nullopt;
}

}  // namespace torus::detail
