// Every view of the command as JSON, field by field: a change that is meant to change nothing changes no line of tests/transcripts/json,
// and all that is printed is as tools/torus.schema.json says.
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/schema.hpp"
#include "tests/support/transcript.hpp"

using namespace torus::support;

namespace {

const Schema& schema() {
  static const Schema of_all(parsed(text_of_file(TORUS_SOURCE_DIR "/tools/torus.schema.json")));
  return of_all;
}

/// What else prints JSON than the transcripts.
std::vector<std::string> more_lines(const Folder& folder) {
  good("run total-exchange --on 4x4 --switching wormhole --bytes 4 --trace " + folder.file("t.jsonl"));
  good("run broadcast --on 4x4 --groups rows --tc 1e-10,2e-10 --bytes 4 --trace " + folder.file("g.jsonl"));
  return {"run allreduce --on 4x4 --bytes 64 --repeat 3",
          "run gather --on 3x3 --tc 1e-10,2e-10",
          "run scan --on 4x4 --algorithm sklansky + scan",
          "compare allreduce --on 4x4 --bytes 64 --values real --run all",
          "compare total-exchange --on 4x4 --bytes 64 --tc 1e-10,2e-10",
          "compare broadcast --on 3x3 --bytes 64 --algorithms flood,mst --every-single-node --dead-link 0:+0",
          "sweep broadcast --on 3x3,4x4 --ports 1,all --bytes 64 --algorithms flood,mst",
          "sweep allreduce --on 4x4 --bytes 64,4KiB --values real --groups rows --algorithms rings",
          "bench broadcast --on 3x3 --bytes 64 --algorithms all --repeat 1 --warmup 0",
          "bench allgather --on 4x4 --groups rows --bytes 64 --repeat 3",
          "stress --runs 10 --faults",
          "stress --runs 10",
          "paper",
          "paper sheu",
          "bounds alltoall --on 4x4 --groups rows --bytes 64",
          "bounds --machine tpu-v4",
          "regret broadcast --on 4x4 --bytes 64 --groups rows",
          "expect alltoall --machine tpu7x --slice 2x2x4 --bytes 64MiB --measured 43GB/s",
          "expect allgather --machine tpu-v4 --on 4x4x4 --bytes 1MiB",
          "list --machines trn2",
          "optimum 3x3 --ports 1 --switching packet --seconds 20",  // refused where there is no solver
          "run alltoall --on 4x4 --map snake --bytes 64",
          "compare broadcast --on 3x3 --map axis:1,0 --bytes 64",
          "bounds alltoall --on 4x4 --map snake",
          "verify " + folder.file("t.jsonl") + " --no-barrier",
          "verify " + folder.file("g.jsonl")};
}

/// "run": of `torus run --on 4x4`.
std::string subcommand_of(const std::string& line) { return line.substr(0, line.find(' ')); }

}  // namespace

TEST_CASE("JSON has the fields and figures that it has always had", "[conformance]") { replay("json"); }

TEST_CASE("all JSON is as the schema says, of every subcommand that has some", "[conformance]") {
  const Folder folder;
  std::vector<std::string> lines = more_lines(folder);
  for (const exchanges::Exchange& exchange : exchanges::exchanges_of(TORUS_SOURCE_DIR "/tests/transcripts/json")) {
    const std::string& line = exchange.command;
    if (line.starts_with("torus ") && line.ends_with(" --json") && line.find_first_of("|&;") == std::string::npos)
      lines.push_back(line.substr(6, line.size() - 13));
  }
  CHECK(lines.size() > 60);
  std::set<std::string> seen;
  for (const std::string& line : lines) {
    const std::size_t plus = line.find(" + ");
    const Ended ended = command(line.substr(0, plus) + " --json" + (plus == std::string::npos ? "" : line.substr(plus)));
    if (ended.status == 2) continue;  // refused, as some transcripts are
    CAPTURE(line, ended.err);
    const Json json = parsed(ended.out);
    CHECK(schema().mistakes_of(json) == std::vector<std::string>{});
    CHECK(json["format"] == "torus-" + subcommand_of(line));
    seen.insert(subcommand_of(line));
  }
  for (const char* subcommand : {"run", "compare", "sweep", "bench", "list", "paper", "verify", "import", "bounds", "stress", "view",
                                 "plot", "export", "regret", "explain", "expect", "new"}) {
    CAPTURE(subcommand);
    CHECK(seen.contains(subcommand) == (good(std::string(subcommand) + " --help").out.find("--json ") != std::string::npos));
  }
}

TEST_CASE("the schema refuses what the command does not print", "[conformance]") {
  const Json right = parsed(good("run broadcast --on 4x4 --bytes 64 --json").out);
  const auto mistakes = [&](const auto& change) {
    Json json = right;
    change(json);
    return schema().mistakes_of(json).size();
  };
  CHECK(mistakes([](Json&) {}) == 0);
  CHECK(mistakes([](Json& json) { json["steps"] = "3"; }) == 1);
  CHECK(mistakes([](Json& json) { json["steps"] = 3.5; }) == 1);
  CHECK(mistakes([](Json& json) { json["stpes"] = 3; }) == 1);
  CHECK(mistakes([](Json& json) { json["sources"] = {"0"}; }) == 1);
  CHECK(mistakes([](Json& json) { json["format_version"] = 2; }) == 1);
  for (const char* name : {"steps", "verified", "format", "format_version", "version", "command"}) {
    CAPTURE(name);
    CHECK(mistakes([name](Json& json) { json.erase(name); }) >= 1);
  }
}
