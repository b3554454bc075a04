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
///  - Scan: m over the weakest node's; more below.   Barrier: none.
/// Where dimensions differ in speed, the bytes take at least as long as on the fastest; all-reduce: more in allreduce.cpp.
/// Combining: N-1 combinations of m bytes in all, so the busiest nodes combine m (N-1)/N at least, summed over the steps; a reduce's the
/// same.
/// Specific to reductions: Patarasuk & Yuan 2009 for m (N-1)/N with one port; the rest is this project's.
///
/// Scan, from the columns of the last dimension. n places of a dimension, G rows: the places of the dimensions before it. A *partial* is a
/// sum of some nodes' contributions; nodes take none apart.
///
/// Runs. Let U be a set of nodes. In the order of ranks nodes of U and others take turns. The first node of each of the g runs of U with
/// others before it has a result; restricted to others' contributions, these are linearly independent, each having more than the one
/// before. All that U holds is sums of partials that entered U and of its own. So g partials of each segment enter U at least, g m bytes.
///
/// Columns. Let the last dimension be cut before some columns j, no two of them next to each other: h cuts, and U_j the columns from j on.
/// Each row has results in all of them, of which (r, j) needs the contribution of (r, j-1). Look at the sum of partials that (r, j) makes
/// its result of. If that contribution is in one that came up from column j-1 into U_j, these are as many different partials as there are
/// such rows, since the row is that of the last contribution which did not come from U_j itself. Otherwise it is in one that came into U_j
/// by another channel, and the last contribution of the sum of these is that of (r, j-1) or, if its own comes back to it, of (r, j). So
/// they are linearly independent for all rows and all cuts together. Hence h G m bytes at least come up over the cuts or enter some U_j by
/// other channels. With L bytes on the fullest channel, h channels of a row up over the cuts and w others: L >= m h / (h + w). A line has w
/// = 0, a ring 1, with h = n/2. A twist adds links that move along the last dimension, if that is a long one.
/// Dead links only take channels away.
///
/// Cuts, packet switching. The places from j on of a dimension that is a line are G runs with others before them, those before j are G-1.
/// So G partials come up over each cut and G-1 come down, by channels that no other cut has: (n-1) (2G-1) messages, over all lines. A node
/// receives as many of them in a step as it has ports.
///
/// Filling, packet switching. Columns a < b are d+1 hops apart. What b receives before step s + d depends on what a sends before step s.
/// Restricted to contributions from column a, the results of column b are G independent ones. So all steps but any d in a row carry G m
/// bytes out of a or into b (allreduce.cpp has what follows): m over the channels of a row. On lines the ends, n-1 apart; on rings n/2.

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

/// The channels of a row, in one direction each: those in its cuts, and others.
struct ColumnCuts {
  std::uint64_t cuts = 0, others = 0;  // h, w

  explicit ColumnCuts(const Topology& topology) {
    const Factor last = factors(topology).back();
    cuts = last.n / 2;
    switch (last.wiring) {
      case Wiring::line: cuts = 1; break;
      case Wiring::ring: others = 1; break;
      case Wiring::complete: others = last.n * (last.n - 1) / 2 - (last.n - 1) / 2 - cuts; break;  // but those between the same cuts
    }
    if (!topology.twisted()) return;
    // Over the end of a short dimension links move by half a long one: half of them enter some U_j, each from k rows of 2k.
    for (const Factor& f : factors(topology)) others += f.n < last.n ? 2 : 0;
  }
  double share() const { return static_cast<double>(cuts) / static_cast<double>(cuts + others); }
};

/// Partials that cross the cuts of all lines.
std::uint64_t crossings_of_lines(const Topology& topology) {
  std::uint64_t sum = 0, rows = 1;
  for (const Factor& f : factors(topology)) {
    if (f.wiring == Wiring::line) sum += (f.n - 1) * (2 * rows - 1);
    rows *= f.n;
  }
  return sum;
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
      bound_scan_columns(machine, bytes, bounds);
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

void bound_scan_columns(const Machine& machine, double bytes, Bounds& bounds) {
  const Topology& topology = machine.topology;
  if (topology.living_nodes() < topology.nodes()) return;  // dead links only take channels away
  const ColumnCuts cuts(topology);
  const std::string dimension = std::to_string(factors(topology).back().dimension);
  raise(bounds.channel_bytes, bounds.bytes_reason, bytes * cuts.share(),
        "each row of dimension " + dimension + " brings " + counted(cuts.cuts, "column") + " a sum of its own" +
            over(cuts.cuts + cuts.others));
  if (machine.switching != Switching::packet || topology.twisted()) return;
  std::uint64_t received = 0;
  for (const auto& [usable, nodes] : senders(topology, static_cast<std::uint64_t>(machine.ports))) received += usable * nodes;
  const std::uint64_t crossings = crossings_of_lines(topology);
  raise(bounds.channel_bytes, bounds.bytes_reason, bytes * static_cast<double>(crossings) / static_cast<double>(received),
        counted(crossings, "sum crosses", "sums cross") + " the cuts of lines," + over(received));
}

void bound_scan_filling(const Machine& machine, double bytes, Bounds& bounds) {
  const Topology& topology = machine.topology;
  if (machine.switching != Switching::packet || topology.living_nodes() < topology.nodes() || topology.twisted() || bounds.filling.empty())
    return;
  const Factor last = factors(topology).back();
  if (last.wiring == Wiring::complete) return;
  const std::uint64_t apart = last.wiring == Wiring::line ? last.n - 1 : last.n / 2;
  if (apart < 2) return;
  bounds.filling.push_back({apart - 1, bytes * machine.cost.byte_s_of(last.dimension) / static_cast<double>(last.end_cut())});
}

}  // namespace torus
