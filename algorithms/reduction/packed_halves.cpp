#include "algorithms/reduction/packed_halves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/common/growth.hpp"

namespace torus::reduction {

std::vector<NodeId> owners_of(BlockOwners owners, const Topology& topology) {
  return owners == BlockOwners::balanced_vector ? owners_of_vector(topology) : living_ranks(topology);
}

PackedHalves::PackedHalves(const Topology& topology, std::uint32_t chunk, BlockOwners owners) {
  std::vector<BlockId> ids = owners_of(owners, topology);
  const std::vector<std::vector<Delivery>> rounds = gather_rounds(topology, ids, chunk);
  blocks_ = static_cast<std::uint32_t>(ids.size());
  if (owners != BlockOwners::ranks) std::iota(ids.begin(), ids.end(), BlockId{0});
  steps_ = rounds.size();
  std::vector<std::vector<std::pair<Leg, BlockId>>> goes(steps_ * topology.nodes()), comes(goes.size());
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::size_t first = (rounds.size() - 1 - round) * topology.nodes();
    for (const auto& [from, to, leg, block] : rounds[round]) {
      goes[first + from].emplace_back(leg, ids[block]);
      comes[first + to].emplace_back(Leg{leg.dimension, topology.reverse(leg.dimension, leg.hops)}, ids[block]);
    }
    std::uint64_t channel = 0, combined = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      auto& sent = goes[first + node];
      combined = std::max<std::uint64_t>(combined, sent.size());
      const auto by_leg = [](const auto& a, const auto& b) {
        return std::pair(a.first.dimension, a.first.hops) < std::pair(b.first.dimension, b.first.hops);
      };
      std::stable_sort(sent.begin(), sent.end(), by_leg);
      for (auto at = sent.begin(); at != sent.end();) {
        const auto end = std::find_if(at, sent.end(), [&](const auto& other) { return other.first != at->first; });
        channel = std::max(channel, static_cast<std::uint64_t>(end - at));
        at = end;
      }
    }
    load_.channel += channel;
    load_.combined += combined;
  }
  goes_ = Table(goes);
  comes_ = Table(comes);
}

void PackedHalves::append_row(const Table& table, const Node& self, std::uint64_t step, Gifts& gifts) const {
  for (const auto& [leg, block] : table.row(step * self.topology().nodes() + self.rank())) gifts.of({leg}).push_back(block);
}

PackedHalves PackedHalves::pack(const Topology& topology, std::uint32_t chunk, BlockOwners owners) { return {topology, chunk, owners}; }

ChunkChoice choose_chunk(const Machine& machine, BlockOwners owners, Bytes block) {
  const Topology& topology = machine.topology;
  if (topology.living_nodes() == 1) return {1, 0};
  std::int32_t farthest = topology.whole() ? topology.diameter() : 0;
  for (NodeId node = 0; node < topology.nodes() && !topology.whole(); ++node) {
    if (topology.living(node)) farthest = std::max(farthest, topology.eccentricity(node));
  }
  const double all = blocks_a_channel(topology, owners_of(owners, topology));
  ChunkChoice best{0, 0};
  for (std::uint32_t chunk = 1;; chunk *= 2) {
    const double least = all / chunk;
    const double steps = std::round(std::pow(std::pow(farthest, 4) + std::pow(std::max(1.0, least), 4), 0.25));
    const double time = machine.cost.steps(steps, steps * chunk * static_cast<double>(block), steps);
    if (best.chunk == 0 || time < best.time_s) best = {chunk, time};
    if (2 * least <= farthest) return best;
  }
}

// A delivery is in two lists of steps while they are searched, and in two tables while they are made.
Bytes packed_halves_bytes(const Topology& topology) {
  const auto nodes = Bytes{topology.nodes()};
  const Bytes most_blocks = nodes + nodes / 2;
  return nodes * most_blocks * (4 * sizeof(Delivery) + 6 * sizeof(std::pair<Leg, BlockId>));
}

}  // namespace torus::reduction
