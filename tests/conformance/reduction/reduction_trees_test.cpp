// Reduce and all-reduce over arc-disjoint trees, in chunks.
#include <set>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Request trees_request(Collective collective, NodeId root, Bytes bytes, std::uint32_t segments) {
  Request request = support::reduction_request(collective, bytes, {Operator::sum, ElementType::u16});
  if (facts_of(collective).rooted()) request.sources = {root};
  request.parameters.set("segments", segments);
  return request;
}

Machine packets(const Topology& topology) { return Machine(topology, 0, Switching::packet); }

}  // namespace

TEST_CASE("a long reduce over trees comes near the bytes that must reach the root", "[conformance]") {
  const Machine machine = packets(Topology::parse("16x16"));
  const Request request = trees_request(Collective::reduce, 3, 1U << 26U, 0);
  const double bytes = find_algorithm(Collective::reduce, "trees")->plan(machine, request).channel_bytes;
  CHECK(bytes < 1.15 * lower_bounds(machine, request).channel_bytes);
  CHECK(bytes >= lower_bounds(machine, request).channel_bytes);
}
