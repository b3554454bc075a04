/// lower_bounds(): the arguments about single nodes, dimensions and the shortest routes. torus/bounds.hpp states them; the other sources of
/// this folder hold those of reductions, of cuts and of broadcasts.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/schedule.hpp>

#include "algorithms/bounds/broadcast_bounds.hpp"
#include "algorithms/bounds/growth.hpp"
#include "algorithms/bounds/raise.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/living_channels.hpp"
#include "runtime/base/figures.hpp"

namespace torus {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// What the channels of a node can carry in a second of byte terms, where dimensions differ in speed.
///
/// Let B_t be the byte term of step t: no channel c carries more than B_t / T_c(c) bytes in it. So the channels of a set C carry at most
/// (sum of B_t) * rate(C) bytes in a run, with rate(C) the sum of 1 / T_c over C. Hence a bound for every set that must carry a
/// number of bytes: the sum of the byte terms is at least bytes / rate(C). A node that uses at most p channels in a step carries no more
/// than its p fastest would, step by step, whichever it chooses. Nodes at a border may lack some of the channels that are counted here, and
/// the bound is then lower than it could be, but valid; cuts.cpp looks at nodes one by one.
class LinkRates {
 public:
  explicit LinkRates(const Machine& machine) : cost_{machine.cost} {
    const Topology& topology = machine.topology;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const std::int32_t n = topology.extent(d);
      const std::int32_t slots = topology.wiring(d) == Wiring::complete ? n - 1 : n > 1 ? 2 : 0;
      fastest_.insert(fastest_.end(), static_cast<std::size_t>(slots), rate(d));
    }
    std::sort(fastest_.begin(), fastest_.end(), std::greater<>());
    for (std::size_t i = 1; i < fastest_.size(); ++i) fastest_[i] += fastest_[i - 1];
  }

  /// Bytes a second over a channel of a dimension; infinite where bytes cost nothing.
  double rate(Dimension d) const noexcept { return 1 / cost_.byte_s_of(d); }
  /// The same over the `count` fastest channels of a node.
  double fastest(std::uint64_t count) const noexcept {
    return count == 0 ? 0 : fastest_[std::min<std::size_t>(count, fastest_.size()) - 1];
  }

 private:
  const CostModel& cost_;
  std::vector<double> fastest_;  // sums of the fastest 1, 2, ..
};

/// The sources, and how much a node can do in a step.
struct Question {
  const Machine& machine;
  const Request& request;
  Senders channels;                          ///< min(ports, channels): what bounds bytes, however the messages share a channel
  bool all_nodes = request.sources.empty();  // are sources
  bool packet = machine.switching == Switching::packet;
  bool shared = machine.contention == Contention::share;  // several messages may leave a node by one channel
  std::uint64_t ports = static_cast<std::uint64_t>(machine.ports);
  std::optional<LinkRates> rates = machine.cost.one_speed() ? std::nullopt : std::optional<LinkRates>(machine);

  /// Messages a step of a node that has so many channels to use.
  std::uint64_t messages(std::uint64_t usable_channels) const { return shared ? ports : usable_channels; }
};

/// Bytes that must pass `rate` bytes a second, where dimensions differ in speed.
void raise_seconds(Bounds& bounds, double bytes, double rate) {
  bounds.channel_time_s = std::max(bounds.channel_time_s.value_or(0), bytes / rate);
}

/// Nodes on the longer side of the worst source, if all nodes stand on one line whose channels are not shared; else 0.
std::uint64_t longer_side_of_line(const Question& asked) {
  const std::vector<Factor> dimensions = factors(asked.machine.topology);
  if (!asked.machine.topology.whole() || dimensions.size() != 1 || dimensions.front().wiring != Wiring::line || asked.ports < 2 ||
      asked.shared)
    return 0;
  const std::uint64_t last = dimensions.front().n - 1;
  if (asked.all_nodes) return last;
  std::uint64_t side = 0;
  for (const NodeId source : asked.request.sources) side = std::max({side, std::uint64_t{source}, last - source});
  return side;
}

/// As many of the sources as the eccentricities of a machine with holes may cost: O(channels) each, and one at least.
std::span<const NodeId> few_enough(const Topology& topology, std::span<const NodeId> sources) {
  constexpr std::uint64_t most_effort = std::uint64_t{1} << 26U;
  if (topology.whole() || sources.empty()) return sources;
  return sources.first(std::min<std::size_t>(sources.size(), 1 + most_effort / topology.channels()));
}

/// On machines of many nodes with holes, where a search takes long: the distance in the shape, which no hole makes less, to the farthest
/// node or, if it is dead, to one beside it.
std::int32_t eccentricity_or_less(const Topology& topology, NodeId source) {
  constexpr NodeId most_nodes = NodeId{1} << 20U;
  if (topology.nodes() <= most_nodes || topology.whole()) return topology.eccentricity(source);
  Coordinates farthest = topology.coordinates(source);
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const std::int32_t n = topology.extent(d);
    std::int32_t& at = farthest[static_cast<std::size_t>(d)];
    at = topology.wiring(d) == Wiring::line ? (at < n / 2 ? n - 1 : 0) : (at + n / 2) % n;
  }
  const NodeId node = topology.rank(farthest);
  if (topology.living(node)) return topology.distance(source, node);
  std::int32_t most = 0;
  const Topology whole = topology.with_faults({});
  whole.each_link(node, [&](Dimension, std::int32_t, NodeId to) {
    if (topology.living(to)) most = std::max(most, topology.distance(source, to));
  });
  return most;
}

/// Every node's data must reach every node, and each channel of the middle cut of a dimension takes one message a step.
///
/// Let T be the steps, p the ports, A and B the halves, c the channels from A to B. A node that sends in step t (from 0) has data of at
/// most (p+1)^t nodes, and what arrives from it is at most at (p+1)^(T-1-t) nodes in the end. The data of each node of A reach each node of
/// B by a way whose first message out of A is one of these: the sum over t of c min(|A|, (p+1)^t) min(|B|, (p+1)^(T-1-t)) is at least
/// |A||B|. After Hromkovic, Klasing & Stoehr, gossip in edge-disjoint paths mode.
void bound_steps_by_cuts(const Question& asked, Bounds& bounds) {
  const Topology& topology = asked.machine.topology;
  if (asked.shared || !topology.whole() || topology.twisted()) return;
  const auto nodes = static_cast<double>(topology.nodes()), told = static_cast<double>(asked.ports + 1);
  for (const Factor& f : factors(topology)) {
    const auto cut = f.middle_cut() * (topology.nodes() / f.n);
    const std::uint64_t smaller = f.n / 2;
    const double half = nodes / static_cast<double>(f.n) * static_cast<double>(smaller), rest = nodes - half;
    const auto refuted = [&](std::uint64_t steps) {
      const auto at_most = [&](double most, std::uint64_t t) { return std::min(most, std::pow(told, static_cast<double>(t))); };
      double pairs = 0;
      for (std::uint64_t t = 0; t < steps; ++t) pairs += static_cast<double>(cut) * at_most(half, t) * at_most(rest, steps - 1 - t);
      constexpr double rounding = 1e-12;
      return pairs < half * rest * (1 - rounding);
    };
    std::uint64_t steps = bounds.steps;
    while (refuted(steps)) ++steps;
    raise(bounds.steps, bounds.steps_reason, steps,
          "each of the " + number(cut) + " channels over the middle of dimension " + number(static_cast<std::uint64_t>(f.dimension)) +
              " takes one message a step: the earlier, the less it knows, the later, the fewer hear of it");
  }
}

void bound_steps(const Question& asked, Bounds& bounds) {
  const Topology& topology = asked.machine.topology;
  const std::string logarithm = "ceil(log_" + number(asked.ports + 1) + " " + number(topology.living_nodes()) + ")";
  raise<std::uint64_t>(bounds.steps, bounds.steps_reason, ceil_log(asked.ports + 1, topology.living_nodes()),
                       logarithm + ": a node informs at most " + counted(asked.ports, "other") + " a step");
  if (!asked.shared || asked.packet) {  // else a node may send all its messages over one channel, to different nodes
    std::uint64_t weakest = asked.all_nodes ? asked.channels.rbegin()->first : asked.ports;
    if (!asked.all_nodes) {
      for (const NodeId source : asked.request.sources) weakest = std::min(weakest, channels_of(topology, source));
    }
    raise<std::uint64_t>(bounds.steps, bounds.steps_reason, growth(asked.channels, weakest).size() - 1,
                         "more than " + logarithm + ", since nodes at a border or a hole have fewer channels than ports");
  }
  if (const std::uint64_t side = longer_side_of_line(asked); side > 0) {
    raise<std::uint64_t>(
        bounds.steps, bounds.steps_reason, ceil_log(3, 2 * side + 1),
        "a side of " + counted(side, "node") + " of a line: a step adds at most one over its only channel and two for each informed node");
  }
  if (topology.whole()) {
    // What comes to a root goes out from it backwards, in the opposite order of dimensions.
    const bool backwards = facts_of(asked.request.collective).wanted == CollectiveFacts::Wanted::at_root;
    raise<std::uint64_t>(
        bounds.steps, bounds.steps_reason, least_ordered_steps(backwards ? Schedule::mirrored(asked.machine) : asked.machine, bounds.steps),
        "more than " + logarithm + ", since a worm in dimension order ends in the cell of its last dimension that it enters");
  }
  const bool from_all =
      asked.all_nodes || (asked.request.collective == Collective::multinode_broadcast && asked.request.sources.size() == topology.nodes());
  if (from_all) bound_steps_by_cuts(asked, bounds);
  std::int32_t farthest = asked.all_nodes && topology.whole() ? topology.diameter() : 0;
  if (!asked.all_nodes) {
    for (const NodeId source : few_enough(topology, asked.request.sources))
      farthest = std::max(farthest, eccentricity_or_less(topology, source));
  }
  if (asked.packet) {
    raise(bounds.steps, bounds.steps_reason, static_cast<std::uint64_t>(farthest),
          asked.all_nodes ? "the diameter: a packet makes one hop a step" : "the eccentricity of a source: a packet makes one hop a step");
  }
  bounds.route_hops = std::max(bounds.steps, static_cast<std::uint64_t>(farthest));
}

/// Every node wants every source's message; a source has its own already.
void bound_replicated(const Question& asked, Bounds& bounds) {
  const auto bytes = static_cast<double>(asked.request.bytes);
  Senders sources;
  for (const NodeId source : asked.request.sources) ++sources[std::min(channels_of(asked.machine.topology, source), asked.ports)];
  for (const auto& [channels, nodes] : asked.channels) {
    const auto found = sources.find(channels);
    const std::uint64_t own = found != sources.end() && found->second == nodes ? 1 : 0;
    const std::uint64_t takes = asked.request.sources.size() - own;
    const std::string why = "a node receives " + counted(takes, "message");
    raise(bounds.channel_bytes, bounds.bytes_reason, static_cast<double>(takes) * bytes / static_cast<double>(channels),
          why + over(channels));
    if (asked.rates) raise_seconds(bounds, static_cast<double>(takes) * bytes, asked.rates->fastest(channels));
    const std::uint64_t at_once = asked.messages(channels);
    raise(bounds.single_block_steps, bounds.single_block_reason, ceil_div(takes, at_once), why + ", " + number(at_once) + " a step");
  }
  const std::uint64_t narrowest = sources.rbegin()->first;
  raise(bounds.channel_bytes, bounds.bytes_reason, bytes / static_cast<double>(narrowest), "a source sends its message" + over(narrowest));
  if (asked.rates) raise_seconds(bounds, bytes, asked.rates->fastest(narrowest));
}

/// Bytes a second of all channels that a step can use: see bound_exchange().
double rate_of_all_channels(const Question& asked) {
  double rate = 0;
  if (asked.packet) {
    for (const auto& [usable, nodes] : asked.channels) rate += asked.rates->fastest(usable) * static_cast<double>(nodes);
    return rate;
  }
  const std::uint64_t n = asked.machine.topology.nodes();
  for (const Factor& f : factors(asked.machine.topology)) {
    for (const auto& [degree, nodes] : f.degrees()) {
      const auto channels = degree * nodes * (n / f.n);
      rate += static_cast<double>(channels) * asked.rates->rate(f.dimension);
    }
  }
  return rate;
}

/// The shortest ways of all pairs around holes, in figures.
struct LivingWays {
  double hops = 0;  ///< of all together
  std::int32_t farthest = 0;
};

/// Zeros where finding them takes long.
LivingWays living_ways(const Topology& topology) {
  constexpr std::uint64_t most_effort = std::uint64_t{1} << 24U;
  LivingWays ways;
  if (topology.nodes() * topology.channels() > most_effort) return ways;
  for (const NodeId from : living_ranks(topology)) {
    for (const std::int32_t hops : living_hops(topology, from)) {
      ways.hops += std::max(hops, 0);
      ways.farthest = std::max(ways.farthest, hops);
    }
  }
  return ways;
}

/// Every node has a block for every other.
void bound_exchange(const Question& asked, Bounds& bounds) {
  const std::uint64_t n = asked.machine.topology.living_nodes();
  const auto bytes = static_cast<double>(asked.request.bytes);
  const ShapeFacts facts = shape_facts(asked.machine.topology);
  const auto block_bytes = [&](double count, const std::string& why) {
    raise(bounds.channel_bytes, bounds.bytes_reason, count * bytes, why);
  };
  const auto block_steps = [&](std::uint64_t count, const std::string& why) {
    raise(bounds.single_block_steps, bounds.single_block_reason, count, why);
  };

  const std::uint64_t narrowest = asked.channels.rbegin()->first;
  const std::uint64_t at_once = asked.messages(narrowest);
  block_bytes(static_cast<double>(n - 1) / static_cast<double>(narrowest), "a node sends " + counted(n - 1, "block") + over(narrowest));
  if (asked.rates) raise_seconds(bounds, static_cast<double>(n - 1) * bytes, asked.rates->fastest(narrowest));
  block_steps(ceil_div(n - 1, at_once), "a node sends " + counted(n - 1, "block") + ", " + number(at_once) + " a step");

  // Hops that a step carries, in bytes and in messages; a wormhole or circuit message may use every channel, whatever the ports.
  const bool whole = asked.machine.topology.whole();
  std::uint64_t channels = whole ? facts.channels : asked.machine.topology.channels();
  std::uint64_t messages = channels;
  if (asked.packet) {
    channels = messages = 0;
    for (const auto& [usable, nodes] : asked.channels) {
      channels += usable * nodes;
      messages += asked.messages(usable) * nodes;
    }
  }
  const bool bound3 = whole && asked.packet && asked.ports == 1;
  const LivingWays around = whole ? LivingWays{} : living_ways(asked.machine.topology);
  const double all_hops = whole ? facts.average_status * static_cast<double>(n) : around.hops;
  const auto carried = [&](std::uint64_t a_step) {
    return bound3 ? std::string("bound (3): the average status, hops of the blocks of a node")
                  : "the shortest routes of all blocks, " + counted(a_step, "hop") + " a step";
  };
  block_bytes(all_hops / static_cast<double>(channels), carried(channels));
  if (asked.rates) raise_seconds(bounds, all_hops * bytes, rate_of_all_channels(asked));
  if (bound3) {
    block_steps(facts.bound3, carried(messages));
  } else if (asked.packet || !asked.shared) {
    // Rounded up, but not by the last bits of a double.
    block_steps(static_cast<std::uint64_t>(all_hops / static_cast<double>(messages) * (1 - 1e-12)) + 1, carried(messages));
  }

  if (!whole) {  // the formulas below are those of a whole shape
    const auto farthest = static_cast<std::uint64_t>(around.farthest);
    if (asked.packet)
      raise(bounds.steps, bounds.steps_reason, farthest, "the diameter around dead links and nodes: a packet makes one hop a step");
    bounds.route_hops = std::max({bounds.route_hops, bounds.steps, farthest});
    return;
  }
  if (asked.machine.topology.twisted()) {
    const double links = static_cast<double>(facts.bisection_links);
    const auto half = n / 2;
    const double crossing = static_cast<double>(half) * static_cast<double>(half);
    const std::string why = "bound (4): a cut into halves over " + counted(facts.bisection_links, "link");
    block_bytes(crossing / links, why);
    if (!asked.shared) block_steps(facts.bound4, why);
    return;
  }
  const std::vector<Factor> dimensions = factors(asked.machine.topology);
  for (const Factor& f : dimensions) {
    const std::uint64_t crossing = n / f.n * f.ring_status();  // |V1||V2| / (n / f.n), as the links are
    const std::string why = "bound (4): the middle cut of a dimension of " + number(f.n);
    block_bytes(static_cast<double>(crossing) / static_cast<double>(f.middle_cut()), why);
    if (!asked.shared) block_steps(ceil_div(crossing, f.middle_cut()), why);
    if (asked.rates)
      raise_seconds(bounds, static_cast<double>(crossing) * bytes, static_cast<double>(f.middle_cut()) * asked.rates->rate(f.dimension));
  }

  if (bound3 && dimensions.size() == 1 && dimensions.front().wiring == Wiring::line) {
    const std::uint64_t middle = (n * n - 1) / 2;
    const std::string why = "the middle node of a line sends its own blocks and passes on all that cross it";
    block_bytes(static_cast<double>(middle), why);
    if (asked.rates) raise_seconds(bounds, static_cast<double>(middle) * bytes, asked.rates->fastest(1));
    block_steps(middle, why);
  }
}

/// The bound of points looks at no more steps than this; far packets would cost more than they tell.
constexpr std::int32_t most_hops_of_points = 512;

void bound_points(const Question& asked, Bounds& bounds) {
  const Topology& topology = asked.machine.topology;
  // A reduce whose steps and routes run backwards is a broadcast: what each node gives comes to the root by some way. A scan and an
  // all-reduce are broadcasts of what has a part of the first node's vector in it.
  const bool sums = asked.request.collective == Collective::scan || asked.request.collective == Collective::allreduce;
  const bool one = sums || asked.request.collective == Collective::broadcast || asked.request.collective == Collective::reduce;
  // Of several messages each needs what a broadcast of it needs, and they together the bytes of all. On a whole torus all sources are
  // alike.
  const bool several =
      asked.request.collective == Collective::multinode_broadcast && is_torus(topology) && topology.whole() && !asked.rates;
  if ((!one && !several) || asked.shared || topology.living_nodes() <= 2) return;
  const NodeId source = sums ? first_living(topology) : asked.request.sources.front();
  if (asked.packet && eccentricity_or_less(topology, source) > most_hops_of_points) return;
  const std::uint64_t ports = asked.channels.begin()->first;
  std::optional<double> byte_s;
  if (asked.rates) byte_s = static_cast<double>(ports) / asked.rates->fastest(ports);
  bounds.points = BroadcastPoints{topology.living_nodes(), static_cast<int>(ports), asked.request.bytes,
                                  asked.packet ? nodes_within(topology, source) : std::vector<double>{}, byte_s};
  if ((several || sums) && asked.request.bytes > 0 && !asked.rates)  // the fullest channel may be a fast one
    bounds.points->least_load = std::max(1.0, bounds.channel_bytes * static_cast<double>(ports) / static_cast<double>(asked.request.bytes));
}

}  // namespace

double Bounds::model_time_s(const CostModel& cost) const {
  const double simple = simple_model_time_s(cost);
  return std::max(
      {simple, filling.empty() ? 0 : filling_time_s(*this, cost), points ? broadcast_time_s(*points, steps, route_hops, cost) : 0});
}

double Bounds::model_time_s(const CostModel& cost, const Offer& offer) const {
  Bounds raised = *this;
  raised.steps = std::max(steps, offer.steps);
  raised.route_hops = std::max(route_hops, raised.steps);
  raised.channel_bytes = std::max(channel_bytes, static_cast<double>(raised.steps) * static_cast<double>(offer.step_bytes));
  raised.points.reset();  // they ask in which step the last node may have heard, and it may have heard before the algorithm ends
  return std::max(model_time_s(cost), raised.model_time_s(cost));
}

Bounds lower_bounds(const Machine& machine, const Request& request) {
  Bounds bounds;
  if (machine.topology.living_nodes() == 1) {
    bounds.steps_reason = bounds.bytes_reason = bounds.single_block_reason = "there is no other node";
    return bounds;
  }
  if (request.collective == Collective::multinode_broadcast && request.sources.empty()) {
    bounds.steps_reason = bounds.bytes_reason = bounds.single_block_reason = "there is no source";
    return bounds;
  }
  if (request.sizes) {
    bound_uneven(machine, request, bounds);
    return bounds;
  }
  Request named = request;  // those whose data must come to all nodes, or the other way round; none: all
  if (request.collective == Collective::scan)
    named.sources = {first_living(machine.topology)};
  else if (!facts_of(request.collective).names_sources())
    named.sources.clear();
  const Question asked{
      .machine = machine, .request = named, .channels = senders(machine.topology, static_cast<std::uint64_t>(machine.ports))};
  bound_steps(asked, bounds);
  if (facts_of(request.collective).of_pairs()) {
    bound_exchange(asked, bounds);
  } else if (facts_of(request.collective).replicates()) {
    bound_replicated(asked, bounds);
    bound_points(asked, bounds);
  } else {
    bound_reduction(machine, request, bounds);
    if (request.collective == Collective::allreduce) bound_allreduce(machine, request, bounds);
    if (request.collective == Collective::scan) {
      bound_filling(machine, static_cast<double>(request.bytes), bounds);
      bound_scan_filling(machine, static_cast<double>(request.bytes), bounds);
    }
    bound_points(asked, bounds);
  }
  bound_cuts(machine, request, bounds);
  raise(bounds.single_block_steps, bounds.single_block_reason, bounds.steps, bounds.steps_reason);
  return bounds;
}

}  // namespace torus
