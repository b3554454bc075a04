#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/multinode_broadcast/aggregate_distribute/staircase.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {
namespace {

using Round = ExchangeRounds::Round;

/// A member's bundles by position, counted from its own.
class BundleWindow {
 public:
  BundleWindow(std::int32_t q, Bundle&& own) : q_{q}, bundles_(static_cast<std::size_t>(q)) { bundles_.front() = std::move(own); }

  /// Sends the bundles first .. first + count - 1 (relative to the sender).
  void send(Node& self, const Route& route, std::int32_t first, std::int32_t count, bool with_lengths) {
    blocks_.clear();
    lengths_.clear();
    for (std::int32_t p = first; p < first + count; ++p) {
      const Bundle& bundle = at(p);
      blocks_.insert(blocks_.end(), bundle.begin(), bundle.end());
      if (with_lengths && p + 1 < first + count) lengths_.push_back(static_cast<Word>(bundle.size()));
    }
    if (!blocks_.empty()) self.send(route, blocks_, std::span<const Word>(lengths_));
  }

  /// Puts what a message brought at first .. (relative to the receiver). Without lengths all of it goes to the first, as one.
  void take(const Message& m, std::int32_t first) {
    std::size_t at_block = 0;
    for (const Word length : m.header()) {
      put(first++, m.blocks().subspan(at_block, length));
      at_block += length;
    }
    put(first, m.blocks().subspan(at_block));
  }

  void give_all(Bundle& all) const {
    all.clear();
    for (const Bundle& bundle : bundles_) all.insert(all.end(), bundle.begin(), bundle.end());
  }

 private:
  void put(std::int32_t relative, BlocksView bundle) { at(relative).assign(bundle.begin(), bundle.end()); }
  Bundle& at(std::int32_t relative) { return bundles_[static_cast<std::size_t>(modulo(relative, q_))]; }

  std::int32_t q_;
  std::vector<Bundle> bundles_;
  Bundle blocks_;
  std::vector<Word> lengths_;
};

/// The first position that a receiver takes from the node `distance` (t or 2t) away on a side, relative to itself.
std::int32_t first_taken(const Round& round, std::size_t side, bool far) noexcept {
  const std::int32_t skipped = far ? round.near[side] : 0;
  const std::int32_t count = far ? round.far[side] : round.near[side];
  return side == 0 ? round.reach + 1 + skipped : -(round.reach + skipped + count);
}

Route near_route(const ExchangeSite& site, std::int32_t away) {
  if (site.stairs != nullptr) return site.stairs->route(site.position, away);
  if (site.through.empty()) return {{0, away * site.unit}, {1, away * site.unit}};
  Route route;
  for (const Dimension d : site.through) route.push_back({d, away * site.unit});
  return route;
}

/// To the receiver that has this node on its `side`: it stands `distance` places the other way.
void send_round(Node& self, const Round& round, const ExchangeSite& site, bool far, BundleWindow& window) {
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int32_t count = far ? round.far[side] : round.near[side];
    if (count == 0) continue;
    const std::int32_t away = (side == 0 ? -1 : +1) * round.t * (far ? 2 : 1);  // from here to the receiver
    const std::int32_t first = first_taken(round, side, far) + away;            // relative to this node
    window.send(self, far ? Route{{1, away * site.unit}} : near_route(site, away), first, count, !round.last);
  }
}

void relay_far(Node& self, const Arrivals& came) {
  for (const Message& m : came) self.send({{0, m.route().front().hops}}, m.blocks(), m.header());
}

void take_round(const Round& round, const Arrivals& came, BundleWindow& window) {
  for (const Message& m : came) {
    const bool far = round.relayed() && m.dimension() == 0;
    window.take(m, first_taken(round, m.direction() < 0 ? 0 : 1, far));
  }
}

}  // namespace

std::int32_t Round::widest() const noexcept { return std::max({near[0], near[1], far[0], far[1]}); }

ExchangeRounds::ExchangeRounds(std::int32_t positions, bool ternary, std::int32_t farthest) : q{positions} {
  for (std::int32_t width = 1; width < q;) {
    const std::int32_t missing = q - width, arms = ternary ? 1 : 2, t = std::min(width, farthest);
    const bool whole = missing > 2 * arms * t;
    Round round{(width - 1) / 2, t, {t, t}, {ternary ? 0 : t, ternary ? 0 : t}, !whole};
    if (!whole) {
      round.t = (missing + 2 * arms - 1) / (2 * arms);
      const std::array<std::int32_t, 2> side{(missing + 1) / 2, missing / 2};
      for (std::size_t s = 0; s < 2; ++s) {
        round.near[s] = std::min(round.t, side[s]);
        round.far[s] = side[s] - round.near[s];
      }
    }
    rounds.push_back(round);
    width += whole ? 2 * arms * t : missing;
  }
}

std::int32_t ExchangeRounds::steps() const noexcept {
  return std::accumulate(rounds.begin(), rounds.end(), 0, [](std::int32_t sum, const Round& r) { return sum + (r.relayed() ? 2 : 1); });
}

std::vector<std::int32_t> ExchangeRounds::step_payloads() const {
  std::vector<std::int32_t> payloads;
  for (const Round& round : rounds) {
    if (round.relayed()) payloads.push_back(std::max(round.far[0], round.far[1]));
    payloads.push_back(round.widest());
  }
  return payloads;
}

std::vector<std::int32_t> ExchangeRounds::step_words() const {
  std::vector<std::int32_t> words = step_payloads();
  std::size_t step = 0;
  for (const Round& round : rounds) {
    for (std::int32_t i = round.relayed() ? 2 : 1; i > 0; --i, ++step) words[step] = round.last ? 0 : words[step] - 1;
  }
  return words;
}

Program exchange_on_diagonal(Node& self, const ExchangeRounds& rounds, ExchangeSite site, Bundle& bundle) {
  BundleWindow window(site.member ? rounds.q : 1, std::move(bundle));
  for (const Round& round : rounds.rounds) {
    Arrivals came;
    if (round.relayed()) {
      self.phase("all-to-all");
      if (site.member) send_round(self, round, site, true, window);
      came = co_await self.step();
    }
    self.phase("all-to-all");
    if (site.member) send_round(self, round, site, false, window);
    relay_far(self, came);
    came = co_await self.step();
    take_round(round, came, window);
  }
  window.give_all(bundle);
}

}  // namespace torus::multinode_broadcast::aggregate_distribute
