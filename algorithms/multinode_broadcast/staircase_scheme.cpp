#include "algorithms/multinode_broadcast/staircase_scheme.hpp"

#include <algorithm>
#include <optional>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

Staircase choose(const Topology& topology) {
  const std::int32_t a = std::min(topology.extent(0), topology.extent(1)), b = std::max(topology.extent(0), topology.extent(1));
  std::optional<Staircase> best;
  std::int32_t fewest = INT32_MAX;
  // Half of w rounds are needed at least, as a round reaches a of the w a stations on each side.
  for (std::int32_t windings = 1; windings <= b / a && windings / 2 <= fewest; ++windings) {
    const std::int32_t rounds = ExchangeRounds(windings * a, true, a).steps();
    for (const Staircase::Spare spare : {Staircase::Spare::joined, Staircase::Spare::folded}) {
      const std::int32_t levels = Staircase::levels(a, b, windings, spare), steps = 2 * levels + rounds;
      if (steps > fewest || (steps == fewest && levels >= best->levels())) continue;
      Staircase stairs(topology, windings, spare);
      if (!stairs.sound()) continue;
      best = std::move(stairs);
      fewest = steps;
    }
  }
  return std::move(*best);
}

/// The most messages of `count` stations in a row.
double fullest_run(const std::vector<std::int32_t>& loads, std::int32_t count) {
  const std::size_t q = loads.size();
  std::int64_t run = 0, most = 0;
  for (std::size_t p = 0; p < q + static_cast<std::size_t>(count); ++p) {
    run += loads[p % q];
    if (p >= static_cast<std::size_t>(count)) run -= loads[(p - static_cast<std::size_t>(count)) % q];
    most = std::max(most, run);
  }
  return static_cast<double>(most);
}

}  // namespace

StaircaseScheme::StaircaseScheme(const Topology& topology)
    : StaircaseScheme(choose(topology), std::min(topology.extent(0), topology.extent(1))) {}

StaircaseScheme::StaircaseScheme(Staircase&& staircase, std::int32_t a)
    : stairs{std::move(staircase)}, exchange{stairs.stations(), true, a} {}

double StaircaseScheme::channel_bytes(double s, double m) const {
  const Staircase::Loads loads = stairs.loads();
  const double nodes = stairs.nodes(), share = s / nodes;
  double bytes = 0;
  for (const std::int32_t size : loads.levels) bytes += m * fullest(size * share, nodes, size);
  const std::vector<std::int32_t> payloads = exchange.step_payloads(), words = exchange.step_words();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const double most = fullest_run(loads.stations, payloads[i]);
    bytes += m * fullest(most * share, 2.0 * stairs.stations(), most) + 4.0 * words[i];
  }
  return bytes + m * s * stairs.levels();
}

Program staircase_program(Node& self, const StaircaseScheme& scheme) {
  const Staircase& stairs = scheme.stairs;
  const Staircase::Move& up = stairs.up(self);
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  for (std::int32_t level = 0; level < stairs.levels(); ++level) {
    self.phase("gather");
    if (up.level == level) {
      send_bundle(self, {up.leg}, bundle);
      bundle.clear();
    }
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
  const ExchangeSite site{up.level == stairs.levels(), stairs.station(self), 1, &stairs};
  co_await exchange_on_diagonal(self, scheme.exchange, site, bundle);
  for (std::int32_t level = stairs.levels() - 1; level >= 0; --level) {
    self.phase("spread");
    for (const Staircase::Move& down : stairs.down(self)) {
      if (down.level == level) send_bundle(self, {down.leg}, bundle);
    }
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

}  // namespace torus::multinode
