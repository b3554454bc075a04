/// The command from outside: how it ends, and what it says, where a run or a check failed.
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;
using support::lines;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take more address space than any limit
namespace {

/// The command where there is no room for the stacks of a thousand threads: a run on so many fails.
support::Ended crowded(const std::string& line) { return support::command_under("-v 1500000", line); }

const std::string too_many = " --executor threads --threads 1000 ";

}  // namespace

TEST_CASE("a sweep with runs that fail has a row for each, and ends with status 1", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended =
      crowded("sweep broadcast --on 4x4 --algorithms flood --bytes 8,9" + too_many + "--csv " + folder.file("s.csv"));
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(ended.err.find("2 of 2 runs failed; the column failure of " + folder.file("s.csv")) != std::string::npos);
  CHECK(ended.out.find("2 rows, 2 failed; 0 combinations left out") != std::string::npos);
  const std::string table = support::text_of_file(folder.file("s.csv"));
  CHECK(lines(table) == 3);
  CHECK(table.find("threads 1000: ") != table.rfind("threads 1000: "));  // in both rows
  CHECK(folder.files() == 1);
}

TEST_CASE("a comparison with a run that fails ends with status 1 and ranks that run nowhere", "[conformance]") {
  const support::Ended ended = crowded("compare broadcast --on 4x4 --algorithms flood --bytes 8,64 --json" + too_many);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(ended.err.find("threads 1000: ") != std::string::npos);
  CHECK(ended.err.find("; repeat it with: torus run broadcast --on 4x4 --algorithm flood ") != std::string::npos);
  const Json comparison = support::parsed(ended.out);
  CHECK("torus: " + comparison["failure"].get<std::string>() + "\n" == ended.err);
  const Json& machine = comparison["machines"][0];
  const Json& sizes = machine["algorithms"][0]["sizes"];
  CHECK(sizes[0]["best"] == false);
  CHECK(sizes[0]["run"] == false);
  CHECK(sizes[0]["failure"].get<std::string>().starts_with("threads 1000: "));
  CHECK(sizes[1]["best"] == true);  // which was not to be run
  REQUIRE(machine["fastest"].size() == 2);
  CHECK(machine["fastest"][0]["algorithms"].empty());
  CHECK(crowded("compare broadcast --on 4x4 --algorithms flood --bytes 8" + too_many).out.find("  FAILED\n") != std::string::npos);
}

TEST_CASE("a stress with runs that fail counts them, says how to repeat one and ends with status 1", "[conformance]") {
  const support::Ended ended = crowded("stress --runs 3 --only wang-tseng --json" + too_many);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  const Json json = support::parsed(ended.out);
  CHECK(json["rows"][0]["failures"] == 3);
  REQUIRE(json["failures"].size() == 1);  // the first of each algorithm
  const std::string repeat = json["failures"][0]["command"];
  CHECK(repeat.starts_with("torus run broadcast --on "));
  CHECK(ended.err == "torus: a run failed; repeat it with: " + repeat + "\n");
}

TEST_CASE("the executor of a stress is the one that was asked for", "[conformance]") {
  // The serial executor alone starts no threads, however many there are to be.
  const support::Ended ended = crowded("stress --runs 3 --only wang-tseng --executor serial --threads 1000");
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
}

TEST_CASE("where the system starts no more threads, each executor says so", "[conformance]") {
  for (const char* executor : {"tbb", "threads"}) {
    const support::Ended ended = crowded(std::string("run broadcast --on 64x64 --bytes 8 --threads 1000 --executor ") + executor);
    CAPTURE(executor, ended.err);
    CHECK(ended.status == 1);
    CHECK(lines(ended.err) == 1);
    CHECK(ended.err.find("torus: threads 1000: the system starts no more than ") == 0);
  }
}
#endif

TEST_CASE("the digest that a run must have can be asked for", "[conformance]") {
  const std::string line = "run broadcast --on 4x4 --bytes 8";
  const std::string digest = support::parsed(command(line + " --json").out)["trace_digest"];
  CHECK(command(line + " --digest " + digest).status == 0);
  const support::Ended other = command(line + " --json --digest 0000000000000000");
  CHECK(other.status == 1);
  CHECK(lines(other.err) == 1);
  CHECK(support::parsed(other.out)["verified"] == false);
}

TEST_CASE("a trace without messages lacks all that must arrive, and is refused with status 1", "[conformance]") {
  struct Case {
    const char* collective;
    int missing;  // pairs of a node and a block
  };
  // On a ring of 4, with 3 segments of the message of each of two sources, or of one.
  for (const Case& c :
       {Case{R"("multinode-broadcast","sources":[0,2],"segments":3)", 2 * 3 * 3}, Case{R"("broadcast","sources":[1],"segments":3)", 3 * 3},
        Case{R"("total-exchange")", 4 * 3}, Case{R"("scatter","sources":[1])", 3}, Case{R"("gather","sources":[1])", 3},
        Case{R"("allgather")", 4 * 3}, Case{R"("multinode-broadcast","sources":[])", 0}}) {
    const support::Folder folder;
    const std::string header = R"({"format":"torus-trace","version":1,"shape":[4],"ports":1,"switching":"packet","collective":)";
    const support::Ended ended = command("verify --json " + folder.write("t", header + c.collective + "}\n"));
    CAPTURE(c.collective, ended.err);
    const Json judged = support::parsed(ended.out);
    CHECK(judged["missing_blocks"] == c.missing);
    REQUIRE(judged.contains("violations"));
    CHECK(judged["violations"].empty() == (c.missing == 0));
    CHECK(ended.status == (c.missing > 0 ? 1 : 0));
    CHECK(lines(ended.err) == (c.missing > 0 ? 1U : 0U));
  }
}
