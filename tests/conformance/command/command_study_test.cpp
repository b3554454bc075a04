/// The tables of many runs: cut off, each goes on, and is the one of one go.
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::good;
using support::Json;
using support::lines;

namespace {

/// The text as far as a host does not decide it.
std::string without_host(std::string text, std::size_t from) {
  for (const char* name : {"\"version\"", "\"command\""}) {
    if (const std::size_t at = text.find(name); at != std::string::npos) text.resize(at);
  }
  return text.substr(std::min(from, text.size()));
}

}  // namespace

TEST_CASE("a comparison and a regret that were cut off go on, and are those of one go", "[conformance]") {
  for (const std::string line :
       {"compare broadcast --on 4x4 --run all --bytes 64:64KiB", "compare allreduce --on 4x4 --run best --groups rows --bytes 64:1MiB",
        "compare alltoall --on 3x3 --all-machines --bytes 64,1KiB", "regret broadcast --on 4x4,5x5 --bytes 1KiB,1MiB"}) {
    const support::Folder folder;
    const std::string part = folder.file("s.csv.part");
    const support::Ended whole = good(line + " --json --csv " + folder.file("whole.csv"));
    const support::Ended torn = support::command_under("-f 8", line + " --csv " + folder.file("s.csv"));  // a file has at most 4 KiB
    CAPTURE(line, torn.err);
    CHECK(torn.status == 1);
    CHECK(!std::filesystem::exists(folder.file("s.csv")));
    CHECK(lines(support::text_of_file(part)) > 3);
    const support::Ended other = command(line + " --algorithms all --seed 7 --csv " + folder.file("s.csv"));
    CHECK(other.status == 2);
    CHECK(other.err.find("it is no unfinished table of these options") != std::string::npos);
    const support::Ended resumed = good(line + " --json --csv " + folder.file("s.csv"));
    CHECK(without_host(resumed.out, 0) == without_host(whole.out, 0));
    CHECK(support::text_of_file(folder.file("s.csv")) == support::text_of_file(folder.file("whole.csv")));
    CHECK(folder.files() == 2);
  }
}

TEST_CASE("a bench that was cut off keeps the rows that it has measured", "[conformance]") {
  const support::Folder folder;
  const std::string line = "bench broadcast --on 4x4 --bytes 64,1KiB --algorithms all --repeat 2 --csv " + folder.file("b.csv");
  const support::Ended torn = support::command_under("-f 16", line);  // a file has at most 8 KiB
  CAPTURE(torn.out, torn.err);
  CHECK(torn.status == 1);
  const std::string part = support::text_of_file(folder.file("b.csv.part"));
  REQUIRE(lines(part) > 3);
  const Json whole = support::parsed(good(line + " --json").out);
  std::size_t row = 0;
  for (std::size_t at = part.find('\n') + 1; part.find('\n', at) != std::string::npos; at = part.find('\n', at) + 1, ++row)
    CHECK(support::parsed(part.substr(part.find('{', at), part.find('\n', at) - part.find('{', at)))["row"] == whole["rows"][row]);
  CHECK(lines(support::text_of_file(folder.file("b.csv"))) == whole["rows"].size() + 1);
  CHECK(folder.files() == 1);
}

TEST_CASE("a table that goes to a device has nothing beside it", "[conformance]") {
  for (const std::string line : {"compare broadcast --on 2x2 --bytes 64", "sweep broadcast --on 2x2 --bytes 64 --algorithms flood"}) {
    const support::Ended ended = good(line + " --csv /dev/stdout");
    CAPTURE(ended.out);
    CHECK(ended.out.find("broadcast,") != std::string::npos);
    CHECK(!std::filesystem::exists("/dev/stdout.part"));
  }
}

TEST_CASE("no table of many runs that has no row leaves a file", "[conformance]") {
  const support::Folder folder;
  for (const std::string line : {"compare broadcast --on 4x5 --algorithms wang-tseng", "regret broadcast --on 4x5 --algorithms wang-tseng",
                                 "sweep broadcast --on 4x5 --algorithms wang-tseng", "bench broadcast --on 4x5 --algorithms wang-tseng"})
    support::check_refused(line + " --csv " + folder.file("s.csv"));
  CHECK(folder.files() == 0);
}
