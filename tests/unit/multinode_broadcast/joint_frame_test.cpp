/// What `joint-swath` needs on large machines.
#include <torus/block.hpp>
#include <torus/catalogue.hpp>

#include "algorithms/multinode_broadcast/joint_swath/schedule.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using torus::multinode_broadcast::joint_swath::JointFrame;

TEST_CASE("the blocks of the expected sources have room at all nodes", "[unit]") {
  const Machine machine(Topology::parse("256x256"));
  for (const double sources : {1.0, 16.0, 128.0, 1000.0, 30000.0}) {
    for (const Bytes bytes : {Bytes{1}, Bytes{512}, Bytes{1} << 20U}) {
      CAPTURE(sources, bytes);
      const JointFrame frame(machine, bytes, 0, sources);
      CHECK(frame.segments() >= frame.parts);
      CHECK(machine.topology.nodes() * sources * frame.segments() <= static_cast<double>(most_blocks));
    }
  }
}

TEST_CASE("the schedules of a forecast take little memory on large machines", "[unit]") {
  for (const char* const shape : {"4x262144", "1048576", "1024x1024", "16x16"}) {
    CAPTURE(shape);
    const Machine machine(Topology::parse(shape));
    CHECK(find_algorithm(Collective::multinode_broadcast, "joint-swath")->planning_bytes(machine) < Bytes{2} << 30U);
  }
}
