// Exchange in pairs with one port: the fewest steps of any schedule on small machines, and the steps and bytes that it promises on all.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/optimum/fewest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

constexpr std::array all_to_all{Collective::multinode_broadcast, Collective::reduce_scatter, Collective::total_exchange,
                                Collective::allreduce, Collective::barrier};

Request paired_request(const Topology& topology, Collective collective, Bytes bytes, const char* variant = "") {
  Request request = support::request_of_living(topology, collective, bytes, {Operator::sum, ElementType::u8});
  request.parameters.set("variant", variant);
  return request;
}

/// Judged: legal and complete, in the predicted steps and bytes.
RunResult ran_in_pairs(const Topology& topology, const Request& request) {
  CAPTURE(topology.text(), name(request.collective), request.bytes);
  const auto [run, complaint] =
      support::judged(*find_algorithm(request.collective, "neighbour-exchange"), Machine(topology, 1, Switching::packet), request);
  CHECK(complaint == "");
  CHECK(run.plan.steps_exact);
  CHECK(run.result.steps == run.plan.steps);
  if (run.plan.bytes_exact) CHECK(static_cast<double>(run.result.channel_bytes_sum) == run.plan.channel_bytes);
  return run.result;
}

/// Steps of a dimension; what comes to a node of an all-gather, bundles; what a node sends of a total exchange, in N/n blocks.
struct PairsOnLine {
  std::uint64_t steps, gathered, exchanged;
};

PairsOnLine paired_line(const DimensionShape& d) {
  const auto n = static_cast<std::uint64_t>(d.extent);
  if (n == 1) return {0, 0, 0};
  if (d.wiring == Wiring::complete || (d.wiring == Wiring::ring && n == 3)) {
    PairsOnLine line{0, n - 1, 0};
    for (std::uint64_t bit = 1; bit < n; bit *= 2, ++line.steps) {
      for (std::uint64_t offset = 1; offset < n; ++offset) line.exchanged += (offset & bit) != 0;
    }
    return line;
  }
  if (d.wiring == Wiring::ring && n % 2 == 0) return {n / 2, n - 1, n * n / 4};
  if (d.wiring == Wiring::ring) return {(n + 3) / 2, n + 1, 3 * (n * n - 1) / 8};
  if (n % 2 == 0) return {n - 1, 2 * n - 3, (n - 1) * (n - 1)};
  return {n, 2 * n - 2, (n - 1) * (n - 1) + 1};
}

std::vector<Topology> paired_shapes() {
  std::vector<Topology> all = support::telling_shapes();
  for (const char* text : {"9", "11", "13m", "6c", "7c", "9c", "7x5", "7x9", "5mx3", "9x4m", "2x3x5m", "3x2mx2x2", "7cx3m", "5x3c"})
    all.push_back(Topology::parse(text));
  return all;
}

}  // namespace

TEST_CASE("exchange in pairs takes the fewest steps of any schedule on rings, lines, even tori and an even mesh", "[conformance]") {
  for (const char* shape : {"5", "6", "7", "8", "9", "10", "11", "12", "mesh:4", "mesh:5", "mesh:6", "mesh:7", "mesh:8", "4x4", "4x6",
                            "mesh:4x4", "2x2x2", "2x2x4"}) {
    const Topology topology(shape);
    const auto fewest = optimum::fewest_known(Machine(topology, 1, Switching::packet), Collective::barrier);
    REQUIRE(fewest);
    REQUIRE(fewest->proven());
    for (const Collective collective : all_to_all) {
      CAPTURE(shape, name(collective));
      CHECK(ran_in_pairs(topology, paired_request(topology, collective, 4, collective == Collective::allreduce ? "whole" : "")).steps ==
            fewest->at_least);
    }
  }
}

TEST_CASE("exchange in pairs takes the steps and bytes of its contract on every shape", "[conformance]") {
  for (const Topology& topology : paired_shapes()) {
    CAPTURE(topology.text());
    std::uint64_t steps = 0, exchanged = 0;
    bool even = !topology.twisted();
    for (const DimensionShape& d : topology.shape()) {
      const PairsOnLine line = paired_line(d);
      steps += line.steps;
      exchanged += line.exchanged * (topology.nodes() / static_cast<std::uint64_t>(d.extent));
      even = even && d.wiring == Wiring::ring && d.extent % 2 == 0;
    }
    const RunResult total = ran_in_pairs(topology, paired_request(topology, Collective::total_exchange, 3));
    CHECK(total.steps == steps);
    CHECK(total.channel_bytes_sum == 3 * exchanged);
    CHECK(ran_in_pairs(topology, paired_request(topology, Collective::barrier, 0)).steps == steps);
    const RunResult whole = ran_in_pairs(topology, paired_request(topology, Collective::allreduce, 20, "whole"));
    CHECK(whole.steps == steps);
    CHECK(whole.channel_bytes_sum == 20 * steps);
    for (const Bytes bytes : {0U, 1U, 5000U}) {
      const RunResult gather = ran_in_pairs(topology, paired_request(topology, Collective::multinode_broadcast, bytes));
      const RunResult scatter = ran_in_pairs(topology, paired_request(topology, Collective::reduce_scatter, bytes));
      const RunResult both = ran_in_pairs(topology, paired_request(topology, Collective::allreduce, bytes * topology.nodes(), "halves"));
      CHECK(scatter.steps == gather.steps);
      CHECK(both.steps == 2 * gather.steps);
      CHECK(scatter.channel_bytes_sum == gather.channel_bytes_sum);
      CHECK(both.channel_bytes_sum == 2 * gather.channel_bytes_sum);
      CHECK(gather.channel_bytes_sum >= bytes * (topology.nodes() - 1));
      if (even) CHECK(gather.channel_bytes_sum == bytes * (topology.nodes() - 1));
      if (bytes < 5000) CHECK(gather.steps <= steps);  // a ring of 5 takes as many steps once round, and fewer bytes
    }
  }
}

TEST_CASE("an odd ring exchanges short blocks in pairs and passes long ones round", "[conformance]") {
  const Topology ring("13");
  const PairsOnLine pairs = paired_line(ring.shape()[0]);
  const RunResult few = ran_in_pairs(ring, paired_request(ring, Collective::multinode_broadcast, 100));
  CHECK(few.steps == pairs.steps);
  CHECK(few.channel_bytes_sum == 100 * pairs.gathered);
  const RunResult many = ran_in_pairs(ring, paired_request(ring, Collective::multinode_broadcast, 1U << 20U));
  CHECK(many.steps == 12);
  CHECK(many.channel_bytes_sum == 12U << 20U);
}

TEST_CASE("exchange in pairs runs on twisted tori", "[conformance]") {
  for (const char* shape : {"4x8t", "3x6t", "2x4x4t", "4x4x8t", "5x10t"}) {
    const Topology topology(shape);
    std::uint64_t steps = 0;
    for (const DimensionShape& d : topology.shape()) steps += paired_line(d).steps;
    for (const Collective collective : all_to_all) {
      for (const Bytes bytes : {1U, 40U}) {
        CAPTURE(shape, name(collective), bytes);
        const Request request = paired_request(topology, collective, bytes, collective == Collective::allreduce ? "whole" : "");
        CHECK(ran_in_pairs(topology, request).steps <= steps);
      }
    }
  }
}

TEST_CASE("exchange in pairs leaves one trace on every executor", "[conformance]") {
  for (const char* shape : {"7x5m", "4cx3"}) {
    const Topology topology(shape);
    for (const Collective collective : all_to_all)
      support::check_same_on_every_executor(*find_algorithm(collective, "neighbour-exchange"), Machine(topology, 1, Switching::packet),
                                            paired_request(topology, collective, 24));
  }
}

TEST_CASE("an all-reduce in pairs is whole where short, in halves where long or rounded", "[conformance]") {
  const Algorithm& exchange = *find_algorithm(Collective::allreduce, "neighbour-exchange");
  const auto chosen = [&](Request request) {
    return make_plan(exchange, Machine(Topology("8x8"), 1, Switching::packet), request).notes.back().second;
  };
  CHECK(chosen(support::reduction_request(Collective::allreduce, 64)) == "whole");
  CHECK(chosen(support::reduction_request(Collective::allreduce, 1U << 20U)) == "halves");
  const Reduction rounded{Operator::sum, ElementType::f32, Values::real};
  CHECK(chosen(support::reduction_request(Collective::allreduce, 64, rounded)) == "halves");
  Request request = support::reduction_request(Collective::allreduce, 64, rounded);
  request.parameters.set("variant", "whole");
  CHECK(why_not(exchange, Machine(Topology("8x8"), 1, Switching::packet), request).find("order of its own") != std::string::npos);
}

TEST_CASE("long blocks go round one cycle through all nodes of a mesh, and of odd sides one of which is a ring", "[conformance]") {
  for (const char* shape : {"mesh:4x6", "mesh:3x4", "mesh:2x3x5", "mesh:2x2x3", "3mx4m", "mesh:1x5x4"}) {
    const Topology topology(shape);
    for (const Collective collective : {Collective::multinode_broadcast, Collective::reduce_scatter}) {
      CAPTURE(shape, name(collective));
      const RunResult result = ran_in_pairs(topology, paired_request(topology, collective, 60000));
      CHECK(result.steps == topology.nodes() / 2);
      CHECK(result.channel_bytes_sum == (topology.nodes() - 1) * 60000);
    }
  }
  for (const char* shape : {"5x5m", "3mx5c", "3mx3x3m"}) {
    const Topology topology(shape);
    const RunResult result = ran_in_pairs(topology, paired_request(topology, Collective::multinode_broadcast, 100000));
    CAPTURE(shape);
    CHECK(result.steps == topology.nodes() - 1);  // single bundles
    CHECK(result.channel_bytes_sum == (topology.nodes() - 1) * 100000);
  }
}

TEST_CASE("where routes have several hops, long blocks of a total exchange go straight along lines, one over the middle in each step",
          "[conformance]") {
  const Algorithm& exchange = *find_algorithm(Collective::total_exchange, "neighbour-exchange");
  for (const char* shape :
       {"mesh:2", "mesh:3", "mesh:4", "mesh:5", "mesh:8", "mesh:9", "mesh:4x6", "mesh:5x3", "4mx5", "mesh:3x4x2", "5mx4c", "1x7m"}) {
    const Topology topology(shape);
    std::uint64_t straight = 0, bundles = 0;
    bool lines = true;
    for (const DimensionShape& d : topology.shape()) {
      const auto n = static_cast<std::uint64_t>(d.extent), steps = (n + 1) / 2 * ((n + 1) / 2) - n % 2;
      if (n == 1) continue;
      lines = lines && d.wiring == Wiring::line;
      straight += steps;
      bundles += steps * (topology.nodes() / n);
    }
    for (const Switching switching : {Switching::wormhole, Switching::circuit}) {
      for (const Bytes bytes : {1U, 100000U}) {
        CAPTURE(shape, name(switching), bytes);
        Machine machine(topology, 1, switching);
        machine.cost.hop_s = 1e-9;
        const auto [run, complaint] = support::judged(exchange, machine, paired_request(topology, Collective::total_exchange, bytes));
        CHECK(complaint == "");
        CHECK(run.result.steps == run.plan.steps);
        CHECK(static_cast<double>(run.result.channel_bytes_sum) == run.plan.channel_bytes);
        if (!lines || bytes == 1) continue;
        CHECK(run.result.steps == straight);
        CHECK(run.result.channel_bytes_sum == bundles * bytes);
      }
    }
  }
}
