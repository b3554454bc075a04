/// Total exchange, scatter and gather of blocks of any sizes, on any shape and around dead links and nodes: all blocks get a way beforehand
/// by the load of all channels, and a list says what crosses each channel when.
///
/// The whole exchange is played through before the run, so that all sizes and holes must be known to all. *Ways*: each block takes a
/// shortest way over living channels, the lightest for the bytes that the other blocks put on its channels, and on its nodes where these
/// have fewer ports than channels. All ways are chosen anew a few times, the largest blocks first. *List*: in each step every channel
/// carries what waits for it, the blocks with the farthest to go first, up to a budget of bytes. Where nodes have fewer ports than
/// channels, the largest messages go first, and of equal ones those between the nodes with most left to do. A small budget evens the
/// channels of a step out and takes more steps: several are tried, where sizes differ also with the most bytes times hops first, and the
/// list of the least model time is taken. An exchange of blocks of one size has the same lists whatever that is. A block of no bytes, of a
/// request with sizes, is not sent.
///
/// An exchange of more than 512 nodes has too many blocks for a list: its ways are a table of next hops, and in a step the channels that
/// work bring what waits for them (next_hops.hpp).
///
/// Machine  packet, any ports; any shape, twisted or with holes, scatter and gather up to 1024 nodes. Equal blocks on a whole machine: up
///          to 256 nodes, on rings alone, where others are near the bound and planned at once, up to 64.
/// Steps    as many as the list has; bytes and steps are known after planning.   Header  none.
/// Memory   16 bytes a hop of a block, shared by all nodes; of large exchanges: see next_hops.hpp.
/// Source   this project; the ways: ways.hpp.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/schedule.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/next_hops.hpp"
#include "algorithms/total_exchange/ways.hpp"

namespace torus::total_exchange::by_load {
namespace {

constexpr NodeId most_nodes = 512, most_nodes_around_root = 1024;
// Limits for equal blocks on a whole machine, and there on rings alone, where other exchanges are near the bound and planned at once.
constexpr NodeId most_nodes_alike = 256, most_nodes_on_rings = 64;
constexpr ByteSum no_budget = std::numeric_limits<ByteSum>::infinity();

/// How a list is made.
struct Rule {
  ByteSum budget = no_budget;  ///< of a channel and step
  bool weighed = false;        ///< the largest bytes times hops go first, else the farthest
};

/// The exchange, step by step.
class List {
 public:
  /// schedule: gets all sends; null where they are only counted.
  List(const Machine& machine, const BalancedWays& ways, const Rule& rule, Schedule* schedule)
      : machine_{machine},
        channels_{ways.channels()},
        deliveries_{ways.deliveries()},
        ways_{ways},
        rule_{rule},
        schedule_{schedule},
        left_(ways.loads()),
        queues_(channels_.count()),
        sent_(channels_.nodes()),
        received_(channels_.nodes()) {
    for (std::uint32_t i = 0; i < deliveries_.size(); ++i) wait(i, 0);
    while (!active_.empty()) play_step();
  }

  Step steps() const noexcept { return step_; }
  ByteSum bytes() const noexcept { return bytes_; }
  double time_s() const noexcept { return machine_.cost.steps(step_, bytes_, step_); }

 private:
  /// A block before its next hop.
  struct Waiting {
    ByteSum urgency;
    std::uint32_t delivery, hop;
  };
  struct Queue {
    std::vector<Waiting> blocks;  // a heap
    ByteSum bytes = 0;
    bool active = false;
  };
  /// A channel that may send.
  struct Candidate {
    std::uint32_t channel;
    ByteSum message, left;  // bytes; left: of the channel or a port that has most to do
  };

  /// The most urgent goes first, then the largest; the order of the deliveries settles ties.
  bool before(const Waiting& a, const Waiting& b) const noexcept {
    return std::tuple(a.urgency, deliveries_[a.delivery].bytes, b.delivery) <
           std::tuple(b.urgency, deliveries_[b.delivery].bytes, a.delivery);
  }

  void wait(std::uint32_t delivery, std::uint32_t hop) {
    const auto way = ways_.of(delivery);
    const auto bytes = static_cast<ByteSum>(deliveries_[delivery].bytes);
    const auto hops = static_cast<double>(way.size() - hop);
    Queue& queue = queues_[way[hop]];
    queue.blocks.push_back({rule_.weighed ? bytes * hops : hops, delivery, hop});
    std::push_heap(queue.blocks.begin(), queue.blocks.end(), [this](const auto& a, const auto& b) { return before(a, b); });
    queue.bytes += bytes;
    if (!queue.active) active_.push_back(way[hop]);
    queue.active = true;
  }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> all;
    for (const std::uint32_t channel : active_) {
      const Queue& queue = queues_[channel];
      const auto first = static_cast<ByteSum>(deliveries_[queue.blocks.front().delivery].bytes);
      Candidate candidate{channel, std::min(queue.bytes, std::max(rule_.budget, first)), 0};
      left_.each(channel, [&](ByteSum left) { candidate.left = std::max(candidate.left, left); });
      all.push_back(candidate);
    }
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return std::tuple(b.message, b.left, a.channel) < std::tuple(a.message, a.left, b.channel);
    });
    return all;
  }

  void play_step() {
    std::fill(sent_.begin(), sent_.end(), 0);
    std::fill(received_.begin(), received_.end(), 0);
    ByteSum most = 0;
    for (const Candidate& candidate : candidates()) {
      const auto& [from, to, leg] = channels_[candidate.channel];
      if (sent_[from] == machine_.ports || received_[to] == machine_.ports) continue;
      ++sent_[from];
      ++received_[to];
      most = std::max(most, send(candidate.channel));
    }
    std::erase_if(active_, [this](std::uint32_t channel) {
      queues_[channel].active = !queues_[channel].blocks.empty();
      return !queues_[channel].active;
    });
    for (const auto& [delivery, hop] : arrived_) {
      if (hop < ways_.of(delivery).size()) wait(delivery, hop);
    }
    arrived_.clear();
    bytes_ += most;
    ++step_;
  }

  ByteSum send(std::uint32_t channel) {
    Queue& queue = queues_[channel];
    ByteSum bytes = 0;
    ids_.clear();
    while (!queue.blocks.empty()) {
      const auto more = static_cast<ByteSum>(deliveries_[queue.blocks.front().delivery].bytes);
      if (!ids_.empty() && bytes + more > rule_.budget) break;
      std::pop_heap(queue.blocks.begin(), queue.blocks.end(), [this](const auto& a, const auto& b) { return before(a, b); });
      const Waiting block = queue.blocks.back();
      queue.blocks.pop_back();
      bytes += more;
      ids_.push_back(deliveries_[block.delivery].id);
      arrived_.emplace_back(block.delivery, block.hop + 1);
    }
    queue.bytes -= bytes;
    left_.add(channel, -bytes);
    if (schedule_ != nullptr) {
      const auto& [from, to, leg] = channels_[channel];
      schedule_->add(step_, from, to, {&leg, 1}, ids_, Manner::give);
    }
    return bytes;
  }

  const Machine& machine_;
  const LivingChannels& channels_;
  const std::vector<Delivery>& deliveries_;
  const BalancedWays& ways_;
  const Rule rule_;
  Schedule* const schedule_;
  ChannelLoads left_;                  // what is still to be sent
  std::vector<Queue> queues_;          // by channel
  std::vector<std::uint32_t> active_;  // channels that blocks wait for
  std::vector<int> sent_, received_;   // messages of a node in this step
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arrived_;
  std::vector<BlockId> ids_;
  Step step_ = 0;
  ByteSum bytes_ = 0;  // of the fullest channels, summed over the steps
};

/// The rule of the least model time of those tried: no budget, then from twice the mean of its bytes a step on each half of the one before,
/// until no time is won a few times in a row.
Rule best_rule(const Machine& machine, const BalancedWays& ways) {
  const std::vector<Delivery>& deliveries = ways.deliveries();
  const bool differ =
      std::any_of(deliveries.begin(), deliveries.end(), [&](const Delivery& d) { return d.bytes != deliveries.front().bytes; });
  const int patience = deliveries.size() <= std::size_t{1} << 16U ? 4 : 2;
  Rule best;
  double least_s = std::numeric_limits<double>::infinity();
  for (const bool weighed : {false, true}) {
    if (weighed && !differ) break;
    Rule rule{.weighed = weighed};
    double least_of_order_s = std::numeric_limits<double>::infinity();
    for (int in_vain = 0; rule.budget > 0 && in_vain < patience;) {
      const List list(machine, ways, rule, nullptr);
      in_vain = list.time_s() < least_of_order_s ? 0 : in_vain + 1;
      least_of_order_s = std::min(least_of_order_s, list.time_s());
      if (list.time_s() < least_s) {
        least_s = list.time_s();
        best = rule;
      }
      rule.budget = std::floor(rule.budget == no_budget ? 2 * list.bytes() / std::max<Step>(1, list.steps()) : rule.budget / 2);
    }
  }
  return best;
}

/// What a list is made from. Its parts refer to each other.
struct Blocks {
  Blocks(const Machine& machine, const Request& request)
      : exchange{request.collective == Collective::total_exchange},
        form(machine, exchange ? std::nullopt : std::optional(request.sources.front())),
        channels(form.machine().topology),
        all(deliveries_of(machine, request)),
        ways(form.machine(), channels, all) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  /// The sends of a list, as the machine has them.
  Schedule schedule(const Rule& rule) const {
    const NodeId nodes = channels.nodes();
    Schedule found(nodes);
    const List list(form.machine(), ways, rule, &found);
    found.sort();
    return form.outside(found).renumbered(
        [&](BlockId id) { return exchange ? form.outside(id / nodes) * nodes + form.outside(id % nodes) : form.outside(id); });
  }

  const bool exchange;
  const CanonicalForm form;
  const LivingChannels channels;
  const std::vector<Delivery> all;
  const BalancedWays ways;

 private:
  std::vector<Delivery> deliveries_of(const Machine& machine, const Request& request) const {
    std::vector<Delivery> found = deliveries(placement_of(machine, request, Plan{}));
    for (Delivery& d : found) {
      d.from = form.inside(d.from);
      d.to = form.inside(d.to);
      d.id = exchange ? d.from * machine.topology.nodes() + d.to : form.inside(d.id);
    }
    std::sort(found.begin(), found.end(),
              [](const Delivery& a, const Delivery& b) { return std::tie(a.from, a.id) < std::tie(b.from, b.id); });
    return found;
  }
};

/// A total exchange of blocks of one size, a byte each, and the lists with budgets of any, then fewer and fewer blocks down to one: they
/// serve all sizes.
struct EqualBlocks {
  struct Tried {
    Rule rule;
    Step steps;
    ByteSum blocks;  ///< of the fullest channels, summed over the steps
  };
  EqualBlocks(const Machine& machine, const Request& request) : blocks(machine, request) {
    for (Rule rule; rule.budget > 0.5;) {  // parts of a block: full queues go before others
      const List list(blocks.form.machine(), blocks.ways, rule, nullptr);
      tried.push_back({rule, list.steps(), list.bytes()});
      rule.budget = rule.budget == no_budget ? 2 * list.bytes() / std::max<Step>(1, list.steps()) : rule.budget / 2;
    }
  }

  const Blocks blocks;
  std::vector<Tried> tried;
};

std::shared_ptr<const EqualBlocks> equal_blocks(const Machine& machine) {
  Request request;
  request.collective = Collective::total_exchange;
  request.bytes = 1;
  return std::make_shared<const EqualBlocks>(machine, request);
}

/// Whether the exchange has too many blocks for a list.
bool takes_next_hops(const Machine& machine, const Request& request) {
  return request.collective == Collective::total_exchange && machine.topology.nodes() > most_nodes;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const bool exchange = request.collective == Collective::total_exchange;
  if (exchange && (request.sizes || !topology.whole() || topology.twisted())) return std::nullopt;
  const NodeId most = !exchange ? most_nodes_around_root : is_torus(topology) ? most_nodes_on_rings : most_nodes_alike;
  if (topology.nodes() <= most) return std::nullopt;
  return Refusal{Refusal::About::shape, topology.text(),
                 "by-load plays all blocks through, here of at most " + std::to_string(most) + " nodes",
                 smaller(topology, [most](const Topology& t) { return t.nodes() <= most; }).text()};
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  if (takes_next_hops(machine, request)) return plan_by_next_hops(machine, request, cache);
  Plan plan;
  const auto take = [&](const Blocks& blocks, const Rule& rule, Step steps, ByteSum bytes) {
    auto schedule = std::make_shared<const Schedule>(blocks.schedule(rule));
    plan.steps = steps;
    plan.channel_bytes = bytes;
    plan.table_bytes = schedule->table_bytes();
    plan.start = [schedule = std::move(schedule)](Node& self) { return follow(self, *schedule); };
  };
  if (request.sizes || request.collective != Collective::total_exchange) {
    const Blocks blocks(machine, request);
    const Rule rule = best_rule(blocks.form.machine(), blocks.ways);
    const List list(blocks.form.machine(), blocks.ways, rule, nullptr);
    take(blocks, rule, list.steps(), list.bytes());
  } else {
    const std::shared_ptr<const EqualBlocks> equal = *cache.of<equal_blocks>(machine);
    const auto bytes = static_cast<ByteSum>(request.bytes);
    const auto best = *cheapest(
        equal->tried, [&](const auto& tried) { return std::optional(machine.cost.steps(tried.steps, tried.blocks * bytes, tried.steps)); });
    take(equal->blocks, best.rule, best.steps, best.blocks * bytes);
  }
  plan.route_hops = plan.steps;
  plan.formula = "steps of the list";
  return plan;
}

Bytes planning_bytes(const Machine& machine) { return machine.topology.nodes() > most_nodes ? next_hops_bytes(machine) : 0; }

constexpr Algorithm by_load(Collective collective, std::string_view shapes, const Idea& idea) {
  return {.name = "by-load",
          .collective = collective,
          .source = "this project",
          .shapes = shapes,
          .steps = "those of a list made for the sizes and the holes",
          .idea = idea,
          .native = {.switching = Switching::packet},
          .needs = {.lives_with_holes = true, .takes_twists = true},
          .also_requires = also_requires,
          .plan = plan,
          .offer = [](const Machine& machine, const Request& request) { return Offer{.slow = takes_next_hops(machine, request)}; },
          .planning_bytes = collective == Collective::total_exchange ? planning_bytes : nullptr};
}

constexpr std::string_view then =
    "Every channel carries in a step what waits for it, the blocks with the farthest to go first, and no more "
    "bytes than a budget allows.";

constexpr Algorithm exchange = by_load(
                        Collective::total_exchange, "any; of equal blocks, whole, up to 256 nodes, on rings alone 64",
                        {.first =
                             "Before the run every block gets a shortest way around dead links and nodes, the emptiest of all for what "
                             "the other blocks put on the channels and ports.",
                         .then = then,
                         .good = "The list is made with the size of every block, so that the fullest channels and ports have few pauses "
                                 "however much sizes differ; but all nodes must know all sizes and holes first."}),
                    scatter = by_load(
                        Collective::scatter, "any, up to 1024 nodes",
                        {.first = "Before the run every block gets a shortest way from the root around dead links and nodes, so that the "
                                  "channels and ports of the root share the bytes as evenly as they can.",
                         .then = then,
                         .good = "The channels of the root have few pauses, however much sizes differ and whatever is dead; but all nodes "
                                 "must know all sizes and holes first."}),
                    gather = by_load(
                        Collective::gather, "any, up to 1024 nodes",
                        {.first = "Before the run every block gets a shortest way to the root around dead links and nodes, so that the "
                                  "channels and ports of the root share the bytes as evenly as they can.",
                         .then = then,
                         .good = "The channels of the root have few pauses, however much sizes differ and whatever is dead; but all nodes "
                                 "must know all sizes and holes first."});

}  // namespace

extern const Entries entries{exchange, scatter, gather};

}  // namespace torus::total_exchange::by_load
