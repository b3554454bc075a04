#include "algorithms/total_exchange/next_hops.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/living_channels.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/search/round_search.hpp"
#include "runtime/base/words.hpp"

namespace torus::total_exchange {
namespace {

/// By which of its channels a node sends on what is for another.
class NextHops {
 public:
  using Slot = std::uint16_t;  ///< of the living channels of a node
  static constexpr Slot none = std::numeric_limits<Slot>::max();

  explicit NextHops(const Topology& topology)
      : channels_(topology), next_(std::size_t{topology.nodes()} * topology.nodes(), none), loads_(channels_.count()) {
    // Trees to nodes near each other are alike, and are not made one after the other.
    std::vector<NodeId> order = living_ranks(topology);
    std::sort(order.begin(), order.end(), [](NodeId a, NodeId b) { return detail::mixed(a) < detail::mixed(b); });
    for (const NodeId root : order) add_tree(topology, root);
  }

  const LivingChannels& channels() const noexcept { return channels_; }
  Slot operator()(NodeId at, NodeId destination) const noexcept { return next_[std::size_t{at} * channels_.nodes() + destination]; }
  Bytes bytes() const noexcept { return next_.size() * sizeof(Slot); }

 private:
  void add_tree(const Topology& topology, NodeId root) {
    const std::vector<std::int32_t> hops = living_hops(topology, root);
    std::vector<NodeId> farthest = living_ranks(topology);
    std::stable_sort(farthest.begin(), farthest.end(), [&](NodeId a, NodeId b) { return hops[a] > hops[b]; });
    std::vector<std::vector<std::uint32_t>> below(topology.nodes(), {1});  // by node: of its blocks, how many come in which step
    farthest.pop_back();                                                   // the root
    for (const NodeId node : farthest) {
      const std::uint32_t first = channels_.first_of(node), count = channels_.count_of(node);
      std::uint32_t best = first;
      double least = std::numeric_limits<double>::infinity();
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t channel = first + (i + root) % count;  // of equal ones not always the first
        if (hops[channels_[channel].to] + 1 != hops[node]) continue;
        if (const double price = price_of(channel, below[node]); price < least) {
          best = channel;
          least = price;
        }
      }
      next_[std::size_t{node} * topology.nodes() + root] = static_cast<Slot>(best - first);
      add(below[node], 0, loads_[best]);
      add(below[node], 1, below[channels_[best].to]);
      below[node] = {};
    }
  }

  /// What blocks add to the fourth powers of a channel's loads, so that the fullest steps decide.
  double price_of(std::uint32_t channel, const std::vector<std::uint32_t>& blocks) const {
    const auto power = [](double load) { return load * load * load * load; };
    double price = 0;
    for (std::size_t step = 0; step < blocks.size(); ++step) {
      const double load = step < loads_[channel].size() ? loads_[channel][step] : 0;
      price += power(load + blocks[step]) - power(load);
    }
    return price;
  }
  static void add(const std::vector<std::uint32_t>& blocks, std::size_t later, std::vector<std::uint32_t>& to) {
    to.resize(std::max(to.size(), blocks.size() + later));
    for (std::size_t step = 0; step < blocks.size(); ++step) to[step + later] += blocks[step];
  }

  LivingChannels channels_;
  std::vector<Slot> next_;                         // by node, then by destination
  std::vector<std::vector<std::uint32_t>> loads_;  // by channel, then by step: blocks, if none waits
};

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// Which channels work when.
struct Rule {
  double base = 1;                 ///< the weight of a block, times itself for each hop that the block has to go
  std::size_t budget = unlimited;  ///< as Course has it
};

/// What programs read.
struct Course {
  std::shared_ptr<const NextHops> hops;
  Step steps = 0;
  std::size_t ports = 0;                   ///< 0: all channels work in each step
  std::size_t budget = unlimited;          ///< of blocks that a channel brings in a step: first what came first, then by number
  std::vector<NextHops::Slot> works = {};  ///< by step, node and port; none: the port rests

  template <class F>
  void each_working(NodeId node, Step step, F&& f) const {
    if (ports == 0) {
      for (std::uint32_t slot = 0; slot < hops->channels().count_of(node); ++slot) f(static_cast<NextHops::Slot>(slot));
      return;
    }
    const std::size_t first = (std::size_t{step} * hops->channels().nodes() + node) * ports;
    for (std::size_t i = first; i < first + ports && works[i] != NextHops::none; ++i) f(works[i]);
  }
};

/// An exchange, played through without bytes.
class Play {
 public:
  /// The machine and the placement must outlive the object.
  Play(const Machine& machine, const std::shared_ptr<const NextHops>& hops, const Placement& placement, const Rule& rule)
      : machine_{machine},
        channels_{hops->channels()},
        placement_{placement},
        course_{.hops = hops, .ports = few_ports(machine) ? static_cast<std::size_t>(machine.ports) : 0, .budget = rule.budget},
        waiting_(channels_.count()),
        weights_(channels_.count()),
        most_(channels_.count()) {
    weight_of_.assign(channels_.nodes(), 1);
    for (std::size_t hop = 1; hop < weight_of_.size(); ++hop) weight_of_[hop] = std::min(weight_of_[hop - 1] * rule.base, most_weight);
    begin();
    while (!active_.empty()) play_step();
    waiting_ = {};
  }

  Course take() noexcept { return std::move(course_); }
  Step steps() const noexcept { return course_.steps; }
  bool all_ports() const noexcept { return course_.ports == 0; }
  ByteSum bytes() const noexcept { return bytes_; }
  /// Of the longest messages, summed over the steps.
  std::uint64_t blocks() const noexcept { return blocks_; }
  double time_s() const noexcept { return machine_.cost.steps(steps(), bytes_, steps()); }
  /// The most blocks that a node's lists have room for.
  std::uint64_t most_listed() const {
    std::uint64_t most = 0;
    for (NodeId node = 0; node < channels_.nodes(); ++node) {
      std::uint64_t listed = 0;
      channels_.each_of(node, [&](std::uint32_t channel) { listed += most_[channel]; });
      most = std::max(most, listed);
    }
    return most;
  }
  /// The most blocks that cross all channels in a step.
  std::uint64_t most_moved() const noexcept { return most_moved_; }

 private:
  static constexpr double most_weight = 0x1p900;
  struct Block {
    BlockId id;
    std::int32_t hops;  ///< that it has to go
  };

  void begin() {
    const NodeId nodes = channels_.nodes();
    for (NodeId to = 0; to < nodes; ++to) {
      if (!machine_.topology.living(to)) continue;
      const std::vector<std::int32_t> hops = living_hops(machine_.topology, to);
      for (NodeId from = 0; from < nodes; ++from) {
        const BlockId id = BlockId{from} * nodes + to;
        if (hops[from] > 0 && !placement_.empty(id)) wait(from, {id, hops[from]});
      }
    }
  }

  void wait(NodeId at, const Block& block) {
    const NextHops& hops = *course_.hops;
    const std::uint32_t channel = channels_.first_of(at) + hops(at, static_cast<NodeId>(block.id % channels_.nodes()));
    if (waiting_[channel].empty()) active_.push_back(channel);
    waiting_[channel].push_back(block);
    weights_[channel] += weight_of_[static_cast<std::size_t>(block.hops)];
  }

  std::size_t message(std::uint32_t channel) const noexcept { return std::min(waiting_[channel].size(), course_.budget); }

  /// The channels that work in this step: with few ports the heaviest first, as many as the ports of both ends allow.
  std::vector<std::uint32_t> working() {
    if (all_ports()) return active_;
    const std::size_t first = course_.works.size();
    course_.works.resize(first + channels_.nodes() * course_.ports, NextHops::none);
    std::vector<std::size_t> sent(channels_.nodes()), received(channels_.nodes());
    std::stable_sort(active_.begin(), active_.end(), [&](std::uint32_t a, std::uint32_t b) { return weights_[a] > weights_[b]; });
    if (course_.budget < unlimited)
      std::stable_sort(active_.begin(), active_.end(), [&](std::uint32_t a, std::uint32_t b) { return message(a) > message(b); });
    std::vector<std::uint32_t> chosen;
    for (const std::uint32_t channel : active_) {
      const auto& [from, to, leg] = channels_[channel];
      if (sent[from] == course_.ports || received[to] == course_.ports) continue;
      course_.works[first + from * course_.ports + sent[from]] = static_cast<NextHops::Slot>(channel - channels_.first_of(from));
      ++sent[from];
      ++received[to];
      chosen.push_back(channel);
    }
    return chosen;
  }

  void play_step() {
    ByteSum fullest = 0;
    std::size_t longest = 0;
    arrived_.clear();
    for (const std::uint32_t channel : working()) {
      ByteSum bytes = 0;
      std::vector<Block>& blocks = waiting_[channel];
      most_[channel] = std::max<std::uint64_t>(most_[channel], blocks.size());
      longest = std::max(longest, message(channel));
      const auto end = blocks.begin() + static_cast<std::ptrdiff_t>(message(channel));
      for (const auto& [id, hops] : std::span(blocks.begin(), end)) {
        weights_[channel] -= weight_of_[static_cast<std::size_t>(hops)];
        bytes += static_cast<ByteSum>(placement_.bytes(id));
        arrived_.emplace_back(channels_[channel].to, Block{id, hops - 1});
      }
      fullest = std::max(fullest, bytes);
      blocks.erase(blocks.begin(), end);
      if (blocks.empty()) weights_[channel] = 0;  // sums are rounded
    }
    std::erase_if(active_, [&](std::uint32_t channel) { return waiting_[channel].empty(); });
    if (course_.budget < unlimited)
      std::sort(arrived_.begin(), arrived_.end(), [](const auto& a, const auto& b) { return a.second.id < b.second.id; });
    for (const auto& [at, block] : arrived_) {
      if (block.hops > 0) wait(at, block);
    }
    most_moved_ = std::max<std::uint64_t>(most_moved_, arrived_.size());
    bytes_ += fullest;
    blocks_ += longest;
    ++course_.steps;
  }

  const Machine& machine_;
  const LivingChannels& channels_;
  const Placement& placement_;
  Course course_;
  std::vector<double> weight_of_;                  // by hops to go: of a block
  std::vector<std::vector<Block>> waiting_;        // by channel
  std::vector<double> weights_;                    // by channel: of what waits
  std::vector<std::uint64_t> most_;                // by channel: the most blocks that waited
  std::vector<std::uint32_t> active_;              // channels that blocks wait for
  std::vector<std::pair<NodeId, Block>> arrived_;  // in this step
  ByteSum bytes_ = 0;                              // of the fullest channels, summed over the steps
  std::uint64_t blocks_ = 0, most_moved_ = 0;
};

/// sized: says which blocks are nothing; null: none is.
Program program(Node& self, const Course& course, const Placement* sized) {
  const NextHops& hops = *course.hops;
  const NodeId nodes = self.topology().nodes();
  std::vector<std::vector<BlockId>> waiting(hops.channels().count_of(self.rank()));  // by slot
  std::vector<BlockId> arrived;
  const auto take = [&](BlockId block) {
    if (const auto slot = hops(self.rank(), static_cast<NodeId>(block % nodes)); slot < waiting.size()) waiting[slot].push_back(block);
  };
  for (NodeId to = 0; to < nodes; ++to) {
    const BlockId block = BlockId{self.rank()} * nodes + to;
    if (sized == nullptr || !sized->empty(block)) take(block);
  }
  for (Step step = 0; step < course.steps; ++step) {
    course.each_working(self.rank(), step, [&](NextHops::Slot slot) {
      const std::span<const BlockId> blocks(waiting[slot].data(), std::min(waiting[slot].size(), course.budget));
      if (blocks.empty()) return;
      self.forward({hops.channels()[hops.channels().first_of(self.rank()) + slot].leg}, blocks);
      waiting[slot].erase(waiting[slot].begin(), waiting[slot].begin() + static_cast<std::ptrdiff_t>(blocks.size()));
    });
    arrived.clear();
    for (const Message& message : co_await self.step()) {
      for (const BlockId block : message.blocks()) arrived.push_back(block);
    }
    if (course.budget < unlimited) std::sort(arrived.begin(), arrived.end());
    for (const BlockId block : arrived) take(block);
  }
}

std::shared_ptr<const NextHops> make_next_hops(const Machine& machine) { return std::make_shared<const NextHops>(machine.topology); }

}  // namespace

Plan plan_by_next_hops(const Machine& machine, const Request& request, PlanCache& cache) {
  const auto hops = *cache.of<make_next_hops>(machine);
  const auto placement = std::make_shared<const Placement>(placement_of(machine, request, Plan{}));
  std::optional<Play> best;
  const auto try_rule = [&](const Rule& rule) {
    Play play(machine, hops, *placement, rule);
    const bool better = !best || play.time_s() < best->time_s();
    if (better) best.emplace(std::move(play));
    return better;
  };
  try_rule({});
  // Budgets: twice the mean of the longest message of a step, and half of it again and again.
  auto budget = static_cast<std::size_t>(2 * best->blocks() / std::max<Step>(1, best->steps()));
  if (!best->all_ports()) try_rule({.base = 2});
  while (budget > 0 && try_rule({.budget = budget})) budget /= 2;
  const auto slots = static_cast<std::uint64_t>(machine.topology.max_ports());
  const std::uint64_t a_step = std::max<std::uint64_t>(1, std::min(slots, static_cast<std::uint64_t>(machine.ports)));
  Plan plan;
  plan.steps = best->steps();
  plan.formula = "steps of the play";
  plan.route_hops = plan.steps;
  plan.channel_bytes = best->bytes();
  plan.node_bytes = bytes_of_lists(slots, best->most_listed());
  plan.message_bytes = bytes_of_messages(a_step, ceil_div(best->most_moved(), machine.topology.nodes() * a_step), 1);
  const auto course = std::make_shared<const Course>(best->take());
  plan.table_bytes = hops->bytes() + course->works.size() * sizeof(NextHops::Slot);
  plan.start = [course, sized = request.sizes ? placement : nullptr](Node& self) { return program(self, *course, sized.get()); };
  return plan;
}

// The table, and in the play each block in two lists that grow by doubling.
Bytes next_hops_bytes(const Machine& machine) {
  constexpr Bytes of_a_pair = 2 + 16 + 24;
  return Bytes{machine.topology.nodes()} * machine.topology.nodes() * of_a_pair;
}

}  // namespace torus::total_exchange
