#include "bench/combinings.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bench/host.hpp"

namespace torus::bench {

Combinings::Combinings(NodeId nodes, Bytes bytes, const Reduction& reduction, Parcels parcels, Executor& executor)
    : nodes_{nodes},
      bytes_{static_cast<std::size_t>(bytes)},
      reduction_{reduction},
      combine_{torus::detail::combiner_of(reduction)},
      extents_{std::move(parcels.extents)},
      vectors_{nodes * bytes_},
      executor_{&executor},
      shares_{executor} {
  std::size_t most = 1;
  for (std::vector<Parcel>& sent : parcels.rounds) {
    Round& round = rounds_.emplace_back();
    std::stable_sort(sent.begin(), sent.end(), [](const Parcel& a, const Parcel& b) { return a.from < b.from; });
    round.parcels = std::move(sent);
    round.sent_by.assign(nodes + 1, 0);
    round.arrived_at.assign(nodes + 1, 0);
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < round.parcels.size(); ++i) {
      const Parcel& parcel = round.parcels[i];
      ++round.sent_by[parcel.from + 1];
      round.box.push_back(used);
      if (!parcel.adds) continue;
      ++round.arrived_at[parcel.to + 1];
      round.arrived.push_back(i);
      for (std::uint32_t e = 0; e < parcel.extents; ++e) used += extents_[parcel.first_extent + e].bytes;
      used = (used + 63) / 64 * 64;
    }
    std::stable_sort(round.arrived.begin(), round.arrived.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return round.parcels[a].to < round.parcels[b].to; });
    for (NodeId node = 0; node < nodes; ++node) {
      round.sent_by[node + 1] += round.sent_by[node];
      round.arrived_at[node + 1] += round.arrived_at[node];
    }
    most = std::max(most, used);
  }
  for (auto& boxes : boxes_) boxes = torus::detail::Region<std::byte>(most);
  executor.run([&](unsigned worker) {
    vectors_.populate(vectors_.size(), worker, executor.workers());
    for (auto& boxes : boxes_) boxes.populate(boxes.size(), worker, executor.workers());
  });
}

void Combinings::add_arrived(const Round& round, NodeId node, const std::byte* boxes) noexcept {
  for (std::uint32_t i = round.arrived_at[node]; i < round.arrived_at[node + 1]; ++i) {
    const Parcel& parcel = round.parcels[round.arrived[i]];
    const std::byte* from = boxes + round.box[round.arrived[i]];
    for (std::uint32_t e = 0; e < parcel.extents; ++e) {
      const auto [first, bytes] = extents_[parcel.first_extent + e];
      combine_(vector_of(node) + first, from, bytes);
      from += bytes;
    }
  }
}

void Combinings::send(const Round& round, NodeId node, std::byte* boxes) noexcept {
  for (std::uint32_t i = round.sent_by[node]; i < round.sent_by[node + 1]; ++i) {
    const Parcel& parcel = round.parcels[i];
    std::byte* box = boxes + round.box[i];
    for (std::uint32_t e = 0; e < parcel.extents; ++e) {
      const auto [first, bytes] = extents_[parcel.first_extent + e];
      std::memcpy(parcel.adds ? box : vector_of(parcel.to) + first, vector_of(node) + first, bytes);
      box += bytes;
    }
  }
}

double Combinings::run() {
  shares_.each(
      nodes_,
      [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t node = first; node < end; ++node) {
          const auto rank = static_cast<NodeId>(node);
          torus::detail::fill_contribution({vector_of(rank), bytes_}, reduction_, nodes_, 1, rank, 0);
        }
      },
      [] {});
  const double start = wall_s();
  for (std::size_t step = 0; step <= rounds_.size(); ++step) {
    const auto part = [&](std::uint64_t first, std::uint64_t end) {
      for (auto node = static_cast<NodeId>(first); node < end; ++node) {
        if (step > 0) add_arrived(rounds_[step - 1], node, boxes_[(step - 1) % 2].data());
        if (step < rounds_.size()) send(rounds_[step], node, boxes_[step % 2].data());
      }
    };
    shares_.each(nodes_, part, [] {});
  }
  return wall_s() - start;
}

bool Combinings::complete() const {
  std::vector<std::byte> sum(bytes_), one(bytes_);
  for (NodeId node = 0; node < nodes_; ++node) {
    torus::detail::fill_contribution(node == 0 ? sum : one, reduction_, nodes_, 1, node, 0);
    if (node > 0) combine_(sum.data(), one.data(), bytes_);
  }
  for (NodeId node = 0; node < nodes_; ++node) {
    if (std::memcmp(vectors_.data() + std::size_t{node} * bytes_, sum.data(), bytes_) != 0) return false;
  }
  return true;
}

}  // namespace torus::bench
