// Bounds from cuts on machines with holes and slow links: against all cuts of small machines, and below every run.
#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/common/max_flow.hpp"
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
  if (has_root(collective)) request.sources = {request.sources.back()};
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
    CHECK(flow.run(0, nodes - 1) == narrowest);
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
      const bool by_cuts_alone = !topology->whole() && collective != Collective::reduce && collective != Collective::allreduce;
      if (collective == Collective::total_exchange) {
        // Not all cuts are tried, and a whole machine has other bounds too.
        if (by_cuts_alone) CHECK(bounds.channel_bytes <= best.bytes * (1 + 1e-9));
        if (by_cuts_alone && topology->has_slow_links()) CHECK(*bounds.channel_time_s <= best.seconds * (1 + 1e-9));
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
  int runs = 0;
  for (int i = 0; i < 80; ++i) {
    const auto topology = broken(random, support::random_topology(random, 40));
    if (!topology || topology->living_nodes() < 2) continue;
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
  CHECK(runs > 50);
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
