#include "algorithms/optimum/play.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include <torus/error.hpp>

namespace torus::optimum {
namespace {

/// A transfer of a step.
struct At {
  Step step;
  std::size_t transfer;
};
/// A tree in time: for each node the transfer that links it with the rest, the root's nothing.
using Tree = std::vector<std::optional<At>>;

[[noreturn]] void refuse_gap(NodeId of, NodeId at) {
  throw InputError("nothing that node " + std::to_string(of) + " has reaches node " + std::to_string(at) +
                   "; the schedule of a collective that brings it there would do");
}

enum class Way { from_root, to_root };

/// Every node hears of the root as early as it can, or sends to the root as late as it can, so that what comes to it on the way comes
/// before: the transfer by which it does.
Tree tree_of(const Topology& topology, const Steps& steps, NodeId root, Way way) {
  const bool out = way == Way::from_root;
  Tree tree(topology.nodes());
  std::vector<bool> linked(topology.nodes(), false);
  linked[root] = true;
  for (Step i = 0; i < steps.size(); ++i) {
    const Step step = out ? i : static_cast<Step>(steps.size()) - 1 - i;
    const std::vector<bool> before = linked;
    for (std::size_t j = 0; j < steps[step].size(); ++j) {
      const auto& [from, to, route, channels] = steps[step][j];
      const NodeId near = out ? from : to, far = out ? to : from;
      if (!before[near] || linked[far]) continue;
      linked[far] = true;
      tree[far] = {step, j};
    }
  }
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node) && !linked[node]) refuse_gap(out ? root : node, out ? node : root);
  }
  return tree;
}

/// What the transfers carry, of which those that carry nothing are left out.
class Cargo {
 public:
  Cargo(const Topology& topology, const Steps& steps) : topology_{topology}, steps_{steps} {
    for (const auto& step : steps) blocks_.emplace_back(step.size());
  }
  void add(const At& at, BlockId block) { blocks_[at.step][at.transfer].push_back(block); }
  /// Along every link of a tree one block.
  void add_along(const Tree& tree, BlockId block) {
    for (const auto& link : tree) {
      if (link) add(*link, block);
    }
  }
  /// Along every link what is for the nodes, or from the nodes, that it links with the root. block_of(node): theirs.
  template <class BlockOf>
  void add_subtrees(const Tree& tree, Way way, BlockOf block_of) {
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      NodeId at = node;
      while (const auto& link = tree[at]) {
        add(*link, block_of(node));
        const Transfer& t = steps_[link->step][link->transfer];
        at = way == Way::from_root ? t.from : t.to;
      }
    }
  }
  Schedule schedule(Manner manner) const {
    Schedule schedule(topology_.nodes());
    for (Step step = 0; step < steps_.size(); ++step) {
      for (std::size_t i = 0; i < steps_[step].size(); ++i) {
        const Transfer& t = steps_[step][i];
        if (!blocks_[step][i].empty()) schedule.add(step, t.from, t.to, t.route, blocks_[step][i], manner);
      }
    }
    schedule.sort();
    return schedule;
  }

 private:
  const Topology& topology_;
  const Steps& steps_;
  std::vector<std::vector<std::vector<BlockId>>> blocks_;
};

/// All transfers, each with these blocks.
Schedule all_of(NodeId nodes, const Steps& steps, std::span<const BlockId> blocks, Manner manner) {
  Schedule schedule(nodes);
  for (Step step = 0; step < steps.size(); ++step) {
    for (const Transfer& t : steps[step]) schedule.add(step, t.from, t.to, t.route, blocks, manner);
  }
  schedule.sort();
  return schedule;
}

/// Throws where a node hears of another twice.
void check_once(NodeId nodes, const Steps& steps) {
  std::vector<std::vector<bool>> heard(nodes, std::vector<bool>(nodes, false));
  for (NodeId node = 0; node < nodes; ++node) heard[node][node] = true;
  for (const auto& step : steps) {
    const auto before = heard;
    for (const Transfer& t : step) {
      for (NodeId of = 0; of < nodes; ++of) {
        if (!before[t.from][of]) continue;
        if (heard[t.to][of])
          throw InputError(
              "schedule: node " + std::to_string(t.to) + " hears of node " + std::to_string(of) +
              " twice, and sums count each once; as a reduce-scatter, total-exchange, multinode-broadcast or barrier it plays");
        heard[t.to][of] = true;
      }
    }
  }
}

}  // namespace

std::optional<Family> family_of(Collective collective) noexcept {
  switch (collective) {
    case Collective::multinode_broadcast:
    case Collective::total_exchange:
    case Collective::allreduce:
    case Collective::reduce_scatter:
    case Collective::barrier: return Family::gossip;
    case Collective::broadcast:
    case Collective::scatter: return Family::spread;
    case Collective::reduce:
    case Collective::gather: return Family::collect;
    case Collective::scan: break;
  }
  return std::nullopt;
}

bool turns(Collective of, Collective into) noexcept {
  const auto from = family_of(of), to = family_of(into);
  return from && to && (*from == Family::gossip || *to != Family::gossip);
}

Steps steps_of(const Schedule& schedule) {
  Steps steps(schedule.steps());
  for (const Schedule::Send& send : schedule.sends()) {
    const RouteView legs = schedule.route(send);
    Route route;
    for (const Leg& leg : legs) {
      if (leg.hops != 0) route.push_back(leg);
    }
    std::vector<Transfer>& step = steps[send.step];
    const auto same = [&](const Transfer& t) { return t.from == send.from && t.route == route; };
    if (std::none_of(step.begin(), step.end(), same)) step.push_back({send.from, send.to, route, {}});
  }
  return steps;
}

Steps backwards(const Machine& machine, const Steps& steps) {
  Steps out(steps.rbegin(), steps.rend());
  for (auto& step : out) {
    for (Transfer& t : step) {
      if (machine.switching == Switching::wormhole && t.route.size() > 1) {
        throw InputError(
            "schedule: its routes backwards take the dimensions in the opposite order, which the machine does not; --routing " +
            std::string("in that order would do"));
      }
      std::swap(t.from, t.to);
      std::reverse(t.route.begin(), t.route.end());
      for (Leg& leg : t.route) leg.hops = machine.topology.reverse(leg.dimension, leg.hops);
    }
  }
  return out;
}

Schedule played(const Machine& machine, const Steps& steps, Collective as, NodeId root) {
  const Topology& topology = machine.topology;
  const NodeId nodes = topology.nodes();
  constexpr BlockId first = 0;
  Cargo cargo(topology, steps);
  const auto out = [&](NodeId from) { return tree_of(topology, steps, from, Way::from_root); };
  const auto in = [&](NodeId to) { return tree_of(topology, steps, to, Way::to_root); };
  const auto each = [&](auto&& f) {
    for (NodeId node = 0; node < nodes; ++node) {
      if (topology.living(node)) f(node);
    }
  };
  const auto own = [](NodeId node) { return BlockId{node}; };
  switch (as) {
    case Collective::broadcast: cargo.add_along(out(root), root); return cargo.schedule(Manner::copy);
    case Collective::scatter: cargo.add_subtrees(out(root), Way::from_root, own); return cargo.schedule(Manner::give);
    case Collective::reduce: cargo.add_along(in(root), first); return cargo.schedule(Manner::combine);
    case Collective::gather: cargo.add_subtrees(in(root), Way::to_root, own); return cargo.schedule(Manner::give);
    case Collective::multinode_broadcast: each([&](NodeId node) { cargo.add_along(out(node), node); }); return cargo.schedule(Manner::copy);
    case Collective::reduce_scatter: each([&](NodeId node) { cargo.add_along(in(node), node); }); return cargo.schedule(Manner::combine);
    case Collective::total_exchange:
      each([&](NodeId node) { cargo.add_subtrees(in(node), Way::to_root, [&](NodeId from) { return BlockId{from} * nodes + node; }); });
      return cargo.schedule(Manner::give);
    case Collective::barrier:
    case Collective::allreduce: {
      each([&](NodeId node) { out(node); });
      if (as == Collective::barrier) return all_of(nodes, steps, {}, Manner::copy);
      check_once(nodes, steps);
      return all_of(nodes, steps, {&first, 1}, Manner::share);
    }
    case Collective::scan: break;
  }
  throw InputError("a scan: no schedule of another collective plays it");
}

Schedule turned(const Machine& machine, const Schedule& schedule, Collective of, Collective into, NodeId root) {
  TORUS_ASSERT(turns(of, into));
  const Steps steps = steps_of(schedule);
  const Family from = *family_of(of);
  return played(machine, from == Family::gossip || from == *family_of(into) ? steps : backwards(machine, steps), into, root);
}

}  // namespace torus::optimum
