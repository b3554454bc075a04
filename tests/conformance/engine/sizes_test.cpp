// Every algorithm of the collectives that take sizes moves blocks of any sizes as it is, on every executor and any number of processes.
#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request sized_request(const Algorithm& algorithm, const Topology& topology, const SizeRule& rule, Bytes mean) {
  Request request;
  request.collective = algorithm.collective;
  request.bytes = rule.fixed() ? rule.mean() : mean;
  if (facts_of(request.collective).combines) request.bytes = (request.bytes + 7) / 8 * 8;
  if (facts_of(request.collective).rooted()) request.sources = {topology.nodes() / 2};
  const bool of_some = request.collective == Collective::multinode_broadcast || rule.of_sources;
  for (NodeId node = 0; node < topology.nodes() && of_some; node += 1 + node % 2) request.sources.push_back(node);
  request.sizes = rule;
  return request;
}

/// A file with a size for each pair or node; `size` says each.
template <class F>
SizeRule table(const support::Folder& folder, const Algorithm& algorithm, NodeId nodes, F&& size) {
  const std::string file = folder.file("sizes");
  {
    std::ofstream out(file);
    const std::uint64_t count = algorithm.collective == Collective::total_exchange ? std::uint64_t{nodes} * nodes : nodes;
    for (std::uint64_t i = 0; i < count; ++i) out << (facts_of(algorithm.collective).combines ? size(i) / 8 * 8 : size(i)) << '\n';
  }
  return SizeRule::parse(file);
}

template <class F>
void each_sized(const Topology& topology, F&& f) {
  for (const Algorithm* algorithm : catalogue()) {
    if (!facts_of(algorithm->collective).takes_sizes()) continue;
    const NativeMachine& native = algorithm->native;
    const int ports = native.ports == 0 ? all_ports : std::min<int>(native.ports, topology.max_ports());
    f(*algorithm, Machine(topology, ports, native.switching, native.contention));
  }
}

}  // namespace

TEST_CASE("every algorithm brings blocks of different sizes, and of none, to where they are wanted", "[conformance]") {
  support::Share share(4, 1);
  const support::Folder folder;
  unsigned runs = 0;
  for (const char* shape : {"1", "2", "4", "5", "4x4", "3x5", "4m", "3x4m", "6c", "2x3c", "3x3x3", "2x2x2x2"}) {
    const Topology topology = Topology::parse(shape);
    const NodeId nodes = topology.nodes();
    each_sized(topology, [&](const Algorithm& algorithm, const Machine& machine) {
      const std::uint64_t seed = support::seed();
      std::vector<SizeRule> rules{SizeRule::parse("zipf:1"), SizeRule::parse("zeros:0.6"), SizeRule::parse("uniform:0:900"),
                                  SizeRule::parse("zeros:1")};
      for (SizeRule& rule : rules) rule.seed = seed;
      const std::uint64_t one = seed % nodes * (algorithm.collective == Collective::total_exchange ? nodes : 1);
      if (facts_of(algorithm.collective).of_pairs()) {
        rules.push_back(SizeRule::even_of_sources());
        rules.push_back(rules.front());
        rules.back().of_sources = true;
      }
      rules.push_back(table(folder, algorithm, nodes, [&](std::uint64_t i) { return Bytes{i == one ? 6400U : 0U}; }));
      for (const SizeRule& rule : rules) {
        const Request request = sized_request(algorithm, topology, rule, 320);
        if (!share.takes_turn() || refuses(algorithm, machine, request)) continue;
        CAPTURE(std::string(algorithm.name), std::string(name(algorithm.collective)), shape, rule.text, seed);
        const support::Judged judged = support::judged(algorithm, machine, request);
        CHECK(judged.complaint == "");
        CHECK(judged.run.check.good());
        ++runs;
      }
    });
  }
  CHECK(runs > 200);
}

TEST_CASE("sizes give one trace on every executor and number of processes", "[conformance]") {
  support::Share share(8, 1);
  const Topology topology = Topology::parse("4x4");
  each_sized(topology, [&](const Algorithm& algorithm, const Machine& machine) {
    SizeRule rule = SizeRule::parse("zeros:0.4");
    rule.seed = support::seed();
    rule.of_sources = facts_of(algorithm.collective).of_pairs();
    const Request request = sized_request(algorithm, topology, rule, 264);
    if (!share.takes_turn() || refuses(algorithm, machine, request)) return;
    support::check_same_on_every_executor(algorithm, machine, request);
    const Plan plan = make_plan(algorithm, machine, request);
    support::check_alike(machine, placement_of(machine, request, plan), plan.start, {});
  });
}

TEST_CASE("bounds of sizes are those of even blocks where all are alike, and 0 where all are empty", "[conformance]") {
  for (const char* shape : {"5", "4x4", "3x4m", "6c"}) {
    each_sized(Topology::parse(shape), [&](const Algorithm& algorithm, const Machine& machine) {
      Request even = sized_request(algorithm, machine.topology, SizeRule::parse("uniform:64:64"), 0);
      const Bounds sized = lower_bounds(machine, even);
      even.sizes.reset();
      CAPTURE(std::string(name(algorithm.collective)), shape);
      const Bounds of_even = lower_bounds(machine, even);
      CHECK(sized.channel_bytes <= of_even.channel_bytes * (1 + 1e-9));
      CHECK(sized.steps <= of_even.steps);
      if (!facts_of(algorithm.collective).combines) CHECK(sized.single_block_steps <= of_even.single_block_steps);
      CHECK(sized.channel_bytes > 0);
      const Bounds empty = lower_bounds(machine, sized_request(algorithm, machine.topology, SizeRule::parse("zeros:1"), 64));
      CHECK(empty.channel_bytes == 0);
      CHECK(empty.steps == 0);
      CHECK(empty.combined_bytes == 0);
    });
  }
}

TEST_CASE("a total exchange of one source is bounded as a scatter from it, and one of all sources as without sizes", "[conformance]") {
  for (const char* shape : {"5", "4x4", "3x4m", "6c", "2x3x4"}) {
    for (const Switching switching : {Switching::packet, Switching::wormhole}) {
      CAPTURE(shape, name(switching));
      const Machine machine(Topology::parse(shape), all_ports, switching);
      const auto bounds = [&](Collective collective, std::vector<NodeId> sources, const SizeRule& rule) {
        Request request;
        request.collective = collective;
        request.sources = std::move(sources);
        request.bytes = 64;
        request.sizes = rule;
        return lower_bounds(machine, request);
      };
      const Bounds one = bounds(Collective::total_exchange, {3}, SizeRule::even_of_sources());
      const Bounds scatter = bounds(Collective::scatter, {3}, SizeRule::parse("zeros:0"));
      CHECK(one.steps == scatter.steps);
      CHECK(one.single_block_steps == scatter.single_block_steps);
      CHECK(one.channel_bytes == scatter.channel_bytes);
      CHECK(one.channel_bytes > 0);
      std::vector<NodeId> everybody(machine.topology.nodes());
      std::iota(everybody.begin(), everybody.end(), NodeId{0});
      const Bounds all = bounds(Collective::total_exchange, everybody, SizeRule::even_of_sources());
      CHECK(all.channel_bytes == bounds(Collective::total_exchange, {}, SizeRule::parse("zeros:0")).channel_bytes);
      CHECK(bounds(Collective::total_exchange, {}, SizeRule::even_of_sources()).channel_bytes == 0);
    }
  }
}

TEST_CASE("one pair's block bounds its own way and nothing else", "[conformance]") {
  const support::Folder folder;
  const Machine machine(Topology::parse("8x8"), all_ports, Switching::packet);
  Request request;
  request.collective = Collective::total_exchange;
  std::ofstream(folder.file("one")) << [] {
    std::string text;
    for (int i = 0; i < 64 * 64; ++i) text += i == 3 * 64 + 30 ? "1000 " : "0 ";
    return text;
  }();
  request.sizes = SizeRule::parse(folder.file("one"));
  request.bytes = request.sizes->mean();
  const Bounds bounds = lower_bounds(machine, request);
  CHECK(bounds.steps == 6);  // (0,3) to (3,6)
  CHECK(bounds.single_block_steps == 6);
  CHECK(bounds.channel_bytes == 250);
}

TEST_CASE("sizes whose sums are past 2^32 are counted, and what is past 2^63 is refused", "[conformance]") {
  const support::Folder folder;
  const Machine machine(Topology::parse("4"), all_ports, Switching::packet);
  Request request;
  request.collective = Collective::gather;
  request.sources = {0};
  const Algorithm& any = **std::find_if(catalogue().begin(), catalogue().end(), [&](const Algorithm* a) {
    return a->collective == Collective::gather && !refuses(*a, machine, request);
  });
  std::ofstream(folder.file("large")) << "0 6000000000 6000000000 6000000000\n";
  request.sizes = SizeRule::parse(folder.file("large"));
  request.bytes = request.sizes->mean();
  CHECK_FALSE(refuses(any, machine, request).has_value());
  CHECK(lower_bounds(machine, request).channel_bytes == 9e9);
  std::ofstream(folder.file("past")) << "0 4611686018427387904 0 0\n";
  request.sizes = SizeRule::parse(folder.file("past"));
  request.bytes = request.sizes->mean();
  const auto refusal = refuses(any, machine, request);
  REQUIRE(refusal.has_value());
  CHECK(text(*refusal).find("which for each of the blocks are more than 2^63") != std::string::npos);
}

TEST_CASE("a node sends a block of no bytes that it does not hold, whatever the route", "[conformance]") {
  const Topology topology = Topology::parse("4x4");
  const support::Folder folder;
  const SizeRule rule = SizeRule::parse(folder.write("sizes", "0 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8\n"));
  const NodeId holder = 0, sender = 5;
  for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit}) {
    for (const bool release : {false, true}) {
      for (const Route& route : {Route{{0, +1}}, Route{{0, +1}, {1, +1}}}) {
        if (switching == Switching::packet && route.size() > 1) continue;
        CAPTURE(name(switching), release, route.size());
        Engine engine(Machine(topology, 4, switching, Contention::forbid),
                      Placement::replicated(topology, {holder}, 8).with_sizes(Sizes(rule, topology.nodes(), false, rule.mean())));
        const RunResult result = engine.run([&](Node& self) -> Program {
          const std::vector<BlockId> block{0};
          if (self.rank() == sender) release ? self.forward(route, block) : self.send(route, block);
          co_return;
        });
        CHECK(result.good());
        CHECK(result.messages == 1);
        CHECK(result.bytes_delivered == 0);
      }
    }
  }
}

TEST_CASE("a block of no bytes may come to a node that holds it, from one that does not", "[conformance]") {
  const Topology topology = Topology::parse("mesh:3");
  const support::Folder folder;
  const SizeRule rule = SizeRule::parse(folder.write("sizes", "8 0 8\n"));
  for (const Switching switching : {Switching::packet, Switching::wormhole}) {
    CAPTURE(name(switching));
    Engine engine(Machine(topology, 2, switching),
                  Placement::gathered(topology, 0, 8).with_sizes(Sizes(rule, topology.nodes(), false, rule.mean())));
    const RunResult result = engine.run([](Node& self) -> Program {
      const std::vector<BlockId> empty{1}, last{2};
      if (self.rank() == 2) self.forward({{0, -1}}, empty);
      co_await self.step();
      if (self.rank() == 2) self.forward({{0, -1}}, last);
      co_await self.step();
      if (self.rank() == 1) self.forward({{0, -1}}, last);
    });
    CHECK(result.good());
    CHECK(result.messages == 3);
    CHECK(result.duplicates == 1);
  }
}

TEST_CASE("blocks of many sizes need memory for their bytes", "[conformance]") {
  support::Share share(4, 1);
  const Topology topology = Topology::parse("4x4x4");
  for (const char* text : {"zipf:1.2", "uniform:0:8192", "zeros:0.9"}) {
    each_sized(topology, [&](const Algorithm& algorithm, const Machine& machine) {
      SizeRule rule = SizeRule::parse(text);
      rule.seed = support::seed();
      const Request request = sized_request(algorithm, topology, rule, 4096);
      if (facts_of(algorithm.collective).combines || !share.takes_turn() || refuses(algorithm, machine, request)) return;
      const Plan plan = make_plan(algorithm, machine, request);
      const Placement placement = placement_of(machine, request, plan);
      double held = 0;
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        for (std::uint64_t i = 0; i < placement.wanted_count(node); ++i)
          held += static_cast<double>(placement.bytes(placement.wanted(node, i)));
      }
      if (held == 0) return;  // by some seeds what the few sources have is empty
      held *= static_cast<double>(placement.most_held()) / static_cast<double>(placement.most_held() - placement.copies());
      CAPTURE(std::string(algorithm.name), std::string(name(algorithm.collective)), text, support::seed(), held);
      const MemoryEstimate estimate = estimate_memory(machine, placement, {}, 1);
      CHECK(static_cast<double>(estimate.payload) >= held);
      CHECK(static_cast<double>(estimate.payload) <= 2.5 * held);
      for (const ExecutorKind executor : {ExecutorKind::serial, ExecutorKind::shuffled}) {
        Engine engine = make_engine(machine, request, plan, {.executor = executor});
        const RunResult result = engine.run(plan.start);
        CHECK(result.good());
        CHECK(result.used_bytes <= result.memory_bytes);
      }
    });
  }
}

TEST_CASE("copies of uneven blocks take as much memory as the blocks", "[conformance]") {
  const Machine machine(Topology::parse("8x8"), all_ports, Switching::packet);
  const auto payload = [&](std::uint64_t copies) {
    Placement placement = Placement::personalised(machine.topology, 4096)
                              .with_sizes(Sizes(SizeRule::parse("zipf:1.2"), machine.topology.nodes(), true, 4096));
    return static_cast<double>(estimate_memory(machine, std::move(placement).with_copies(copies)).payload);
  };
  CHECK(payload(4096) > 1.9 * payload(0));
  CHECK(payload(4096) < 2.1 * payload(0));
}
