// Laws of machines whose dimensions differ in speed.
#include <random>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request request_on(const Algorithm& algorithm, const Topology& topology, Bytes bytes) {
  Request request;
  request.collective = algorithm.collective;
  request.bytes = bytes;
  request.sources = {topology.nodes() / 2};
  if (algorithm.collective == Collective::multinode_broadcast) {
    request.sources.clear();
    for (NodeId node = 0; node < topology.nodes(); node += 2) request.sources.push_back(node);
  }
  return request;
}

}  // namespace

TEST_CASE("no run beats the bound of a machine with several speeds, and the formula is a limit", "[property]") {
  std::mt19937_64 random(support::seed());
  int runs = 0;
  for (int i = 0; runs < 250; ++i) {
    const Topology topology = support::random_topology(random, 40);
    CostModel cost;
    for (Dimension d = 0; d < topology.dimensions(); ++d) cost.dimension_byte_s.push_back(1e-9 * (1 + support::random_below(random, 9)));
    for (const Algorithm* algorithm : catalogue()) {
      if (support::random_below(random, 3) != 0) continue;
      const int ports = std::min(algorithm->native.ports, static_cast<int>(topology.max_ports()));
      const Machine machine(topology, ports, algorithm->native.switching, algorithm->native.contention, {}, cost);
      const Request request = request_on(*algorithm, topology, support::random_below(random, 2) == 0 ? 6000 : 70);
      if (refuses(*algorithm, machine, request)) continue;
      const Run run = support::emulate(*algorithm, machine, request);
      CAPTURE(support::seed(), i, topology.text(), algorithm->name);
      CHECK(support::complaint(run) == "");
      CHECK(run.result.model_time_s >= run.bounds.model_time_s(machine.cost) * (1 - 1e-9));
      CHECK(run.result.channel_time_s <= static_cast<double>(run.result.channel_bytes_sum) * machine.cost.byte_s * (1 + 1e-9));
      if (algorithm->collective != Collective::multinode_broadcast && run.plan.steps_exact)
        CHECK(run.result.model_time_s <= run.plan.model_time_s(machine.cost) * (1 + 1e-9));
      ++runs;
    }
  }
}

TEST_CASE("speeds that hardly differ give the bounds of one speed", "[property]") {
  for (const Topology& topology : support::telling_shapes()) {
    CostModel nearly;
    for (Dimension d = 0; d < topology.dimensions(); ++d) nearly.dimension_byte_s.push_back(1e-10 * (1 + 1e-9 * d));
    for (const Switching switching : {Switching::packet, Switching::wormhole}) {
      for (const int ports : {1, all_ports}) {
        const Machine one(topology, ports, switching);
        const Machine several(topology, ports, switching, Contention::forbid, {}, nearly);
        for (const Algorithm* algorithm : {catalogue().front(), catalogue().back()}) {
          const Request request = request_on(*algorithm, topology, 1 << 20);
          CAPTURE(topology.text(), ports, algorithm->name);
          CHECK(lower_bounds(several, request).model_time_s(several.cost) ==
                Approx(lower_bounds(one, request).model_time_s(one.cost)).epsilon(1e-6));
        }
      }
    }
  }
}
