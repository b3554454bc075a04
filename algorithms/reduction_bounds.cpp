#include "algorithms/reduction_bounds.hpp"

#include <algorithm>
#include <string>

#include "algorithms/common/factor.hpp"
#include "algorithms/common/growth.hpp"
#include "algorithms/common/integers.hpp"

namespace torus {
namespace {

/// What a bound is made of.
struct Figures {
  explicit Figures(const Machine& machine) : ports{static_cast<std::uint64_t>(machine.ports)}, nodes{machine.topology.living_nodes()} {
    const Senders all = senders(machine.topology, ports);
    weakest = all.rbegin()->first;
    for (const auto& [usable, count] : all) channels += usable * count;
  }
  std::uint64_t ports, nodes;
  std::uint64_t weakest = 0;   // least c_v
  std::uint64_t channels = 0;  // sum of all c_v
};

std::string over(std::uint64_t channels) { return " over " + std::to_string(channels) + (channels == 1 ? " channel" : " channels"); }

void raise(Bounds& bounds, double bytes, std::string why) {
  if (bytes <= bounds.channel_bytes && !bounds.bytes_reason.empty()) return;
  bounds.channel_bytes = bytes;
  bounds.bytes_reason = std::move(why);
}

/// Every byte of the vector crosses each cut, each way. Where a layer may be dead there may be no such cut.
void bound_layers(const Topology& topology, double bytes, Bounds& bounds) {
  if (!topology.whole()) return;
  for (const Factor& f : factors(topology)) {
    const std::uint64_t links = f.end_cut() * (topology.nodes() / f.n);
    raise(bounds, bytes / static_cast<double>(links),
          "the vector leaves a layer of dimension " + std::to_string(f.dimension) + over(links));
  }
}

/// Blocks of all nodes leave the root, or come to it; and cross the middle cuts.
void bound_rooted_blocks(const Machine& machine, const Request& request, const Figures& figures, Bounds& bounds) {
  const Topology& topology = machine.topology;
  const NodeId root = request.sources.front();
  const auto bytes = static_cast<double>(request.bytes);
  const std::uint64_t out = std::min(figures.ports, channels_of(topology, root));
  raise(bounds, static_cast<double>(figures.nodes - 1) * bytes / static_cast<double>(out),
        "the root's " + std::to_string(figures.nodes - 1) + " blocks" + over(out));
  if (!topology.whole()) return;  // the formulas below are those of a whole shape
  for (const Factor& f : factors(topology)) {
    const auto half = figures.nodes / f.n * (f.n / 2);
    const double beyond = static_cast<double>(half) * bytes;
    const std::uint64_t links = f.middle_cut() * (figures.nodes / f.n);
    raise(bounds, beyond / static_cast<double>(links),
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
    bounds.single_block_reason = std::to_string(farther) + " blocks of nodes at distance " + std::to_string(e) + " or more" + over(at_once);
  }
}

}  // namespace

void bound_reduction(const Machine& machine, const Request& request, Bounds& bounds) {
  const Topology& topology = machine.topology;
  const Figures figures(machine);
  const auto nodes = static_cast<double>(figures.nodes), bytes = static_cast<double>(request.bytes);
  const auto channels = static_cast<double>(figures.channels), weakest = static_cast<double>(figures.weakest);
  const std::string others = std::to_string(figures.nodes - 1);
  switch (request.collective) {
    case Collective::reduce: {
      const std::uint64_t into = std::min(figures.ports, channels_of(topology, request.sources.front()));
      raise(bounds, bytes / static_cast<double>(into), "the root receives the vector" + over(into));
      raise(bounds, bytes / weakest, "a node sends the vector" + over(figures.weakest));
      raise(bounds, (nodes - 1) * bytes / channels, others + " nodes send the vector" + over(figures.channels));
      bounds.combined_bytes = bytes * (nodes - 1) / nodes;
      break;
    }
    case Collective::allreduce:
      raise(bounds, bytes / weakest, "a node sends the vector" + over(figures.weakest));
      raise(bounds, 2 * (nodes - 1) * bytes / channels,
            "each element is carried by 2 x " + others + " messages at least," + over(figures.channels));
      bound_layers(topology, bytes, bounds);
      bounds.combined_bytes = bytes * (nodes - 1) / nodes;
      break;
    case Collective::reduce_scatter:
      raise(bounds, (nodes - 1) * bytes / weakest, "a node gives away " + others + " blocks" + over(figures.weakest));
      bounds.combined_bytes = bytes * (nodes - 1);
      break;
    case Collective::scan: {
      // The last node need not send; on a whole shape the first has no more channels.
      const std::uint64_t out = topology.whole() ? figures.weakest : std::min(figures.ports, channels_of(topology, first_living(topology)));
      raise(bounds, bytes / static_cast<double>(out), "a node sends its vector" + over(out));
      break;
    }
    case Collective::scatter:
    case Collective::gather: bound_rooted_blocks(machine, request, figures, bounds); break;
    default: raise(bounds, 0, "a barrier carries no bytes"); break;
  }
  if (machine.cost.one_speed()) return;
  double fastest = machine.cost.byte_s;
  for (const Factor& f : factors(topology)) fastest = std::min(fastest, machine.cost.byte_s_of(f.dimension));
  bounds.channel_time_s = bounds.channel_bytes * fastest;
}

}  // namespace torus
