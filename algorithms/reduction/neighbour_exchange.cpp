/// Reduce-scatter, multi-node broadcast, all-reduce and barrier with one port in few steps: one dimension after the other, and along each
/// neighbours exchange in pairs.
///
/// Along a line a node exchanges with its two neighbours in turns (lines/paired_line.hpp). All-gather: it sends what the neighbour lacks,
/// at most the bundles of two places; the reduce-scatter runs the same steps backwards and combines. Where that takes less model time, for
/// long blocks, single bundles go round odd rings, in n-1 steps of the fewest bytes, or all nodes are one ring, a cycle through all.
/// All-reduce, `halves`: both, one after the other. `whole`: nodes exchange sums of whole vectors. To a neighbour goes all that a node has
/// (register 0), or where the neighbour has a part of it what came last, which waits in register 1. A barrier sends the same messages
/// without blocks.
/// Machine  any mix of rings, lines and complete dimensions, twisted tori; packet (single hops), one port, no channel shared.
/// Variant  of an all-reduce: the one of less model time.
/// Steps    a half, `whole` and barrier: sum over the dimensions, of an even ring n/2, an odd ring (n+3)/2, a line n-1 (n even) or n, a
///          complete dimension or ring of 3 ceil(log2 n); on tori of even sides the diameter, which is optimal. The cycle: as a ring of N.
/// Bytes    a half: of an even ring or complete dimension n-1 bundles, an odd ring n+1, a line 2n-3 or 2n-2; the fewest on tori of even
///          sides, and on cycles of even N. `whole`: m a step.
/// Memory   O(k) a node beside the ids of a step, tables of O(N) for all nodes; `whole` 2 vectors.
/// Source   this project; even rings: Chen, Zhang, Zhang & Yuan (2005), in MPI libraries as `neighbor`; single bundles: folklore,
///          optimal by Patarasuk & Yuan (2009).

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/lines/exchange_phase.hpp"
#include "algorithms/reduction/one_order.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction::neighbour_exchange {
namespace {

using lines::ExchangePhase;
using lines::PairedLine;

/// Both halves. Steps of the all-gather are counted from its end.
class Gather final : public ReversibleReduceScatter {
 public:
  /// bytes: of a node's block.
  Gather(const Machine& machine, double bytes) : topology_{machine.topology} {
    const std::vector<Dimension> order = lines::gathering_order(topology_);
    double bundle = 1, time_s = 0;
    const auto add = [&](ExchangePhase along, bool ring, const CostModel& cost) {
      Phase pairs{std::move(along), false}, round{pairs.along, true};
      const double in_pairs = pairs.time_s(cost, bundle * bytes), in_turn = round.time_s(cost, bundle * bytes);
      bundle *= pairs.along.line().places();
      time_s += ring ? std::min(in_pairs, in_turn) : in_pairs;
      phases_.push_back(ring && in_turn < in_pairs ? std::move(round) : std::move(pairs));
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      CostModel cost = machine.cost;
      cost.byte_s = cost.byte_s_of(order[i]);
      add(ExchangePhase(topology_, order[i], std::span(order).first(i)), topology_.wiring(order[i]) == Wiring::ring, cost);
    }
    const NodeId nodes = topology_.nodes(), half = nodes / 2;
    if (!lines::has_node_cycle(topology_) || load().channel == nodes - 1) return;
    if (time_s <= machine.cost.steps(half, (nodes - 1.0) * bytes, half)) return;
    const double by_dimension = std::exchange(time_s, 0);
    std::vector<Phase> phases = std::exchange(phases_, {});
    bundle = 1;
    add(ExchangePhase(std::make_shared<const lines::NodeCycle>(lines::node_cycle(topology_))), true, machine.cost);
    if (by_dimension <= time_s) phases_ = std::move(phases);
  }

  std::uint64_t steps() const override {
    std::uint64_t sum = 0;
    for (const Phase& phase : phases_) sum += static_cast<std::uint64_t>(phase.steps());
    return sum;
  }
  std::uint32_t pieces() const override { return 1; }

  void sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const auto [phase, number] = when(step);
    const ExchangePhase& along = phase.along;
    const std::int32_t place = along.place(topology_, self.rank());
    const PairedLine::Run came = phase.came(place, number);
    if (came.count > 0) append(self, along, came, out.add({along.leg(topology_, self.rank(), phase.source(place, number))}));
  }

  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const auto [phase, number] = when(step);
    const ExchangePhase& along = phase.along;
    const std::int32_t place = along.place(topology_, self.rank()), offset = phase.target(place, number);
    if (offset == 0) return;
    const PairedLine::Run goes = phase.came(modulo(place + offset, along.line().places()), number);
    if (goes.count > 0) append(self, along, goes, out.add({along.leg(topology_, self.rank(), offset)}));
  }

  Load load() const override {
    Load sum;
    for (const Phase& phase : phases_) sum.channel += phase.gathered() * phase.along.earlier().size();
    sum.combined = sum.channel;  // a node receives one message a step
    return sum;
  }

  Bytes table_bytes() const override {
    Bytes sum = 0;
    for (const Phase& phase : phases_) sum += phase.along.table_bytes();
    return sum;
  }

 private:
  struct Phase {
    ExchangePhase along;
    bool round;  ///< each place passes the bundle that came last on to the next

    std::int32_t steps() const noexcept { return round ? along.line().places() - 1 : along.line().steps(); }
    std::int32_t target(std::int32_t place, std::int32_t step) const noexcept { return round ? +1 : along.line().target(place, step); }
    PairedLine::Run came(std::int32_t place, std::int32_t step) const noexcept {
      return round ? PairedLine::Run{modulo(place - 1 - step, along.line().places()), 1} : along.line().gathered(place, step);
    }
    std::int32_t source(std::int32_t place, std::int32_t step) const noexcept { return round ? -1 : along.line().source(place, step); }
    double time_s(const CostModel& cost, double bundle) const noexcept {
      return cost.steps(steps(), static_cast<double>(gathered()) * bundle, steps());
    }
    std::uint64_t gathered() const noexcept {
      std::uint64_t sum = 0;
      for (std::int32_t step = 0; step < steps(); ++step)
        sum += round ? 1 : static_cast<std::uint64_t>(along.line().longest_gathered(step));
      return sum;
    }
  };

  /// The phase of a step of the reduce-scatter, and the step of the phase as an all-gather.
  std::pair<const Phase&, std::int32_t> when(std::uint64_t step) const {
    auto number = static_cast<std::int32_t>(steps() - 1 - step);
    auto phase = phases_.begin();
    for (; number >= phase->steps(); ++phase) number -= phase->steps();
    return {*phase, number};
  }

  /// The owners at those places that share a node's coordinates in the dimensions of later phases.
  void append(const Node& self, const ExchangePhase& along, PairedLine::Run run, Sends::Blocks& blocks) const {
    const NodeId later = along.later_part(topology_, self.rank());
    blocks.reserve(static_cast<std::size_t>(run.count) * along.earlier().size());
    for (std::int32_t i = 0; i < run.count; ++i) {
      const NodeId base = later + along.part(modulo(run.first + i, along.line().places()));
      for (const NodeId earlier : along.earlier()) blocks.push_back(base + earlier);
    }
  }

  Topology topology_;
  std::vector<Phase> phases_;
};

constexpr std::string_view formula = "sum T_i";

Plan plan_halves(const Machine& machine, const Request& request) {
  const bool both = request.collective == Collective::allreduce;
  const double bytes = static_cast<double>(request.bytes) / (both ? static_cast<double>(machine.topology.nodes()) : 1);
  return plan_reversible(machine, request, std::make_shared<const Gather>(machine, bytes), std::string(formula), 1);
}

// Sums of whole vectors.

using Phases = std::vector<ExchangePhase>;

void send(Node& self, const ExchangePhase& phase, std::int32_t step, bool barrier) {
  const std::optional<PairedLine::Sum> sum = phase.line().sum(phase.place(self.topology(), self.rank()), step);
  if (!sum) return;
  const Leg leg = phase.leg(self.topology(), self.rank(), sum->offset);
  if (barrier) return self.send({leg}, {});
  const Combine into = sum->into_both ? combine_into({0, 1}) : combine;
  const BlockId block = static_cast<BlockId>(sum->from);
  if (sum->keeps)
    self.send(into, {leg}, {{block}});
  else
    self.forward(into, {leg}, {{block}});
}

Program program(Node& self, const Phases& phases, bool barrier) {
  for (const ExchangePhase& phase : phases) {
    for (std::int32_t step = 0; step < phase.line().steps(); ++step) {
      send(self, phase, step, barrier);
      co_await self.step();
    }
  }
}

Plan plan_whole(const Machine& machine, const Request& request) {
  const auto phases = std::make_shared<Phases>();
  for (const Dimension d : lines::gathering_order(machine.topology)) phases->emplace_back(machine.topology, d);
  const bool barrier = request.collective == Collective::barrier;
  Plan plan;
  plan.start = [phases, barrier](Node& self) { return program(self, *phases, barrier); };
  std::uint64_t combined = 0;
  for (const ExchangePhase& phase : *phases) {
    plan.steps += static_cast<std::uint64_t>(phase.line().steps());
    for (std::int32_t step = 0; step < phase.line().steps(); ++step) combined += static_cast<std::uint64_t>(phase.line().combined(step));
  }
  plan.route_hops = plan.steps;
  plan.formula = formula;
  if (barrier) return plan;
  plan.registers = 2;
  const SegmentBytes segment(request, 1);
  plan.channel_bytes = segment.of(plan.steps);
  plan.combined_bytes = segment.of(combined);
  return plan;
}

constexpr std::array<std::string_view, 2> variants{"halves", "whole"};

Plan plan_allreduce(const Machine& machine, const Request& request) {
  return plan_of_variant(machine, request, variants, [&](std::string_view variant) -> std::optional<Plan> {
    if (variant == "halves") return plan_halves(machine, request);
    if (differs_by_node("", request)) return std::nullopt;
    return plan_whole(machine, request);
  });
}

std::optional<Refusal> also_requires(const Machine&, const Request& request) {
  if (request.parameters.word("variant") == "whole") return differs_by_node("neighbour-exchange --variant whole", request);
  return std::nullopt;
}

/// What the halves keep: the ranks of earlier phases, and a cycle.
Bytes planning_bytes(const Machine& machine) { return Bytes{6} * machine.topology.nodes() * sizeof(NodeId); }

constexpr std::array former_names{FormerName{"dimension-wise"}};
constexpr std::array parameters{parameter::variant(variants)};
constexpr std::array terms{Term{
    "T_i", "steps of a dimension: of an even ring n/2, an odd ring (n+3)/2 or n-1, a line n-1 (n even) or n, a complete one ceil(log2 n)"}};

constexpr Algorithm neighbour_exchange(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "neighbour-exchange",
          .collective = collective,
          .source = "this project; even rings: Chen et al. 2005; long blocks on odd rings: Patarasuk & Yuan 2009",
          .shapes = "any, also twisted",
          .steps = steps,
          .idea = idea,
          .terms = terms,
          .native = {.switching = Switching::packet, .ports = 1},
          .needs = {.takes_twists = true},
          .plan = plan_halves,
          .planning_bytes = planning_bytes,
          .former_names = former_names};
}

constexpr std::string_view
    sum_of_steps = "sum of T_i: even ring n/2, odd ring (n+3)/2, line n-1 or n, complete ceil(log2 n)",
    half_steps =
        "sum of T_i: even ring n/2, odd ring (n+3)/2 or n-1, line n-1 or n, complete ceil(log2 n); long blocks also as on one ring of N";

constexpr Algorithm
    reduce_scatter = neighbour_exchange(
        Collective::reduce_scatter, half_steps,
        {.first =
             "Along one dimension a node exchanges with its two neighbours in turns, and gives each what is meant for places on its side.",
         .then = "What comes is added to what the node has, and the next dimension does the same with what is left.",
         .good =
             "One send and one receive a step bring news from both sides, so that a ring takes half as many steps as once round it, and on "
             "even rings no byte is sent in vain."}),
    all_gather = neighbour_exchange(
        Collective::multinode_broadcast, half_steps,
        {.first =
             "Along one dimension a node exchanges with its two neighbours in turns, and sends each what it lacks, two bundles at most.",
         .then = "The next dimension does the same with the bundles that have been gathered so far.",
         .good =
             "One send and one receive a step bring news from both sides, so that a ring takes half as many steps as once round it, and on "
             "even rings each block comes to each node once."}),
    barrier =
        [] {
          Algorithm a = neighbour_exchange(
              Collective::barrier, sum_of_steps,
              {.first = "Along one dimension a node tells its two neighbours in turns whom it has heard of.",
               .then = "When all nodes of a line know of one another, the next dimension does the same for whole lines.",
               .good = "One port is enough for as many steps as the diameter on tori of even sides, and no node needs a plan."});
          a.plan = plan_whole;
          a.planning_bytes = nullptr;
          a.former_names = {};
          return a;
        }(),
    allreduce = [] {
      Algorithm a = neighbour_exchange(
          Collective::allreduce,
          "whole: sum of T_i, even ring n/2, odd ring (n+3)/2, line n-1 or n, complete ceil(log2 n); halves: twice that",
          {.first = "Short vectors: along one dimension a node exchanges with its two neighbours in turns all that it has added up, or "
                    "what came "
                    "last where the neighbour knows the rest.",
           .then = "Long vectors: the same steps first as a reduce-scatter, then backwards as an all-gather.",
           .good = "One port is enough for as many steps as the diameter on tori of even sides, or twice as many with the fewest bytes."});
      a.parameters = parameters;
      a.also_requires = also_requires;
      a.plan = plan_allreduce;
      return a;
    }();

}  // namespace

extern const Entries entries{reduce_scatter, allreduce, all_gather, barrier};

}  // namespace torus::reduction::neighbour_exchange
