/// Bounds of the collectives that no message is replicated or exchanged in. c_v = min(ports, channels of node v), N nodes, m bytes of the
/// whole vector, b of a node's block.
///
/// Steps. Some node's data must come to all, or all nodes' data to one, which is the same backwards: ceil(log_{p+1} N), more where border
/// nodes have fewer channels than ports (see lower_bounds()). Packet switching: also the diameter; reduce, scatter, gather: the
/// eccentricity of the root. The blocks of scatter and gather one by one, over c_root channels a step: the N_e blocks of nodes at distance
/// e or more have left the root by step T - e + 1, so T >= e - 1 + ceil(N_e / c_root).
/// Bytes.
///  - Reduce-scatter: the weakest node must send what it does not own, and receive as much: m (N-1)/N over c channels.
///  - All-reduce: for each element at least 2 (N-1) messages carry it. Put the messages in an order that keeps the steps. Until the first
///    node knows the result, each of the N-1 others has sent at least once; then each of them must still receive. So 2 (N-1) m over the
///    sum of all c_v. And m over the channels of the weakest node, each way; and m over each cut, each way.
///  - Reduce: m over c_root; (N-1) m over the sum of all c_v; m over the weakest node's.
///  - Scatter, gather: (N-1) b over c_root, and for the middle cuts the blocks beyond over the links.
///  - Scan: m over the weakest node's. And on untwisted whole shapes m over the channels into an end of a line of the last dimension. Let U
///    be the last places of all these lines. In the order of ranks nodes of U and others take turns, so the first nodes of the g = N/n
///    runs of U have results with g different sets of others' contributions in them, each more than the one before. As vectors of how
///    often each other node contributes, these are linearly independent, and all that the nodes of U hold is a sum of partials that
///    entered U and of their own. So g partials of each segment enter at least, g m bytes, over g times the channels of one line.
///    Barrier: none.
/// Where dimensions differ in speed, the bytes take at least as long as on the fastest; all-reduce: more in allreduce.cpp.
/// Combining: N-1 combinations of m bytes in all, so the busiest nodes combine m (N-1)/N at least, summed over the steps; a reduce's the
/// same.
/// Specific to reductions: Patarasuk & Yuan 2009 for m (N-1)/N with one port; the rest is this project's.

#include <algorithm>
#include <string>
#include <utility>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/bounds/raise.hpp"
#include "algorithms/common/integers.hpp"
#include "runtime/base/figures.hpp"

namespace torus {
namespace {

/// What a bound is made of.
struct ReductionFigures {
  explicit ReductionFigures(const Machine& machine)
      : ports{static_cast<std::uint64_t>(machine.ports)}, nodes{machine.topology.living_nodes()} {
    const Senders all = senders(machine.topology, ports);
    weakest = all.rbegin()->first;
    for (const auto& [usable, count] : all) channels += usable * count;
  }
  std::uint64_t ports, nodes;
  std::uint64_t weakest = 0;   // least c_v
  std::uint64_t channels = 0;  // sum of all c_v
};

void raise_bytes(Bounds& bounds, double bytes, std::string why) { raise(bounds.channel_bytes, bounds.bytes_reason, bytes, std::move(why)); }

/// Every byte of the vector crosses each cut, each way. Where a layer may be dead there may be no such cut.
void bound_layers(const Topology& topology, double bytes, Bounds& bounds) {
  if (!topology.whole()) return;
  for (const Factor& f : factors(topology)) {
    const std::uint64_t links = f.end_cut() * (topology.nodes() / f.n);
    raise_bytes(bounds, bytes / static_cast<double>(links),
                "the vector leaves a layer of dimension " + std::to_string(f.dimension) + over(links));
  }
}

/// Blocks of all nodes leave the root, or come to it; and cross the middle cuts.
void bound_rooted_blocks(const Machine& machine, const Request& request, const ReductionFigures& figures, Bounds& bounds) {
  const Topology& topology = machine.topology;
  const NodeId root = request.sources.front();
  const auto bytes = static_cast<double>(request.bytes);
  const std::uint64_t out = std::min(figures.ports, channels_of(topology, root));
  raise_bytes(bounds, static_cast<double>(figures.nodes - 1) * bytes / static_cast<double>(out),
              "the root's " + counted(figures.nodes - 1, "block") + over(out));
  if (!topology.whole()) return;  // the formulas below are those of a whole shape
  for (const Factor& f : factors(topology)) {
    const auto half = figures.nodes / f.n * (f.n / 2);
    const double beyond = static_cast<double>(half) * bytes;
    const std::uint64_t links = f.middle_cut() * (figures.nodes / f.n);
    raise_bytes(bounds, beyond / static_cast<double>(links),
                "the blocks beyond the middle cut of dimension " + std::to_string(f.dimension) + over(links));
  }
  // One block a message: the blocks of the nodes at distance e or more have left by step T - e + 1.
  const std::uint64_t at_once = machine.contention == Contention::share && machine.switching != Switching::packet ? figures.ports : out;
  const std::vector<double> within = nodes_within(topology, root);
  for (std::size_t e = 1; e < within.size(); ++e) {
    const auto farther = static_cast<std::uint64_t>(static_cast<double>(figures.nodes) - within[e - 1]);
    const std::uint64_t travel = machine.switching == Switching::packet ? e - 1 : 0;
    const std::uint64_t steps = travel + ceil_div(farther, at_once);
    if (steps <= bounds.single_block_steps) continue;
    bounds.single_block_steps = steps;
    bounds.single_block_reason = counted(farther, "block") + " of nodes at distance " + std::to_string(e) + " or more" + over(at_once);
  }
}

}  // namespace

void bound_reduction(const Machine& machine, const Request& request, Bounds& bounds) {
  const Topology& topology = machine.topology;
  const ReductionFigures figures(machine);
  const auto nodes = static_cast<double>(figures.nodes), bytes = static_cast<double>(request.bytes);
  const auto channels = static_cast<double>(figures.channels), weakest = static_cast<double>(figures.weakest);
  const std::uint64_t others = figures.nodes - 1;
  switch (request.collective) {
    case Collective::reduce: {
      const std::uint64_t into = std::min(figures.ports, channels_of(topology, request.sources.front()));
      raise_bytes(bounds, bytes / static_cast<double>(into), "the root receives the vector" + over(into));
      raise_bytes(bounds, bytes / weakest, "a node sends the vector" + over(figures.weakest));
      raise_bytes(bounds, (nodes - 1) * bytes / channels,
                  counted(others, "node sends", "nodes send") + " the vector" + over(figures.channels));
      bounds.combined_bytes = bytes * (nodes - 1) / nodes;
      break;
    }
    case Collective::allreduce:
      raise_bytes(bounds, bytes / weakest, "a node sends the vector" + over(figures.weakest));
      raise_bytes(bounds, 2 * (nodes - 1) * bytes / channels,
                  "each element is carried by 2 x " + counted(others, "message") + " at least," + over(figures.channels));
      bound_layers(topology, bytes, bounds);
      bounds.combined_bytes = bytes * (nodes - 1) / nodes;
      break;
    case Collective::reduce_scatter:
      raise_bytes(bounds, (nodes - 1) * bytes / weakest, "a node gives away " + counted(others, "block") + over(figures.weakest));
      bounds.combined_bytes = bytes * (nodes - 1);
      break;
    case Collective::scan: {
      // The last node need not send; on a whole shape the first has no more channels.
      const std::uint64_t out = topology.whole() ? figures.weakest : std::min(figures.ports, channels_of(topology, first_living(topology)));
      raise_bytes(bounds, bytes / static_cast<double>(out), "a node sends its vector" + over(out));
      if (!topology.whole() || topology.twisted()) break;
      const Factor last = factors(topology).back();
      raise_bytes(bounds, bytes / static_cast<double>(last.end_cut()),
                  "each line of dimension " + std::to_string(last.dimension) + " brings its end a sum of its own" + over(last.end_cut()));
      break;
    }
    case Collective::scatter:
    case Collective::gather: bound_rooted_blocks(machine, request, figures, bounds); break;
    default: raise_bytes(bounds, 0, "a barrier carries no bytes"); break;
  }
  if (machine.cost.one_speed()) return;
  double fastest = machine.cost.byte_s;
  for (const Factor& f : factors(topology)) fastest = std::min(fastest, machine.cost.byte_s_of(f.dimension));
  bounds.channel_time_s = bounds.channel_bytes * fastest;
}

}  // namespace torus
