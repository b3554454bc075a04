#include "algorithms/multinode_broadcast/diagonal.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <torus/error.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"

namespace torus::multinode_broadcast {
namespace {

Leg leg_between(const DiagonalSite& site, std::int32_t to, std::int32_t slot) {
  Leg leg = diagonal_leg(site.position, to, slot, site.unit);
  if (leg.dimension == 0) leg.dimension = site.near;
  return on_machine(site.on, leg);
}

void hand_to_parent(Node& self, const LineTree& tree, const DiagonalSite& site, Bundle& bundle) {
  const LineTree::Vertex& v = tree.at(site.position);
  send_bundle(self, {leg_between(site, v.parent, v.slot)}, bundle);
  bundle.clear();
}

void hand_to_children(Node& self, const LineTree& tree, const DiagonalSite& site, std::int32_t level, const Bundle& bundle) {
  tree.for_children(site.position, level,
                    [&](std::int32_t child, std::int32_t slot) { send_bundle(self, {leg_between(site, child, slot)}, bundle); });
}

/// The messages that a node holds, with the distance that each still has to go.
class DriftingMessages {
 public:
  DriftingMessages(const Node& self, const TuneMoves& moves, std::uint32_t first_rank, std::uint32_t parts, Bundle& bundle,
                   std::uint32_t pieces, const Station* station)
      : moves_{moves}, parts_{parts}, bundle_{bundle}, station_{station} {
    if (bundle.size() % parts != 0)
      throw RunError("a bundle of " + std::to_string(bundle.size()) + " blocks: messages have " + std::to_string(parts));
    const std::int32_t here = (station == nullptr ? self.coordinate(0) : station->coordinate(0)) % moves.h;
    for (std::size_t x = 0; x * parts < bundle.size(); ++x) {
      const std::size_t wanted = pieces > 1 ? bundle[x * parts] / parts % pieces : first_rank + x;
      rest_.push_back(centred(static_cast<std::int64_t>(wanted) % moves.h - here, moves.h));
    }
  }

  void send(Node& self, const TuneMoves::Move& move) {
    plus_.clear();
    minus_.clear();
    std::size_t kept = 0;
    for (std::size_t x = 0; x < rest_.size(); ++x) {
      const std::int32_t digit = centred(rest_[x] / move.unit, moves_.base);
      if (digit == move.digit) {
        plus_.add(bundle_, x, parts_, rest_[x] - move.digit * move.unit);
      } else if (digit == -move.digit) {
        minus_.add(bundle_, x, parts_, rest_[x] + move.digit * move.unit);
      } else {
        std::copy_n(bundle_.begin() + static_cast<std::ptrdiff_t>(x * parts_), parts_,
                    bundle_.begin() + static_cast<std::ptrdiff_t>(kept * parts_));
        rest_[kept++] = rest_[x];
      }
    }
    bundle_.resize(kept * parts_);
    rest_.resize(kept);
    plus_.send(self, station_, move.digit * move.unit, !move.last_digit);
    minus_.send(self, station_, -move.digit * move.unit, !move.last_digit);
  }

  void take(const Message& m) {
    const std::size_t messages = m.blocks().size() / parts_;
    if (m.blocks().size() != messages * parts_) unexpected(m, "it brings a part of a message");
    if (!m.header().empty() && m.header().size() != messages) unexpected(m, "it brings another number of distances than of messages");
    append(bundle_, m);
    for (const Word word : m.header()) rest_.push_back(bounded(word, -moves_.h, moves_.h, "distance left"));
    rest_.resize(bundle_.size() / parts_, 0);
  }

 private:
  struct Leaving {
    Bundle blocks;
    std::vector<Word> rest;

    void clear() noexcept {
      blocks.clear();
      rest.clear();
    }
    void add(const Bundle& bundle, std::size_t message, std::uint32_t parts, std::int32_t distance_left) {
      const auto first = bundle.begin() + static_cast<std::ptrdiff_t>(message * parts);
      blocks.insert(blocks.end(), first, first + parts);
      rest.push_back(static_cast<Word>(distance_left));
    }
    void send(Node& self, const Station* station, std::int32_t places, bool with_rest) const {
      if (blocks.empty()) return;
      Route route;
      for (const Dimension d : self.machine().routing) route.push_back(on_machine(station, {d, places}));
      self.send(RouteView(route), blocks, with_rest ? std::span<const Word>(rest) : std::span<const Word>());
    }
  };

  const TuneMoves& moves_;
  std::uint32_t parts_;
  Bundle& bundle_;
  const Station* station_;
  std::vector<std::int32_t> rest_;
  Leaving plus_, minus_;
};

}  // namespace

DiagonalSite DiagonalSite::in_torus(const Node& self, std::int32_t h) {
  return {true, centred(self.coordinate(0) - self.coordinate(1), h), 1};
}

DiagonalSite DiagonalSite::in_grid(const Station& station, std::int32_t h) {
  return {station.member(), centred(station.coordinate(0) - station.coordinate(1), h), 1, &station};
}

DiagonalSite DiagonalSite::in_ddn(const Node& self, std::int32_t h) {
  const std::int32_t i = self.coordinate(0), j = self.coordinate(1);
  return {i % h == j % h, centred(i / h - j / h, self.extent(0) / h), h};
}

Program gather_to_diagonal(Node& self, const LineTree& tree, DiagonalSite site, const char* phase, Bundle& bundle) {
  for (std::int32_t level = 0; level < tree.levels(); ++level) {
    self.phase(phase);
    if (site.member && tree.at(site.position).level == level) hand_to_parent(self, tree, site, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

Program broadcast_from_diagonal(Node& self, const LineTree& tree, DiagonalSite site, const char* phase, Bundle& bundle) {
  for (std::int32_t level = tree.levels() - 1; level >= 0; --level) {
    self.phase(phase);
    if (site.member && tree.holds_at(site.position, level)) hand_to_children(self, tree, site, level, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

TuneMoves::TuneMoves(std::int32_t partition, std::int32_t odd_base) : h{partition}, base{odd_base} {
  for (std::int32_t unit = 1; unit <= h; unit *= base) {
    for (std::int32_t digit = 1; digit <= (base - 1) / 2; ++digit) {
      std::int32_t up = 0, down = 0;
      for (std::int32_t f = window_low(h); f <= window_high(h); ++f) {
        std::int32_t rest = f;  // without the digits below this one
        for (std::int32_t u = 1; u < unit; u *= base) rest = (rest - centred(rest, base)) / base;
        up += centred(rest, base) == digit ? 1 : 0;
        down += centred(rest, base) == -digit ? 1 : 0;
      }
      if (up + down > 0) moves.push_back({unit, digit, std::max(up, down), false});
    }
  }
  for (Move& move : moves) move.last_digit = move.unit == moves.back().unit;
}

Program tune(Node& self, const TuneMoves& moves, std::uint32_t first_rank, std::uint32_t parts, Bundle& bundle, std::uint32_t pieces,
             const Station* station) {
  DriftingMessages drift(self, moves, first_rank, parts, bundle, pieces, station);
  for (const TuneMoves::Move& move : moves.moves) {
    self.phase("tune");
    drift.send(self, move);
    for (const Message& m : co_await self.step()) drift.take(m);
  }
}

std::uint32_t hashed_rank(std::span<const std::int32_t> coordinates, std::int32_t h) noexcept {
  constexpr std::array<std::uint64_t, 4> factor{7919, 104729, 1299709, 15485863};  // the primes number 10^3, 10^4, 10^5, 10^6
  std::uint64_t rank = 31 * static_cast<std::uint64_t>(coordinates.front());
  for (std::size_t d = 0; d < coordinates.size(); ++d) rank += factor[d % factor.size()] * static_cast<std::uint64_t>(coordinates[d] / h);
  return static_cast<std::uint32_t>(rank % static_cast<std::uint64_t>(h));
}

}  // namespace torus::multinode_broadcast
