/// Which algorithm the command takes where none is named, and what it says of that.
#include <string>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::good;
using support::Json;
using support::refusal;

TEST_CASE("with no algorithm named the one with the least model time is taken, and the report says why", "[conformance]") {
  // From 64 nodes on, searches that can gain 3 % at most are not planned; below, those that cannot win.
  const auto [line, machine, worth, left_out] = GENERATE(table<std::string, std::string, double, std::string>(
      {{"run alltoall --on 3x3", "--switching packet --ports 4 --contention forbid", 1, ""},
       {"run broadcast --on 3x3", "--switching wormhole --ports 4 --contention forbid", 1, "synthesized-ordered cannot be faster"},
       {"run broadcast --on 5x5", "--switching wormhole --ports 4 --contention forbid", 1, "cannot be faster"},
       {"run allreduce --on 4x4", "--switching packet --ports 4 --contention forbid", 1, "cannot be faster"},
       {"run allreduce --on 4 --tc 6.4ns", "--switching packet --ports 2 --contention forbid", 1,
        "cannot be faster"},  // spanning-trees are the fastest
       {"run allreduce --on 8x8", "--switching packet --ports 4 --contention forbid", 0.97, "could be faster by 3 % at most"}}));
  const Json chosen = support::parsed(command(line + " --bytes 1KiB --json").out);
  int others = 0;
  for (const Algorithm* algorithm : catalogue()) {
    if (name(algorithm->collective) != chosen["collective"].get<std::string>()) continue;
    const support::Ended ended = command(line + " --bytes 1KiB --json " + machine + " --algorithm " + std::string(algorithm->name));
    if (ended.status == 2) continue;
    CAPTURE(algorithm->name);
    CHECK(support::parsed(ended.out)["model_time_formula_s"].get<double>() >= worth * chosen["model_time_formula_s"].get<double>());
    ++others;
  }
  CHECK(others > 3);
  const auto because = chosen["chosen_because"].get<std::string>();
  CHECK(because.find("least predicted model time") != std::string::npos);
  CHECK(because.find(left_out) != std::string::npos);
  CHECK((because.find("not planned") == std::string::npos) == left_out.empty());
  CHECK(command(line + " --bytes 1KiB").out.find("; next ") != std::string::npos);
}

TEST_CASE("without an algorithm named, what does not fit into the memory is passed over, and the report says so", "[conformance]") {
  const std::string line = "run broadcast --on 8x8x8 --ports 1 --bytes 32KiB --json";
  const Json fastest = support::parsed(command(line).out);
  const auto needed = fastest["memory_bytes"].get<std::uint64_t>();
  const support::Ended ended = command(line + " --memory " + std::to_string(needed - 1));
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json fitting = support::parsed(ended.out);
  CHECK(fitting["algorithm"] != fastest["algorithm"]);
  CHECK(fitting["memory_bytes"].get<std::uint64_t>() < needed);
  const auto reason = fitting["chosen_because"].get<std::string>();
  CHECK(reason.find(fastest["algorithm"].get<std::string>() + " with ") != std::string::npos);
  CHECK(reason.find(" would need ") != std::string::npos);

  // Where nothing fits, the refusal is that of a plan that needs the least: of whole messages, not of their pieces.
  const support::Ended refused = command(line + " --memory 16500KiB");
  CHECK(refused.status == 2);
  CHECK(refused.err.find("512 nodes and 512 blocks") != std::string::npos);
}

TEST_CASE("what choosing an algorithm cost is reported, and only where one was chosen", "[conformance]") {
  const Json chosen = support::parsed(command("run broadcast --on 8x8 --json").out);
  CHECK(chosen["choosing_s"].get<double>() > 0);
  CHECK_FALSE(support::parsed(command("run broadcast --on 8x8 --algorithm flood --json").out).contains("choosing_s"));
  CHECK(command("run broadcast --on 8x8").out.find("; choosing took ") != std::string::npos);
}

TEST_CASE("by wall time, the algorithm that is soonest to run is taken, and the report says which one has the least model time",
          "[conformance]") {
  const std::string line = "run allreduce --on 16x16 --bytes 4KiB --json";
  const Json by_model = support::parsed(good(line).out), by_wall = support::parsed(good(line + " --choose wall").out);
  CHECK(support::parsed(good(line + " --choose model").out)["algorithm"] == by_model["algorithm"]);
  CHECK(by_wall["blocks_delivered"].get<double>() < 0.5 * by_model["blocks_delivered"].get<double>());
  CHECK(by_wall["model_time_s"].get<double>() > by_model["model_time_s"].get<double>());
  const auto because = by_wall["chosen_because"].get<std::string>();
  CAPTURE(because);
  CHECK(because.starts_with("least time to run, about "));
  CHECK(because.find("has the least predicted model time") != std::string::npos);
  CHECK(support::parsed(good(line + " --choose wall").out)["chosen_because"] == because);

  // Where no dry run tells the time, the model time decides.
  const std::string large = "run broadcast --on 512x256 --bytes 8 --json";
  const Json by_neither = support::parsed(good(large + " --choose wall").out);
  CHECK(by_neither["algorithm"] == support::parsed(good(large).out)["algorithm"]);
  CHECK(by_neither["chosen_because"].get<std::string>().starts_with("no time to run is estimated here; least predicted model time"));
}

TEST_CASE("by wall time, groups, faults, sizes, several collectives and bench choose as one run does", "[conformance]") {
  for (const char* const line :
       {"run allreduce --on 4x4x4 --groups axis:0,1 --bytes 1KiB", "run allreduce --on 4x4x8 --groups axis:0 --dead-link 0:+0 --bytes 1KiB",
        "run alltoall --on 5x4 --sizes zipf:1 --bytes 256", "run barrier --on 7x3 --ports 1", "explain reduce --on 6x6",
        "run barrier --on 2x9"})
    CHECK(good(std::string(line) + " --choose wall").out.find("least time to run, about ") != std::string::npos);
  CHECK(good("run allgather --on 4x4 --groups rows --bytes 64 --choose wall + allreduce --groups columns --bytes 64").status == 0);
  const Json bench = support::parsed(good("bench allreduce --on 8x8 --bytes 4KiB --repeat 1 --choose wall --json").out);
  const Json run = support::parsed(good("run allreduce --on 8x8 --bytes 4KiB --choose wall --json").out);
  CHECK(bench["rows"][0]["algorithm"] == run["algorithm"]);
}

TEST_CASE("where there is nothing to choose, it is not said by what", "[conformance]") {
  CHECK(refusal("run broadcast --on 4x4 --choose fast") == "torus: --choose 'fast': it must be model or wall\n");
  CHECK(refusal("run broadcast --on 4x4 --choose wall --algorithm flood") ==
        "torus: --choose: --algorithm flood leaves nothing to choose; leave out one\n");
  CHECK(refusal("bench broadcast --on 4x4 --choose model --algorithms flood,tree").find("leave out one") != std::string::npos);
  CHECK(refusal("run broadcast --on 4x4 --choose wall --schedule none.xml").find("leave out one") != std::string::npos);
  CHECK(refusal("compare broadcast --on 4x4 --choose wall").find("compare has no such option") != std::string::npos);
}
