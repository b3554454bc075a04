// torus import, and verify, run and compare with schedules of other programs: MSCCL XML, TE-CCL JSON, ForestColl trees, traces.
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/foreign.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using torus::support::check_refused_without;
using torus::support::command;
using torus::support::Ended;
using torus::support::Folder;
using torus::support::good;
using torus::support::parsed;
using torus::support::traced;

namespace {

struct Example {
  const char* collective;
  std::string file, shape;
};

std::vector<Example> examples(const Folder& folder) {
  return {{"allgather", folder.write("ring.xml", support::msccl_ring_allgather(4)), "4"},
          {"allgather", folder.write("doubling.xml", support::msccl_doubling_allgather(3)), "8"},
          {"allreduce", folder.write("allreduce.xml", support::msccl_ring_allreduce(8)), "8"},
          {"reduce-scatter", folder.write("scatter.xml", support::msccl_direct_reduce_scatter(6)), "6c"},
          {"alltoall", folder.write("alltoall.xml", support::msccl_alltoall_by_scratch()), "2x2"},
          {"allgather", folder.write("flows.json", support::teccl_line(5)), "5m"},
          {"allgather", folder.write("trees.xml", support::forestcoll_ring(5)), "5"}};
}

}  // namespace

TEST_CASE("a schedule of another program is verified, imported, run and compared", "[conformance]") {
  const Folder folder;
  for (const Example& example : examples(folder)) {
    CAPTURE(example.file);
    const std::string on = " --on " + example.shape;
    const auto verdict = parsed(good("verify " + example.file + on + " --json").out);
    CHECK(verdict["ok"] == true);
    CHECK_FALSE(verdict["schedule"].get<std::string>().empty());
    const std::string trace = folder.file("imported.jsonl.gz");
    good("import " + example.file + on + " -o " + trace);
    const auto judged = parsed(good("verify " + trace + " --json").out);
    CHECK(judged["trace_digest"] == verdict["trace_digest"]);
    const std::string run = std::string("run ") + example.collective + on + " --schedule ";
    const auto played = parsed(good(run + example.file + " --judge --json").out);
    CHECK(played["trace_digest"] == verdict["trace_digest"]);
    CHECK(played["verified"] == true);
    // A trace is a schedule, too; and the command that a report prints repeats it.
    CHECK(parsed(good(run + trace + " --json").out)["trace_digest"] == verdict["trace_digest"]);
    const std::string table = good(std::string("compare ") + example.collective + on + " --bytes 4KiB --schedule " + example.file).out;
    CHECK(table.find(std::filesystem::path(example.file).filename().string()) != std::string::npos);
  }
  // On another machine than it was made for a schedule may be illegal: its row says so.
  const std::string doubling = folder.write("doubling.xml", support::msccl_doubling_allgather(3));
  CHECK(good("compare allgather --on 8 --bytes 4KiB --contention forbid --schedule " + doubling)
            .out.find("on this machine it fails: violation") != std::string::npos);
}

TEST_CASE("what the machine forbids a schedule is refused by the judge, and by the engine", "[conformance]") {
  const Folder folder;
  const std::string exchange = folder.write("a2a.xml", support::msccl_direct_alltoall(8));
  const Ended verdict = command("verify " + exchange + " --on 8");
  CHECK(verdict.status == 1);
  CHECK(verdict.out.find("REFUSED") != std::string::npos);
  CHECK(verdict.err.find("sends more than 2 messages with 2 ports") != std::string::npos);
  CHECK(command("run alltoall --on 8 --schedule " + exchange).status == 1);
  CHECK(command("verify " + exchange + " --on 8c").status == 0);
  CHECK(command("verify " + folder.write("doubling.xml", support::msccl_doubling_allgather(3)) + " --on 8 --contention forbid").status ==
        1);
  // Flows over links that a mesh does not have.
  const std::string flows = folder.write("flows.json", support::teccl_line(16));
  check_refused_without(folder.file("none"), "verify " + flows + " --on mesh:4x4",
                        "message from (0,3) to (1,0): mesh:4x4 has no such link, and none for 48 of 240 flows");
}

TEST_CASE("what verify refuses is neither played nor imported", "[conformance]") {
  const Folder folder;
  const std::string out = folder.file("out.jsonl");
  const auto refused = [&](const std::string& collective, const std::string& shape, const std::string& file, bool trace) {
    CAPTURE(file);
    CHECK(command("verify " + file + (trace ? "" : " --on " + shape)).status != 0);
    const Ended run = command("run " + collective + " --bytes 64 --on " + shape + " --schedule " + file);
    const Ended import = command("import " + file + " --on " + shape + " -o " + out);
    CAPTURE(run.err, import.err);
    for (const Ended& ended : {run, import}) {
      CHECK((ended.status == 1 || ended.status == 2));
      CHECK(support::lines(ended.err) == 1);
    }
    CHECK_FALSE(std::filesystem::exists(out));
  };
  const std::string text = support::text_of_file(traced(folder, "broadcast --on 4 --bytes 64 --segments 1"));
  for (const auto& [was, now] :
       {std::pair("\"dst\":1", "\"dst\":2"), std::pair("\"bytes\":64", "\"bytes\":3"), std::pair("\"blocks\":[0]", "\"blocks\":[]"),
        std::pair("\"step\":1", "\"step\":0"), std::pair("\"ports\":2", "\"ports\":1"), std::pair("\"src\":0", "\"src\":9"),
        std::pair("\"block_bytes\":64", "\"block_bytes\":65")}) {
    REQUIRE(text.find(was) != std::string::npos);
    refused("broadcast", "4", folder.write("damaged", support::replaced(text, was, now)), true);
  }
  refused("broadcast", "4", folder.write("alone", text.substr(0, text.find('\n') + 1)), true);
  refused("alltoall", "8", folder.write("a2a.xml", support::msccl_direct_alltoall(8)), false);
  refused("allgather", "4m", folder.write("flows", support::replaced(support::teccl_line(4), "in epoch 1", "in epoch 0")), false);
}

TEST_CASE("a schedule may pause: verified, it runs, also beside others", "[conformance]") {
  const Folder folder;
  const std::string flows = folder.write("flows", R"({"7-Flows":["Chunk 0 from 0 traveled over 0->1 in epoch 73",)"
                                                  R"("Chunk 0 from 1 traveled over 1->0 in epoch 500"]})");
  const std::string trace = folder.file("t.jsonl"), xml = folder.file("t.xml"), run = "run allgather --on 2 --bytes 64 --schedule ";
  good("verify " + flows + " --on 2");
  good("import " + flows + " --on 2 -o " + trace);
  good("export " + trace + " --to msccl -o " + xml);
  for (const std::string& file : {flows, trace, xml}) CHECK(parsed(good(run + file + " --json").out)["steps"] == 501);
  good("run allgather --on 2 --bytes 64 + allgather --bytes 64 --schedule " + flows);
  CHECK(good("compare allgather --on 2 --bytes 64 --schedule " + flows).out.find("fails") == std::string::npos);
}

TEST_CASE("a file without end is refused, whatever option names it", "[conformance]") {
  const Folder folder;
  const std::string flows = folder.write("flows", support::teccl_line(2)), none = folder.file("none");
  for (const char* line : {"run allgather --on 4 --sizes ", "run allgather --on 4 --groups file:", "run allgather --on 4 --schedule ",
                           "verify ", "plot ", "export --to dot ", "view ", "import --on 2 "}) {
    check_refused_without(none, std::string(line) + "/dev/zero", "holds a byte of value 0, as no text does");
  }
  check_refused_without(none, "run allgather --on 2 --schedule " + flows + " --map file:/dev/zero", "holds a byte of value 0");
  check_refused_without(none, "run allgather --config /dev/zero", "holds a byte of value 0");
}

TEST_CASE("options of a schedule that make no sense are refused", "[conformance]") {
  const Folder folder;
  const std::string ring = folder.write("ring.xml", support::msccl_ring_allgather(4)), none = folder.file("none");
  check_refused_without(none, "verify " + ring, "add --on SHAPE");
  check_refused_without(none, "verify " + ring + " --on 5", "it is for 4 ranks");
  check_refused_without(none, "run scan --on 4 --schedule " + ring, "it is of multinode-broadcast, not of scan");
  check_refused_without(none, "run allreduce --on 4 --schedule " + ring, "node 1 hears of node 0 twice, and sums count each once");
  check_refused_without(none, "run allgather --on 4 --schedule " + ring + " --algorithm ring", "leave out one");
  check_refused_without(none, "import " + ring + " --on 4 -o " + folder.file("no/such"), "no/such");
  check_refused_without(none, "import " + folder.file("nothing") + " --on 4", "nothing");
  check_refused_without(none, "run allgather --on 4 --schedule " + ring + " --map file:" + folder.write("map", "0 1 2 2"),
                        "names node 2 twice");
  check_refused_without(none, "run allgather --on 4 --schedule " + ring + " --map file:" + folder.write("map", "0 1 2"),
                        "it names 3 nodes");
  const std::string trace = traced(folder, "broadcast --on 4 --source 2");
  check_refused_without(none, "verify " + trace + " --on 4", "which names its own machine");
  check_refused_without(none, "import " + trace, "is a trace of a run on 4; add --on SHAPE, for instance --on 4");
  const std::string headless = folder.write("headless", R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[0]})"
                                                        "\n{}\n");
  check_refused_without(none, "verify " + headless, R"(no trace, whose first line has "format":"torus-trace")");
  // The root is the file's, unless another is asked for.
  good("run broadcast --on 4 --schedule " + trace);
  check_refused_without(none, "run broadcast --on 4 --source 1 --schedule " + trace, "its sources are nodes 2");
  good("run allgather --on 4 --schedule " + ring + " --map file:" + folder.write("map", "3\n1 0\n2"));
  const std::string uneven = traced(folder, "alltoall --on 4 --sizes uniform:0:90 --seed 3"), again = folder.file("again.jsonl");
  check_refused_without(none, "import " + uneven + " --on 4 -o " + none, "its blocks have sizes of their own; say them with --sizes");
  good("import " + uneven + " --on 4 --sizes uniform:0:90 --seed 3 -o " + again);
  CHECK(parsed(good("verify " + again + " --json").out)["trace_digest"] ==
        parsed(good("verify " + uneven + " --json").out)["trace_digest"]);
}

TEST_CASE("a damaged schedule takes little time and memory", "[conformance]") {
  const Folder folder;
  std::string nested = "<algo name=\"a\" nchunksperloop=\"1\" ngpus=\"2\" coll=\"allgather\">";
  for (int depth = 0; depth < 1'000'000; ++depth) nested += "<gpu>";
  for (const std::string& text : {nested, "<!DOCTYPE a [<!ENTITY b \"" + std::string(1000, 'c') + "\">]><algo name=\"&b;\"/>",
                                  "{\"7-Flows\":" + std::string(1'000'000, '[')}) {
    const std::string line = "verify " + folder.write("damaged", text) + " --on 2";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // which take more address space than any limit
    const Ended ended = support::command_under("-t 30", line);
#else
    const Ended ended = support::command_under("-v 1048576; ulimit -t 10", line);
#endif
    CAPTURE(ended.err);
    CHECK(ended.status == 2);
    CHECK(support::lines(ended.err) == 1);
  }
}
