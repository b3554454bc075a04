// How long the program of a node may take in one step before it is called a loop without end.
#include "tests/support/catch.hpp"
#include "tools/torus/setting/setting.hpp"

using namespace torus;
using namespace torus::command;

namespace {

double limit_of(Collective collective, Bytes bytes, std::optional<double> typed = std::nullopt) {
  Request request;
  request.collective = collective;
  request.sources = {0};
  request.bytes = bytes;
  request.reduction.type = ElementType::u8;
  return step_limit_of({.machine = Machine(Topology::parse("4x2")), .request = request, .step_limit_s = typed});
}

}  // namespace

TEST_CASE("a step may take longer the more bytes a node has, unless its time was typed", "[unit]") {
  CHECK(limit_of(Collective::allreduce, 4096) == step_s);
  CHECK(limit_of(Collective::allreduce, Bytes{4} << 30U) == step_s + 256);
  CHECK(limit_of(Collective::broadcast, Bytes{160} << 20U) == step_s + 10);
  CHECK(limit_of(Collective::total_exchange, Bytes{16} << 20U) == step_s + 8);  // a block for each of 8 nodes
  CHECK(limit_of(Collective::gather, Bytes{16} << 20U) == step_s + 8);          // at the root
  CHECK(limit_of(Collective::allreduce, Bytes{4} << 30U, 2.5) == 2.5);
}
