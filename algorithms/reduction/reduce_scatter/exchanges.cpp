#include "algorithms/reduction/reduce_scatter/exchanges.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::reduction::halving_swing_tripling {
namespace {

/// The places of a ring of 2^p in base -2, as the peers of swing tell them apart: digit s by round s.
std::uint32_t digits_by_round(std::int32_t n, std::int32_t place) {
  const std::uint32_t h = negabinary(modulo(place % 2 == 0 ? -place : place, n)) & (static_cast<std::uint32_t>(n) - 1);
  return h ^ h >> 1U;
}

}  // namespace

LineExchange::LineExchange(std::int32_t n, std::int32_t rounds, std::int32_t period, Peers peers_of)
    : n_{n}, rounds_{rounds}, period_{period}, peers_{peers_of} {
  // reach[s][x][d]: the place d ahead of x is in the reach of x from round s on.
  using Places = std::vector<std::vector<bool>>;
  std::vector<Places> reach(static_cast<std::size_t>(rounds) + 1,
                            Places(static_cast<std::size_t>(period), std::vector<bool>(static_cast<std::size_t>(n))));
  const auto in_reach = [&](std::int32_t from_round, std::int32_t place, std::int32_t owner) {
    return reach[static_cast<std::size_t>(from_round)][static_cast<std::size_t>(modulo(place, n) % period)]
                [static_cast<std::size_t>(modulo(owner - place, n))];
  };
  departures_.resize(static_cast<std::size_t>(period) * static_cast<std::size_t>(n));
  for (std::int32_t x = 0; x < period; ++x) reach.back()[static_cast<std::size_t>(x)][0] = true;
  for (std::int32_t round = rounds; round-- > 0;) {
    for (std::int32_t x = 0; x < period; ++x) {
      auto& now = reach[static_cast<std::size_t>(round)][static_cast<std::size_t>(x)];
      now = reach[static_cast<std::size_t>(round) + 1][static_cast<std::size_t>(x)];
      const std::vector<std::int32_t> hops = peers_of(n, round, x);
      for (std::int32_t ahead = 1; ahead < n; ++ahead) {
        if (now[static_cast<std::size_t>(ahead)]) continue;  // in a later round
        for (std::size_t i = 0; i < hops.size(); ++i) {
          if (!in_reach(round + 1, x + hops[i], x + ahead)) continue;
          now[static_cast<std::size_t>(ahead)] = true;
          departures_[static_cast<std::size_t>(x) * static_cast<std::size_t>(n) + static_cast<std::size_t>(ahead)] = {
              static_cast<std::uint8_t>(round), static_cast<std::uint8_t>(i)};
          break;
        }
      }
    }
  }
}

std::vector<std::int32_t> LineExchange::given(std::int32_t place, std::int32_t round, std::size_t peer) const {
  std::vector<std::int32_t> out;
  for (std::int32_t ahead = 1; ahead < n_; ++ahead) {
    const Departure& m = departure(place, ahead);
    if (m.round == round && m.peer == peer) out.push_back(modulo(place + ahead, n_));
  }
  return out;
}

std::vector<std::int32_t> LineExchange::held(std::int32_t place, std::int32_t round) const {
  std::vector<std::int32_t> out{place};
  for (std::int32_t ahead = 1; ahead < n_; ++ahead) {
    if (departure(place, ahead).round >= round) out.push_back(modulo(place + ahead, n_));
  }
  return out;
}

Exchanges::Exchanges(const Topology& topology, std::vector<LineExchange> lines, bool negabinary)
    : axes_{linked_dimensions(topology)}, lines_{std::move(lines)} {
  std::int32_t all = 0;
  for (const LineExchange& line : lines_) all += line.rounds();
  axis_rounds_.resize(axes_.size());
  for (std::size_t first = 0; first < axes_.size(); ++first) {
    std::vector<std::int32_t> done(axes_.size());
    std::size_t axis = first;
    for (std::int32_t step = 0; step < all; ++step, axis = (axis + 1) % axes_.size()) {
      while (done[axis] == lines_[axis].rounds()) axis = (axis + 1) % axes_.size();
      axis_rounds_[first].push_back({axis, done[axis], done});
      ++done[axis];
    }
  }
  if (!negabinary) return;
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    for (NodeId owner = 0; owner < topology.nodes(); ++owner) numbers_.push_back(number(topology, part, owner));
  }
}

NodeId Exchanges::number(const Topology& topology, std::size_t part, NodeId owner) const {
  NodeId number = 0;
  for (const AxisRound& axis_round : axis_rounds_[part % axes_.size()]) {
    const std::int32_t n = lines_[axis_round.axis].places(), sign = mirrored(part) ? -1 : +1;
    const std::int32_t place = modulo(std::int64_t{sign} * topology.coordinate(owner, axes_[axis_round.axis]), n);
    number = number << 1U | (digits_by_round(n, place) >> static_cast<std::uint32_t>(axis_round.round) & 1U);
  }
  return number;
}

std::vector<Exchanges::PeerMessage> Exchanges::messages(std::size_t part, const AxisRound& axis_round, std::int32_t place) const {
  const LineExchange& line = lines_[axis_round.axis];
  const std::int32_t n = line.places(), sign = mirrored(part) ? -1 : +1, seen = modulo(std::int64_t{sign} * place, n);
  const std::vector<std::int32_t> hops = line.peers(axis_round.round, seen);
  std::vector<PeerMessage> out;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    out.push_back({sign * hops[i], line.given(seen, axis_round.round, i)});
    for (std::int32_t& owner : out.back().owners) owner = modulo(std::int64_t{sign} * owner, n);
  }
  return out;
}

void Exchanges::append(const Topology& topology, const Coordinates& at, std::size_t part, const AxisRound& axis_round,
                       const std::vector<std::int32_t>& owners, Sends::Blocks& blocks) const {
  std::vector<NodeId> ranks{0};
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const std::int32_t n = lines_[axis].places(), sign = mirrored(part) ? -1 : +1, place = at[static_cast<std::size_t>(axes_[axis])];
    std::vector<std::int32_t> places = owners;
    if (axis != axis_round.axis) {
      places = lines_[axis].held(modulo(std::int64_t{sign} * place, n), axis_round.done[axis]);
      for (std::int32_t& p : places) p = modulo(std::int64_t{sign} * p, n);
    }
    std::vector<NodeId> longer;
    for (const NodeId rank : ranks) {
      for (const std::int32_t p : places) longer.push_back(rank + static_cast<NodeId>(p) * topology.stride(axes_[axis]));
    }
    ranks = std::move(longer);
  }
  const std::size_t first = blocks.size();
  const NodeId* const numbers = numbers_.empty() ? nullptr : numbers_.data() + part * topology.nodes();
  for (const NodeId rank : ranks) {
    blocks.push_back(numbers != nullptr ? static_cast<BlockId>(part) * topology.nodes() + numbers[rank]
                                        : rank * pieces() + static_cast<BlockId>(part));
  }
  if (numbers != nullptr) std::sort(blocks.begin() + static_cast<std::ptrdiff_t>(first), blocks.end());
}

void Exchanges::sends(const Node& self, std::uint64_t step, Sends& out) const {
  const Coordinates at = self.coordinates();
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    const AxisRound& now = axis_round(part, step);
    const Dimension d = axes_[now.axis];
    for (const PeerMessage& message : messages(part, now, at[static_cast<std::size_t>(d)]))
      append(self.topology(), at, part, now, message.owners, out.by({{d, message.hops}}));
  }
}

void Exchanges::mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const {
  const Coordinates at = self.coordinates();
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    const AxisRound& now = axis_round(part, step);
    const Dimension d = axes_[now.axis];
    const std::int32_t place = at[static_cast<std::size_t>(d)], n = lines_[now.axis].places();
    std::vector<std::int32_t> givers;
    for (const PeerMessage& mine : messages(part, now, place)) {
      const std::int32_t giver = modulo(place + mine.hops, n);
      if (std::find(givers.begin(), givers.end(), giver) != givers.end()) continue;
      givers.push_back(giver);
      for (const PeerMessage& theirs : messages(part, now, giver)) {
        if (modulo(giver + theirs.hops, n) == place) append(self.topology(), at, part, now, theirs.owners, out.by({{d, -theirs.hops}}));
      }
    }
  }
}

/// All lines of an axis see the same, and all places have as many parts as each other.
ReversibleReduceScatter::Load Exchanges::load() const {
  Load sum;
  for (std::uint64_t step = 0; step < steps(); ++step) {
    std::uint64_t channel = 0, combined = 0;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const std::int32_t n = lines_[axis].places();
      std::vector<std::uint64_t> plus(static_cast<std::size_t>(n)), minus = plus, into = plus;
      for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
        const AxisRound& now = axis_round(part, step);
        if (now.axis != axis) continue;
        std::uint64_t others = 1;
        for (std::size_t other = 0; other < axes_.size(); ++other) {
          if (other != axis) others *= lines_[other].held(0, now.done[other]).size();
        }
        for (std::int32_t place = 0; place < n; ++place) {
          for (const PeerMessage& message : messages(part, now, place)) {
            const std::uint64_t blocks = message.owners.size() * others;
            for (std::int32_t hop = 0; hop < message.hops; ++hop) plus[static_cast<std::size_t>(modulo(place + hop, n))] += blocks;
            for (std::int32_t hop = 0; hop > message.hops; --hop) minus[static_cast<std::size_t>(modulo(place + hop, n))] += blocks;
            into[static_cast<std::size_t>(modulo(place + message.hops, n))] += blocks;
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

Bytes Exchanges::table_bytes() const {
  Bytes sum = numbers_.size() * sizeof(NodeId);
  for (const LineExchange& line : lines_) sum += line.bytes();
  return sum;
}

}  // namespace torus::reduction::halving_swing_tripling
