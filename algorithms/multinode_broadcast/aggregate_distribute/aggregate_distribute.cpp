/// Multi-node broadcast by aggregation, then distribution, with the prefix-sum load balancing in between. The sources are not known.
///
/// A torus of n x n nodes is h dilated tori of q x q nodes (DDN_k: rows and columns = k mod h; q = n/h), whose links are disjoint, and
/// q x q blocks of h x h nodes (DCNs). Messages gather on the diagonals of the DCNs (aggregate), learn their ranks (prefix), move to the
/// DDN that the rank asks for (tune), gather on the DDN's main diagonal (align), are exchanged along it (all-to-all), spread in the DDN
/// (distribute), and then in the DCNs along the rows (row) and round the columns (column). On other tori the phases go dimension by
/// dimension: see any_torus.hpp.
/// Machine  torus, h divides every side, wormhole in ascending order, all ports, no channel shared.   Memory  O(s) words a node.
/// Steps    n x n: L5(h) + prefix + tune + 2 L5(q) + exchange(q) + L3(h) + h - 1, whatever the sources; L5 = ceil(log5), L3 = ceil(log3).
/// Header   see prefix.hpp, diagonal.hpp and exchange.hpp; data messages have none for h <= 5, q <= 25.
/// Source   Chen, Chen & Tseng, Multi-Node Broadcasting Using an Aggregation-then-Distribution Strategy,
///          made sound: see the README.

#include "algorithms/multinode_broadcast/aggregate_distribute/aggregate_distribute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/any_torus.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

Program broadcast_row(Node& self, const LineTree& window, Bundle& bundle) {
  const std::int32_t position = centred(self.coordinate(1) - self.coordinate(0), window.positions());
  for (std::int32_t level = window.levels() - 1; level >= 0; --level) {
    self.phase("row");
    hand_down(self, 1, window, position, level, bundle);
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

Program column_ring(Node& self, std::int32_t h, Bundle& bundle) {
  for (std::int32_t step = 1; step < h; ++step) {
    self.phase("column");
    send_bundle(self, {{0, column_ring_hop(self.coordinate(0) % h, h)}}, bundle);
    bundle.clear();
    for (const Message& m : co_await self.step()) append(bundle, m);
  }
}

namespace {

/// What every node knows beforehand: tables that follow from n, h and the choice of prefix sum.
struct AggregateDistribute {
  AggregateDistribute(const Topology& topology, std::int32_t partition, Prefix prefix_kind);

  bool balances() const noexcept { return h > 1 && prefix.kind != Prefix::none; }
  std::int32_t aggregation_steps() const noexcept { return strip.levels(); }
  std::int32_t balancing_steps() const noexcept { return balances() ? prefix.steps() + tuning.steps() : 0; }
  std::int32_t steps() const noexcept;
  /// Hops that grow with h, about: for the choice of h. Aggregation and row cross h/2 each, tuning and column ring 2h each.
  double hops_for_h() const noexcept { return 5.0 * h; }
  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = n^2, else for random ones, about.
  double channel_bytes(double s, double m) const;

  std::int32_t n, h, q;
  LineTree strip;  ///< W_5(h): the diagonals that one DCN diagonal gathers
  PrefixTables prefix;
  TuneMoves tuning;
  LineTree ddn;  ///< W_5(q): the diagonals of a DDN
  ExchangeRounds exchange;
  LineTree row;  ///< W_3(h)
};

AggregateDistribute::AggregateDistribute(const Topology& topology, std::int32_t partition, Prefix prefix_kind)
    : n{topology.extent(0)},
      h{partition},
      q{n / h},
      strip{LineTree::window(5, h)},
      prefix{prefix_kind, n, h},
      tuning{h, 5},
      ddn{LineTree::window(5, q)},
      exchange{q, false},
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

constexpr Requirements any_torus{
    .shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports, .ascending_routing = true};

bool is_square(const Topology& topology) { return topology.dimensions() == 2 && is_square_torus(topology); }

/// The side of the square, else what divides every side.
std::int32_t largest_h(const Topology& topology) { return is_square(topology) ? topology.extent(0) : largest_partition(topology); }

/// The prefix sum that is asked for, else the one of the paper, or off the square the one that there is.
Prefix prefix_of(const Topology& topology, const Request& request) {
  const std::string_view word = request.parameters.word("prefix");
  return word.empty() && !is_square(topology) ? Prefix::global3 : *parse_prefix(word);
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  if (auto why = needs_divisor("aggregate-distribute", largest_h(topology), request)) return why;
  const Prefix prefix = prefix_of(topology, request);
  if (is_square(topology) || prefix == Prefix::global3 || prefix == Prefix::hash || prefix == Prefix::none) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::string(name(prefix)), "off n x n tori aggregate-distribute sums by global3 alone",
                 std::string(name(Prefix::global3)), "prefix"};
}

/// With the h of least time, where the request names none, of those that make several DCNs and DDNs of rings, as far as there are any: one
/// DCN, or DDNs of a node or two a side, are no partition.
template <class Scheme>
Scheme choose(const Machine& machine, const Request& request, double s) {
  const Prefix prefix = prefix_of(machine.topology, request);
  const auto time = [&](std::int32_t h) -> std::optional<double> {
    const Scheme scheme(machine.topology, h, prefix);
    return machine.cost.steps(scheme.steps(), scheme.channel_bytes(s, static_cast<double>(request.bytes)), scheme.hops_for_h());
  };
  const auto asked = static_cast<std::int32_t>(request.parameters.whole("h"));
  if (asked != 0) return {machine.topology, asked, prefix};
  std::vector<std::int32_t> all = divisors(largest_h(machine.topology));
  const std::int32_t widest = largest_side(machine.topology);
  for (const std::int32_t least : {3, 2}) {  // nodes on the longest side of a DDN
    const auto is_partition = [&](std::int32_t h) { return h > 1 && widest / h >= least; };
    if (std::none_of(all.begin(), all.end(), is_partition)) continue;
    std::erase_if(all, [&](std::int32_t h) { return !is_partition(h); });
    break;
  }
  return {machine.topology, *cheapest(all, time), prefix};
}

/// The frames of the programs that a node's program calls.
Bytes called_frames(const Machine& machine, const AggregateDistribute& scheme) {
  return (scheme.balances() ? frames_of_prefix(machine, scheme.prefix) : 0) + frames_of_calls(machine, [&](Node& self) {
           Bundle none;
           make(gather_to_diagonal(self, scheme.ddn, {}, "", none));
           if (scheme.balances()) make(tune(self, scheme.tuning, 0, 1, none));
           make(exchange_on_diagonal(self, scheme.exchange, {}, none));
           make(broadcast_from_diagonal(self, scheme.ddn, {}, "", none));
           make(broadcast_row(self, scheme.row, none));
           make(column_ring(self, scheme.h, none));
         });
}

/// What is alike on all tori.
template <class Scheme>
Plan plan_of(const Machine& machine, const Request& request, const Scheme& scheme, double s) {
  Plan plan;
  plan.steps = static_cast<std::uint64_t>(scheme.steps());
  plan.channel_bytes = scheme.channel_bytes(s, static_cast<double>(request.bytes));
  plan.observe =
      subnetwork_loads(machine, request, 1, scheme.h, scheme.aggregation_steps(), scheme.aggregation_steps() + scheme.balancing_steps());
  plan.node_bytes = 4 * sizeof(BlockId) * request.sources.size();
  plan.notes = {{"h", std::to_string(scheme.h)},
                {"prefix", std::string(name(prefix_of(machine.topology, request)))},
                {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  if (is_square(machine.topology)) {
    const auto scheme = std::make_shared<const AggregateDistribute>(choose<AggregateDistribute>(machine, request, s));
    Plan plan = plan_of(machine, request, *scheme, s);
    plan.start = [scheme](Node& self) { return aggregate_distribute_program(self, *scheme); };
    plan.node_bytes += called_frames(machine, *scheme);
    plan.formula = "L5(h) + prefix + tune + 2 L5(n/h) + exchange(n/h) + L3(h) + h-1";
    return plan;
  }
  const auto scheme = std::make_shared<const AnyTorus>(choose<AnyTorus>(machine, request, s));
  Plan plan = plan_of(machine, request, *scheme, s);
  plan.start = [scheme](Node& self) { return scheme->program(self); };
  plan.node_bytes += scheme->called_frames(machine);
  plan.formula = "aggregate + prefix + tune + align + exchange(n/h) + distribute + (k-1) L3(h) + h-1";
  return plan;
}

constexpr std::array parameters{Parameter{"h", partition_meaning, {}, possible_partitions},
                                Parameter{"prefix", balancing_meaning, prefix_names}};

constexpr std::array terms{Term{"h", "side of a small block, and number of the coarse tori"},
                           Term{"prefix", "steps of the prefix sum"},
                           Term{"tune", "steps that move messages to the coarse torus of their rank"},
                           Term{"exchange", "exchange(x): steps of the exchange along a diagonal of x nodes"},
                           Term{"aggregate", "steps that gather a small block of nodes on its diagonal"},
                           Term{"align", "steps that gather a coarse torus on its diagonal"},
                           Term{"distribute", "as many steps, which spread over the coarse torus"}};

constexpr Algorithm aggregate_distribute{
    .name = "aggregate-distribute",
    .collective = Collective::multinode_broadcast,
    .source = "Chen, Chen & Tseng: multi-node broadcasting, aggregation-then-distribution, Lemmas 2 and 3",
    .shapes = "torus of any dimension, any h that divides every side",
    .steps =
        "n x n: L5(h) + prefix + tune + 2 L5(n/h) + exchange(n/h) + L3(h) + h-1; others: aggregate + prefix + tune + align + exchange(n/h) "
        "+ distribute + (k-1) L3(h) + h-1",
    .idea = {.first = "The messages of each small block of nodes gather on its diagonal, and a prefix sum over these nodes gives each "
                      "message its rank.",
             .then = "By its rank a message moves to one of several coarse tori whose links are disjoint; there all are exchanged along "
                     "the diagonal and spread, and at last the blocks fill their rows and columns.",
             .good =
                 "The ranks deal the messages out evenly wherever the sources lie, so that no coarse torus carries more than its share."},
    .terms = terms,
    .native = {},
    .needs = any_torus,
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{aggregate_distribute};

}  // namespace torus::multinode_broadcast::aggregate_distribute
