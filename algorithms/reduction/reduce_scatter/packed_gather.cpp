// Who owns what, tries by several seeds, and the table of what they find.
#include "algorithms/reduction/reduce_scatter/packed_gather.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/link_capacities.hpp"
#include "algorithms/common/living_channels.hpp"
#include "algorithms/search/round_search.hpp"
#include "algorithms/trees/arc_trees.hpp"

namespace torus::reduction {
namespace {

using Rounds = RoundSearch::Rounds;

/// The owners of a vector's blocks: all living nodes, ascending. Around holes, nodes that have lost channels own more than one, since a
/// node need not get its own; at most half as many blocks again in all. Source: this project.
std::vector<NodeId> owners_of_vector(const Topology& topology) {
  const std::vector<NodeId> living = living_ranks(topology);
  std::vector<NodeId> owners = living;
  if (topology.whole()) return owners;
  std::vector<std::uint64_t> channels(topology.nodes()), blocks(topology.nodes(), 1);
  for (const NodeId node : owners) channels[node] = channels_of(topology, node);
  const std::uint64_t most = *std::max_element(channels.begin(), channels.end());
  // The node that has the most to get for each channel owns one more, as long as others have more channels.
  const auto slower = [&](NodeId a, NodeId b) {
    return (owners.size() - blocks[a]) * channels[b] < (owners.size() - blocks[b]) * channels[a];
  };
  while (owners.size() < living.size() + living.size() / 2) {
    const NodeId slowest = *std::max_element(living.begin(), living.end(), slower);
    if (channels[slowest] == most) break;
    ++blocks[slowest];
    owners.push_back(slowest);
  }
  std::sort(owners.begin(), owners.end());
  return owners;
}

/// What keeps some node from getting the blocks of all others sooner: the most blocks to get for each that its channels bring in a step.
double least_steps(const Machine& machine, std::span<const NodeId> owners, const LinkCapacities& capacities) {
  const Topology& topology = machine.topology;
  std::vector<std::uint32_t> blocks(topology.nodes());
  for (const NodeId owner : owners) ++blocks[owner];
  const auto by_ports = static_cast<std::uint64_t>(machine.ports) * capacities.most();
  double most = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (blocks[node] == 0 || blocks[node] == owners.size()) continue;
    most = std::max(most,
                    static_cast<double>(owners.size() - blocks[node]) / static_cast<double>(std::min(capacities.around(node), by_ports)));
  }
  return most;
}

/// The deliveries of each step, as many over a channel as it passes at most, for the owners of the blocks, ascending: each living node has
/// one or more. Deterministic.
Rounds gather_rounds(const Machine& machine, std::span<const NodeId> owners, const LinkCapacities& capacities) {
  constexpr std::uint64_t most_tries = 8, effort = std::uint64_t{1} << 18U;
  RoundSearch search(machine, owners, capacities, !few_ports(machine));
  const auto least = static_cast<std::size_t>(std::ceil(least_steps(machine, owners, capacities) - 1e-9));
  const std::uint64_t tries = std::clamp<std::uint64_t>(effort / (search.blocks() * search.blocks()), 1, most_tries);
  return search.best_attempt(tries, least);
}

/// Pieces that a search handles within a second.
std::uint32_t most_pieces(const Topology& topology) {
  constexpr double effort = 3e7, most = 32;
  const double nodes = topology.nodes();
  return static_cast<std::uint32_t>(std::clamp(std::sqrt(effort / nodes) / nodes, 1.0, most));
}

/// The owner of each piece.
std::vector<NodeId> in_pieces(const std::vector<NodeId>& owners, std::uint32_t pieces) {
  std::vector<NodeId> of_pieces;
  for (const NodeId owner : owners) of_pieces.insert(of_pieces.end(), pieces, owner);
  return of_pieces;
}

}  // namespace

std::vector<NodeId> owners_of(BlockOwners owners, const Topology& topology) {
  return owners == BlockOwners::balanced_vector ? owners_of_vector(topology) : living_ranks(topology);
}

PackedGather::PackedGather(const Machine& machine, const GatherPace& pace, BlockOwners owners) : pieces_{pace.pieces} {
  const Topology& topology = machine.topology;
  const CanonicalForm form(machine);
  const Topology& searched = form.machine().topology;
  const std::vector<NodeId> of_pieces = in_pieces(owners_of(owners, searched), pace.pieces);
  const Rounds rounds = gather_rounds(form.machine(), of_pieces, LinkCapacities(form.machine(), pace.chunk));
  blocks_ = static_cast<std::uint32_t>(of_pieces.size());
  std::vector<BlockId> ids(of_pieces.size());
  for (std::uint32_t i = 0; i < blocks_; ++i)
    ids[i] = owners == BlockOwners::ranks ? form.outside(of_pieces[i]) * pieces_ + i % pieces_ : i;
  steps_ = rounds.size();
  std::vector<std::vector<std::pair<Leg, BlockId>>> goes(steps_ * topology.nodes()), comes(goes.size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::size_t first = (rounds.size() - 1 - round) * topology.nodes();
    for (const RoundSearch::Delivery& each : rounds[round]) {
      const Leg leg = form.outside(each.leg);
      goes[first + form.outside(each.from)].emplace_back(leg, ids[each.block]);
      comes[first + form.outside(each.to)].emplace_back(Leg{leg.dimension, topology.reverse(leg.dimension, leg.hops)}, ids[each.block]);
    }
    std::uint64_t channel = 0, combined = 0;
    double byte_s = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      auto& sent = goes[first + node];
      combined = std::max<std::uint64_t>(combined, sent.size());
      const auto by_leg = [](const auto& a, const auto& b) {
        return std::pair(a.first.dimension, a.first.hops) < std::pair(b.first.dimension, b.first.hops);
      };
      std::stable_sort(sent.begin(), sent.end(), by_leg);
      for (auto at = sent.begin(); at != sent.end();) {
        const auto end = std::find_if(at, sent.end(), [&](const auto& other) { return other.first != at->first; });
        const auto count = static_cast<std::uint64_t>(end - at);
        channel = std::max(channel, count);
        byte_s = std::max(byte_s, static_cast<double>(count) * machine.byte_s(node, at->first.dimension, at->first.hops));
        at = end;
      }
    }
    load_.channel += channel;
    load_.combined += combined;
    load_.channel_byte_s += byte_s;
  }
  goes_ = Table(goes);
  comes_ = Table(comes);
}

void PackedGather::append_row(const Table& table, const Node& self, std::uint64_t step, Sends& out) const {
  for (const auto& [leg, block] : table.row(step * self.topology().nodes() + self.rank())) out.by({leg}).push_back(block);
}

PackedGather PackedGather::pack(const Machine& machine, const GatherPace& pace, BlockOwners owners) { return {machine, pace, owners}; }

std::vector<PaceChoice> choose_pace(const Machine& machine, BlockOwners owners, Bytes block) {
  const Topology& topology = machine.topology;
  if (topology.living_nodes() == 1) return {{{1, 1}, 0}};
  const std::int32_t farthest = living_diameter(topology);
  const std::vector<NodeId> whole_blocks = owners_of(owners, topology);
  std::optional<PaceChoice> whole;
  std::vector<PaceChoice> split;
  const auto try_chunk = [&](std::uint32_t chunk) {
    const LinkCapacities capacities(machine, chunk);
    const double all = least_steps(machine, whole_blocks, capacities);
    for (std::uint32_t pieces = 1; pieces <= most_pieces(topology) && (pieces == 1 || pieces <= block); ++pieces) {
      const double least = all * pieces;
      const double about = std::round(std::pow(std::pow(farthest, 4) + std::pow(std::max(1.0, least), 4), 0.25));
      // Fast channels bring less at first where a node has hardly as many pieces as they can bring.
      const double late = machine.cost.one_speed() ? 0 : farthest / 3.0 * std::clamp(1.6 - static_cast<double>(pieces) / chunk, 0.0, 1.0);
      const double steps = std::round(std::max(about, pieces > 1 ? std::ceil(least - 1e-9) : 0) + late),
                   piece = std::ceil(static_cast<double>(block) / pieces);
      const PaceChoice choice{{chunk, pieces}, machine.cost.timed_steps(steps, steps * capacities.step_byte_s() * piece, steps)};
      if (pieces > 1 || !std::has_single_bit(chunk))
        split.push_back(choice);
      else if (!whole || choice.time_s < whole->time_s)
        whole = choice;
    }
    return 2 * all <= farthest;  // the distance counts, not the blocks
  };
  constexpr std::uint32_t most_chunk_in_pieces = 16;
  const std::uint32_t least = least_chunk(machine);
  for (std::uint32_t chunk = least; !try_chunk(chunk); chunk *= 2) {
  }
  for (std::uint32_t chunk = std::max(3U, least); chunk <= most_chunk_in_pieces; ++chunk) {
    if (!std::has_single_bit(chunk)) try_chunk(chunk);
  }
  const auto sooner = [](const PaceChoice& a, const PaceChoice& b) {
    return std::tuple(a.time_s, a.pace.pieces, a.pace.chunk) < std::tuple(b.time_s, b.pace.pieces, b.pace.chunk);
  };
  std::sort(split.begin(), split.end(), sooner);
  std::vector<PaceChoice> choices{*whole};
  constexpr std::size_t most_choices = 5;
  for (const PaceChoice& choice : split) {
    if (choice.time_s < whole->time_s && choices.size() < most_choices) choices.push_back(choice);
  }
  return choices;
}

std::vector<TriedPace> tried_paces(const Machine& machine, BlockOwners owners) {
  constexpr NodeId most_tried = 256;
  const auto all = static_cast<std::uint32_t>(owners_of(owners, machine.topology).size());
  std::vector<TriedPace> tried;
  const std::uint32_t factor = machine.topology.nodes() <= most_tried ? 2 : small_enough_to_pack(machine.topology) ? 32 : 128;
  for (std::uint32_t chunk = least_chunk(machine); chunk < all; chunk *= factor) {
    const PackedGather packed(machine, {chunk, 1}, owners);
    tried.push_back({{chunk, 1}, packed.steps(), packed.load().channel});
  }
  const PackedGather packed(machine, {all, 1}, owners);
  tried.push_back({{all, 1}, packed.steps(), packed.load().channel});
  return tried;
}

// A small chunk takes many steps, and in each all channels are looked at; where nodes have all ports, channels are not matched.
std::uint32_t least_chunk(const Machine& machine) {
  const Topology& topology = machine.topology;
  if (small_enough_to_pack(topology)) return 1;
  const std::uint64_t channels = std::uint64_t{topology.nodes()} * static_cast<std::uint64_t>(topology.max_ports());
  const std::uint64_t chunk = std::bit_ceil(channels / (few_ports(machine) ? 512 : 4096));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(chunk, topology.living_nodes()));
}

// A delivery is in two lists of steps while they are searched, and in two tables while they are made.
Bytes packed_gather_bytes(const Topology& topology, BlockOwners owners) {
  const auto nodes = Bytes{topology.nodes()};
  const Bytes most_blocks = (nodes + (owners == BlockOwners::balanced_vector ? nodes / 2 : 0)) * most_pieces(topology);
  return nodes * most_blocks * (4 * sizeof(RoundSearch::Delivery) + 6 * sizeof(std::pair<Leg, BlockId>));
}

}  // namespace torus::reduction
