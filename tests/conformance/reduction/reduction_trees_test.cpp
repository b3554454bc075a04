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

TEST_CASE("trees reduce on tori of any sides and roots, with segments of any lengths, as predicted", "[conformance]") {
  unsigned runs = 0;
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* shape : {"7x5", "7x7", "2x7", "5x3x2", "3x3x3x2", "1x7x2"}) shapes.push_back(Topology::parse(shape));
  for (const Topology& topology : shapes) {
    if (!is_torus(topology)) continue;
    for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
      const char* const algorithm = collective == Collective::reduce ? "trees" : "tree-packing";
      for (const NodeId root : std::set<NodeId>{0, topology.nodes() / 3, topology.nodes() - 1}) {
        if (collective == Collective::allreduce && root != 0) continue;
        for (const Bytes bytes : {Bytes{0}, Bytes{46}, Bytes{240}}) {
          for (const std::uint32_t segments : {1U, 2U, 7U}) {
            CAPTURE(topology.text(), std::string(name(collective)), root, bytes, segments);
            const Request request = trees_request(collective, root, bytes, segments);
            REQUIRE(support::judged(*find_algorithm(collective, algorithm), packets(topology), request).complaint == "");
            ++runs;
          }
        }
      }
    }
  }
  CHECK(runs > 600);
}

TEST_CASE("a long reduce over trees comes near the bytes that must reach the root", "[conformance]") {
  const Machine machine = packets(Topology::parse("16x16"));
  const Request request = trees_request(Collective::reduce, 3, 1U << 26U, 0);
  const double bytes = find_algorithm(Collective::reduce, "trees")->plan(machine, request).channel_bytes;
  CHECK(bytes < 1.15 * lower_bounds(machine, request).channel_bytes);
  CHECK(bytes >= lower_bounds(machine, request).channel_bytes);
}

TEST_CASE("trees leave one trace on every executor", "[conformance]") {
  const Machine machine = packets(Topology::parse("4x5"));
  support::check_same_on_every_executor(*find_algorithm(Collective::reduce, "trees"), machine,
                                        trees_request(Collective::reduce, 7, 100, 3));
  support::check_same_on_every_executor(*find_algorithm(Collective::allreduce, "tree-packing"), machine,
                                        trees_request(Collective::allreduce, 7, 100, 3));
}
