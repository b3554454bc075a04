// Schedules of other programs: read, laid onto a machine, judged and run; and what is wrong with damaged ones.
#include <algorithm>
#include <random>
#include <string>

#include <torus/report.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/foreign.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using support::judged;
using support::replaced;

namespace {

/// The text without its n-th step; the later ones of the threadblock count on.
std::string without_step(const std::string& text, std::size_t n) {
  std::size_t at = text.find("      <step ");
  for (; n > 0; --n) at = text.find("      <step ", at + 1);
  std::string out = text.substr(0, at);
  std::size_t next = text.find('\n', at) + 1;
  int number = std::stoi(text.substr(text.find("s=\"", at) + 3));
  while (text.compare(next, 12, "      <step ") == 0) {
    const std::size_t end = text.find('\n', next) + 1;
    const std::string line = text.substr(next, end - next);
    out += replaced(line, "s=\"" + std::to_string(number + 1) + "\"", "s=\"" + std::to_string(number) + "\"");
    ++number;
    next = end;
  }
  return out + text.substr(next);
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// Refused in one line, by the reader or by the judge.
void check_bad(const std::string& text, const Topology& topology, const std::string& words = "") {
  const support::JudgedFile found = judged(text, topology);
  CAPTURE(found.refused, words);
  CHECK_FALSE(found.good());
  const std::string said =
      found.refused.empty() ? (found.verdict.violations.empty() ? "" : found.verdict.violations.front()) : found.refused;
  CHECK(said.size() > 20);
  CHECK(said.find('\n') == std::string::npos);
  CHECK(said.find(words) != std::string::npos);
}

Request request_for(const ForeignSchedule& file, std::vector<NodeId> sources) {
  Request request;
  request.collective = file.collective();
  request.sources = std::move(sources);
  request.bytes = 960;
  return request;
}

/// Every byte of a run, on any collective.
RunResult played(const std::string& text, const Machine& machine, const std::vector<NodeId>& nodes) {
  const support::Folder folder;
  const ForeignSchedule file = ForeignSchedule::read(folder.write("schedule", text));
  const auto placed = file.on(machine, nodes);
  std::vector<NodeId> sources;
  for (const NodeId rank : file.sources()) sources.push_back(nodes[rank]);
  std::sort(sources.begin(), sources.end());
  const Request request = request_for(file, sources);
  Plan plan;
  plan.start = [&placed](Node& self) { return follow(self, placed.schedule); };
  plan.segments = file.segments();
  plan.registers = placed.registers;
  plan.steps_estimate = placed.schedule.steps();
  return make_engine(machine, request, plan, {.executor = ExecutorKind::serial}).run(plan.start);
}
RunResult played(const std::string& text, const Machine& machine) { return played(text, machine, row_major(machine.topology)); }

}  // namespace

TEST_CASE("schedules of all kinds are legal and complete in the steps that their authors count", "[unit]") {
  for (const int n : {2, 3, 4, 7, 8}) {
    CAPTURE(n);
    const Topology ring(std::to_string(n));
    const auto steps = static_cast<Step>(n - 1);
    const support::JudgedFile gather = judged(support::msccl_ring_allgather(n), ring);
    CAPTURE(gather.refused);
    CHECK(gather.good());
    CHECK(gather.steps == steps);
    const support::JudgedFile reduce = judged(support::msccl_ring_allreduce(n), ring);
    CAPTURE(reduce.refused, reduce.verdict.violations);
    CHECK(reduce.good());
    CHECK(reduce.steps == 2 * steps);
    const Topology line(std::to_string(n) + "m");
    CHECK(judged(support::teccl_line(n), line).good());
    CHECK(judged(support::teccl_line(n), line).steps == steps);
    const support::JudgedFile trees = judged(support::forestcoll_ring(n), ring);
    CAPTURE(trees.refused);
    CHECK(trees.good());
    CHECK(trees.steps == steps);
    const Topology complete(std::to_string(n) + "c");
    for (const std::string& text : {support::msccl_direct_alltoall(n), support::msccl_direct_reduce_scatter(n)}) {
      const support::JudgedFile direct = judged(text, complete);
      CAPTURE(direct.refused, direct.verdict.violations);
      CHECK(direct.good());
      CHECK(direct.steps == 1);
    }
  }
  for (const int rounds : {1, 2, 3, 4}) {
    const support::JudgedFile doubling = judged(support::msccl_doubling_allgather(rounds), Topology(std::to_string(1 << rounds)));
    CAPTURE(rounds, doubling.refused, doubling.verdict.violations);
    CHECK(doubling.good());
    CHECK(doubling.steps == static_cast<Step>(rounds));
  }
  const support::JudgedFile scratch = judged(support::msccl_alltoall_by_scratch(), Topology("2x2"));
  CAPTURE(scratch.refused, scratch.verdict.violations);
  CHECK(scratch.good());
  CHECK(scratch.steps == 2);
}

TEST_CASE("a schedule may begin with a mark of UTF-8, and holds no byte 0", "[unit]") {
  for (const std::string& text : {support::teccl_line(4), support::forestcoll_ring(4), support::msccl_ring_allgather(4)}) {
    const support::JudgedFile marked = judged("\xef\xbb\xbf" + text, Topology("4"));
    CAPTURE(text.substr(0, 40), marked.refused, marked.verdict.violations);
    CHECK(marked.good());
    check_bad(text + std::string(1, '\0') + "<more>", Topology("4"), "it holds a byte of value 0, as no text does");
  }
}

TEST_CASE("a schedule of another program delivers every byte", "[unit]") {
  const Machine ring(Topology("6"), all_ports, Switching::wormhole, Contention::share);
  const Machine complete(Topology("6c"), all_ports, Switching::wormhole, Contention::share);
  const Machine square(Topology("2x2"), all_ports, Switching::wormhole, Contention::share);
  const Machine line(Topology("6m"), all_ports, Switching::packet);
  for (const auto& [text, machine] :
       {std::pair(support::msccl_ring_allgather(6), ring), std::pair(support::msccl_ring_allreduce(6), ring),
        std::pair(support::forestcoll_ring(6), ring), std::pair(support::teccl_line(6), line),
        std::pair(support::msccl_direct_alltoall(6), complete), std::pair(support::msccl_direct_reduce_scatter(6), complete),
        std::pair(support::msccl_alltoall_by_scratch(), square)}) {
    const RunResult result = played(text, machine);
    CAPTURE(text.substr(0, 100));
    CHECK(result.good());
    CHECK(result.verified);
  }
}

TEST_CASE("under packet switching a message takes a step for each hop", "[unit]") {
  const Machine packet(Topology("8"), all_ports, Switching::packet, Contention::share);
  const support::JudgedFile doubling = judged(support::msccl_doubling_allgather(3), packet.topology, packet);
  CAPTURE(doubling.refused, doubling.verdict.violations);
  CHECK(doubling.good());
  CHECK(doubling.steps == 1 + 2 + 4);
  const Machine mesh(Topology("2x2"), all_ports, Switching::packet, Contention::share);
  CHECK(played(support::msccl_direct_alltoall(4), mesh).verified);
  CHECK(played(support::msccl_alltoall_by_scratch(), mesh).verified);
  const Machine ring(Topology("4"), all_ports, Switching::packet, Contention::share);
  CHECK(judged(support::msccl_direct_reduce_scatter(4), ring.topology, ring).refused.find("takes 2 hops") != std::string::npos);
}

TEST_CASE("a schedule may pause for as long as it is", "[unit]") {
  const Machine pair(Topology("2"), all_ports, Switching::packet);
  for (const char* epoch : {"72", "73", "100000"}) {
    const std::string flows = "{\"7-Flows\":[\"Chunk 0 from 0 traveled over 0->1 in epoch " + std::string(epoch) +
                              "\",\"Chunk 0 from 1 traveled over 1->0 in epoch 0\"]}";
    CAPTURE(epoch);
    CHECK(judged(flows, pair.topology).good());
    const RunResult result = played(flows, pair);
    CHECK_FALSE(result.hang);
    CHECK(result.verified);
    CHECK(result.steps == std::stoull(epoch) + 1);
  }
}

TEST_CASE("each rank may be any node", "[unit]") {
  const Machine machine(Topology("2x3"), all_ports, Switching::wormhole, Contention::share);
  std::vector<NodeId> nodes = row_major(machine.topology);
  std::mt19937_64 random(support::seed());
  // The routes of a trace are those of its own places.
  const std::string trace =
      R"({"format":"torus-trace","version":1,"shape":[2,3],"ports":4,"switching":"wormhole","collective":"broadcast","sources":[0]})"
      "\n"
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":960,"blocks":[0]})"
      "\n"
      R"({"step":0,"src":0,"dst":3,"path":[[0,1]],"bytes":960,"blocks":[0]})"
      "\n"
      R"({"step":1,"src":1,"dst":2,"path":[[1,1]],"bytes":960,"blocks":[0]})"
      "\n"
      R"({"step":1,"src":3,"dst":4,"path":[[1,1]],"bytes":960,"blocks":[0]})"
      "\n"
      R"({"step":1,"src":3,"dst":5,"path":[[1,-1]],"bytes":960,"blocks":[0]})"
      "\n";
  for (int turn = 0; turn < 5; ++turn) {
    std::shuffle(nodes.begin(), nodes.end(), random);
    for (const std::string& text : {support::msccl_ring_allgather(6), support::msccl_ring_allreduce(6), trace})
      CHECK(played(text, machine, nodes).verified);
  }
}

TEST_CASE("a node that must still send its own contribution lets others wait", "[unit]") {
  // Gpu 0 sends its input chunk by chunk, gpu 1 all at once: what gpu 0 has still to send it must not combine with anything.
  support::Msccl made("allreduce", 2, false, 3, 3);
  const int sends = made.block(0, 1, -1), receives = made.block(1, -1, 0);
  for (const int chunk : {2, 1, 0}) {
    made.step(0, sends, "s", 'i', chunk, 'o', chunk);
    made.step(1, receives, "rrc", 'i', chunk, 'o', chunk);
    made.step(1, made.block(1, 0, -1, chunk), "s", 'i', chunk, 'o', chunk);
    made.step(0, made.block(0, -1, 1, chunk), "rrc", 'i', chunk, 'o', chunk);
  }
  const Topology ring("2");
  const support::JudgedFile found = judged(made.text(), ring);
  CAPTURE(found.refused, found.verdict.violations);
  CHECK(found.good());
  CHECK(found.steps == 3);
  CHECK(played(made.text(), Machine(ring, all_ports, Switching::wormhole, Contention::share)).verified);
}

TEST_CASE("a message leaves no earlier than its step says, and by its route", "[unit]") {
  const std::string text = replaced(support::msccl_ring_allgather(4), "inplace=", "shape=\"4\" inplace=");
  const Topology ring("4");
  const auto sends = [](std::size_t n, const std::string& more) {
    return [n, more](const std::string& of) { return replaced(of, "type=\"s\"", more + " type=\"s\"", n); };
  };
  CHECK(judged(text, ring).steps == 3);
  CHECK(judged(sends(0, "at=\"2\"")(text), ring).steps == 5);
  CHECK(judged(sends(0, "at=\"2\"")(text), ring).good());
  // Three hops the other way round, by which only this message goes.
  const support::JudgedFile round = judged(sends(0, "route=\"0-3\"")(text), ring);
  CAPTURE(round.refused, round.verdict.violations);
  CHECK(round.good());
  CHECK(round.verdict.hops == judged(text, ring).verdict.hops + 2);
  CHECK(judged(sends(0, "route=\"0-3\"")(text), Topology("4m")).verdict.hops == judged(text, Topology("4m")).verdict.hops);
  check_bad(sends(0, "at=\"16777216\"")(text), ring, "gpu 0, threadblock 1, step 0: at is '16777216'");
  check_bad(sends(0, "route=\"0-2\"")(text), ring, "its route does not lead to gpu 1 on 4");
  check_bad(sends(0, "route=\"7+1\"")(text), ring, "its route does not lead to gpu 1 on 4");
  check_bad(sends(0, "route=\"0+2147483647\"")(text), ring, "its route does not lead to gpu 1 on 4");
  for (const char* wrong : {"", "0", "0+", "+1", "0+1 ", "0+1,0+1", "0+0", "-1+1", "0+99999999999"}) {
    CAPTURE(wrong);
    check_bad(sends(0, "route=\"" + std::string(wrong) + "\"")(text), ring, "it must be as '0+2 1-1', hops in dimensions");
  }
}

TEST_CASE("a trace of a scatter or gather in segments is refused, for runs have none", "[unit]") {
  for (const char* collective : {"scatter", "gather"}) {
    const std::string text = R"({"format":"torus-trace","version":1,"shape":[2],"ports":2,"switching":"packet","collective":")" +
                             std::string(collective) + R"(","sources":[1],"segments":2})" + "\n";
    check_bad(text, Topology("2"), "it cuts the blocks of a " + std::string(collective) + " into 2 segments, and runs have whole ones");
  }
}

TEST_CASE("what a node gives away it may send elsewhere in the same step", "[unit]") {
  std::string text = R"({"format":"torus-trace","version":1,"shape":[3],"ports":2,"switching":"packet","collective":"allreduce"})"
                     "\n";
  const auto message = [&](int step, int from, int to, const std::string& more) {
    text += "{\"step\":" + std::to_string(step) + ",\"src\":" + std::to_string(from) + ",\"dst\":" + std::to_string(to) + ",\"path\":[[0," +
            ((from + 1) % 3 == to ? "1" : "-1") + "]],\"bytes\":960,\"blocks\":[0]" + more + "}\n";
  };
  message(0, 0, 1, R"(,"combine":true,"release":true)");
  message(0, 0, 2, R"(,"combine":true)");
  message(0, 1, 2, R"(,"combine":true)");
  message(0, 2, 1, R"(,"combine":true)");
  message(1, 1, 0, "");
  const Machine ring(Topology("3"), all_ports, Switching::packet);
  CHECK(judged(text, ring.topology, ring).good());
  CHECK(played(text, ring).verified);
}

TEST_CASE("messages of one step by different routes stay two", "[unit]") {
  // Gpu 0 sends its two chunks at once, one each way round.
  support::Msccl made("broadcast", 4, true, 2, 2);
  const auto sends = [&](int from, int to, int chunk, int waits) {
    const int receives = made.block(to, -1, from, chunk);
    made.step(from, made.block(from, to, -1, chunk), "s", from == 0 ? 'i' : 'o', chunk, 'o', chunk, 1, waits, waits < 0 ? -1 : 0);
    made.step(to, receives, "r", 'i', chunk, 'o', chunk);
    return receives;
  };
  int there[2] = {sends(0, 2, 0, -1), sends(0, 2, 1, -1)};
  for (const int to : {1, 3}) {
    for (const int chunk : {0, 1}) sends(2, to, chunk, there[chunk]);
  }
  const std::string text = replaced(made.text(), "inplace=", "shape=\"4\" inplace=");
  const std::string ways =
      replaced(replaced(text, "type=\"s\"", "route=\"0+2\" type=\"s\"", 0), "type=\"s\"", "route=\"0-2\" type=\"s\"", 1);
  const support::JudgedFile one = judged(text, Topology("4")), two = judged(ways, Topology("4"));
  CAPTURE(one.refused, one.verdict.violations, two.refused, two.verdict.violations);
  CHECK(one.good());
  CHECK(two.good());
  CHECK(one.verdict.messages == 3);
  CHECK(two.verdict.messages == 4);
  CHECK(two.verdict.hops == one.verdict.hops + 2);
}

TEST_CASE("partials in any register go to the owner's node where ranks are mapped", "[unit]") {
  // Gpu 1 passes on gpu 0's partial of gpu 2's chunk as it is, which it keeps beside its own, and then its own.
  support::Msccl made("reduce_scatter", 3, false, 3, 1, 3);
  struct Data {
    char buffer;
    int from, to;
    int waits = -1;  // for the first step of that threadblock
  };
  // What a gpu sends another, one after the other; the threadblock that receives it.
  const auto sends = [&](int from, int to, const std::vector<Data>& all) {
    const int sender = made.block(from, to, -1), receiver = made.block(to, -1, from);
    for (const Data& each : all) {
      made.step(from, sender, "s", each.buffer, each.from, 's', each.to, 1, each.waits, each.waits < 0 ? -1 : 0);
      made.step(to, receiver, "r", 'i', 0, 's', each.to);
    }
    return receiver;
  };
  const int kept = sends(0, 1, {{'i', 2, 2}, {'i', 1, 0}});
  const int from_1 = sends(1, 2, {{'s', 2, 0, kept}, {'i', 2, 1}});
  const int from_2 = sends(2, 1, {{'i', 1, 1}});
  const int last[3][2] = {{sends(1, 0, {{'i', 0, 0}}), sends(2, 0, {{'i', 0, 1}})}, {kept, from_2}, {from_1, from_1}};
  const int step[3][2] = {{0, 0}, {1, 0}, {0, 1}};
  for (int gpu = 0; gpu < 3; ++gpu) {
    const int sum = made.block(gpu, -1, -1);
    made.step(gpu, sum, "cpy", 'i', gpu, 'o', 0);
    for (int i = 0; i < 2; ++i) made.step(gpu, sum, "re", 's', i, 'o', 0, 1, last[gpu][i], step[gpu][i]);
  }
  const support::JudgedFile found = judged(made.text(), Topology("3"));
  CAPTURE(found.refused, found.verdict.violations);
  CHECK(found.good());
  const Machine machine(Topology("3"), all_ports, Switching::wormhole, Contention::share);
  std::vector<NodeId> nodes = row_major(machine.topology);
  do {
    const RunResult result = played(made.text(), machine, nodes);
    CAPTURE(nodes);
    CHECK(result.violations.empty());
    CHECK(result.verified);
  } while (std::next_permutation(nodes.begin(), nodes.end()));
  const support::Folder folder;
  CHECK(ForeignSchedule::read(folder.write("schedule", made.text())).on(machine, nodes).registers > 1);
}

TEST_CASE("a result that comes to a node that has it does no harm", "[unit]") {
  support::Msccl made("allreduce", 2, true, 1, 0);
  int receives = 0;
  for (int gpu = 0; gpu < 2; ++gpu) {
    const int sends = made.block(gpu, 1 - gpu, -1);
    made.step(gpu, sends, "s", 'i', 0, 'i', 0);
    receives = made.block(gpu, -1, 1 - gpu);
    made.step(gpu, receives, "rrc", 'i', 0, 'i', 0, 1, sends, 0);
  }
  made.step(0, 0, "s", 'i', 0, 'i', 0, 1, receives, 0);
  made.step(1, receives, "r", 'i', 0, 'i', 0);
  const support::JudgedFile found = judged(made.text(), Topology("2"));
  CAPTURE(found.refused, found.verdict.violations);
  CHECK(found.good());
  CHECK(found.steps == 2);
  CHECK(played(made.text(), Machine(Topology("2"), all_ports, Switching::wormhole, Contention::share)).verified);
}

TEST_CASE("what is wrong with a schedule is named", "[unit]") {
  const Topology ring("4");
  const std::string gather = support::msccl_ring_allgather(4), reduce = support::msccl_ring_allreduce(4);
  check_bad("", ring, "the file is empty");
  check_bad("hello", ring, "neither XML nor JSON");
  check_bad("<algo", ring, "line 1: it is no XML");
  check_bad("<!DOCTYPE a [<!ENTITY b \"c\">]>" + gather, ring, "document type");
  check_bad("<other/>", ring, "first element is <other>");
  check_bad(replaced(gather, "coll=\"allgather\"", "coll=\"custom\""), ring, "coll is 'custom'");
  check_bad(replaced(gather, "ngpus=\"4\"", "ngpus=\"5\""), ring, "gpu 4 is missing");
  check_bad(replaced(gather, "ngpus=\"4\"", "ngpus=\"3\""), ring, "recv is '3'");
  check_bad(gather, Topology("5"), "it is for 4 ranks, and 5 has 5 nodes");
  check_bad(replaced(gather, "<gpu id=\"1\"", "<gpu id=\"0\""), ring, "gpu 0: it stands there twice");
  check_bad(replaced(gather, "type=\"cpy\"", "type=\"copy\""), ring, "gpu 0, threadblock 0, step 0: type is 'copy'");
  check_bad(replaced(gather, "depid=\"0\" deps=\"0\"", "depid=\"9\" deps=\"0\""), ring, "which the gpu does not have");
  check_bad(replaced(gather, "depid=\"0\" deps=\"0\"", "depid=\"0\" deps=\"7\""), ring, "waits for step 7");
  check_bad(replaced(gather, "depid=\"0\" deps=\"0\"", "depid=\"-1\" deps=\"-1\""), ring, "gpu 0");
  check_bad(replaced(gather, "chan=\"3\"", "chan=\"5\""), ring, "channel");
  check_bad(replaced(gather, "srcoff=\"0\"", "srcoff=\"4\""), ring, "i[4]");
  check_bad(replaced(gather, "type=\"rcs\" srcbuf=\"o\" srcoff=\"2\" dstbuf=\"o\" dstoff=\"2\"",
                     "type=\"rcs\" srcbuf=\"o\" srcoff=\"2\" dstbuf=\"o\" dstoff=\"3\""),
            ring, "gpu 0");
  check_bad(replaced(reduce, "type=\"rrs\"", "type=\"rcs\""), ring, "of 4 gpus");
  check_bad(replaced(support::teccl_line(4), "7-Flows", "6-Flows"), Topology("4m"), "no key '7-Flows'");
  check_bad(replaced(support::teccl_line(4), " in epoch 0", " in epoch"), Topology("4m"), "flow 0");
  check_bad(replaced(support::teccl_line(4), "over 0->1", "over 0->2"), Topology("4m"),
            "message from (0) to (2): mesh:4 has no such link, and none for 1 of 12 flows");
  check_bad(replaced(support::forestcoll_ring(4), "src=\"1\" dst=\"2\"", "src=\"1\" dst=\"0\""), ring, "does not lead from 1 to 0");
  check_bad(replaced(support::forestcoll_ring(4), "nchunks=\"1\"", "nchunks=\"2\""), ring, "all have as many");

  // Each of two gpus receives before it sends.
  support::Msccl circle("allgather", 2, true, 1, 2);
  for (int gpu = 0; gpu < 2; ++gpu) {
    const int block = circle.block(gpu, 1 - gpu, 1 - gpu);
    circle.step(gpu, block, "r", 'o', 1 - gpu, 'o', 1 - gpu);
    circle.step(gpu, block, "s", 'o', gpu, 'o', gpu);
  }
  check_bad(circle.text(), Topology("2"), "none of them can go on");
  check_bad(circle.text(), Topology("2"), "gpu 0, threadblock 0, step 0");

  // All that must come comes, but not where the output has it.
  std::string misplaced = support::msccl_direct_alltoall(3);
  for (const auto& [was, now] :
       {std::pair("\"o\" dstoff=\"1\" cnt", "\"o\" dstoff=\"9\" cnt"), std::pair("\"o\" dstoff=\"2\" cnt", "\"o\" dstoff=\"1\" cnt"),
        std::pair("\"o\" dstoff=\"9\" cnt", "\"o\" dstoff=\"2\" cnt")})
    misplaced = replaced(misplaced, was, now);
  check_bad(misplaced, Topology("3c"), "gpu 0: at the end o[1] has block 6; it must have block 3");

  // A contribution that comes twice.
  support::Msccl twice("reduce_scatter", 2, true, 2, 1);
  for (int gpu = 0; gpu < 2; ++gpu) {
    const int sends = twice.block(gpu, 1 - gpu, -1), receives = twice.block(gpu, -1, 1 - gpu);
    for (int time = 0; time < 2; ++time) {
      twice.step(gpu, sends, "s", 'i', 1 - gpu, 'i', 1 - gpu);
      twice.step(gpu, receives, "rrc", 'i', gpu, 'i', gpu);
    }
  }
  check_bad(twice.text(), Topology("2"), "it combines the contribution of gpu 0 to chunk 1 twice");

  // Two threadblocks write a chunk in no order.
  support::Msccl race("broadcast", 2, true, 1, 1);
  for (const int channel : {0, 1}) {
    race.step(0, race.block(0, 1, -1, channel), "s", 'i', 0, 'o', 0);
    race.step(1, race.block(1, -1, 0, channel), "r", 'i', 0, 'o', 0);
  }
  check_bad(race.text(), Topology("2"), "a race");

  // Gpu 1 passes a chunk on, and receives it again: the second may come before the first has left.
  support::Msccl early("broadcast", 3, true, 1, 1);
  for (const int channel : {0, 1}) early.step(0, early.block(0, 1, -1, channel), "s", 'i', 0, 'o', 0);
  const int first = early.block(1, -1, 0);
  early.step(1, first, "r", 'i', 0, 'o', 0);
  early.step(1, early.block(1, -1, 0, 1), "r", 'i', 0, 'o', 0, 1, first, 0);
  early.step(1, early.block(1, 2, -1), "s", 'o', 0, 'o', 0, 1, first, 0);
  early.step(2, early.block(2, -1, 1), "r", 'i', 0, 'o', 0);
  check_bad(
      early.text(), Topology("3"),
      "gpu 1, threadblock 1, step 0: o[0] of gpu 1 is touched by it and by threadblock 2, step 0, in no order, and one writes: a race");
}

TEST_CASE("a hundred damages of schedules are all found", "[unit]") {
  const std::string texts[] = {support::msccl_ring_allgather(4), support::msccl_doubling_allgather(3), support::msccl_ring_allreduce(5),
                               support::msccl_direct_reduce_scatter(4), support::msccl_alltoall_by_scratch()};
  const Topology topologies[] = {Topology("4"), Topology("8"), Topology("5"), Topology("4c"), Topology("2x2")};
  int damages = 0;
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    const std::string& text = texts[i];
    const Topology& topology = topologies[i];
    REQUIRE(judged(text, topology).good());
    const std::size_t steps = count(text, "<step ");
    for (std::size_t n = 0; n < steps; n += 3, ++damages) check_bad(without_step(text, n), topology);
    for (std::size_t n = 0; n < count(text, "depid=\"0\""); n += 2, ++damages) {
      CAPTURE(i, n);
      check_bad(replaced(text, "depid=\"0\" deps=\"", "depid=\"-1\" depth=\"", n), topology);
    }
    for (std::size_t n = 0; n < count(text, " dstoff=\"1\""); n += 2, ++damages) {
      CAPTURE(i, n);
      // The target of a send says nothing.
      const std::string moved = replaced(text, " dstoff=\"1\"", " dstoff=\"2\"", n);
      std::size_t at = text.find(" dstoff=\"1\"");
      for (std::size_t k = 0; k < n; ++k) at = text.find(" dstoff=\"1\"", at + 1);
      const std::string line = text.substr(text.rfind('\n', at), at - text.rfind('\n', at));
      if (line.find("\"s\"") != std::string::npos || line.find("\"rrs\"") != std::string::npos) continue;
      check_bad(moved, topology);
    }
    for (std::size_t cut = text.size() / 8; cut + 8 < text.size(); cut += text.size() / 8, ++damages)
      check_bad(text.substr(0, cut), topology);
    check_bad(replaced(text, "recv=\"1\"", "recv=\"2\""), topology);
    check_bad(replaced(text, "send=\"1\"", "send=\"2\""), topology);
  }
  const std::string flows = support::teccl_line(6), trees = support::forestcoll_ring(5);
  for (std::size_t n = 0; n < count(flows, "traveled"); ++n, ++damages)
    check_bad(replaced(flows, "traveled over", "stayed over", n), Topology("6m"));
  for (std::size_t n = 0; n < count(flows, "in epoch 1"); ++n, ++damages)
    check_bad(replaced(flows, "in epoch 1", "in epoch 0", n), Topology("6m"));
  for (std::size_t n = 0; n < count(trees, "<send"); ++n, ++damages) check_bad(replaced(trees, "<send", "<dropped", n), Topology("5"));
  CHECK(damages >= 100);
}

TEST_CASE("files that are made to hurt are refused soon", "[unit]") {
  std::string nested;
  for (int depth = 0; depth < 1'000'000; ++depth) nested += "<a>";
  check_bad("<algo>" + nested, Topology("4"), "coll");
  check_bad(replaced(support::msccl_ring_allgather(4), "<tb", nested + "<tb"), Topology("4"), "nested more than");
  check_bad("<trees>" + nested, Topology("4"), "nested more than");
  check_bad("{\"7-Flows\":" + std::string(1'000'000, '['), Topology("4"), "it is no JSON");
  check_bad(replaced(support::msccl_ring_allgather(4), "s_chunks=\"0\"", "s_chunks=\"16777217\""), Topology("4"), "s_chunks");
  check_bad(replaced(support::teccl_line(4), "from 0", "from 4000000000"), Topology("4m"), "2^20 ranks");
}
