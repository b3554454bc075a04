/// torus compare: its rows are what runs come to, its winners those that `torus run` chooses.
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;
using support::lines;

namespace {

/// The options of a machine of the comparison, and of a size on it.
std::string run_options(const Json& machine, std::uint64_t bytes) {
  return fmt::format(" --switching {} --ports {} --contention {} --bytes {} --json", machine["switching"].get<std::string>(),
                     machine["ports"].get<int>(), machine["contention"].get<std::string>(), bytes);
}

}  // namespace

TEST_CASE("the fastest of a comparison are those that a run chooses on the same machine", "[conformance]") {
  for (const std::string what : {"broadcast --on 5x5", "total-exchange --on 4x4", "multinode-broadcast --on 5x5 --expect 25"}) {
    const support::Ended ended = command("compare " + what + " --all-machines --bytes 16,1MiB --run none --json");
    CAPTURE(what, ended.err);
    REQUIRE(ended.status == 0);
    const Json comparison = support::parsed(ended.out);
    CHECK(comparison["machines"].size() >= 2);
    for (const Json& machine : comparison["machines"]) {
      REQUIRE(!machine["fastest"].empty());
      const Json& reign = machine["fastest"].front();
      const Json run = support::parsed(command("run " + what + run_options(machine, reign["from_bytes"])).out);
      CAPTURE(machine["switching"], machine["ports"]);
      CHECK(run["algorithm"] == reign["algorithms"].front());
      CHECK(run["model_time_lower_bound_s"] == machine["bounds"].front()["model_time_lower_bound_s"]);
    }
  }
}

TEST_CASE("a comparison is of the machine that a run takes, or of all that algorithms were made for", "[conformance]") {
  for (const std::string what : {"broadcast --on 5x5", "allreduce --on 4x4", "multinode-broadcast --on 5x5", "barrier --on 4x4"}) {
    CAPTURE(what);
    const Json one = support::parsed(command("compare " + what + " --run none --json").out)["machines"];
    const Json all = support::parsed(command("compare " + what + " --run none --json --all-machines").out)["machines"];
    const Json run = support::parsed(command("run " + what + " --json").out);
    REQUIRE(one.size() == 1);
    for (const char* key : {"ports", "switching", "contention"}) CHECK(one[0][key] == run[key]);
    CHECK(all.size() >= 2);
    CHECK(std::count(all.begin(), all.end(), one[0]) <= 1);
    const std::string text = command("compare " + what + " --run none").out;
    CHECK(text.find("--all-machines adds ") != std::string::npos);
    CHECK(text.find("fastest") < text.find("lower bound"));  // the answer stands first
  }
  // Where the machine depends on the collective, that is said; named, it is one.
  for (const auto& [what, words] : {std::pair("allreduce", "--switching is left open: packet for this collective, wormhole for broadcast"),
                                    std::pair("allgather", "--switching is left open: wormhole for this collective, packet for all but")}) {
    const std::string line = std::string("compare ") + what + " --on 4x4 --run none";
    CHECK(command(line).out.find(words) != std::string::npos);
    CHECK(command(line + " --switching wormhole").out.find("left open") == std::string::npos);
  }
  // Named, and made for another machine: that one.
  const Json windows = support::parsed(command("compare allreduce --on 4x4 --algorithms windows --run none --json").out)["machines"];
  REQUIRE(windows.size() == 1);
  CHECK(windows[0]["contention"] == "share");
}

TEST_CASE("a comparison runs the best of each size, if that is asked for", "[conformance]") {
  const Json machine = support::parsed(command("compare allreduce --on 4x4 --bytes 64,64KiB,1MiB --run best --json").out)["machines"][0];
  for (std::size_t size = 0; size < 3; ++size) {
    int runs = 0;
    for (const Json& row : machine["algorithms"]) {
      for (const Json& entry : row["sizes"]) {
        if (entry["bytes"] != machine["bounds"][size]["bytes"]) continue;
        CHECK(entry["run"] == entry["best"]);
        if (entry["run"] == true) CHECK(entry["verified"] == true);
        runs += entry["run"] == true ? 1 : 0;
      }
    }
    CHECK(runs >= 1);
  }
  CHECK(command("compare allreduce --on 4x4 --bytes 64 --run best").out.find("the best of each size (*) were run") != std::string::npos);
}

TEST_CASE("a comparison of real sums says the largest error of each run, and none where nothing is rounded", "[conformance]") {
  const std::string line = "compare allreduce --on 4x4 --bytes 512,1KiB --algorithms rings,hamiltonian --values ";
  const Json real = support::parsed(command(line + "real --json").out)["machines"][0];
  for (const Json& row : real["algorithms"]) {
    const std::string run = "run allreduce --on 4x4 --bytes 512 --values real --json --algorithm " + row["algorithm"].get<std::string>();
    const Json& first = row["sizes"][0];
    CHECK(first["error_ulp"] ==
          support::parsed(command(run + " --switching " + real["switching"].get<std::string>() + " --contention " +
                                  real["contention"].get<std::string>() + " --ports " + std::to_string(real["ports"].get<int>()))
                              .out)["error_ulp"]);
    CHECK(first["error_ulp"] > 0.1);
    CHECK_FALSE(row["sizes"][1].contains("error_ulp"));  // it was not run
  }
  const std::string table = command(line + "real").out, small = command(line + "small").out;
  CHECK(table.find(" ulp ") != std::string::npos);
  CHECK(table.find("ulp: the largest error of the runs") != std::string::npos);
  CHECK(small.find("ulp") == std::string::npos);
  CHECK_FALSE(support::parsed(command(line + "small --json").out)["machines"][0]["algorithms"][0]["sizes"][0].contains("error_ulp"));
}

TEST_CASE("bounds of one collective are those of a comparison", "[conformance]") {
  for (const std::string collective :
       {"broadcast", "allgather", "alltoall", "reduce", "allreduce", "reduce_scatter", "scan", "scatter", "gather"}) {
    CAPTURE(collective);
    const Json bounds = support::parsed(command("bounds " + collective + " --on 4x5 --bytes 4000 --json").out)["collectives"];
    REQUIRE(bounds.size() == 1);
    const Json machine = support::parsed(command("compare " + collective + " --on 4x5 --bytes 4000 --run none --json").out)["machines"][0];
    CHECK(machine["switching"] == (collective == "broadcast" || collective == "allgather" ? "wormhole" : "packet"));
    CHECK(bounds.begin().value()["model_time_lower_bound_s"] == machine["bounds"][0]["model_time_lower_bound_s"]);
  }
  CHECK(command("bounds barrier --on 4x5").status == 0);
}

TEST_CASE("what a comparison predicts is what a run takes", "[conformance]") {
  const std::string costs = GENERATE(std::string(), std::string(" --th 1e-6"));
  const Json comparison = support::parsed(command("compare broadcast --on 5x5 --all-machines --bytes 100,10000 --json" + costs).out);
  for (const Json& machine : comparison["machines"]) {
    for (const Json& row : machine["algorithms"]) {
      const std::string algorithm = row["algorithm"];
      CAPTURE(algorithm, machine["switching"], costs);
      REQUIRE(row["sizes"].size() == 2);
      CHECK(row["sizes"][0]["verified"] == true);
      CHECK(row["sizes"][0]["model_time_s"].get<double>() == Approx(row["sizes"][0]["model_time_formula_s"].get<double>()).epsilon(1e-12));
      CHECK(row["sizes"][1]["run"] == false);
      const support::Ended ended = command("run broadcast --on 5x5 --algorithm " + algorithm + run_options(machine, 10000) + costs);
      CAPTURE(ended.err);
      REQUIRE(ended.status == 0);
      CHECK(support::parsed(ended.out)["model_time_s"].get<double>() ==
            Approx(row["sizes"][1]["model_time_formula_s"].get<double>()).epsilon(1e-12));
    }
  }
}

TEST_CASE("an entry of a comparison has the figures of its run, and how many times the bound it takes", "[conformance]") {
  // On a ring of 5 the flood takes two steps, each with the whole message on a channel. Whoever takes two steps needs as
  // many bytes as the whole message: the last nodes hear nothing in the first. More steps need half of it at least.
  const Json comparison =
      support::parsed(command("compare broadcast --on 5 --algorithms flood --segments 1 --bytes 100,10000 --ts 1e-6 --tc 1e-8 --json").out);
  CHECK(comparison["bytes"] == Json::array({100, 10000}));
  REQUIRE(comparison["machines"].size() == 1);
  const Json& sizes = comparison["machines"][0]["algorithms"][0]["sizes"];
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[0]["steps"] == 2);
  CHECK(sizes[0]["channel_bytes_sum"] == 200);
  CHECK(sizes[0]["model_time_s"].get<double>() == Approx(2e-6 + 2e-6));
  CHECK(sizes[0]["times_the_bound"].get<double>() == Approx((2e-6 + 2e-6) / (2e-6 + 1e-6)));
  CHECK(sizes[1]["channel_bytes_formula"] == 20000);
  const double times = sizes[1]["times_the_bound"].get<double>();
  CHECK(times > (2e-6 + 2e-4) / (2e-6 + 1e-4));
  CHECK(times < (2e-6 + 2e-4) / (2e-6 + 5e-5));
  CHECK(!sizes[1].contains("channel_bytes_sum"));  // it was not run
}

TEST_CASE("the fastest are those with the least time at each size, and each reigns as far as they stay the same", "[conformance]") {
  for (const std::string what : {"broadcast --on 5x5", "total-exchange --on 4x4"}) {
    const Json comparison = support::parsed(command("compare " + what + " --all-machines --bytes 1:4MiB:x2 --run none --json").out);
    std::size_t most_reigns = 0;
    for (const Json& machine : comparison["machines"]) {
      CAPTURE(what, machine["switching"], machine["ports"], machine["contention"]);
      Json reigns = Json::array();
      for (const Json& bytes : comparison["bytes"]) {
        double least = std::numeric_limits<double>::infinity();
        Json fastest = Json::array(), marked = Json::array();
        for (const Json& row : machine["algorithms"]) {
          for (const Json& entry : row["sizes"]) {
            if (entry["bytes"] != bytes) continue;
            if (entry["best"] == true) marked.push_back(row["algorithm"]);
            const double time = entry["model_time_formula_s"];
            if (time < least) fastest = Json::array();
            if (time <= least) fastest.push_back(row["algorithm"]);
            least = std::min(least, time);
          }
        }
        CHECK(marked == fastest);
        if (reigns.empty() || reigns.back()["algorithms"] != fastest) reigns.push_back({{"from_bytes", bytes}, {"algorithms", fastest}});
        reigns.back()["to_bytes"] = bytes;
      }
      CHECK(machine["fastest"] == reigns);
      most_reigns = std::max(most_reigns, reigns.size());
    }
    CHECK(most_reigns > 1);
  }
}

TEST_CASE("algbw and time rank the algorithms of a comparison alike", "[conformance]") {
  for (const std::string what :
       {"broadcast --on 5x5 --th 1e-7", "total-exchange --on 4x4", "multinode-broadcast --on 5x5 --sources random:7"}) {
    const Json comparison = support::parsed(command("compare " + what + " --all-machines --bytes 1,64,4KiB,1MiB --json").out);
    const double sources = what.starts_with("broadcast") ? 1 : what.starts_with("total") ? 16 : 7;
    std::size_t pairs = 0;
    for (const Json& machine : comparison["machines"]) {
      std::vector<Json> entries;
      for (const Json& row : machine["algorithms"]) entries.insert(entries.end(), row["sizes"].begin(), row["sizes"].end());
      const auto time = [](const Json& entry) {
        return entry[entry["run"] == true ? "model_time_s" : "model_time_formula_s"].get<double>();
      };
      const auto algbw = [](const Json& entry) { return entry["model_algbw_bytes_per_s"].get<double>(); };
      for (const Json& a : entries) {
        CHECK(algbw(a) * time(a) == Approx(sources * a["bytes"].get<double>()));
        for (const Json& b : entries) {
          if (a["bytes"] != b["bytes"]) continue;
          ++pairs;
          if (time(a) < time(b)) CHECK(algbw(a) >= algbw(b));
          if (algbw(a) > algbw(b)) CHECK(time(a) < time(b));
        }
      }
    }
    CHECK(pairs > 30);
  }
}

TEST_CASE("who is left out is said, with the algorithm's own reason", "[conformance]") {
  const Json comparison =
      support::parsed(command("compare broadcast --on 4x5 --switching wormhole --ports all --contention forbid --bytes 64 --json").out);
  REQUIRE(comparison["machines"].size() == 1);
  bool found = false;
  for (const Json& out : comparison["machines"][0]["left_out"]) {
    if (out["algorithm"] != "wang-tseng") continue;
    found = true;
    CHECK("torus: " + out["because"].get<std::string>() + "\n" == command("run broadcast --on 4x5 --algorithm wang-tseng --bytes 64").err);
  }
  CHECK(found);
  // The table says it of those that were named.
  const std::string line = "compare broadcast --on 10x10 --bytes 64",
                    why = "squeeze-expand: --switching wormhole: squeeze-expand needs circuit switching; --switching circuit would do\n";
  CHECK(support::good(line + " --algorithms wang-tseng,squeeze-expand").out.find("\n" + why) != std::string::npos);
  CHECK(support::good(line).out.find(why) == std::string::npos);
}

TEST_CASE("who needs more memory than there is to make its tables is left out before it makes them", "[conformance]") {
  const std::string line =
      "compare multinode-broadcast --on 512x512 --sources 0 --switching packet --bytes 64 --json --algorithms ring,edst";
  const auto left_out = [&line](const std::string& memory) {
    return support::parsed(command(line + " --memory " + memory).out)["machines"][0]["left_out"];
  };
  const Json out = left_out("5MiB");
  REQUIRE(out.size() == 1);
  CHECK(out[0]["algorithm"] == "edst");
  CHECK(out[0]["because"].get<std::string>().find(" to make its tables for the 262,144 nodes of 512x512, and 5 MiB may be used; ") !=
        std::string::npos);
  CHECK(left_out("8MiB").empty());
}

TEST_CASE("a size that does not fit into the memory is only predicted, and the table says so", "[conformance]") {
  const std::string line = "compare broadcast --on 8x8 --bytes 64,16MiB --run all --memory 64MiB --algorithms flood";
  const support::Ended table = command(line);
  CAPTURE(table.out, table.err);
  CHECK(table.status == 0);
  CHECK(table.out.find("~") != std::string::npos);
  CHECK(table.out.find("flood at 16MiB: not run: ") != std::string::npos);
  const Json sizes = support::parsed(command(line + " --json").out)["machines"][0]["algorithms"][0]["sizes"];
  CHECK(sizes[0]["run"] == true);
  CHECK(sizes[1]["run"] == false);
  CHECK(!sizes[1]["not_run"].get<std::string>().empty());
}

TEST_CASE("a comparison as CSV has a line for each machine, algorithm and size", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended = command("compare total-exchange --on 4x4 --all-machines --bytes 8,64 --json --csv " + folder.file("c.csv"));
  REQUIRE(ended.status == 0);
  const Json comparison = support::parsed(ended.out);
  std::size_t entries = 0;
  for (const Json& machine : comparison["machines"]) {
    for (const Json& row : machine["algorithms"]) entries += row["sizes"].size();
  }
  CHECK(lines(support::text_of_file(folder.file("c.csv"))) == entries + 1);
}

TEST_CASE("a barrier has no sizes: tables have one time for each algorithm, and sizes are refused", "[conformance]") {
  const support::Ended ended = command("compare barrier --on 4x4");
  CAPTURE(ended.out, ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("model time (run)") != std::string::npos);
  for (const char* size : {"64", "KiB", "MiB", " 0 "}) CHECK(ended.out.find(size) == std::string::npos);
  CHECK(support::parsed(command("compare barrier --on 4x4 --run none --json").out)["bytes"] == Json{0});
  const support::Folder folder;
  const std::string csv = folder.file("t.csv");
  for (const char* subcommand : {"compare", "bench", "sweep"})
    support::check_refused_without(csv, std::string(subcommand) + " barrier --on 4x4 --bytes 64:1KiB --csv " + csv,
                                   "torus: --bytes '64:1KiB': a barrier carries no bytes; leave it out");
}

TEST_CASE("a comparison says what it compares, and what its figures rest on", "[conformance]") {
  const auto says = [](const std::string& line, const std::string& words) {
    const support::Ended ended = command("compare " + line);
    CAPTURE(line, words, ended.out, ended.err);
    CHECK(ended.status == 0);
    CHECK(ended.out.find(words) != std::string::npos);
  };
  says("multinode-broadcast --on 4x4 --sources 0;3 --bytes 64", "on 4x4, 16 nodes, from 2 sources\n");
  says("multinode-broadcast --on 4x4 --sources 0;3 --bytes 64", "predictions assume 2 sources anywhere");
  says("scatter --on 4x4 --root 5 --bytes 64", ", 16 nodes, root (1,1)\n");
  says("broadcast --on 4x4 --bytes 64 --run none", "nothing was run: all is predicted\n");
}
