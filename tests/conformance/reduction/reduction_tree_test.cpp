// Reduce, gather and scatter along the lines through a root, on every shape and number of ports, from every corner.
#include <string>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

TEST_CASE("trees reduce, gather and scatter on any shape with any number of ports, as predicted", "[conformance]") {
  unsigned runs = 0;
  for (const Collective collective : {Collective::reduce, Collective::gather, Collective::scatter}) {
    const Algorithm& tree = *find_algorithm(collective, "tree");
    for (const Topology& topology : support::telling_shapes()) {
      const NodeId nodes = topology.nodes();
      for (int ports = 1; ports <= topology.max_ports();
           ports = ports < 3 ? ports + 1 : topology.max_ports() + (ports == topology.max_ports())) {
        const Machine machine(topology, ports, Switching::packet);
        for (const NodeId root : {NodeId{0}, nodes / 3, nodes - 1}) {
          for (const Bytes bytes : {Bytes{0}, Bytes{24}}) {
            Request request;
            request.collective = collective;
            request.sources = {root};
            request.bytes = bytes;
            request.reduction = {Operator::max, ElementType::i16};
            CAPTURE(std::string(name(collective)), topology.text(), ports, root, bytes);
            REQUIRE_FALSE(refuses(tree, machine, request));
            const Run run = support::emulate(tree, machine, request);
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
