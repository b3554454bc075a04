// torus ... --sizes: every subcommand knows sizes, and MPI's names for them, or refuses them in one line.
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::good;
using support::Json;
using support::refusal;

namespace {

Json run_json(const std::string& words) { return support::parsed(good("run " + words + " --threads 1 --json").out); }

}  // namespace

TEST_CASE("a run with sizes says them, and MPI's names ask for them", "[conformance]") {
  const Json run = run_json("MPI_Alltoallv --on 4x4 --sizes zipf:1 --bytes 256 --judge");
  CHECK(run["verified"] == true);
  CHECK(run["sizes"] == "zipf:1");
  CHECK(run["bytes"] == 256);
  for (const char* name : {"alltoallv", "all-to-allv", "allgatherv", "MPI_Scatterv", "gatherv", "reduce_scatterv"}) {
    CHECK(run_json(std::string(name) + " --on 3x3 --sizes zeros:0.5 --bytes 64 --judge")["verified"] == true);
    CHECK(refusal("run " + std::string(name) + " --on 3x3").find("its blocks have sizes; say which, for instance --sizes zipf:1") !=
          std::string::npos);
  }
  CHECK(run_json("total-exchange --on 4x6 --groups rows --sizes uniform:0:99 --judge")["bytes"] == 50);
  CHECK(good("bounds gatherv --on 4x4 --sizes zeros:1").out.find("no node must send anything") != std::string::npos);
}

TEST_CASE("in a total exchange of some sources these alone have blocks, whatever the sizes, in groups too", "[conformance]") {
  const Json run = run_json("alltoall --on 4x6 --sources '5;7;20' --bytes 64 --judge");
  CHECK(run["verified"] == true);
  CHECK(run["sources"] == Json({5, 7, 20}));
  CHECK_FALSE(run.contains("sizes"));
  CHECK(run["asked_bytes"] == 24 * 64);
  const std::string report = good("run alltoall --on 4x6 --sources random:3 --bytes 64 --seed 4 --threads 1 --wide").out;
  CHECK(report.find("of 64 bytes a block from 3: ") != std::string::npos);
  for (const char* words : {"--on 4x6 --sources random:4 --groups rows", "--on 5x5 --dead-node 7 --sources random:4",
                            "--on 4x4 --sizes zipf:1 --sources row:1", "--on 3x3 --sources none", "--on 3x3 --sources all"}) {
    CAPTURE(words);
    CHECK(run_json("alltoall " + std::string(words) + " --bytes 64 --judge")["verified"] == true);
  }
  const Json bounds = support::parsed(good("bounds alltoall --on 8x8 --sources '0' --switching packet --bytes 64 --json").out);
  CHECK(bounds["collectives"]["total-exchange"]["source_count"] == 1);
  CHECK(bounds["collectives"]["total-exchange"]["channel_bytes_lower_bound"] == 63 * 64 / 4);
  CHECK(good("compare alltoall --on 4x4 --sources random:3 --bytes 64,1KiB").out.find(", from 3 sources") != std::string::npos);
  const support::Folder folder;
  good("verify " + support::traced(folder, "total-exchange --on 4x4 --sources random:5 --algorithm a2"));
}

TEST_CASE("where no model time is predicted for sizes, blocks of the mean size choose the algorithm", "[conformance]") {
  for (const char* collective : {"gather", "scatter"}) {
    CAPTURE(collective);
    const Json run = run_json(std::string(collective) + " --on 65x64 --bytes 8 --sizes zipf:1 --switching wormhole");
    CHECK(run["algorithm"] == "tree-of-broadcast");
    CHECK(run["chosen_because"].get<std::string>().find(" for blocks of the mean size, as none is predicted for these sizes") !=
          std::string::npos);
  }
}

TEST_CASE("sizes that do not fit are refused in one line", "[conformance]") {
  const support::Folder folder;
  std::ofstream(folder.file("five")) << "1 2 3 4 5\n";
  CHECK(refusal("run broadcast --on 4x4 --sizes zipf:1").find("--sizes 'zipf:1': it is for ") != std::string::npos);
  CHECK(refusal("run gather --on 4 --sizes " + folder.file("five")).find("it has 5 sizes, and 4 nodes need 4") != std::string::npos);
  CHECK(refusal("run gather --on 5 --bytes 7 --sizes " + folder.file("five")).find("says all sizes, and so their mean") !=
        std::string::npos);
  CHECK(refusal("bounds --on 4x4 --sizes zipf:1").find("name the collective that they are of") != std::string::npos);
  CHECK(run_json("gather --on 5 --sizes " + folder.file("five"))["bytes"] == 3);
}

TEST_CASE("sizes of a reduction are whole elements of its range, or are refused", "[conformance]") {
  for (const char* command : {"run ", "compare ", "bench ", "bounds ", "explain "}) {
    CAPTURE(command);
    const auto says = [&](const char* rule, const char* words) {
      const std::string text = refusal(command + std::string("reduce-scatter --on 3x3 --sizes ") + rule);
      CAPTURE(text);
      CHECK(text.find(words) != std::string::npos);
    };
    says("uniform:1:3", "no whole number of elements of 4 bytes has from 1 to 3 bytes; for instance uniform:0:4");
    says("uniform:5:7", "for instance uniform:4:8");
  }
  CHECK(run_json("reduce-scatter --on 3x3 --sizes uniform:4:7 --judge")["bytes"] == 4);
  CHECK(run_json("reduce-scatter --on 3x3 --sizes uniform:1:3 --type u8 --judge")["bytes"] == 2);
}

TEST_CASE("a report gives the mean, maximum and bandwidths of the sizes that are drawn", "[conformance]") {
  const std::string none = "run alltoall --on 3 --sizes zeros:0.99 --threads 1 --bytes ";
  CHECK(good(none + "64 --wide").out.find("0 B on average, at most 0 B") != std::string::npos);
  const Json json = support::parsed(good(none + "1MiB --json").out);
  CHECK(json["data_bytes"] == 0);
  CHECK(json["asked_bytes"] == 0);
  CHECK(json["algbw_bytes_per_s"] == 0);
  const support::Folder folder;
  const std::string trace = support::traced(folder, "allgather --on 2 --algorithm ring --sizes uniform:0:100");
  std::uint64_t sum = 0;
  std::uint64_t longest = 0;
  for (const TraceMessage& message : support::messages_of(trace)) {
    sum += message.bytes;
    longest = std::max<std::uint64_t>(longest, message.bytes);
  }
  const std::string report = good("run allgather --on 2 --algorithm ring --sizes uniform:0:100 --wide").out;
  CAPTURE(report, sum);
  CHECK(report.find(std::to_string((sum + 1) / 2) + " B on average, at most " + std::to_string(longest) + " B") != std::string::npos);
  CHECK(run_json("allgather --on 2 --algorithm ring --sizes uniform:0:100")["asked_bytes"] == sum);
}

TEST_CASE("a trace lists its sizes and is judged by them", "[conformance]") {
  const support::Folder folder;
  for (const char* words : {"total-exchange --on 4x4 --sizes zeros:0.5", "multinode-broadcast --on 3x4 --sizes uniform:0:200 --sources 1;5",
                            "gather --on 4x4 --sizes zipf:1 --root 5", "reduce-scatter --on 3x3 --sizes zeros:0.3"}) {
    CAPTURE(words);
    const std::string trace = support::traced(folder, words);
    CHECK(support::text_of_file(trace).find("\"sizes\":[") != std::string::npos);
    good("verify " + trace);
  }
}

TEST_CASE("tables take sizes", "[conformance]") {
  CHECK(good("compare total-exchange --on 4x4 --sizes zipf:1 --bytes 64,1KiB").out.find("zipf") == std::string::npos);
  const support::Folder folder;
  good("sweep allgatherv --on 4x4,3x3 --sizes zeros:0.5 --bytes 64,100 --repeat 1 --csv " + folder.file("table"));
  good("bench scatterv --on 4x4 --sizes uniform:0:100 --repeat 1 --warmup 0");
}
