// Twisted tori: what takes them is complete, judged and as predicted, on every executor and number of processes; all else refuses.
#include <string>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>
#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/judged.hpp"

using namespace torus;

namespace {

Request request_of(const Algorithm& algorithm, NodeId source) {
  Request request = support::broadcast_request(source, 96);
  request.collective = algorithm.collective;
  if (algorithm.collective == Collective::barrier) request = support::reduction_request(Collective::barrier, 0);
  if (algorithm.collective == Collective::allreduce) request = support::reduction_request(Collective::allreduce, 96);
  if (algorithm.collective == Collective::multinode_broadcast) request.sources = {source};
  return request;
}

}  // namespace

TEST_CASE("what takes twisted tori is complete, judged and not below the bounds", "[conformance]") {
  int runs = 0;
  for (const char* shape : {"2x4t", "4x8t", "5x10t", "2x2x4t", "4x2x2t", "2x4x4t", "4x4x8t"}) {
    const Topology topology(shape);
    for (const Algorithm* algorithm : catalogue()) {
      if (!algorithm->needs.takes_twists) continue;
      for (const NodeId source : {NodeId{0}, topology.nodes() / 3, topology.nodes() - 1}) {
        const bool along = algorithm->name == "tree-of-broadcast";  // along `synthesized`, on circuits
        const Machine machine(topology, all_ports, along ? Switching::circuit : algorithm->native.switching, algorithm->native.contention);
        const Request request = request_of(*algorithm, source);
        CAPTURE(shape, algorithm->name, source);
        REQUIRE(why_not(*algorithm, machine, request) == "");
        const support::Judged judged = support::judged(*algorithm, machine, request);
        CHECK(judged.complaint == "");
        const Bounds bounds = lower_bounds(machine, request);
        CHECK(judged.run.result.busy_steps >= bounds.steps);
        CHECK(judged.run.result.model_time_s >= bounds.model_time_s(machine.cost) * (1 - 1e-9));
        ++runs;
      }
    }
  }
  CHECK(runs >= 7 * 3 * 4);
}

TEST_CASE("a twisted torus may have holes", "[conformance]") {
  const Topology whole("3x6t");
  int runs = 0;
  for (NodeId node = 0; node < whole.nodes(); ++node) {
    std::vector<Topology> broken{whole.with_faults({.dead_nodes = {node}})};
    whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
      if (hop > 0) broken.push_back(whole.with_faults({.dead_links = {{node, d, hop}}}));
    });
    for (const Topology& topology : broken) {
      CHECK(topology.twisted());
      for (const Algorithm* algorithm : catalogue()) {
        const Machine machine(topology, all_ports, algorithm->native.switching, algorithm->native.contention);
        const Request request = request_of(*algorithm, node == 0 ? 1 : 0);
        if (refuses(*algorithm, machine, request)) continue;
        CAPTURE(node, algorithm->name, topology.faults().dead_nodes.size());
        CHECK(support::judged(*algorithm, machine, request).complaint == "");
        ++runs;
      }
    }
  }
  CHECK(runs > 300);
}

TEST_CASE("legs of several hops go over the end of a short dimension and claim every channel", "[conformance]") {
  using support::command;
  const support::Folder folder;
  for (const std::string line : {"broadcast --on 4x8t --algorithm synthesized --source 5 --bytes 96",
                                 "broadcast --on 4x4x8t --algorithm synthesized --ports 1 --bytes 96"}) {
    CAPTURE(line);
    const support::Ended ended = command("run " + line + " --trace " + folder.file("t"));
    CHECK(ended.status == 0);
    CHECK(command("verify " + folder.file("t")).status == 0);
    const TraceHeader header = TraceReader(folder.file("t")).header();
    CHECK(header.machine.topology.twisted());
  }
  // Eight hops along a short dimension go once round, nine cross a channel twice; four end half round, at node 4.
  folder.write("twice",
               "{\"format\":\"torus-trace\",\"version\":1,\"shape\":[4,8],\"twist\":true,\"ports\":4,\"switching\":\"circuit\","
               "\"collective\":\"broadcast\",\"sources\":[0],\"segments\":1,\"block_bytes\":1}\n"
               "{\"step\":0,\"src\":0,\"dst\":8,\"path\":[[0,9]],\"bytes\":1,\"blocks\":[0]}\n"
               "{\"step\":1,\"src\":0,\"dst\":4,\"path\":[[0,4]],\"bytes\":1,\"blocks\":[0]}\n");
  const support::Ended twice = command("verify " + folder.file("twice"));
  CHECK(twice.status == 1);
  CHECK((twice.out + twice.err).find("twice") != std::string::npos);
  CHECK((twice.out + twice.err).find("ends at node") == std::string::npos);
}

TEST_CASE("what goes by coordinates refuses a twist and names the plain torus", "[conformance]") {
  const Topology topology("4x8t");
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->needs.takes_twists) continue;
    const Machine machine(topology, std::min(algorithm->native.ports, 4), algorithm->native.switching, algorithm->native.contention);
    CAPTURE(algorithm->name);
    Request request = support::broadcast_request(0, 64);
    request.collective = algorithm->collective;
    const std::string why = why_not(*algorithm, machine, request);
    CHECK(why.find("4x8t: ") != std::string::npos);
    CHECK(why.find(std::string(algorithm->name) + " needs wraps without a twist; ") != std::string::npos);
  }
}

TEST_CASE("a twisted machine is one of the presets that have it, and of no other", "[conformance]") {
  using support::command;
  CHECK(command("run broadcast --machine tpu-v4 --on 4x4x8t --bytes 1KiB").status == 0);
  const support::Ended other = command("run broadcast --machine tpu-v5p --on 4x4x8t --bytes 1KiB");
  CHECK(other.status == 2);
  CHECK(other.err.find("for instance 4x4x8\n") != std::string::npos);
}
