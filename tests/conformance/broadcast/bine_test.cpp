// The broadcast along a Bine tree: mst with places counted in base -2.
#include <cmath>
#include <cstdint>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"

using namespace torus;

TEST_CASE("a Bine tree takes log2 p steps without a conflict, over a third fewer hops, and needs rings", "[conformance]") {
  const Algorithm& mst = *find_algorithm(Collective::broadcast, "mst");
  const auto from = [](NodeId root, const char* variant) {
    Request request;
    request.sources = {root};
    request.bytes = 10;
    request.parameters.set("variant", variant);
    return request;
  };
  for (const char* shape : {"1", "2", "4", "8", "16", "64", "2x2", "4x2", "8x8", "2x16", "4x1x4", "4x2x8"}) {
    const Machine machine(Topology::parse(shape), 1);
    for (NodeId root = 0; root < machine.topology.nodes(); ++root) {
      CAPTURE(shape, root);
      const auto run = support::emulate(mst, machine, from(root, "bine"));
      REQUIRE(support::complaint(run) == "");
      REQUIRE(run.result.steps == static_cast<std::uint64_t>(std::llround(std::log2(machine.topology.nodes()))));
      REQUIRE(run.result.channel_bytes_sum == run.result.steps * 10);
    }
  }
  const Machine ring(Topology::parse("64"), 1);
  CHECK(support::emulate(mst, ring, from(5, "plain")).result.hops == 192);
  CHECK(support::emulate(mst, ring, from(5, "bine")).result.hops == 135);
  CHECK(why_not(mst, Machine(Topology::parse("8x8m"), 1), from(5, "bine")) == "shape 8x8m: a Bine tree goes round rings; 8x8 would do");
}
