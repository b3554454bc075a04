// The list by load: legal and complete for any sizes and around any holes, as predicted, and near the bounds.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& by_load(Collective collective = Collective::total_exchange) { return *find_algorithm(collective, "by-load"); }

constexpr Collective delivering[]{Collective::total_exchange, Collective::scatter, Collective::gather};

/// sizes: a rule; null: all blocks have the bytes.
Request request_for(Collective collective, NodeId root, const char* sizes, Bytes bytes) {
  Request request;
  request.collective = collective;
  if (facts_of(collective).rooted()) request.sources = {root};
  request.bytes = bytes;
  if (sizes == nullptr) return request;
  request.sizes = SizeRule::parse(sizes);
  request.sizes->seed = support::seed();
  if (request.sizes->fixed()) request.bytes = request.sizes->mean();
  return request;
}

Request exchange(const char* sizes, Bytes mean = 4096) { return request_for(Collective::total_exchange, 0, sizes, mean); }

int some_ports(std::mt19937_64& random, const Topology& topology) {
  return 1 + static_cast<int>(support::random_below(random, static_cast<std::uint64_t>(topology.max_ports())));
}

/// Empty if all is well.
std::string complaint_of(const Topology& topology, int ports, const Request& request) {
  const Machine machine(topology, ports, Switching::packet);
  if (const std::string why = why_not(by_load(request.collective), machine, request); !why.empty()) return why;
  const support::Judged judged = support::judged(by_load(request.collective), machine, request);
  return !judged.complaint.empty() ? judged.complaint : judged.run.check.good() && judged.run.plan.predicts() ? "" : "a surprise";
}

/// Bytes of the fullest channels, as planned and in the bound, where bytes are all that counts; in blocks.
struct Blocks {
  double planned, bound;
};
Blocks blocks_of(const Topology& topology, int ports, const Request& request) {
  const Machine machine(topology, std::min(ports, static_cast<int>(topology.max_ports())), Switching::packet);
  const auto bytes = static_cast<double>(request.bytes);
  return {make_plan(by_load(request.collective), machine, request).channel_bytes / bytes,
          lower_bounds(machine, request).channel_bytes / bytes};
}

/// The shape with so many dead links and dead nodes, in one piece.
Topology with_holes(std::mt19937_64& random, const char* shape, std::uint32_t links, std::uint32_t nodes) {
  while (true) {
    const Topology whole(shape);
    Faults faults;
    for (std::uint32_t i = 0; i < links; ++i) {
      const auto d = static_cast<Dimension>(support::random_below(random, static_cast<std::uint64_t>(whole.dimensions())));
      faults.dead_links.push_back({support::random_below(random, whole.nodes()), d, 1});
    }
    for (std::uint32_t i = 0; i < nodes; ++i) faults.dead_nodes.push_back(support::random_below(random, whole.nodes()));
    try {
      return whole.with_faults(faults);
    } catch (const InputError&) {  // cut apart, or twice the same
    }
  }
}

}  // namespace

TEST_CASE("by-load is legal, complete and as predicted on any shape, with any ports and sizes", "[conformance]") {
  for (const char* shape :
       {"1", "2", "3", "7", "1x1", "4x4", "3x5", "5m", "3x4m", "2m", "2x2", "6c", "2x3c", "3x3x3", "2x2x2x2", "2x4t", "3x6t"}) {
    const Topology topology = Topology::parse(shape);
    for (const int ports : {1, 2, static_cast<int>(topology.max_ports())}) {
      if (ports > static_cast<int>(topology.max_ports())) continue;
      for (const Collective collective : delivering) {
        for (const char* sizes : {"zipf:1", "zeros:0.7", "zeros:1", "uniform:0:5000"}) {
          CAPTURE(shape, ports, name(collective), sizes, support::seed());
          CHECK(complaint_of(topology, ports, request_for(collective, topology.nodes() / 2, sizes, 4096)) == "");
        }
        if (collective != Collective::total_exchange)
          CHECK(complaint_of(topology, ports, request_for(collective, topology.nodes() / 2, nullptr, 1000)) == "");
      }
    }
  }
}

TEST_CASE("by-load goes around every dead link and every dead node", "[conformance]") {
  for (const char* shape : {"4x4", "3x3x3", "mesh:3x4", "5", "2x3", "2x4t"}) {
    const Topology whole(shape);
    const auto check = [&](const Topology& topology) {
      for (const Collective collective : delivering)
        CHECK(complaint_of(topology, topology.max_ports(),
                           request_for(collective, support::living_from(topology, topology.nodes() / 3), nullptr, 64)) == "");
    };
    for (NodeId node = 0; node < whole.nodes(); ++node) {
      CAPTURE(shape, node);
      if (whole.text() != "mesh:3x4" || node != 4) check(whole.with_faults({.dead_nodes = {node}}));
      whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
        if (hop > 0) check(whole.with_faults({.dead_links = {{node, d, hop}}}));
      });
    }
  }
}

TEST_CASE("by-load goes around random holes, with any ports and sizes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  int machines = 0;
  for (int i = 0; i < 120; ++i) {
    const Topology whole = support::random_topology(random, 40);
    if (whole.nodes() < 2) continue;
    try {
      const Topology topology = whole.with_faults(support::random_faults(random, whole, 4, 2, 1));
      const Collective collective = delivering[support::random_below(random, 3)];
      const bool equal = !topology.whole() && support::random_below(random, 2) == 0;
      const NodeId root = support::living_from(topology, support::random_below(random, topology.nodes()));
      const Request request = request_for(collective, root, equal ? nullptr : "zipf:1", 1 + support::random_below(random, 5000));
      CAPTURE(support::seed(), i, topology.text(), name(collective));
      REQUIRE(complaint_of(topology, some_ports(random, topology), request) == "");
      ++machines;
    } catch (const InputError&) {  // cut apart
    }
  }
  CHECK(machines > 40);
}

TEST_CASE("by-load has one trace on every executor", "[conformance]") {
  const Topology topology = Topology("4x4").with_faults({.dead_nodes = {6}, .dead_links = {{0, 0, 1}}});
  for (const Collective collective : delivering)
    support::check_same_on_every_executor(by_load(collective), Machine(topology), request_for(collective, 1, nullptr, 256));
}

TEST_CASE("by-load sends no block of no bytes", "[conformance]") {
  const Run run = torus::run(by_load(), Machine(Topology::parse("4x4")), exchange("zeros:1"));
  CHECK(run.check.good());
  CHECK(run.result.messages == 0);
}

TEST_CASE("by-load refuses what it is not made for", "[conformance]") {
  CHECK(why_not(by_load(), Machine(Topology("4x4")), exchange(nullptr)) ==
        "sizes left out: by-load exchanges blocks whose sizes differ, or around holes; uniform:0:128 would do");
  const Topology large = Topology("32x32").with_faults({.dead_nodes = {6}});
  CHECK(why_not(by_load(), Machine(large), exchange(nullptr)) != "");
  CHECK(why_not(by_load(Collective::gather), Machine(large), request_for(Collective::gather, 0, nullptr, 8)) == "");
  CHECK_THROWS_AS(make_plan(by_load(Collective::scatter), Machine(large), request_for(Collective::scatter, 6, nullptr, 8)), InputError);
}

TEST_CASE("long blocks come within a tenth of the bound around holes, or a block", "[conformance]") {
  std::mt19937_64 random(support::seed());
  for (const char* shape : {"4x4", "6x6", "8x8", "4x4x4"}) {
    for (std::uint32_t dead = 0; dead <= 3; ++dead) {
      const Topology topology = with_holes(random, shape, dead, dead == 0 ? 1 : 0);
      const NodeId root = support::living_from(topology, support::random_below(random, topology.nodes()));
      for (const Collective collective : delivering) {
        const Blocks blocks = blocks_of(topology, topology.max_ports(), request_for(collective, root, nullptr, 1 << 24));
        CAPTURE(shape, dead, name(collective), root, support::seed(), blocks.planned, blocks.bound);
        CHECK(blocks.planned >= blocks.bound);
        CHECK(blocks.planned <= std::max(1.1 * blocks.bound, std::ceil(blocks.bound) + 1));
      }
    }
  }
}

TEST_CASE("few ports and sizes that differ come near the bound", "[conformance]") {
  for (const char* sizes : {"zipf:1", "zeros:0.7"}) {
    for (const auto& [shape, ports, most] : {std::tuple("8x8", 4, 1.4), {"8x8", 2, 1.25}, {"8x8", 1, 1.25}, {"4x4x4", 6, 1.6}}) {
      CAPTURE(shape, ports, sizes, support::seed());
      const Blocks blocks = blocks_of(Topology(shape), ports, exchange(sizes, 1 << 24));
      CHECK(blocks.planned <= most * blocks.bound);
    }
  }
}
