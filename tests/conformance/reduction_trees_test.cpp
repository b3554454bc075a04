// Reduce and all-reduce over arc-disjoint trees, in chunks.
#include <set>
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

Run run_trees(Collective collective, const Topology& topology, NodeId root, Bytes bytes, std::uint32_t segments,
              support::Workers workers = {}) {
  Request request;
  request.collective = collective;
  if (has_root(collective)) request.sources = {root};
  request.bytes = bytes;
  request.reduction = {Operator::sum, ElementType::u16};
  request.parameters.set("segments", segments);
  RunOptions options;
  options.executor = workers.executor;
  options.threads = workers.threads;
  return support::emulate(*find_algorithm(collective, "trees"), Machine(topology, 0, Switching::packet), request, options);
}

}  // namespace

TEST_CASE("trees reduce on tori of any sides and roots, with segments of any lengths, as predicted", "[conformance]") {
  unsigned runs = 0;
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* shape : {"7x5", "7x7", "2x7", "5x3x2", "3x3x3x2", "1x7x2", "16x16"}) shapes.push_back(Topology::parse(shape));
  for (const Topology& topology : shapes) {
    if (!topology.is_torus()) continue;
    for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
      for (const NodeId root : std::set<NodeId>{0, topology.nodes() / 3, topology.nodes() - 1}) {
        if (collective == Collective::allreduce && root != 0) continue;
        for (const Bytes bytes : {Bytes{0}, Bytes{2}, Bytes{46}, Bytes{240}}) {
          for (const std::uint32_t segments : {1U, 2U, 3U, 7U, 30U}) {
            CAPTURE(topology.text(), std::string(name(collective)), root, bytes, segments);
            const Run run = run_trees(collective, topology, root, bytes, segments);
            REQUIRE(support::complaint(run) == "");
            REQUIRE(run.result.verified);
            ++runs;
          }
        }
      }
    }
  }
  CHECK(runs > 1500);
}

TEST_CASE("a long reduce over trees comes near the bytes that must reach the root", "[conformance]") {
  const Machine machine(Topology::parse("16x16"), 0, Switching::packet);
  Request request;
  request.collective = Collective::reduce;
  request.sources = {3};
  request.bytes = 1U << 26U;
  const double bytes = find_algorithm(Collective::reduce, "trees")->plan(machine, request).channel_bytes;
  CHECK(bytes < 1.15 * lower_bounds(machine, request).channel_bytes);
  CHECK(bytes >= lower_bounds(machine, request).channel_bytes);
}

TEST_CASE("trees leave one trace on every executor", "[conformance]") {
  for (const Collective collective : {Collective::reduce, Collective::allreduce}) {
    const Run serial = run_trees(collective, Topology::parse("4x5"), 7, 100, 3);
    for (const support::Workers& workers : support::every_executor()) {
      const Run other = run_trees(collective, Topology::parse("4x5"), 7, 100, 3, workers);
      CHECK(support::complaint(other) == "");
      CHECK(other.result.trace_digest == serial.result.trace_digest);
    }
  }
}
