#include "algorithms/multinode_broadcast/tune.hpp"

#include <algorithm>
#include <string>

#include <torus/error.hpp>

#include "algorithms/common/received.hpp"

namespace torus::multinode {
namespace {

/// The messages that a node holds, with the distance that each still has to go.
class Drift {
 public:
  Drift(const Node& self, const TuneMoves& moves, std::uint32_t first_rank, std::uint32_t parts, Bundle& bundle, std::uint32_t pieces,
        const Station* station)
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
  Drift drift(self, moves, first_rank, parts, bundle, pieces, station);
  for (const TuneMoves::Move& move : moves.moves) {
    self.phase("tune");
    drift.send(self, move);
    for (const Message& m : co_await self.step()) drift.take(m);
  }
}

}  // namespace torus::multinode
