#include "algorithms/reduction/exchange_halves.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::reduction {

ExchangeHalves::ExchangeHalves(const Topology& topology, std::vector<LineExchange> lines)
    : axes_{linked_dimensions(topology)}, lines_{std::move(lines)} {
  std::int32_t all = 0;
  for (const LineExchange& line : lines_) all += line.rounds();
  turns_.resize(axes_.size());
  for (std::size_t first = 0; first < axes_.size(); ++first) {
    std::vector<std::int32_t> done(axes_.size());
    std::size_t axis = first;
    for (std::int32_t step = 0; step < all; ++step, axis = (axis + 1) % axes_.size()) {
      while (done[axis] == lines_[axis].rounds()) axis = (axis + 1) % axes_.size();
      turns_[first].push_back({axis, done[axis], done});
      ++done[axis];
    }
  }
}

std::vector<ExchangeHalves::Move> ExchangeHalves::moves(std::size_t part, const Turn& turn, std::int32_t place) const {
  const LineExchange& line = lines_[turn.axis];
  const std::int32_t n = line.places(), sign = mirrored(part) ? -1 : +1, seen = modulo(std::int64_t{sign} * place, n);
  const std::vector<std::int32_t> hops = line.peers(turn.round, seen);
  std::vector<Move> out;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    out.push_back({sign * hops[i], line.given(seen, turn.round, i)});
    for (std::int32_t& owner : out.back().owners) owner = modulo(std::int64_t{sign} * owner, n);
  }
  return out;
}

void ExchangeHalves::append(const Topology& topology, const Coordinates& at, std::size_t part, const Turn& turn,
                            const std::vector<std::int32_t>& owners, std::vector<BlockId>& blocks) const {
  std::vector<NodeId> ranks{0};
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const std::int32_t n = lines_[axis].places(), sign = mirrored(part) ? -1 : +1, place = at[static_cast<std::size_t>(axes_[axis])];
    std::vector<std::int32_t> places = owners;
    if (axis != turn.axis) {
      places = lines_[axis].held(modulo(std::int64_t{sign} * place, n), turn.done[axis]);
      for (std::int32_t& p : places) p = modulo(std::int64_t{sign} * p, n);
    }
    std::vector<NodeId> longer;
    for (const NodeId rank : ranks) {
      for (const std::int32_t p : places) longer.push_back(rank + static_cast<NodeId>(p) * topology.stride(axes_[axis]));
    }
    ranks = std::move(longer);
  }
  for (const NodeId rank : ranks) blocks.push_back(rank * pieces() + static_cast<BlockId>(part));
}

void ExchangeHalves::gives(const Node& self, std::uint64_t step, Gifts& gifts) const {
  const Coordinates at = self.coordinates();
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    const Turn& now = turn(part, step);
    const Dimension d = axes_[now.axis];
    for (const Move& move : moves(part, now, at[static_cast<std::size_t>(d)]))
      append(self.topology(), at, part, now, move.owners, gifts.of({{d, move.hops}}));
  }
}

void ExchangeHalves::returns(const Node& self, std::uint64_t step, Gifts& gifts) const {
  const Coordinates at = self.coordinates();
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    const Turn& now = turn(part, step);
    const Dimension d = axes_[now.axis];
    const std::int32_t place = at[static_cast<std::size_t>(d)], n = lines_[now.axis].places();
    std::vector<std::int32_t> givers;
    for (const Move& mine : moves(part, now, place)) {
      const std::int32_t giver = modulo(place + mine.hops, n);
      if (std::find(givers.begin(), givers.end(), giver) != givers.end()) continue;
      givers.push_back(giver);
      for (const Move& theirs : moves(part, now, giver)) {
        if (modulo(giver + theirs.hops, n) == place) append(self.topology(), at, part, now, theirs.owners, gifts.of({{d, -theirs.hops}}));
      }
    }
  }
}

/// All lines of an axis see the same, and all places have as many parts as each other.
Halves::Load ExchangeHalves::load() const {
  Load sum;
  for (std::uint64_t step = 0; step < steps(); ++step) {
    std::uint64_t channel = 0, combined = 0;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const std::int32_t n = lines_[axis].places();
      std::vector<std::uint64_t> plus(static_cast<std::size_t>(n)), minus = plus, into = plus;
      for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
        const Turn& now = turn(part, step);
        if (now.axis != axis) continue;
        std::uint64_t others = 1;
        for (std::size_t other = 0; other < axes_.size(); ++other) {
          if (other != axis) others *= lines_[other].held(0, now.done[other]).size();
        }
        for (std::int32_t place = 0; place < n; ++place) {
          for (const Move& move : moves(part, now, place)) {
            const std::uint64_t blocks = move.owners.size() * others;
            for (std::int32_t hop = 0; hop < move.hops; ++hop) plus[static_cast<std::size_t>(modulo(place + hop, n))] += blocks;
            for (std::int32_t hop = 0; hop > move.hops; --hop) minus[static_cast<std::size_t>(modulo(place + hop, n))] += blocks;
            into[static_cast<std::size_t>(modulo(place + move.hops, n))] += blocks;
          }
        }
      }
      channel = std::max({channel, *std::max_element(plus.begin(), plus.end()), *std::max_element(minus.begin(), minus.end())});
      combined += *std::max_element(into.begin(), into.end());
    }
    sum.channel += channel;
    sum.combined += combined;
  }
  return sum;
}

Bytes ExchangeHalves::table_bytes() const {
  Bytes sum = 0;
  for (const LineExchange& line : lines_) sum += line.bytes();
  return sum;
}

}  // namespace torus::reduction
