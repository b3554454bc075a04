// How much of a reduction or a barrier nodes have, step by step.
#include "tests/support/catch.hpp"
#include "tools/torus/view/contributors.hpp"

using namespace torus;
using command::ContributorCounts;

namespace {

TraceHeader header_on(const Topology& topology, const char* collective, std::vector<NodeId> sources = {}) {
  return {.machine = Machine(topology, all_ports, Switching::packet), .collective = collective, .sources = std::move(sources)};
}

TraceMessage message(NodeId from, NodeId to, std::vector<std::uint64_t> blocks, std::uint8_t registers, Bytes bytes = 0) {
  TraceMessage m;
  m.source = from;
  m.destination = to;
  m.blocks = std::move(blocks);
  m.registers = registers;
  m.bytes = bytes;
  return m;
}

}  // namespace

TEST_CASE("dead nodes contribute nothing, want nothing and are not waited for", "[unit]") {
  // On a line of four, node 3 is dead. All partials meet at node 1, and go out again.
  const Topology line = Topology::parse("mesh:4").with_faults({.dead_nodes = {3}});
  const auto complete = [&](const char* collective, std::uint64_t before, std::uint64_t after_in, std::uint64_t after_out) {
    CAPTURE(collective);
    ContributorCounts counts(
        header_on(line, collective, collective == std::string("reduce") ? std::vector<NodeId>{1} : std::vector<NodeId>{}));
    CHECK(counts.complete() == before);
    CHECK(counts.wanted(3) == 0);
    CHECK(counts.had(3) == 0);
    counts.sent(message(0, 1, {0}, 1));
    counts.sent(message(2, 1, {0}, 1));
    counts.end_step();
    CHECK(counts.complete() == after_in);
    counts.sent(message(1, 0, {0}, 0));
    counts.sent(message(1, 2, {0}, 0));
    counts.end_step();
    CHECK(counts.complete() == after_out);
  };
  complete("reduce", 0, 1, 1);
  complete("allreduce", 0, 1, 3);
  complete("barrier", 0, 1, 3);
  complete("scan", 1, 2, 3);
  CHECK(ContributorCounts(header_on(line, "allreduce")).wanted(0) == 3);
  CHECK(ContributorCounts(header_on(line, "barrier")).wanted(2) == 3);

  const Topology ring = Topology::parse("4").with_faults({.dead_nodes = {1}});
  ContributorCounts scan(header_on(ring, "scan"));
  CHECK(scan.wanted(0) == 1);
  CHECK(scan.wanted(1) == 0);
  CHECK(scan.wanted(2) == 2);
  CHECK(scan.wanted(3) == 3);
  ContributorCounts owners(header_on(ring, "reduce-scatter"));
  CHECK(owners.wanted(1) == 0);
  CHECK(owners.wanted(2) == 3);
  owners.sent(message(3, 0, {0, 1, 2}, 1));
  owners.sent(message(3, 2, {0, 1, 2}, 1));
  CHECK(owners.end_step()[0].gained == 1);
  CHECK(owners.had(0) == 2);
  CHECK(owners.complete() == 0);
}

TEST_CASE("contributors that are counted twice do not make a node more than complete", "[unit]") {
  // On a ring of four, node 1 hears of node 0 three times, by two registers and directly: with max that is allowed.
  TraceHeader header = header_on(Topology::parse("4"), "allreduce");
  header.registers = 2;
  header.overlap = true;
  ContributorCounts counts(header);
  for (int i = 0; i < 3; ++i) {
    counts.sent(message(0, 1, {0}, 1));
    counts.end_step();
  }
  CHECK(counts.had(1) == 4);
  CHECK(counts.complete() == 1);
  for (int i = 0; i < 3; ++i) {
    counts.sent(message(0, 1, {0}, 3));
    counts.sent(message(1, 1, {1}, 1));
    counts.end_step();
  }
  CHECK(counts.had(1) == 4);
  CHECK(counts.wanted(1) == 4);
  CHECK(counts.complete() == 1);
}

TEST_CASE("of a message that is combined in part, the combined bytes are its share", "[unit]") {
  // Seven bytes of three blocks, of which the receiver holds two: 7 * 2 / 3, not 7 / 3 * 2.
  TraceHeader header = header_on(Topology::parse("3"), "allreduce");
  header.segments = 3;
  ContributorCounts counts(header);
  TraceMessage gives = message(1, 2, {2}, 1, 2);
  gives.releases = true;
  counts.sent(gives);
  CHECK(counts.end_step()[0].combined == 2);
  counts.sent(message(0, 1, {0, 1, 2}, 1, 8));
  const auto effect = counts.end_step()[0];
  CHECK(effect.combined == 8 * 2 / 3);
  CHECK(counts.most_combined() == 8 * 2 / 3);
  CHECK(effect.gained == 2);  // of the third segment it had had one already
}
