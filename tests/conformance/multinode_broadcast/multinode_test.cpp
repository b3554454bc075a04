/// The multi-node broadcasts: complete, legal, in the steps and bytes of the formulas, and blind to the source set.
#include "tests/support/multinode.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;
using namespace torus::multinode_broadcast::aggregate_distribute;
using namespace torus::support;

namespace {

/// What a run's nodes sent, by step and sender, as an outsider sees it.
struct Recorded {
  std::map<std::pair<Step, NodeId>, std::multiset<std::string>> sends;
  std::vector<std::vector<std::pair<NodeId, NodeId>>> edges;  ///< by step: from, to
};

Recorded record(std::string_view name, const Machine& machine, const Request& request, const Request& planned_for) {
  const Plan plan = multinode_algorithm(name).plan(machine, with_parameter_of(name, planned_for));
  Recorded recorded;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.on_messages = [&](std::span<const Message* const> messages) {
    for (const Message* m : messages) {
      recorded.sends[{m->step(), m->source()}].insert(text_of(*m));
      if (recorded.edges.size() <= m->step()) recorded.edges.resize(m->step() + 1);
      recorded.edges[m->step()].emplace_back(m->source(), m->destination());
    }
  };
  Engine engine(machine, placement_of(machine, request, plan), options);
  const RunResult run = engine.run(plan.start);
  REQUIRE(run.good());
  recorded.edges.resize(run.steps);
  return recorded;
}

}  // namespace

TEST_CASE("the reference steps and bytes are reproduced exactly", "[conformance]") {
  struct Reference {
    std::int32_t n;
    NodeId every_kth;
    std::uint32_t h;
    std::string_view name;
    const char* prefix;
    std::uint32_t chunk;
    std::uint64_t steps;
    Bytes bytes;
  };
  const std::vector<Reference> references{{15, 7, 5, "aggregate-distribute", "", 0, 22, 58408},
                                          {16, 5, 4, "aggregate-distribute", "", 0, 22, 94248},
                                          {10, 3, 2, "aggregate-distribute", "", 0, 18, 64552},
                                          {15, 7, 5, "aggregate-distribute", "diag5", 0, 20, 59424},
                                          {16, 5, 4, "aggregate-distribute", "diag5", 0, 20, 98336},
                                          {10, 3, 2, "aggregate-distribute", "diag5", 0, 16, 65568},
                                          {15, 7, 0, "edst", "", 0, 16, 23808},
                                          {16, 5, 0, "edst", "", 0, 18, 30464},
                                          {10, 3, 0, "edst", "", 0, 12, 16640},
                                          {15, 7, 0, "edst", "", 1, 40, 10240},
                                          {16, 5, 0, "edst", "", 1, 59, 15104},
                                          {10, 3, 0, "edst", "", 1, 38, 9728},
                                          {15, 7, 0, "ring", "", 0, 14, 14336},
                                          {16, 5, 0, "ring", "", 0, 16, 19456},
                                          {10, 3, 0, "ring", "", 0, 10, 11776},
                                          {15, 7, 5, "hierarchical --dcn scatter", "hash", 0, 11, 17920},
                                          {16, 5, 4, "hierarchical --dcn scatter", "hash", 0, 13, 26112},
                                          {10, 3, 2, "hierarchical --dcn scatter", "hash", 0, 9, 19968}};
  for (const Reference& p : references) {
    CAPTURE(p.n, p.name, p.prefix, p.chunk);
    Request request = multinode_request(every(static_cast<NodeId>(p.n * p.n), p.every_kth), 1024);
    request.parameters.set("h", p.h);
    request.parameters.set("prefix", p.prefix);
    request.parameters.set("chunk", p.chunk);
    const Emulation e = checked(p.name, square(p.n), request);
    // The reference figures of the pipelined trees leave out the counting.
    CHECK(e.result.steps - phase_steps(e.result, "count") == p.steps);
    CHECK(e.result.channel_bytes_sum - phase_bytes(e.result, "count") == p.bytes);
    CHECK(phase_steps(e.result, "count") == (p.chunk > 0 ? 4U * ceil_log(3, static_cast<std::uint64_t>(p.n)) : 0));
  }
}

TEST_CASE("the reference bytes of each phase on 15 x 15 are reproduced exactly", "[conformance]") {
  Request request = multinode_request(every(225, 7), 1024);
  request.parameters.set("h", 5);
  const Emulation e = checked("aggregate-distribute", square(15), request);
  const std::vector<std::pair<const char*, Bytes>> phases{{"aggregate", 1024},  {"prefix", 40},       {"tune", 2048}, {"align", 2048},
                                                          {"all-to-all", 3072}, {"distribute", 7168}, {"row", 14336}, {"column", 28672}};
  for (const auto& [phase, bytes] : phases) {
    CAPTURE(phase);
    CHECK(phase_bytes(e.result, phase) == bytes);
  }
}

TEST_CASE("with all nodes as sources steps and bytes are the closed forms, on small squares, for every h", "[conformance]") {
  for (std::int32_t n = 2; n <= 10; ++n) check_all_sources(n, 5, multinode_broadcast::aggregate_distribute::prefix_names);
  check_all_sources(12, 8, default_prefix);
  check_all_sources(15, 8, default_prefix);
}

TEST_CASE("any sources are served: none, few, half, a row, a column, the diagonal, a cluster, all of one DDN", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const std::int32_t n : {2, 3, 4, 5, 6, 7, 9, 12, 14}) {
    const Machine machine = square(n);
    for (const std::int32_t h : divisors(n)) {
      for (const auto& [label, sources] : source_sets(n, h, random)) {
        for (const std::string_view name : {"aggregate-distribute", "hierarchical --dcn scatter", "hierarchical --dcn broadcast"}) {
          CAPTURE(name, n, h, label);
          Request request = multinode_request(sources, 7);
          request.parameters.set("h", static_cast<std::uint64_t>(h));
          const Emulation e = checked(name, machine, request);
          if (name != "aggregate-distribute") continue;
          // After the tuning the fullest DDN has ceil(s/h) messages; that is what the distribution carries in each step.
          const Bytes fullest_ddn = (sources.size() + static_cast<std::size_t>(h) - 1) / static_cast<std::size_t>(h) * 7;
          CHECK(phase_bytes(e.result, "distribute") == fullest_ddn * ceil_log(5, static_cast<std::uint64_t>(n / h)));
          CHECK(phase_bytes(e.result, "column") == fullest_ddn * static_cast<Bytes>(h - 1));
        }
        if (h != 1) continue;
        for (const std::string_view name : {"ring", "log", "edst --variant synchronous", "edst --variant pipelined"}) {
          CAPTURE(name, n, label);
          checked(name, machine, multinode_request(sources, 7));
        }
      }
    }
  }
}

TEST_CASE("every prefix sum balances random, clustered and adversarial sources as foretold", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  using Partition = std::pair<std::int32_t, std::int32_t>;
  for (const auto& [n, h] : std::vector<Partition>{{6, 2}, {8, 2}, {9, 3}, {10, 2}, {10, 5}, {12, 6}, {12, 12}, {15, 5}, {16, 4}}) {
    for (const auto& [label, sources] : source_sets(n, h, random)) {
      for (const std::string_view prefix : multinode_broadcast::aggregate_distribute::prefix_names) {
        CAPTURE(n, h, label, prefix);
        Request request = multinode_request(sources, 16);
        request.parameters.set("h", static_cast<std::uint64_t>(h));
        request.parameters.set("prefix", prefix);
        const Emulation e = checked("aggregate-distribute", square(n), request);
        const std::vector<std::uint32_t> loads = ddn_loads(n, h, *parse_prefix(prefix), sources).after;
        const Bytes fullest_ddn = Bytes{16} * *std::max_element(loads.begin(), loads.end());
        CHECK(phase_bytes(e.result, "distribute") == fullest_ddn * ceil_log(5, static_cast<std::uint64_t>(n / h)));
      }
    }
  }
}

TEST_CASE("aggregate-distribute on any torus takes the steps of its phases and evens out the loads of the coarse tori", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  const auto log3 = [](std::int32_t n) { return ceil_log(3, static_cast<std::uint64_t>(n)); };
  for (const char* shape : {"1", "2", "7", "1x6", "2x4", "5x7", "9x15", "12x18", "4x12", "3x3x3", "2x2x2", "4x4x6", "4x6x8", "8x8x8",
                            "2x2x2x2", "6x6x6x6", "2x4x2x4x2"}) {
    const Machine machine(Topology::parse(shape), 0, Switching::wormhole);
    const auto sides = machine.topology.shape();
    const auto k = static_cast<std::uint64_t>(sides.size());
    std::int32_t common = 0, longest = 0;
    for (const DimensionShape& side : sides) common = std::gcd(common, side.extent), longest = std::max(longest, side.extent);
    for (const std::int32_t h : divisors(k == 1 ? 1 : common)) {
      std::uint64_t lines = 0, of_longest = 0;
      for (const DimensionShape& side : sides) lines += log3(side.extent / h), of_longest += side.extent == longest ? 1U : 0U;
      for (const char* prefix : {"global3", "hash", "none"}) {
        const NodeId nodes = machine.topology.nodes();
        for (const std::vector<NodeId>& sources : {every(nodes, 1), every(nodes / 4 + 1, 1), random_nodes(random, nodes, 3)}) {
          CAPTURE(shape, h, prefix, sources.size());
          Request request = multinode_request(sources, 12);
          request.parameters.set("h", static_cast<std::uint64_t>(h));
          request.parameters.set("prefix", prefix);
          const Emulation e = checked("aggregate-distribute", machine, request);
          const bool sums = h > 1 && std::string_view(prefix) == "global3";
          const std::uint64_t aligns = lines - log3(longest / h), row = (k - 1) * log3(h);
          REQUIRE(phase_steps(e.result, "aggregate") == (k == 2 ? ceil_log(5, static_cast<std::uint64_t>(h)) : row));
          REQUIRE(phase_steps(e.result, "prefix") == (sums ? 2 * (log3(h) + lines) : 0));
          REQUIRE(phase_steps(e.result, "align") == aligns);
          REQUIRE(phase_steps(e.result, "all-to-all") == (of_longest > 1 ? 1U : 2U) * log3(longest / h));
          REQUIRE(phase_steps(e.result, "distribute") == aligns);
          REQUIRE(phase_steps(e.result, "row") == row);
          REQUIRE(phase_steps(e.result, "column") == static_cast<std::uint64_t>(h) - 1);
          if (sources.size() == nodes) REQUIRE(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
          if (!sums) continue;
          const std::vector<std::size_t> loads = blocks_after_balancing("aggregate-distribute", machine, request);
          REQUIRE(*std::max_element(loads.begin(), loads.end()) <= *std::min_element(loads.begin(), loads.end()) + 1);
        }
      }
    }
  }
  // One DCN, or DDNs of a node or two a side, are no partition, and not chosen where there are others.
  const auto noted_h = [](const char* shape) {
    return multinode_algorithm("aggregate-distribute")
        .plan(Machine(Topology::parse(shape)), multinode_request({0, 1}, 4096))
        .notes[0]
        .second;
  };
  CHECK(noted_h("16x16") == "4");
  CHECK(noted_h("9x15") == "3");
  CHECK(noted_h("4x4") == "2");
  CHECK(noted_h("5x7") == "1");
}

TEST_CASE("aggregate-distribute sums up on circuits in any order of dimensions", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const char* shape : {"16x8", "6x9", "8x8"}) {
    const Machine machine(Topology::parse(shape), 0, Switching::circuit, Contention::forbid, {1, 0});
    Request request = multinode_request(random_nodes(random, machine.topology.nodes(), 3), 30);
    checked("aggregate-distribute", machine, request);
  }
}

TEST_CASE("hierarchical broadcasts tune in any routing order", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  const Machine backwards(Topology::parse("8x8"), 0, Switching::wormhole, Contention::forbid, {1, 0});
  const Machine rotated(Topology::parse("6x6x6"), 0, Switching::wormhole, Contention::forbid, {2, 0, 1});
  for (const Machine& machine : {backwards, rotated}) {
    Request request = multinode_request(random_nodes(random, machine.topology.nodes(), 3), 30);
    for (const std::string_view name : {"hierarchical --dcn scatter", "hierarchical --dcn broadcast"}) {
      for (std::uint32_t h = 1; h <= 8; ++h) {
        request.parameters.set("h", h);
        if (!refuses(multinode_algorithm(name), machine, with_parameter_of(name, request))) checked(name, machine, request);
      }
    }
  }
  CHECK_FALSE(refuses(multinode_algorithm("hierarchical"), rotated, multinode_request({0}, 8)));
  CHECK_FALSE(refuses(multinode_algorithm("hierarchical"), backwards,
                      with_parameter_of("hierarchical --dcn broadcast", multinode_request({0}, 8))));
}

TEST_CASE("with all nodes as sources the bytes are exact, also where the parts of a message differ by one", "[conformance]") {
  for (const char* shape : {"4x6", "2x3x5", "3x3x3", "4x4x4", "6x3x9", "2x3x2x3"}) {
    const Machine machine(Topology::parse(shape));
    for (const Bytes bytes : {Bytes{1}, Bytes{29}, Bytes{31}, Bytes{50}}) {
      for (const std::string_view name :
           {"ring", "hierarchical --dcn scatter", "hierarchical --dcn broadcast", "edst --variant synchronous"}) {
        for (std::uint32_t h = 1; h <= 4; ++h) {
          Request request = multinode_request(all_nodes(machine.topology.nodes()), bytes);
          request.expected_sources = machine.topology.nodes();
          request.parameters.set("h", h);
          if (refuses(multinode_algorithm(name), machine, with_parameter_of(name, request))) continue;
          CAPTURE(name, shape, bytes, h);
          const Emulation e = checked(name, machine, request);
          CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
        }
      }
    }
  }
}

TEST_CASE("a program made for other sources does the same: the plan tells the nodes nothing of them", "[conformance]") {
  constexpr Bytes bytes = 6000;  // neither start-ups nor bytes are all that counts: what is best would depend on the sources
  for (const std::string_view name : multinode_names) {
    for (const std::uint32_t h : {0U, 3U}) {
      CAPTURE(name, h);
      if (h > 0 && name == "log") continue;
      Request request = multinode_request(every(144, 5), bytes), other = multinode_request({7, 8, 100}, bytes),
              nobody = multinode_request({}, bytes);
      for (Request* each : {&request, &other, &nobody}) each->parameters.set("h", h);
      const Machine machine = square(12);
      const Recorded own = record(name, machine, request, request);
      CHECK(record(name, machine, request, other).sends == own.sends);
      CHECK(record(name, machine, request, nobody).sends == own.sends);
    }
  }
}

TEST_CASE("a node acts alike in two worlds until word of their difference, or its absence, can have reached it", "[conformance]") {
  const Machine machine = square(12);
  for (const std::string_view name : multinode_names) {
    for (const std::uint32_t h : {0U, 2U, 4U}) {
      if (h > 0 && name == "log") continue;
      CAPTURE(name, h);
      Request here = multinode_request(every(144, 7), 24), there = here;
      for (Request* each : {&here, &there}) each->parameters.set("h", h);
      there.sources.erase(there.sources.begin() + 9);  // node 63 is a source in one world alone
      const Recorded a = record(name, machine, here, here), b = record(name, machine, there, there);
      std::vector<bool> told(machine.topology.nodes(), false);
      told[63] = true;
      std::uint64_t compared = 0;
      bool alike = true;
      for (Step step = 0; step < std::max(a.edges.size(), b.edges.size()); ++step) {
        for (NodeId node = 0; node < machine.topology.nodes(); ++node) {
          if (told[node]) continue;
          const auto in_a = a.sends.find({step, node}), in_b = b.sends.find({step, node});
          const bool sends = in_a != a.sends.end();
          alike &= sends == (in_b != b.sends.end()) && (!sends || in_a->second == in_b->second);
          compared += sends ? 1 : 0;
        }
        std::vector<bool> next = told;
        for (const Recorded* world : {&a, &b}) {
          if (step >= world->edges.size()) continue;
          for (const auto& [from, to] : world->edges[step]) {
            if (told[from]) next[to] = true;
          }
        }
        told = next;
      }
      CHECK(alike);
      CHECK(compared > 20);
    }
  }
}
