#include "algorithms/multinode_broadcast/aggregate_distribute.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "algorithms/multinode_broadcast/column_ring.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/multinode_broadcast/subnetwork_loads.hpp"
#include "algorithms/multinode_broadcast/window_spread.hpp"

namespace torus::multinode {
namespace {

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return needs_divisor("aggregate-distribute", machine.topology.extent(0), request);
}

AggregateDistribute choose(const Machine& machine, const Request& request, double s) {
  const std::int32_t n = machine.topology.extent(0);
  const Prefix prefix = *parse_prefix(request.parameters.word("prefix"));
  if (request.parameters.whole("h") != 0) return {n, static_cast<std::int32_t>(request.parameters.whole("h")), prefix};
  std::int32_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int32_t h : divisors(n)) {
    const AggregateDistribute scheme(n, h, prefix);
    const double time =
        machine.cost.steps(scheme.steps(), scheme.channel_bytes(s, static_cast<double>(request.bytes)), scheme.hops_for_h());
    if (time < least) {
      least = time;
      best = h;
    }
  }
  return {n, best, prefix};
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const AggregateDistribute>(choose(machine, request, s));
  Plan plan;
  plan.start = [scheme](Node& self) { return aggregate_distribute_program(self, *scheme); };
  plan.steps = static_cast<std::uint64_t>(scheme->steps());
  plan.formula = "L5(h) + prefix + tune + 2 L5(n/h) + exchange(n/h) + L3(h) + h-1";
  plan.channel_bytes = scheme->channel_bytes(s, static_cast<double>(request.bytes));
  plan.observe =
      subnetwork_loads(machine, request, 1, scheme->h, scheme->strip.levels(), scheme->strip.levels() + scheme->balancing_steps());
  plan.node_bytes = 4 * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"h", std::to_string(scheme->h)},
                {"prefix", std::string(name(scheme->prefix.kind))},
                {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

constexpr std::array parameters{Parameter{"h", partition_meaning, {}, possible_partitions},
                                Parameter{"prefix", balancing_meaning, prefix_names}};

}  // namespace

AggregateDistribute::AggregateDistribute(std::int32_t nodes_a_side, std::int32_t partition, Prefix prefix_kind, bool ternary_exchange)
    : n{nodes_a_side},
      h{partition},
      q{n / h},
      strip{LineTree::window(5, h)},
      prefix{prefix_kind, n, h},
      tuning{h, 5},
      ddn{LineTree::window(5, q)},
      exchange{q, ternary_exchange},
      row{LineTree::window(3, h)} {}

std::int32_t AggregateDistribute::steps() const noexcept {
  return strip.levels() + balancing_steps() + 2 * ddn.levels() + exchange.steps() + row.levels() + h - 1;
}

double AggregateDistribute::channel_bytes(double s, double m) const {
  const double nodes = static_cast<double>(n) * n, share = s / nodes;
  double bytes = 0;
  for (const std::int32_t size : strip.level_sizes()) bytes += m * fullest(size * share, nodes, size);
  if (balances()) {
    bytes += prefix.steps() * 4.0;
    for (const TuneMoves::Move& move : tuning.moves) {
      bytes += (m + (move.last_digit ? 0 : 4)) * fullest(move.worst * share, 2.0 * n * q, move.worst);
    }
  }
  for (const std::int32_t size : ddn.level_sizes()) bytes += m * fullest(size * h * share, static_cast<double>(n) * q, size * h);
  const std::vector<std::int32_t> payloads = exchange.step_payloads(), words = exchange.step_words();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    bytes += m * fullest(payloads[i] * n * share, 4.0 * n, static_cast<double>(payloads[i]) * n) + 4.0 * words[i];
  }
  const bool exact_balance = h == 1 || prefix.kind == Prefix::global5 || prefix.kind == Prefix::global3;
  const double heaviest = exact_balance ? std::ceil(s / h) : fullest(s / h, h, nodes / h);
  return bytes + m * heaviest * (ddn.levels() + row.levels() + h - 1);
}

Program aggregate_distribute_program(Node& self, const AggregateDistribute& scheme) {
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  const DiagonalSite strip = DiagonalSite::in_torus(self, scheme.h);
  co_await gather_to_diagonal(self, scheme.strip, strip, "aggregate", bundle);
  if (scheme.balances()) {
    const std::uint32_t rank = co_await rank_of_first(self, scheme.prefix, static_cast<std::uint32_t>(bundle.size()));
    co_await tune(self, scheme.tuning, rank, 1, bundle);
  }
  const DiagonalSite ddn = DiagonalSite::in_ddn(self, scheme.h);
  co_await gather_to_diagonal(self, scheme.ddn, ddn, "align", bundle);
  const ExchangeSite main{self.coordinate(0) == self.coordinate(1), self.coordinate(0) / scheme.h, scheme.h};
  co_await exchange_on_diagonal(self, scheme.exchange, main, bundle);
  co_await broadcast_from_diagonal(self, scheme.ddn, ddn, "distribute", bundle);
  co_await broadcast_row(self, scheme.row, bundle);
  co_await column_ring(self, scheme.h, bundle);
}

const Algorithm aggregate_distribute{
    .name = "aggregate-distribute",
    .collective = Collective::multinode_broadcast,
    .source = "Chen, Chen & Tseng: multi-node broadcasting, aggregation-then-distribution, Lemmas 2 and 3",
    .shapes = "torus n x n, any h that divides n",
    .steps = "L5(h) + prefix + tune + 2 L5(n/h) + exchange(n/h) + L3(h) + h-1",
    .native = {},
    .needs = square_torus,
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::multinode
