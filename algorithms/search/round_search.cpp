#include "algorithms/search/round_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/common/living_channels.hpp"
#include "runtime/base/words.hpp"

namespace torus {
namespace {

constexpr NodeId most_augmented = 4096;  // nodes; the augmenting paths of larger machines take too long

/// Calls f(block) for each bit of a word of a set.
template <class F>
void each_bit(std::uint64_t bits, std::uint32_t word, F&& f) {
  for (; bits != 0; bits &= bits - 1) f(64 * word + static_cast<std::uint32_t>(std::countr_zero(bits)));
}

}  // namespace

bool few_ports(const Machine& machine) {
  for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
    if (machine.topology.living(node) && channels_of(machine.topology, node) > static_cast<std::uint64_t>(machine.ports)) return true;
  }
  return false;
}

RoundSearch::RoundSearch(const Machine& machine, std::span<const NodeId> owners, const LinkCapacities& capacities, bool by_step)
    : blocks_{static_cast<std::uint32_t>(owners.size())},
      words_{(blocks_ + 63) / 64},
      ports_{machine.ports},
      by_step_{by_step},
      few_ports_{few_ports(machine)},
      owners_(owners.begin(), owners.end()),
      living_{living_ranks(machine.topology)} {
  const NodeId nodes = machine.topology.nodes();
  std::vector<std::vector<Inlet>> into(nodes);
  each_living_channel(machine.topology, [&](NodeId node, Dimension d, std::int32_t hop, NodeId to) {
    if (const std::uint32_t chunk = capacities.of(node, d, hop); chunk > 0) into[to].push_back({node, to, {d, hop}, chunk});
  });
  first_.push_back(0);
  for (const std::vector<Inlet>& of_node : into) {
    for (const Inlet& inlet : of_node) limited_ = limited_ || inlet.chunk < blocks_;
    inlets_.insert(inlets_.end(), of_node.begin(), of_node.end());
    first_.push_back(inlets_.size());
  }
  works_.assign(inlets_.size(), few_ports_ ? 0 : 1);
  useful_.resize(nodes);
  out_.resize(nodes);
  seen_.assign(nodes, 0);
  reach_.resize(words_);
}

RoundSearch::Rounds RoundSearch::attempt(std::uint64_t seed, std::span<const double> urgency) {
  const std::size_t nodes = first_.size() - 1;
  seed_ = seed;
  copies_.assign(blocks_, 0);
  rarity_.clear();
  held_.assign(nodes * words_, 0);
  lacks_.assign(nodes, blocks_);
  open_.clear();
  is_open_.assign(nodes, false);
  std::uint64_t missing = std::uint64_t{blocks_} * (living_.size() - 1);
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    hold(owners_[b], b);
    copied(b);
  }
  Rounds steps;
  while (missing > 0) {
    std::erase_if(open_, [&](NodeId node) { return lacks_[node] == 0; });
    std::sort(open_.begin(), open_.end());
    if (few_ports_) match_channels(urgency);
    std::vector<Delivery>& step = steps.emplace_back();
    for (const NodeId node : open_) {
      const std::size_t before = step.size();
      deliver_to(node, step);
      for (std::size_t i = before; i < step.size() && !by_step_; ++i) copied(step[i].block);
    }
    for (const Delivery& each : step) {
      hold(each.to, each.block);
      if (by_step_) copied(each.block);
    }
    missing -= step.size();
  }
  return steps;
}

RoundSearch::Rounds RoundSearch::best_attempt(std::uint64_t tries, std::size_t least) {
  Rounds best = attempt(0);
  for (std::uint64_t seed = 1; seed < tries && best.size() > least; ++seed) {
    if (Rounds found = attempt(seed); found.size() < best.size()) best = std::move(found);
  }
  return best;
}

void RoundSearch::hold(NodeId node, std::uint32_t block) {
  held_[node * words_ + block / 64] |= std::uint64_t{1} << (block % 64);
  --lacks_[node];
  for (const Inlet& inlet : inlets(node)) {  // every link has both its channels
    if (is_open_[inlet.from] || lacks_[inlet.from] == 0) continue;
    is_open_[inlet.from] = true;
    open_.push_back(inlet.from);
  }
}

/// There is one more copy.
void RoundSearch::copied(std::uint32_t block) {
  const std::uint64_t bit = std::uint64_t{1} << (block % 64);
  if (const auto before = rarity_.find(copies_[block]); before != rarity_.end()) {
    before->second[block / 64] &= ~bit;
    if (std::all_of(before->second.begin(), before->second.end(), [](std::uint64_t w) { return w == 0; })) rarity_.erase(before);
  }
  Words& now = rarity_[++copies_[block]];
  now.resize(words_);
  now[block / 64] |= bit;
}

std::uint64_t RoundSearch::tie(NodeId node, std::uint32_t of) const noexcept {
  return detail::mixed((seed_ << 48U) + (std::uint64_t{node} << 24U) + of);
}

/// The fewest copies that one of a channel's blocks has, or where it can bring all, how many these are, negative. Less is better; infinite
/// where there are none.
double RoundSearch::score(std::size_t inlet) const {
  const std::uint64_t* const has = held_.data() + std::size_t{inlets_[inlet].from} * words_;
  const std::uint64_t* const known = held_.data() + std::size_t{inlets_[inlet].to} * words_;
  int useful = 0;
  for (std::uint32_t w = 0; w < words_; ++w) useful += std::popcount(has[w] & ~known[w]);
  if (useful == 0) return std::numeric_limits<double>::infinity();
  if (!limited_) return -useful;
  for (auto rarest = rarity_.begin();; ++rarest) {
    for (std::uint32_t w = 0; w < words_; ++w) {
      if ((rarest->second[w] & has[w] & ~known[w]) != 0) return rarest->first;
    }
  }
}

/// Chooses the channels that work in this step.
void RoundSearch::match_channels(std::span<const double> urgency) {
  using Scored = std::tuple<double, std::uint64_t, std::size_t>;
  std::fill(works_.begin(), works_.end(), 0);
  for (auto& sends : out_) sends.clear();
  std::vector<std::tuple<double, std::uint64_t, NodeId>> receivers;
  std::vector<int> received(useful_.size(), 0);
  std::vector<Scored> all, of_node;
  for (const NodeId node : open_) {
    of_node.clear();
    for (std::size_t i = first_[node]; i < first_[node + 1]; ++i) {
      const double of_inlet = lacks_[inlets_[i].from] == blocks_ ? std::numeric_limits<double>::infinity() : score(i);
      if (of_inlet < std::numeric_limits<double>::infinity())
        of_node.emplace_back(of_inlet, tie(node, 1 + static_cast<std::uint32_t>(i - first_[node] + blocks_)), i);
    }
    std::sort(of_node.begin(), of_node.end());
    useful_[node].clear();
    for (const auto& each : of_node) useful_[node].push_back(std::get<2>(each));
    if (of_node.empty()) continue;
    receivers.emplace_back(-(urgency.empty() ? lacks_[node] : urgency[node]), tie(node, blocks_), node);
    if (!limited_ && urgency.empty()) all.insert(all.end(), of_node.begin(), of_node.end());
  }
  std::sort(all.begin(), all.end());
  for (const auto& [of_inlet, random, i] : all) {
    if (static_cast<int>(out_[inlets_[i].from].size()) == ports_ || received[inlets_[i].to] == ports_) continue;
    let_work(i);
    ++received[inlets_[i].to];
  }
  std::sort(receivers.begin(), receivers.end());
  const int depth = useful_.size() <= most_augmented ? std::numeric_limits<int>::max() : 0;
  ++search_;
  for (int round = 0; round < ports_; ++round) {
    for (const auto& [lack, random, node] : receivers) {
      if (received[node] > round || static_cast<std::uint32_t>(received[node]) >= lacks_[node]) continue;
      if (!find_sender(node, depth)) continue;  // the senders that it met are of no use to the next one either
      ++received[node];
      ++search_;
    }
  }
}

void RoundSearch::let_work(std::size_t inlet) {
  works_[inlet] = 1;
  out_[inlets_[inlet].from].push_back(inlet);
}

/// Finds one more channel for a receiver, moving others to other channels if need be, over so many of them.
bool RoundSearch::find_sender(NodeId receiver, int depth) {
  for (const std::size_t i : useful_[receiver]) {
    std::vector<std::size_t>& sends = out_[inlets_[i].from];
    if (works_[i] != 0 || seen_[inlets_[i].from] == search_) continue;
    seen_[inlets_[i].from] = search_;
    if (static_cast<int>(sends.size()) < ports_) {
      let_work(i);
      return true;
    }
    if (depth == 0) continue;
    for (std::size_t& other : sends) {
      if (inlets_[other].to == receiver || !find_sender(inlets_[other].to, depth - 1)) continue;
      works_[other] = 0;
      works_[i] = 1;
      other = i;
      return true;
    }
  }
  return false;
}

/// The most urgent blocks that the node's channels can bring together.
void RoundSearch::deliver_to(NodeId node, std::vector<Delivery>& step) {
  const std::span<const Inlet> of_node = inlets(node);
  brings_.assign(of_node.size(), {});
  std::fill(reach_.begin(), reach_.end(), 0);
  std::size_t room = 0;
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    if (works_[first_[node] + i] == 0) continue;
    room += of_node[i].chunk;
    for (std::uint32_t w = 0; w < words_; ++w) reach_[w] |= held_[of_node[i].from * words_ + w];
  }
  if (room == 0) return;
  const bool chooses = limited_ || !few_ports_;  // else all come
  for (std::uint32_t w = 0; w < words_; ++w) reach_[w] &= ~held_[node * words_ + w];
  tried_.assign(of_node.size(), false);  // what one block found full to no avail is so for the next
  for (auto rarest = rarity_.begin(); room > 0 && rarest != rarity_.end(); ++rarest) {
    candidates_.clear();
    for (std::uint32_t w = 0; w < words_; ++w)
      each_bit(rarest->second[w] & reach_[w], w, [&](std::uint32_t b) { candidates_.emplace_back(chooses ? tie(node, b) : 0, b); });
    if (chooses) std::sort(candidates_.begin(), candidates_.end());
    for (std::size_t i = 0; i < candidates_.size() && room > 0; ++i) {
      if (!place(candidates_[i].second, node)) continue;
      --room;
      tried_.assign(of_node.size(), false);
    }
  }
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    for (const std::uint32_t block : brings_[i]) step.push_back({of_node[i].from, node, of_node[i].leg, block});
  }
}

/// Finds a channel for a block, moving others to other channels if need be.
bool RoundSearch::place(std::uint32_t block, NodeId node) {
  const std::span<const Inlet> of_node = inlets(node);
  const auto can_bring = [&](std::size_t i) { return works_[first_[node] + i] != 0 && holds(of_node[i].from, block); };
  std::size_t emptiest = of_node.size();
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    if (brings_[i].size() >= of_node[i].chunk || !can_bring(i)) continue;
    if (emptiest == of_node.size() || (few_ports_ && brings_[i].size() < brings_[emptiest].size())) emptiest = i;
  }
  if (emptiest < of_node.size()) {
    brings_[emptiest].push_back(block);
    return true;
  }
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    if (tried_[i] || !can_bring(i)) continue;
    tried_[i] = true;
    for (std::size_t k = 0; k < brings_[i].size(); ++k) {
      if (!place(brings_[i][k], node)) continue;
      brings_[i][k] = block;
      return true;
    }
  }
  return false;
}

RoundSearch::Rounds one_block_rounds(const Machine& machine, NodeId root) {
  const NodeId nodes = machine.topology.nodes();
  const LinkCapacities capacities(machine, 1);
  const std::array owners{root};
  RoundSearch search(machine, owners, capacities);
  const std::vector<std::int32_t> hops = living_hops(machine.topology, root);
  std::vector<NodeId> nearest = living_ranks(machine.topology);
  std::stable_sort(nearest.begin(), nearest.end(), [&](NodeId a, NodeId b) { return hops[a] < hops[b]; });
  std::vector<double> urgency(nodes, 0);
  for (auto node = nearest.rbegin(); node != nearest.rend(); ++node) {
    machine.topology.each_link(*node, [&](Dimension, std::int32_t, NodeId to) {
      if (hops[to] == hops[*node] + 1) urgency[*node] = std::max(urgency[*node], urgency[to] + 1);
    });
  }
  const auto ports = static_cast<std::size_t>(machine.ports);
  const std::uint64_t tries = !few_ports(machine) || nodes > most_augmented ? 1 : nodes > 512 ? 8 : 40;
  RoundSearch::Rounds best;
  for (std::uint64_t seed = 0; seed < tries; ++seed) {
    RoundSearch::Rounds found = search.attempt(seed, urgency);
    // The steps that the subtree of each node took: its children's, sorted, so many a step.
    std::vector<std::vector<double>> of_children(nodes);
    std::vector<double> took(nodes, 0);
    for (auto step = found.rbegin(); step != found.rend(); ++step) {
      for (const RoundSearch::Delivery& each : *step) {
        std::vector<double>& children = of_children[each.to];
        std::sort(children.begin(), children.end(), std::greater<>());
        for (std::size_t i = 0; i < children.size(); ++i) {
          const std::size_t turn = i / ports + 1;
          took[each.to] = std::max(took[each.to], static_cast<double>(turn) + children[i]);
        }
        of_children[each.from].push_back(took[each.to]);
      }
    }
    if (best.empty() || found.size() < best.size()) best = std::move(found);
    for (const NodeId node : nearest) {
      const double random = static_cast<double>(detail::mixed((seed << 32U) + node) >> 32U) * 0x1p-33;
      urgency[node] = seed % 5 == 4 ? std::max(urgency[node], took[node]) : 0.5 * (urgency[node] + took[node]) + random;
    }
  }
  return best;
}

}  // namespace torus
