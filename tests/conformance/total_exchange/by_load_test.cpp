// The list by load: legal and complete for any sizes, as predicted, and near the bound of the loads.
#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& by_load() {
  return **std::find_if(catalogue().begin(), catalogue().end(), [](const Algorithm* a) { return a->name == "by-load"; });
}

Request exchange(const char* sizes, std::uint64_t seed, Bytes mean = 4096) {
  Request request;
  request.collective = Collective::total_exchange;
  request.sizes = SizeRule::parse(sizes);
  request.sizes->seed = seed;
  request.bytes = request.sizes->fixed() ? request.sizes->mean() : mean;
  return request;
}

}  // namespace

TEST_CASE("by-load is legal, complete and as predicted on any shape, with any ports and sizes", "[conformance]") {
  for (const char* shape : {"1", "2", "3", "7", "4x4", "3x5", "5m", "3x4m", "2m", "6c", "2x3c", "3x3x3", "2x2x2x2"}) {
    const Topology topology = Topology::parse(shape);
    for (const int ports : {1, 2, static_cast<int>(topology.max_ports())}) {
      const Machine machine(topology, std::clamp(ports, 1, std::max(1, static_cast<int>(topology.max_ports()))), Switching::packet);
      for (const char* sizes : {"zipf:1", "zeros:0.7", "zeros:1", "uniform:0:5000"}) {
        CAPTURE(shape, ports, sizes, support::seed());
        const support::Judged judged = support::judged(by_load(), machine, exchange(sizes, support::seed()));
        CHECK(judged.complaint == "");
        CHECK(judged.run.check.good());
        CHECK(judged.run.plan.predicts());
      }
    }
  }
}

TEST_CASE("by-load sends no block of no bytes", "[conformance]") {
  const Run run = torus::run(by_load(), Machine(Topology::parse("4x4")), exchange("zeros:1", 1));
  CHECK(run.check.good());
  CHECK(run.result.messages == 0);
}

TEST_CASE("by-load comes near the bound of bytes where they count most", "[conformance]") {
  for (const char* shape : {"8x8", "4x4x4", "6c", "5x6m"}) {
    const Machine machine(Topology::parse(shape), all_ports, Switching::packet);
    for (const char* sizes : {"uniform:0:2000000", "zeros:0.5"}) {
      const Request request = exchange(sizes, support::seed(), 1000000);
      const Plan plan = make_plan(by_load(), machine, request);
      CAPTURE(shape, sizes, support::seed(), plan.channel_bytes);
      CHECK(plan.channel_bytes >= lower_bounds(machine, request).channel_bytes);
      CHECK(plan.channel_bytes <= 2.5 * lower_bounds(machine, request).channel_bytes);
    }
  }
}
