// The scan by halves: long vectors in segments.
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"

using namespace torus;

namespace {

const Algorithm& sklansky() { return *find_algorithm(Collective::scan, "sklansky"); }

}  // namespace

TEST_CASE("a long vector crosses each channel as often as the segments follow one another", "[conformance]") {
  const Request request = support::reduction_request(Collective::scan, Bytes{1} << 28U);
  for (const char* shape : {"8x8", "4x4x4", "mesh:6x6"}) {
    for (const Faults& faults : {Faults{}, Faults{.dead_links = {{1, 0, 1}}}, Faults{.dead_nodes = {9}}}) {
      const Machine machine(Topology(shape).with_faults(faults), all_ports, Switching::packet);
      const Plan plan = make_plan(sklansky(), machine, request);
      CAPTURE(shape, plan.notes);
      CHECK(plan.channel_bytes <= 1.1 * 6 * static_cast<double>(request.bytes));
      CHECK(plan.channel_bytes >= lower_bounds(machine, request).channel_bytes);
    }
  }
}
