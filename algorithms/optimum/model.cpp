/// Variables: x, a transfer is taken in a step; h, a node has heard of an origin before a step. What a node has not heard before and hears
/// of in a step came by a transfer that is taken, from a node that had heard: h(t+1,v) implies h(t,v) or, for some transfer, x(t) and
/// h(t,u). Nothing else says that h is true, so that any set of steps that suffices satisfies the formula, and what satisfies it suffices.
#include "algorithms/optimum/model.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include <torus/error.hpp>

#include "runtime/model/channel.hpp"

namespace torus::optimum {
namespace {

constexpr Literal no = 0, yes = std::numeric_limits<Literal>::max();  // constants in place of variables
constexpr Step never = std::numeric_limits<Step>::max();

/// Whether all channels of a route live, and the nodes between them; the channels are appended.
bool passes(const Topology& topology, NodeId from, const Route& route, std::vector<std::uint64_t>& channels) {
  bool living = topology.living(from);
  each_channel(topology, from, route, [&](const ChannelName& c) {
    living = living && topology.passes(c.from, c.dimension, c.hop);
    channels.push_back(std::uint64_t{c.from} * static_cast<std::uint64_t>(topology.channel_slots()) +
                       static_cast<std::uint64_t>(topology.slot(c.dimension, c.hop)));
  });
  return living;
}

/// Calls f(to, route) for each walk in the order of dimensions, none of which it goes round.
void each_walk(const Machine& machine, NodeId at, std::size_t turn, Route& route, const std::function<void(NodeId)>& f) {
  const Topology& topology = machine.topology;
  if (turn == machine.routing.size()) {
    f(at);
    return;
  }
  const Dimension d = machine.routing[turn];
  each_walk(machine, at, turn + 1, route, f);
  const Wiring wiring = topology.wiring(d);
  const std::int32_t most = topology.circle(d) - 1;
  for (std::int32_t hops = wiring == Wiring::complete ? 1 : -most; hops <= most; ++hops) {
    const auto to = hops == 0 ? std::nullopt : topology.neighbour(at, d, hops);
    if (!to) continue;
    route.push_back({d, hops});
    each_walk(machine, *to, turn + 1, route, f);
    route.pop_back();
  }
}

/// The steps that a message needs at least, by node: how far it is from an origin.
std::vector<Step> steps_from(NodeId nodes, const std::vector<Transfer>& transfers, NodeId origin) {
  std::vector<Step> steps(nodes, never);
  steps[origin] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Transfer& t : transfers) {
      if (steps[t.from] == never || steps[t.from] + 1 >= steps[t.to]) continue;
      steps[t.to] = steps[t.from] + 1;
      changed = true;
    }
  }
  return steps;
}

}  // namespace

std::vector<Transfer> transfers_of(const Machine& machine) {
  const Topology& topology = machine.topology;
  if (machine.switching == Switching::circuit)
    throw InputError("switching circuit: its routes are too many to try; packet or wormhole would do");
  if (machine.contention == Contention::share) throw InputError("contention share: the fewest steps are of machines that forbid it");
  std::vector<Transfer> transfers;
  const auto take = [&](NodeId from, NodeId to, const Route& route) {
    Transfer transfer{from, to, route, {}};
    if (to != from && passes(topology, from, route, transfer.channels)) transfers.push_back(std::move(transfer));
  };
  for (NodeId from = 0; from < topology.nodes(); ++from) {
    if (!topology.living(from)) continue;
    if (machine.switching == Switching::packet) {
      topology.each_link(from, [&](Dimension d, std::int32_t direction, NodeId to) { take(from, to, Route{{d, direction}}); });
      continue;
    }
    Route route;
    each_walk(machine, from, 0, route, [&](NodeId to) {
      std::int32_t hops = 0;
      for (const Leg& leg : route) hops += hops_of(topology, leg);
      if (!topology.whole() || hops == topology.distance(from, to)) take(from, to, route);
    });
  }
  return transfers;
}

bool invariant(const Topology& topology) noexcept {
  return topology.whole() && std::all_of(topology.shape().begin(), topology.shape().end(),
                                         [](const DimensionShape& d) { return d.wiring != Wiring::line || d.extent == 1; });
}

Model::Model(const Machine& machine, const std::vector<Transfer>& transfers, const Question& question)
    : transfers_{transfers}, into_(machine.topology.nodes()) {
  const Topology& topology = machine.topology;
  for (std::size_t i = 0; i < transfers.size(); ++i) into_[transfers[i].to].push_back(i);
  for (Step step = 0; step < question.steps; ++step) {
    std::vector<Literal>& taken = taken_.emplace_back();
    std::map<std::vector<std::pair<Dimension, std::int32_t>>, Literal> same;
    for (const Transfer& transfer : transfers) {
      Literal literal = 0;
      if (question.invariant) {
        std::vector<std::pair<Dimension, std::int32_t>> route;
        for (const Leg& leg : transfer.route) route.emplace_back(leg.dimension, leg.hops);
        Literal& of_all = same[std::move(route)];
        if (of_all == 0) of_all = formula_.variable();
        literal = of_all;
      } else {
        literal = formula_.variable();
      }
      taken.push_back(literal);
    }
    limit(machine, step);
  }
  const std::vector<NodeId> one{first_living(topology)};
  for (const NodeId origin : question.invariant ? one : question.origins) {
    const std::vector<Step> earliest = steps_from(topology.nodes(), transfers, origin);
    std::vector<Literal> before(topology.nodes(), no);
    before[origin] = yes;
    for (Step step = 0; step < question.steps; ++step) {
      std::vector<Literal> after(topology.nodes(), no);
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        if (!topology.living(node)) continue;
        const bool last = step + 1 == question.steps;
        after[node] = node == origin || last ? yes : earliest[node] > step + 1 ? no : formula_.variable();
        hear(step, node, before, after[node], question.once);
      }
      before = std::move(after);
    }
  }
}

void Model::limit(const Machine& machine, Step step) {
  const Topology& topology = machine.topology;
  std::map<std::uint64_t, std::vector<Literal>> over;
  std::vector<std::vector<Literal>> from(topology.nodes()), to(topology.nodes());
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const Literal literal = taken_[step][i];
    for (const std::uint64_t channel : transfers_[i].channels) over[channel].push_back(literal);
    from[transfers_[i].from].push_back(literal);
    to[transfers_[i].to].push_back(literal);
  }
  for (const auto& [channel, literals] : over) formula_.at_most(literals, 1);
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    formula_.at_most(from[node], machine.ports);
    formula_.at_most(to[node], machine.ports);
  }
}

void Model::hear(Step step, NodeId node, const std::vector<Literal>& before, Literal after, bool once) {
  if (after == no || (before[node] == yes && !once)) return;
  Clause reasons;  // one of which holds where `after` does
  if (before[node] != no) reasons.push_back(before[node]);
  for (const std::size_t i : into_[node]) {
    const Literal sender = before[transfers_[i].from], taken = taken_[step][i];
    if (sender == no) continue;
    Literal comes = taken;
    if (sender != yes) {
      comes = formula_.variable();
      formula_.add({-comes, taken});
      formula_.add({-comes, sender});
      if (once) formula_.add({comes, -taken, -sender});
    }
    reasons.push_back(comes);
  }
  if (once) {
    if (before[node] == yes) {
      for (std::size_t i = 1; i < reasons.size(); ++i) formula_.add({-reasons[i]});
      return;
    }
    formula_.at_most(reasons, 1);
    if (after != yes) {
      for (const Literal reason : reasons) formula_.add({-reason, after});
    }
  }
  if (after != yes) reasons.push_back(-after);
  formula_.add(std::move(reasons));
}

Steps Model::steps(const std::vector<bool>& values) const {
  Steps steps;
  for (const std::vector<Literal>& taken : taken_) {
    std::vector<Transfer>& step = steps.emplace_back();
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (values[static_cast<std::size_t>(taken[i])]) step.push_back(transfers_[i]);
    }
  }
  return steps;
}

}  // namespace torus::optimum
