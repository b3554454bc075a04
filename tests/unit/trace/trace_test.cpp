#include <algorithm>
#include <optional>
#include <sstream>

#include <torus/engine.hpp>
#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/trace.hpp>
#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

namespace {

Machine packet_machine(const char* shape) { return Machine(Topology::parse(shape), 0, Switching::packet); }

/// Floods from node 0, writes the trace and gives the run's digest back.
std::uint64_t flood_trace(const std::string& path, const char* shape, ExecutorKind executor, unsigned threads) {
  const Machine machine = packet_machine(shape);
  TraceWriter writer(path, TraceHeader{machine, "broadcast", {0}, 1, 16, "flood", 1});
  RunOptions options;
  options.executor = executor;
  options.threads = threads;
  options.on_messages = [&](std::span<const Message* const> messages) { writer.write_step(messages); };
  Engine engine(machine, Placement::replicated(machine.topology, {0}, 16), options);
  Request request;
  request.sources = {0};
  request.bytes = 16;
  const Plan plan = support::broadcast("flood").plan(machine, request);
  const RunResult result = engine.run(plan.start);
  REQUIRE(result.good());
  writer.commit();
  return result.trace_digest;
}

}  // namespace

TEST_CASE("the header says what the machine is, as the format has it", "[unit]") {
  const Machine machine(Topology::parse("4x3mx5c"), 2, Switching::wormhole, Contention::share, {1, 0, 2});
  CHECK(to_json_line({machine, "multinode-broadcast", {0, 7}, 3, 4096, "a\"b", 9}) ==
        "{\"format\":\"torus-trace\",\"version\":1,\"shape\":[4,3,5],\"wrap\":[true,false,\"complete\"],\"ports\":2,\"switching\":"
        "\"wormhole\","
        "\"contention\":\"share\",\"routing\":[1,0,2],\"collective\":\"multinode-broadcast\",\"sources\":[0,7],\"segments\":3,\"block_"
        "bytes\":4096,"
        "\"algorithm\":\"a\\\"b\",\"seed\":9,\"ts_s\":1e-06,\"tc_s\":1e-10,\"th_s\":0}");
  const TraceHeader groups{.machine = machine, .collective = "barrier", .groups = {{2, 0}, {1}}};
  CHECK(to_json_line(groups).find("\"collective\":\"barrier\",\"groups\":[[2,0],[1]],\"segments\":1") != std::string::npos);
  CHECK(to_json_line({.machine = machine,
                      .collective = "broadcast",
                      .sources = {0},
                      .block_bytes = 1,
                      .algorithm = "x",
                      .seed = 1,
                      .costs_known = false})
            .ends_with("\"seed\":1}"));  // older traces say no costs
}

TEST_CASE("one run gives one trace, byte for byte, whatever the executor", "[unit]") {
  const support::Folder folder;
  constexpr const char* shape = "64x64";  // enough for several workers to have a part in a step
  const std::uint64_t digest = flood_trace(folder.file("serial"), shape, ExecutorKind::serial, 1);
  const std::string wanted = support::text_of_file(folder.file("serial"));
  int number = 0;
  for (const ExecutorKind executor : {ExecutorKind::threads, default_executor, ExecutorKind::shuffled}) {
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
      const std::string path = folder.file(std::to_string(++number));
      CHECK(flood_trace(path, shape, executor, threads) == digest);
      CHECK(support::text_of_file(path) == wanted);
    }
  }
}

TEST_CASE("the lines of a trace are ordered by step, source and path", "[unit]") {
  const support::Folder folder;
  flood_trace(folder.file("t"), "4x4", ExecutorKind::shuffled, 1);
  TraceReader reader(folder.file("t"));
  TraceMessage message;
  std::vector<std::vector<std::int64_t>> keys;
  while (reader.next(message)) {
    keys.push_back({message.step, message.source});
    for (const Leg& leg : message.path) keys.back().insert(keys.back().end(), {leg.dimension, leg.hops});
  }
  CHECK(keys.size() > 16);
  CHECK(std::is_sorted(keys.begin(), keys.end()));
}

TEST_CASE("the digest of a run is that of its trace, plain or compressed", "[unit]") {
  const support::Folder folder;
  for (const char* name : {"t.jsonl", "t.jsonl.gz"}) {
    const std::uint64_t digest = flood_trace(folder.file(name), "3x5", ExecutorKind::serial, 1);
    TraceReader reader(folder.file(name));
    Judge judge(reader.header());
    TraceMessage message;
    while (reader.next(message)) REQUIRE(judge.message(message));
    const Verdict verdict = judge.finish();
    CHECK(verdict.ok);
    CHECK(verdict.digest == digest);
  }
}

TEST_CASE("what is read back is what the header was", "[unit]") {
  const support::Folder folder;
  const Machine machine(Topology::parse("4x3mx5c"), 2, Switching::circuit, Contention::share, {1, 0, 2});
  const std::string path = folder.write("t", to_json_line({machine, "broadcast", {11}, 3, 4096, "x", 18446744073709551615U}));
  const TraceReader reader(path);
  const TraceHeader& header = reader.header();
  CHECK(header.machine.topology == machine.topology);
  CHECK(header.machine.ports == 2);
  CHECK(header.machine.switching == Switching::circuit);
  CHECK(header.machine.contention == Contention::share);
  CHECK(header.machine.routing == machine.routing);
  CHECK(header.sources == std::vector<NodeId>{11});
  CHECK(header.segments == 3);
  CHECK(header.block_bytes == 4096);
  CHECK(header.algorithm == "x");
  CHECK(header.seed == 18446744073709551615U);
}

TEST_CASE("a header says what steps take, an older one does not, and half of it is refused", "[unit]") {
  const support::Folder folder;
  const Machine machine(Topology::parse("4"), 2, Switching::wormhole, Contention::forbid, {}, {3e-6, 0.1, 1e-9});
  const std::string line = to_json_line({machine, "broadcast", {0}, 1, 1, "x", 1});
  const TraceReader reader(folder.write("t", line));
  CHECK(reader.header().costs_known);
  CHECK(reader.header().machine.cost.start_up_s == 3e-6);
  CHECK(reader.header().machine.cost.byte_s == 0.1);
  CHECK(reader.header().machine.cost.hop_s == 1e-9);
  const std::string old = line.substr(0, line.find(",\"ts_s\"")) + "}";
  CHECK_FALSE(TraceReader(folder.write("t", old)).header().costs_known);
  for (const std::string rest : {",\"ts_s\":1}", ",\"ts_s\":1,\"tc_s\":1,\"th_s\":-1}", ",\"ts_s\":1,\"tc_s\":1,\"th_s\":\"x\"}"})
    CHECK_THROWS_AS(TraceReader(folder.write("t", old.substr(0, old.size() - 1) + rest)), InputError);
}

TEST_CASE("the first line of a step names its phase, and the digest does not know it", "[unit]") {
  const support::Folder folder;
  const Machine machine = packet_machine("4x4");
  Request request;
  request.sources = {0};
  request.bytes = 16;
  const Plan plan = support::broadcast("flood").plan(machine, request);
  std::uint64_t digest = 0;
  {
    TraceWriter writer(folder.file("t"), TraceHeader{machine, "broadcast", {0}, 1, 16, "flood", 1});
    RunOptions options;
    Step step = 0;
    options.on_messages = [&](std::span<const Message* const> messages) {
      if (step != 1) writer.name_phase("phase \"" + std::to_string(step) + "\"");
      writer.write_step(messages);
      ++step;
    };
    Engine engine(machine, Placement::replicated(machine.topology, {0}, 16), options);
    digest = engine.run(plan.start).trace_digest;
    writer.commit();
  }
  TraceReader reader(folder.file("t"));
  Judge judge(reader.header());
  TraceMessage message;
  std::optional<Step> last;
  while (reader.next(message)) {
    const bool first = last != message.step;
    CHECK(message.phase == (first && message.step != 1 ? "phase \"" + std::to_string(message.step) + "\"" : ""));
    last = message.step;
    REQUIRE(judge.message(message));
  }
  CHECK(last > 1U);
  CHECK(judge.finish().digest == digest);

  const std::string header = to_json_line({machine, "broadcast", {0}, 1, 1, "x", 1}) + "\n";
  for (const std::string phase : {"1", "-1", "1.5", "true", "null", "[\"x\"]", "{}"}) {
    TraceReader wrong(
        folder.write("w", header + R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":8,"blocks":[0],"phase":)" + phase + "}\n"));
    CAPTURE(phase);
    CHECK_THROWS_AS(wrong.next(message), InputError);
  }
}

TEST_CASE("an algorithm may be called anything: what no JSON can say is replaced", "[unit]") {
  const support::Folder folder;
  const Machine machine(Topology::parse("4"), 2, Switching::wormhole);
  const auto read_back = [&](const std::string& name) {
    return TraceReader(folder.write("t", to_json_line({machine, "broadcast", {0}, 1, 1, name, 1}))).header().algorithm;
  };
  for (const char* name : {"plain", "\"quoted\" \\ \n \x01",
                           "h\xc3\xbc"
                           "bsch"})
    CHECK(read_back(name) == name);
  CHECK(read_back("a\xff"
                  "b") ==
        "a\xef\xbf\xbd"
        "b");
}
