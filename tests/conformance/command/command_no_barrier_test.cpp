// torus verify --no-barrier, and the page algorithms/deadlock.md that has its verdict of every algorithm; tools/update_pages writes that
// anew.
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;

namespace {

[[maybe_unused]] Json verdict_without_barrier(const std::string& trace) {
  const support::Ended ended = command("verify --no-barrier --json " + trace);
  const Json json = support::parsed(ended.out);
  CHECK(json["ok"] == true);
  CHECK(ended.status == (json["no_barrier"]["free_of_deadlock"] == true ? 0 : 1));
  return json["no_barrier"];
}

[[maybe_unused]] std::string row_of_deadlocks(const std::string& trace, const std::string& collective, const std::string& algorithm) {
  for (const char* shape : {"8x8", "9x9", "10x10", "16x16", "8", "4x4x4", "4x4x8t", "5x5"}) {
    const std::string bytes = collective == "barrier" ? "" : " --bytes 256";
    if (command(fmt::format("run {} --on {} --algorithm {}{} --trace {}", collective, shape, algorithm, bytes, trace)).status != 0)
      continue;
    const Json json = verdict_without_barrier(trace);
    std::string channels = json["free_of_deadlock"] == true ? "1" : json["datelines"].is_null() ? "more than 2" : "2, dimension";
    if (channels.ends_with("dimension"))
      for (std::size_t i = 0; i < json["datelines"].size(); ++i)
        channels += fmt::format("{} {}", i > 0 ? "," : "", json["datelines"][i].get<int>());
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", collective, algorithm, shape,
                       json["free_of_deadlock"] == true ? "free" : fmt::format("cycle of {}", json["cycle"].size()), channels,
                       json["sends_first_circle"].empty() ? "free" : fmt::format("circle of {}", json["sends_first_circle"].size()),
                       json["buffered_blocks"].get<std::uint64_t>(), json["buffered_bytes"].get<std::uint64_t>());
  }
  return fmt::format("| {} | {} | none tried | | | | | |\n", collective, algorithm);
}

}  // namespace

TEST_CASE("fourteen wormhole algorithms are free of deadlock without a barrier, or need a dateline", "[conformance]") {
  const support::Folder folder;
  const std::string trace = folder.file("trace.jsonl");
  const std::vector<std::pair<std::string, bool>> runs{{"broadcast --on 10x10 --algorithm wang-tseng", true},
                                                       {"broadcast --on 16x16 --algorithm swath", true},
                                                       {"broadcast --on 8x8 --algorithm tsai-mckinley", true},
                                                       {"broadcast --on 12x18 --algorithm synthesized-ordered", true},
                                                       {"broadcast --on 8x8 --algorithm mst", true},
                                                       {"allgather --on 10x10 --algorithm log", true},
                                                       {"allgather --on 10x10 --algorithm hierarchical", true},
                                                       {"allgather --on 16x16 --algorithm aggregate-distribute --h 4", true},
                                                       {"allreduce --on 10x10 --algorithm diagonal", true},
                                                       {"alltoall --on 8x8 --algorithm stride", false},
                                                       {"alltoall --on 8x8 --algorithm direct", false},
                                                       {"alltoall --on 8x8 --algorithm bruck", false},
                                                       {"allreduce --on 8x8 --algorithm swing", false},
                                                       {"allreduce --on 9x9 --algorithm tripling", false}};
  for (const auto& [run, free] : runs) {
    CAPTURE(run);
    support::good("run " + run + " --bytes 256 --trace " + trace);
    const Json json = verdict_without_barrier(trace);
    CHECK(json["free_of_deadlock"] == free);
    CHECK(json["cycle"].empty() == free);
    REQUIRE(json["datelines"].is_array());
    CHECK(json["datelines"].empty() == free);
  }
}

TEST_CASE("a planted cycle is named, and another program's schedule is asked too", "[conformance]") {
  const support::Folder folder;
  const std::string trace = folder.file("trace.jsonl");
  std::string text = R"({"format":"torus-trace","version":1,"shape":[4],"wrap":[true],"ports":2,"switching":"wormhole",)"
                     R"("contention":"share","collective":"barrier","sources":[0,1,2,3]})"
                     "\n";
  for (int step = 0; step < 2; ++step)
    for (int node = 0; node < 4; ++node)
      text += fmt::format(R"({{"step":{},"src":{},"dst":{},"path":[[0,{}]],"bytes":0,"blocks":[]}})"
                          "\n",
                          step, node, (node + 2 - step) % 4, 2 - step);
  folder.write("trace.jsonl", text);
  CHECK(command("verify " + trace).status == 0);
  const support::Ended ended = command("verify --no-barrier " + trace);
  CHECK(ended.status == 1);
  CHECK(ended.out.find("the message from node 1 to node 3 holds node 1 dimension 0 +1 and asks for node 2 dimension 0 +1") !=
        std::string::npos);
  CHECK(ended.out.find("2 a channel, with a dateline on the rings of dimension 0, break all cycles") != std::string::npos);
  CHECK(ended.err.find("without a barrier it may deadlock: step 0: the message from node") != std::string::npos);

  const std::string xml = folder.file("program.xml");
  support::good("run alltoall --on 4x4 --algorithm bruck --bytes 256 --trace " + trace);
  support::good("export " + trace + " --to msccl -o " + xml);
  const support::Ended imported = command("verify --no-barrier --json --on 4x4 " + xml);
  CHECK(imported.status == 1);
  const Json json = support::parsed(imported.out)["no_barrier"];
  CHECK(json["cycle"].size() == 4);
  CHECK(json["datelines"] == Json({0, 1}));
  CHECK(json["buffered_blocks"] == 9);  // for another row and another column
  CHECK(command("verify --no-barrier --on mesh:4x4 " + xml).status == 0);

  // What leaves the machine is refused as ever, and nothing is said of deadlocks.
  folder.write("trace.jsonl", text + R"({"step":2,"src":0,"dst":0,"path":[[0,2000000000]],"bytes":0,"blocks":[]})"
                                     "\n");
  const support::Ended refused = command("verify --no-barrier " + trace);
  CHECK(refused.status == 1);
  CHECK(refused.out.find("REFUSED") != std::string::npos);
  CHECK(refused.out.find("no barrier") == std::string::npos);
}

TEST_CASE("a ring whose nodes send before they receive is told to hang, and a broadcast is not", "[conformance]") {
  const support::Folder folder;
  const std::string trace = folder.file("trace.jsonl");
  support::good("run allgather --on 4 --algorithm ring --bytes 256 --trace " + trace);
  const support::Ended ring = command("verify --no-barrier " + trace);
  CHECK(ring.status == 0);
  CHECK(ring.out.find("hangs where nodes send all of a step before they receive, without a buffer: in step 0 nodes 0, ") !=
        std::string::npos);
  CHECK(verdict_without_barrier(trace)["sends_first_circle"].size() >= 2);
  support::good("run broadcast --on 8x8 --algorithm mst --ports 1 --bytes 256 --trace " + trace);
  CHECK(verdict_without_barrier(trace)["sends_first_circle"].empty());
}

TEST_CASE("a judged run says what waits at nodes, as its trace does", "[conformance]") {
  const support::Folder folder;
  const std::string trace = folder.file("trace.jsonl");
  for (const char* run : {"alltoall --on 4x4 --algorithm bruck", "allreduce --on 5x3 --algorithm rings", "allgather --on 8 --sizes zipf:1",
                          "allgather --on 4x4x2 --groups axis:2", "broadcast --on 4x4 --switching packet"}) {
    CAPTURE(run);
    const Json report = support::parsed(support::good(fmt::format("run {} --bytes 256 --judge --json --trace {}", run, trace)).out);
    const Json verdict = verdict_without_barrier(trace);
    CHECK(report["buffered"] == Json({{"blocks", verdict["buffered_blocks"]}, {"bytes", verdict["buffered_bytes"]}}));
    CHECK_FALSE(support::parsed(support::good(fmt::format("run {} --bytes 256 --json", run)).out).contains("buffered"));
  }
}

TEST_CASE("the page of deadlocks has the verdict of every algorithm", "[conformance]") {
  const support::Folder folder;
  std::string table;
  const Json listed = support::parsed(support::good("list --json").out)["algorithms"];
  REQUIRE(listed.size() > 80);
  for (const Json& row : listed) table += row_of_deadlocks(folder.file("trace.jsonl"), row["collective"], row["algorithm"]);
  const std::string path = TORUS_SOURCE_DIR "/algorithms/deadlock.md";
  std::string page = support::text_of_file(path);
  const std::string rule = "|---|---|---|---|---|---|---|---|\n";
  const std::size_t begin = page.find(rule) + rule.size();
  REQUIRE(begin > rule.size());
  if (std::getenv("TORUS_UPDATE_PAGES") != nullptr) {
    page = page.substr(0, begin) + table;
    std::ofstream(path) << page;
  }
  CHECK(page.substr(begin) == table);
}
