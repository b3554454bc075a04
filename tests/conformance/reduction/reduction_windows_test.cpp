// Windows of ranks and of the diagonal: every contributor once, in the fewest steps.
#include <string>

#include <torus/byte_sum.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/reduction/window_rounds.hpp"
#include "algorithms/schedule/route_loads.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Machine square(std::int32_t n, Switching switching, std::vector<Dimension> routing = {}) {
  return Machine(Topology(std::vector<DimensionShape>(2, DimensionShape{n, Wiring::ring})), 0, switching, Contention::forbid,
                 std::move(routing));
}

}  // namespace

TEST_CASE("the windows tile all places once, whatever their number and the pieces", "[conformance]") {
  for (std::int64_t pieces = 1; pieces <= 8; ++pieces) {
    for (std::int64_t places = 1; places <= 200; ++places) {
      CAPTURE(pieces, places);
      const auto rounds = reduction::window_rounds(places, pieces);
      CHECK(rounds.size() == ceil_log(static_cast<std::uint64_t>(pieces) + 1, static_cast<std::uint64_t>(places)));
      std::int64_t w = 1;
      for (const reduction::WindowRound& round : rounds) {
        CHECK(static_cast<std::int64_t>(round.pieces.size()) <= pieces);
        std::int64_t end = w;
        for (const reduction::WindowPiece& piece : round.pieces) {
          // F of the node `distance` behind begins there; G begins one farther.
          CHECK(piece.distance + piece.from == end);
          end += w - piece.from;
        }
        w = end;
        CHECK(round.last == (w == places));
      }
      CHECK(w == places);
    }
  }
}

TEST_CASE("windows take ceil(log_{p+1} N) steps on any shape, with any ports", "[conformance]") {
  const Algorithm& windows = *find_algorithm(Collective::allreduce, "windows");
  for (const Topology& topology : support::telling_shapes()) {
    for (const int ports : {1, 2, 3, 4, 0}) {
      if (ports > topology.max_ports()) continue;
      const Machine machine(topology, ports, Switching::wormhole, Contention::share);
      for (const Bytes bytes : {0U, 12U}) {
        CAPTURE(topology.text(), machine.ports, bytes);
        const auto [run, complaint] =
            support::judged(windows, machine, support::reduction_request(Collective::allreduce, bytes, {Operator::sum, ElementType::f32}));
        CHECK(complaint == "");
        CHECK(run.result.steps == ceil_log(static_cast<std::uint64_t>(std::min(machine.ports, 8)) + 1, topology.nodes()));
        CHECK(run.result.route_hops_sum == run.plan.route_hops);
      }
    }
  }
}

TEST_CASE("the fullest channel and the longest route are counted as they are by walking", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int i = 0; i < 60; ++i) {
    const Topology topology = support::random_topology(random, 200);
    RouteLoads loads(topology);
    std::vector<std::uint64_t> walked(std::size_t{topology.nodes()} * static_cast<std::size_t>(topology.channel_slots()));
    std::vector<Dimension> order(static_cast<std::size_t>(topology.dimensions()));
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<Dimension>(d);
    std::uint64_t longest = 0;
    for (int messages = 0; messages < 100; ++messages) {
      const NodeId from = support::random_below(random, topology.nodes()), to = support::random_below(random, topology.nodes());
      const Route route = shortest_route(topology, from, to, order);
      const std::uint64_t weight = support::random_below(random, 9);
      loads.add(from, route, static_cast<double>(weight));
      std::uint64_t hops = 0;
      NodeId at = from;
      for (const Leg& leg : route) {
        const bool complete = topology.wiring(leg.dimension) == Wiring::complete;
        const std::int32_t hop = complete ? modulo(leg.hops, topology.extent(leg.dimension)) : leg.hops > 0 ? 1 : -1;
        for (std::int32_t h = 0; h < hops_of(topology, leg); ++h) {
          const auto slot = static_cast<std::size_t>(topology.slot(leg.dimension, hop));
          walked[at * static_cast<std::size_t>(topology.channel_slots()) + slot] += weight;
          ++hops;
          at = *topology.neighbour(at, leg.dimension, hop);
        }
      }
      longest = std::max(longest, hops);
    }
    CAPTURE(topology.text());
    const RouteLoads::StepLoad step = loads.end_step(), idle = loads.end_step();
    CHECK(step.most == (walked.empty() ? 0 : times_bytes(1, *std::max_element(walked.begin(), walked.end()))));
    CHECK(step.hops == longest);
    CHECK(idle.most == 0);
    CHECK(idle.hops == 0);
  }
}

TEST_CASE("the exchange on the diagonal takes 2 ceil(log5 n) + ceil(log3 n) steps, in both routing orders", "[conformance]") {
  const Algorithm& diagonal = *find_algorithm(Collective::allreduce, "diagonal");
  for (std::int32_t n = 1; n <= 16; ++n) {
    for (const auto& routing : {std::vector<Dimension>{0, 1}, std::vector<Dimension>{1, 0}}) {
      for (const Bytes bytes : {0U, 12U}) {
        CAPTURE(n, routing.front(), bytes);
        const auto [run, complaint] =
            support::judged(diagonal, square(n, Switching::wormhole, routing),
                            support::reduction_request(Collective::allreduce, bytes, {Operator::exclusive_or, ElementType::u32}));
        CHECK(complaint == "");
        const auto side = static_cast<std::uint64_t>(n);
        CHECK(run.result.steps == 2 * ceil_log(5, side) + ceil_log(3, side));
        CHECK(run.result.channel_bytes_sum == run.result.steps * bytes);
      }
    }
  }
}

TEST_CASE("circuits need 3 log5 n steps on the diagonal of 5^p x 5^p", "[conformance]") {
  const Algorithm& diagonal = *find_algorithm(Collective::allreduce, "diagonal");
  for (const auto& [n, steps] : {std::pair{1, 0U}, std::pair{4, 4U}, std::pair{5, 3U}, std::pair{25, 6U}}) {
    CAPTURE(n);
    const auto [run, complaint] = support::judged(diagonal, square(n, Switching::circuit),
                                                  support::reduction_request(Collective::allreduce, 8, {Operator::sum, ElementType::f32}));
    CHECK(complaint == "");
    CHECK(run.result.steps == steps);
  }
}
