// Bounds from cuts on machines with holes and slow links: against all cuts of small machines, and below every run.
#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/bounds/cut_search.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// A machine with some faults; none where they cut it apart.
std::optional<Topology> broken(std::mt19937_64& random, const Topology& whole) {
  if (whole.channels() == 0) return std::nullopt;
  const Faults faults = support::random_faults(random, whole, 3, 2, 2);
  try {
    return whole.with_faults(faults);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

Request request_on(std::mt19937_64& random, const Topology& topology, Collective collective) {
  Request request;
  request.collective = collective;
  request.bytes = 840;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node) && (request.sources.empty() || support::random_below(random, 2) == 0)) request.sources.push_back(node);
  }
  if (facts_of(collective).rooted()) request.sources = {request.sources.back()};
  return request;
}

/// Bytes that must leave the side, or enter it: said again for each collective, node by node.
double must_cross(const Topology& topology, const Request& request, std::uint32_t side) {
  const auto in = [&](NodeId node) { return (side >> node & 1U) != 0; };
  double out = 0, into = 0;
  std::vector<NodeId> living;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) living.push_back(node);
  }
  const auto add = [&](NodeId from, NodeId to, double& total) { total += in(from) != in(to) ? 1 : 0; };
  switch (request.collective) {
    case Collective::multinode_broadcast:
      for (const NodeId source : request.sources) (in(source) ? out : into) += 1;
      break;
    case Collective::reduce_scatter:
      for (const NodeId node : living) (in(node) ? into : out) += 1;
      break;
    case Collective::scatter:
    case Collective::gather:
      for (const NodeId node : living) add(node, request.sources.front(), out);
      break;
    case Collective::total_exchange:
      for (const NodeId from : living) {
        for (const NodeId to : living) add(from, to, in(from) ? out : into);
      }
      break;
    default: out = 1; break;
  }
  return std::max(out, into) * static_cast<double>(request.bytes);
}

struct Best {
  double bytes = 0, seconds = 0;
};

Best best_of_all_cuts(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  Best best;
  for (std::uint32_t side = 1; side < (1U << topology.nodes()); ++side) {
    double channels = 0, rate = 0;
    bool proper = true;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if ((side >> node & 1U) == 0) continue;
      proper = proper && topology.living(node);
      topology.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
        if ((side >> to & 1U) != 0) return;
        ++channels;
        rate += 1 / machine.byte_s(node, d, hop);
      });
    }
    if (!proper || channels == 0) continue;  // connected: all living nodes
    const double bytes = must_cross(topology, request, side);
    best.bytes = std::max(best.bytes, bytes / channels);
    best.seconds = std::max(best.seconds, bytes / rate);
  }
  return best;
}

/// What a total exchange puts on each channel if all blocks take shortest routes and fill all channels alike.
double bytes_of_shortest_routes(const Topology& topology, const Request& request) {
  double hops = 0;
  for (NodeId from = 0; from < topology.nodes(); ++from) {
    if (!topology.living(from)) continue;
    std::map<NodeId, int> found{{from, 0}};
    std::vector<NodeId> reached{from};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const int next = found[reached[i]] + 1;
      topology.each_link(reached[i], [&](Dimension, std::int32_t, NodeId to) {
        if (found.emplace(to, next).second) reached.push_back(to);
      });
    }
    for (const NodeId to : reached) hops += found[to];
  }
  return hops * static_cast<double>(request.bytes) / static_cast<double>(topology.channels());
}

}  // namespace

TEST_CASE("a flow is as large as the narrowest cut, all cuts tried", "[property]") {
  std::mt19937_64 random(support::seed());
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t nodes = 2 + support::random_below(random, 7);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> capacities;
    MaxFlow flow(nodes);
    for (std::uint32_t n = support::random_below(random, 25); n > 0; --n) {
      const std::uint32_t from = support::random_below(random, nodes), to = support::random_below(random, nodes);
      const std::int64_t there = support::random_below(random, 9), back = support::random_below(random, 4);
      if (from == to) continue;
      flow.set(flow.add(from, to), there, back);
      capacities[{from, to}] += there;
      capacities[{to, from}] += back;
    }
    const auto width = [&](auto&& in) {
      std::int64_t sum = 0;
      for (const auto& [ends, capacity] : capacities) sum += in(ends.first) && !in(ends.second) ? capacity : 0;
      return sum;
    };
    std::int64_t narrowest = INT64_MAX;
    for (std::uint32_t side = 1; side < (1U << nodes); side += 2) {
      if ((side >> (nodes - 1) & 1U) == 0)
        narrowest = std::min(narrowest, width([&](std::uint32_t node) { return (side >> node & 1U) != 0; }));
    }
    CAPTURE(support::seed(), i);
    CHECK(flow.run(0, nodes - 1, INT64_MAX) == narrowest);
    CHECK(flow.before_cut(0));
    CHECK_FALSE(flow.before_cut(nodes - 1));
    CHECK(width([&](std::uint32_t node) { return flow.before_cut(node); }) == narrowest);
  }
}

TEST_CASE("with all ports the bound of bytes and seconds is that of the best of all cuts", "[property]") {
  std::mt19937_64 random(support::seed());
  unsigned machines = 0, above_nodes = 0;
  support::Share share(4);
  for (int i = 0; i < 150; ++i) {
    if (!share.takes_turn()) continue;
    const auto topology = broken(random, support::random_topology(random, 12));
    if (!topology || topology->living_nodes() < 2 || (topology->whole() && !topology->has_slow_links())) continue;
    ++machines;
    for (const Collective collective :
         {Collective::broadcast, Collective::multinode_broadcast, Collective::total_exchange, Collective::reduce, Collective::allreduce,
          Collective::reduce_scatter, Collective::scan, Collective::scatter, Collective::gather}) {
      const Machine machine(*topology, all_ports, Switching::packet);
      const Request request = request_on(random, *topology, collective);
      const Bounds bounds = lower_bounds(machine, request);
      const Best best = best_of_all_cuts(machine, request);
      CAPTURE(support::seed(), i, topology->text(), name(collective), bounds.bytes_reason);
      // Reductions to one node or all, and scans, have other bounds too.
      const bool by_cuts_alone =
          !topology->whole() && collective != Collective::reduce && collective != Collective::allreduce && collective != Collective::scan;
      if (collective == Collective::total_exchange) {
        // Not all cuts are tried, and a whole machine has other bounds too.
        const double routes = bytes_of_shortest_routes(*topology, request);
        if (by_cuts_alone) CHECK(bounds.channel_bytes <= std::max(best.bytes, routes) * (1 + 1e-9));
        if (by_cuts_alone && topology->has_slow_links())
          CHECK(*bounds.channel_time_s <= std::max(best.seconds, routes * machine.cost.byte_s) * (1 + 1e-9));
        continue;
      }
      if (by_cuts_alone) {
        CHECK(bounds.channel_bytes == Approx(best.bytes));
      } else {
        CHECK(bounds.channel_bytes >= best.bytes * (1 - 1e-9));
      }
      if (topology->has_slow_links()) CHECK(*bounds.channel_time_s >= best.seconds * (1 - 1e-3));
      if (by_cuts_alone && topology->has_slow_links()) CHECK(*bounds.channel_time_s <= best.seconds * (1 + 1e-9));
      if (bounds.bytes_reason.starts_with("cut of ")) ++above_nodes;
    }
  }
  CHECK(machines > 30 / share.one_in());
  CHECK(above_nodes > 30 / share.one_in());
}

TEST_CASE("no run on a machine with holes or slow links beats its bound", "[property]") {
  std::mt19937_64 random(support::seed());
  support::Share share(8, 4);
  int runs = 0;
  for (int i = 0; i < 80; ++i) {
    const auto topology = broken(random, support::random_topology(random, 40));
    if (!topology || topology->living_nodes() < 2 || !share.takes_turn()) continue;
    for (const Algorithm* algorithm : catalogue()) {
      if (!topology->whole() ? !algorithm->needs.lives_with_holes : support::random_below(random, 4) != 0) continue;
      const int ports = std::min(algorithm->native.ports, static_cast<int>(topology->max_ports()));
      const Machine machine(*topology, ports, algorithm->native.switching, algorithm->native.contention);
      const Request request = request_on(random, *topology, algorithm->collective);
      if (refuses(*algorithm, machine, request)) continue;
      CAPTURE(support::seed(), i, topology->text(), algorithm->name);
      const Run run = support::emulate(*algorithm, machine, request);
      CHECK(support::complaint(run) == "");
      CHECK(static_cast<double>(run.result.channel_bytes_sum) >= run.bounds.channel_bytes * (1 - 1e-9));
      CHECK(run.result.model_time_s >= run.bounds.model_time_s(machine.cost) * (1 - 1e-9));
      ++runs;
    }
  }
  CHECK(runs > 400 / static_cast<int>(share.one_in()));
}

TEST_CASE("two clusters that one link joins are bound by that link", "[property]") {
  // A mesh of 3 x 6 whose only link between the columns 0..2 and 3..5 is in the middle row.
  Faults faults;
  for (const NodeId node : {2U, 14U}) faults.dead_links.push_back({node, 1, +1});
  const Machine machine(Topology("mesh:3x6").with_faults(faults));
  const auto bytes = [&](Collective collective, std::vector<NodeId> sources) {
    Request request;
    request.collective = collective;
    request.sources = std::move(sources);
    request.bytes = 100;
    return lower_bounds(machine, request).channel_bytes;
  };
  CHECK(bytes(Collective::broadcast, {0}) == 100);
  CHECK(bytes(Collective::allreduce, {}) == 100);
  CHECK(bytes(Collective::multinode_broadcast, {0, 1, 2, 6}) == 400);
  CHECK(bytes(Collective::reduce_scatter, {}) == 900);
  CHECK(bytes(Collective::scatter, {0}) == 900);
  CHECK(bytes(Collective::total_exchange, {}) == 8100);
}

TEST_CASE("the words of a cut name its nodes, its layers and its channels", "[property]") {
  // A mesh of 3 x 8, pinched on both sides of the columns 3 and 4.
  Faults faults;
  for (const NodeId node : {2U, 18U, 4U, 20U}) faults.dead_links.push_back({node, 1, +1});
  const Machine machine(Topology("mesh:3x8").with_faults(faults));
  Request request;
  request.bytes = 100;
  const auto words = [&](Collective collective, std::vector<NodeId> sources) {
    request.collective = collective;
    request.sources = std::move(sources);
    return lower_bounds(machine, request).bytes_reason;
  };
  CHECK(words(Collective::broadcast, {0}) == "cut of 9 nodes, layers 0 to 2 of dimension 1: the data over 1 channel");
  CHECK(words(Collective::scatter, {0}) == "cut of 9 nodes, layers 0 to 2 of dimension 1: 15 blocks over 1 channel");
  CHECK(words(Collective::total_exchange, {}) == "cut of 9 nodes, layers 0 to 2 of dimension 1: 135 blocks over 1 channel");
  // Both columns between the pinches take from two sides.
  CHECK(words(Collective::multinode_broadcast, {3, 4, 11, 12, 19, 20}) ==
        "cut of 9 nodes, layers 0 to 2 of dimension 1: 6 messages over 1 channel");
}

TEST_CASE("a node whose links are slow is bound by as many of them as it has ports", "[property]") {
  Faults faults;
  for (const std::int32_t hop : {+1, -1}) faults.slow_links.push_back({{2, 0, hop}, 4});
  Request request;
  request.sources = {0};
  request.bytes = 100;
  const auto seconds = [&](int ports) {
    return *lower_bounds(Machine(Topology("5").with_faults(faults), ports, Switching::packet), request).channel_time_s;
  };
  CHECK(seconds(1) == Approx(100 * 4e-10));
  CHECK(seconds(2) == Approx(50 * 4e-10));
}

TEST_CASE("messages of a block each beat no bound on their steps, where channels are shared too", "[property]") {
  // A line of which one link is slow, so that cuts are tried. In step t each node sends to those 2t+1 and 2t+2 places away, both ways
  // round: over the last channel of the line go two messages a step, where one port would let one pass.
  constexpr std::int32_t n = 8;
  Faults faults;
  faults.slow_links.push_back({{3, 0, +1}, 2});
  const auto plan = [](const Machine&, const Request&) {
    return Plan{.start = [](Node& self) -> Program {
      const auto own = self.blocks().front();
      for (std::int32_t t = 0; t < n / 2; ++t) {
        for (const std::int32_t far : {2 * t + 1, 2 * t + 2}) {
          const std::int32_t to = (self.coordinate(0) + far) % n;
          if (far < n) self.send({{0, to - self.coordinate(0)}}, {{own}});
        }
        co_await self.step();
      }
    }};
  };
  const Algorithm direct{.name = "direct", .collective = Collective::multinode_broadcast, .plan = plan};
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.bytes = 10;
  for (NodeId node = 0; node < n; ++node) request.sources.push_back(node);
  const Machine shared(Topology("8m").with_faults(faults), 2, Switching::wormhole, Contention::share);
  const Run ran = run(direct, shared, request);
  CHECK(support::complaint(ran) == "");
  CHECK(ran.result.verified);
  CHECK(ran.result.steps == 4);
  CHECK(ran.bounds.single_block_steps == 4);  // 7 messages, 2 a step
  const Machine forbidding(shared.topology, 2, Switching::wormhole);
  CHECK(lower_bounds(forbidding, request).single_block_steps == 7);
}

TEST_CASE("no bound is higher where channels are shared", "[property]") {
  std::mt19937_64 random(support::seed());
  for (int i = 0; i < 60; ++i) {
    const auto topology = broken(random, support::random_topology(random, 60));
    if (!topology || topology->living_nodes() < 2) continue;
    for (const CollectiveFacts& facts : collectives()) {
      const auto switching = static_cast<Switching>(support::random_below(random, 3));
      const int ports = static_cast<int>(1 + support::random_below(random, static_cast<std::uint64_t>(topology->max_ports())));
      const Request request = request_on(random, *topology, facts.collective);
      const Bounds forbidden = lower_bounds(Machine(*topology, ports, switching), request);
      const Bounds shared = lower_bounds(Machine(*topology, ports, switching, Contention::share), request);
      CAPTURE(support::seed(), i, topology->text(), facts.name, ports, name(switching));
      CHECK(shared.steps <= forbidden.steps);
      CHECK(shared.channel_bytes <= forbidden.channel_bytes);
      CHECK(shared.single_block_steps <= forbidden.single_block_steps);
      CHECK(shared.channel_time_s.value_or(0) <= forbidden.channel_time_s.value_or(0));
      CHECK(shared.model_time_s({}) <= forbidden.model_time_s({}));
    }
  }
}
