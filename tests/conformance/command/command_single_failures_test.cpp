/// torus compare --every-single-link and --every-single-node: each failure once, each as `torus run` has it, and resumable.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::good;
using support::Json;
using support::lines;

namespace {

Json json_of(const std::string& what) { return support::parsed(good("compare " + what + " --json").out); }

std::set<std::string> names_of(const Json& algorithm) {
  std::set<std::string> names;
  for (const Json& failure : algorithm["failures"]) names.insert(failure["failure"]);
  return names;
}

const std::string links = "broadcast --on 4x4 --bytes 1KiB --every-single-link",
                  nodes = "broadcast --on 4x4 --bytes 1KiB --every-single-node";

}  // namespace

TEST_CASE("a 4x4 torus has 32 single links, each once, and 15 nodes beside the source", "[conformance]") {
  const Json by_link = json_of(links), by_node = json_of(nodes + " --source 5");
  CHECK(by_link["failure_count"] == 32);
  CHECK(by_link["skipped"].empty());
  CHECK(by_node["failure_count"] == 15);
  CHECK(by_node["skipped"] == Json{"--dead-node 5"});
  CHECK(by_node["sources"] == Json{5});
  CHECK(json_of(links + " --every-single-node")["failure_count"] == 32 + 15);
  for (const Json& comparison : {by_link, by_node}) {
    for (const Json& machine : comparison["machines"]) {
      for (const Json& algorithm : machine["algorithms"]) {
        CAPTURE(algorithm["algorithm"], machine["switching"]);
        CHECK(names_of(algorithm).size() == comparison["failure_count"]);
        CHECK(algorithm["completed"] == comparison["failure_count"]);
        CHECK(algorithm["survives_all"] == true);
      }
    }
  }
}

TEST_CASE("links of rings of two and of complete dimensions are counted once each", "[conformance]") {
  CHECK(json_of("broadcast --on 2x3 --bytes 8 --every-single-link --algorithms flood")["failure_count"] == 3 * 2 + 2 * 3);
  CHECK(json_of("broadcast --on 4c --bytes 8 --every-single-link --algorithms flood")["failure_count"] == 4 * 3 / 2);
  CHECK(json_of("broadcast --on 3x4m --bytes 8 --every-single-link --algorithms flood")["failure_count"] == 3 * 4 + 3 * 3);
}

TEST_CASE("links that no group has are no failures", "[conformance]") {
  for (const auto& [groups, own] : {std::pair("rows", 16), std::pair("axis:0,1", 32), std::pair("slice:2x2", 16)}) {
    CAPTURE(groups);
    const Json comparison =
        json_of(fmt::format("allreduce --on 4x4 --groups {} --every-single-link --algorithms tree-of-broadcast", groups));
    CHECK(comparison["failure_count"] == own);
    CHECK(comparison["links_outside"] == 32 - own);
  }
  CHECK(json_of(links)["links_outside"] == 0);
}

TEST_CASE("single failures are compared on the machine that a run takes, or on all", "[conformance]") {
  const Json one = json_of(links), all = json_of(links + " --all-machines");
  REQUIRE(one["machines"].size() == 1);
  CHECK(all["machines"].size() > 1);
  CHECK(one["machines"][0]["switching"] == "wormhole");
}

TEST_CASE("each failure has the figures of the run that its name repeats", "[conformance]") {
  const Json comparison = json_of("broadcast --on mesh:3x4 --bytes 1KiB --every-single-link --every-single-node --source 1");
  std::size_t compared = 0;
  for (const Json& machine : comparison["machines"]) {
    for (const Json& algorithm : machine["algorithms"]) {
      for (std::size_t i = 0; i < algorithm["failures"].size(); i += 4) {
        const Json& failure = algorithm["failures"][i];
        const std::string line = fmt::format("run broadcast --on mesh:3x4 --bytes 1KiB --source 1 --switching {} --algorithm {} {} --json",
                                             machine["switching"].get<std::string>(), algorithm["algorithm"].get<std::string>(),
                                             failure["failure"].get<std::string>());
        const Json run = support::parsed(good(line).out);
        for (const char* field : {"steps", "channel_bytes_sum", "model_time_s", "model_time_lower_bound_s"})
          CHECK(failure[field] == run[field]);
        ++compared;
      }
    }
  }
  CHECK(compared > 20);
}

TEST_CASE("median and worst are failures, and the best survivor has the least worst time", "[conformance]") {
  const Json comparison = json_of("broadcast --on mesh:2x4 --bytes 1KiB --every-single-link");
  for (const Json& machine : comparison["machines"]) {
    std::string best;
    double least = 1;
    for (const Json& algorithm : machine["algorithms"]) {
      CAPTURE(algorithm["algorithm"]);
      std::vector<double> times;
      for (const Json& failure : algorithm["failures"]) times.push_back(failure["model_time_s"]);
      std::sort(times.begin(), times.end());
      CHECK(times.front() < times.back());
      CHECK(algorithm["median"]["model_time_s"] == times[(times.size() - 1) / 2]);
      CHECK(algorithm["worst"]["model_time_s"] == times.back());
      const auto at = std::find_if(algorithm["failures"].begin(), algorithm["failures"].end(),
                                   [&](const Json& failure) { return failure["model_time_s"] == times.back(); });
      CHECK(algorithm["worst"]["failure"] == (*at)["failure"]);
      CHECK(algorithm["whole"]["model_time_s"] > 0);
      if (times.back() < least) best = algorithm["algorithm"];
      least = std::min(least, times.back());
    }
    CHECK(machine["best_survivor"] == best);
  }
}

TEST_CASE("a failure that cuts the machine apart is no fault of an algorithm, and is named", "[conformance]") {
  // Its corner has two links, of which one is dead.
  const std::string corner = "compare broadcast --on mesh:4x4 --dead-link 0:+0 --bytes 8 --every-single-link";
  const Json comparison = support::parsed(good(corner + " --json").out);
  CHECK(comparison["failure_count"] == 23);
  CHECK(comparison["cut"] == Json{"--dead-link 0:+1"});
  CHECK(comparison["faults"]["options"] == " --dead-link '0:+0'");
  for (const Json& machine : comparison["machines"]) {
    for (const Json& algorithm : machine["algorithms"]) {
      CHECK(algorithm["completed"] == 22);
      CHECK(algorithm["survives_all"] == true);
      CHECK(algorithm["failures"][0]["outcome"] == "cut");
      CHECK(algorithm["failures"][0]["why"].get<std::string>().find("apart") != std::string::npos);
    }
  }
  const std::string text = good(corner).out;
  CHECK(text.find("1 of them cut the machine apart: --dead-link 0:+1\n") != std::string::npos);
  CHECK(text.find("22 of 22") != std::string::npos);
}

TEST_CASE("trees of a reduction live with each dead link and with a dead node", "[conformance]") {
  for (const std::string collective : {"reduce", "allreduce", "gather", "scatter"}) {
    const Json comparison =
        json_of(collective + " --on 3x3 --bytes 8 --switching circuit --every-single-link --algorithms tree-of-broadcast");
    CHECK(comparison["machines"][0]["best_survivor"] == "tree-of-broadcast");
    const std::string root = collective == "allreduce" ? "" : " --root 5";
    CHECK(support::parsed(
              good("run " + collective + " --on 4x4 --algorithm tree-of-broadcast --dead-node 0 --json" + root).out)["verified"] == true);
  }
}

TEST_CASE("the table is at most 80 columns wide", "[conformance]") {
  const std::string text = good("compare " + links).out;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) CHECK(text.find('\n', at) - at <= 80);
}

TEST_CASE("an algorithm that does not survive fails the command, with the failure and the command that repeats it", "[conformance]") {
  const auto careless = [](const std::string& options) {
    return support::run_program(
        TORUS_OWN_PROGRAM,
        {.arguments = support::words("compare broadcast --on 3x3 --bytes 8 --algorithms flood,careless --every-single-link" + options)});
  };
  const support::Ended ended = careless(" --json");
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(ended.err.find("careless --dead-link ") != std::string::npos);
  CHECK(ended.err.find("--algorithm careless") != std::string::npos);
  const Json comparison = support::parsed(ended.out);
  for (const Json& machine : comparison["machines"]) {
    CHECK(machine["best_survivor"] == "flood");
    const Json& algorithm = machine["algorithms"].back();
    CHECK(algorithm["algorithm"] == "careless");
    CHECK(algorithm["survives_all"] == false);
    CHECK(algorithm["failed"] > 0);
    CHECK(algorithm["completed"] > 0);  // links that it does not use
  }
  CHECK(careless("").out.find("careless FAILED --dead-link ") != std::string::npos);
}

TEST_CASE("a table that was cut off goes on, and is the one of one go", "[conformance]") {
  const support::Folder folder;
  const std::string line = "compare " + links + " --every-single-node --csv ";
  const support::Ended whole = good(line + folder.file("whole.csv") + " --json");
  const Json comparison = support::parsed(whole.out);
  // A file may have no more than 4 KiB here.
  const support::Ended torn = support::command_under("-f 8", line + folder.file("s.csv"));
  CHECK(torn.status == 1);
  CHECK(!std::filesystem::exists(folder.file("s.csv")));
  const std::size_t kept = lines(support::text_of_file(folder.file("s.csv.part"))) - 1;  // what it is
  REQUIRE(kept > 10);
  for (const std::string other : {"--bytes 2KiB --every-single-link --every-single-node", "--bytes 1KiB --every-single-link"}) {
    const support::Ended refused = command("compare broadcast --on 4x4 " + other + " --csv " + folder.file("s.csv"));
    CHECK(refused.status == 2);
    CHECK(refused.err.find("it is no unfinished table of these options") != std::string::npos);
  }
  const Json resumed = support::parsed(good(line + folder.file("s.csv") + " --json").out);
  CHECK(resumed["runs_from_before"] == kept);
  CHECK(resumed["machines"] == comparison["machines"]);
  CHECK(support::text_of_file(folder.file("s.csv")) == support::text_of_file(folder.file("whole.csv")));
  CHECK(lines(support::text_of_file(folder.file("s.csv"))) == comparison["runs"].get<std::size_t>() + 1);
  CHECK(folder.files() == 2);
}

TEST_CASE("Ctrl-C ends it with what there is so far", "[conformance]") {
  const support::Folder folder;
  const support::Ended stopped = support::run_program(
      TORUS_PROGRAM,
      {.arguments = support::words("compare broadcast --on 24x24x24 --bytes 64 --algorithms flood --every-single-node --json --csv " +
                                   folder.file("s.csv")),
       .when = support::has_lines(folder.file("s.csv.part"), 2)});
  CAPTURE(stopped.err);
  CHECK(stopped.status == 1);
  CHECK(lines(stopped.err) == 1);
  CHECK(stopped.err.find("; the same command goes on from there") != std::string::npos);
  const Json comparison = support::parsed(stopped.out);
  CHECK(comparison["interrupted"] == true);
  CHECK(comparison["machines"][0]["best_survivor"].is_null());  // what it would be is not known yet
  CHECK(comparison["machines"][0]["algorithms"][0]["survives_all"] == false);
  CHECK(std::filesystem::exists(folder.file("s.csv.part")));
}

TEST_CASE("what single failures cannot be asked for is refused in one line", "[conformance]") {
  const support::Folder folder;
  const std::string csv = folder.file("s.csv");
  const std::pair<std::string, std::string> refused[]{
      {"broadcast --on 4x4 --bytes 64,128", "--bytes '64,128': with --every-single-link it must be one size; for instance 64"},
      {"broadcast --on 4x4 --html " + folder.file("x"), "there is one size, and no curve"},
      {"broadcast --on 4x4 --svg " + folder.file("x"), "there is one size, and no curve"},
      {"broadcast --on 4x4 --run none", "--run 'none': with --every-single-link all is run"},
      {"broadcast --on 4x4 --run some", "--run 'some'"},
      {"broadcast --on mesh:5", "none may die without cutting it apart"},
      {"broadcast --on 1", "none may die without cutting it apart"},
      {"broadcast --on 512x512", "about 524,288 of them, and at most 100,000 are run"},
      {"broadcast --on 4x4 --algorithms edf", "no algorithm applies"},
      {"total-exchange --on 4x4 --algorithms rotating", "no algorithm applies"}};
  for (const auto& [line, words] : refused)
    support::check_refused_without(csv + ".part", "compare " + line + " --every-single-link --csv " + csv, words);
  CHECK(folder.files() == 0);
}
