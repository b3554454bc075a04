/// torus sweep: one table, however often its making was cut short.
#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/csv.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::lines;
using support::words;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

/// The table without what the host decides.
std::vector<std::vector<std::string>> figures(const std::string& path) {
  const std::set<std::string> host{
      "setup_s",    "run_s",          "verify_s",    "algbw_bytes_per_s", "busbw_bytes_per_s", "copied_bytes_per_s",
      "hops_per_s", "peak_rss_bytes", "memory_bytes"};
  std::vector<std::vector<std::string>> table;
  std::vector<std::string> names;
  for (const std::vector<std::string>& row : support::table_of_csv(support::text_of_file(path))) {
    if (names.empty()) names = row;
    REQUIRE(row.size() == names.size());
    table.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!host.contains(names[i])) table.back().push_back(row[i]);
    }
  }
  return table;
}

const std::string grid = "sweep broadcast --on 4x4x4,25x25,32x32 --bytes 64,4KiB,64KiB --executor serial --csv ";

}  // namespace

TEST_CASE("the last column of a sweep says which variant ran", "[conformance]") {
  const support::Folder folder;
  REQUIRE(command("sweep broadcast --on 8x8x8 --bytes 64 --algorithms wang-tseng,mst,tsai-mckinley --csv " + folder.file("s.csv")).status ==
          0);
  REQUIRE(command("sweep broadcast --on 8x8x8 --bytes 64 --algorithms wang-tseng --variant plain --csv " + folder.file("p.csv")).status ==
          0);
  const auto table = support::table_of_csv(support::text_of_file(folder.file("s.csv")));
  CHECK(table.front().back() == "variant");
  std::set<std::string> said;
  for (const std::vector<std::string>& row : table) said.insert(row.back());
  CHECK(said.contains("trimmed"));
  CHECK(said.contains(""));  // of tsai-mckinley, which has no variants
  CHECK(support::table_of_csv(support::text_of_file(folder.file("p.csv"))).back().back() == "plain");
}

TEST_CASE("a sweep has a row, as a run reports it, for every combination that applies", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended =
      command("sweep broadcast --on 4x4,5x5 --bytes 8,64 --ports 1,all,4 --algorithms mst,flood --csv " + folder.file("s.csv"));
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  // flood: all ports, both shapes, two sizes; mst: 4x4, one port and, with the same routes, four.
  const auto table = figures(folder.file("s.csv"));
  CHECK(table.size() == 1 + 4 + 4);
  CHECK(folder.files() == 1);
  REQUIRE(command("run broadcast --on 4x4 --bytes 8 --ports 1 --algorithm mst --csv " + folder.file("r.csv")).status == 0);
  const auto run = figures(folder.file("r.csv"));
  CHECK(table.front() == run.front());
  CHECK(std::find(table.begin(), table.end(), run.back()) != table.end());
  CHECK(ended.out.find(": 8 rows, 0 failed; 8 combinations left out\n") != std::string::npos);  // of 2 x 2 x 2 x 2
}

TEST_CASE("a sweep prints as JSON what its table says, and needs no table", "[conformance]") {
  const support::Folder folder;
  const std::string line = "sweep broadcast --on 4x4,5x5 --bytes 8,64 --ports 1,all --algorithms mst,flood ";
  const support::Json alone = support::parsed(support::good(line + "--json").out);
  REQUIRE(alone["rows"].size() == 8);
  CHECK(alone["failed"] == 0);
  CHECK(alone["from_before"] == 0);
  REQUIRE(alone["left_out"].size() == 2);
  CHECK(alone["left_out"][0]["algorithm"] == "flood");
  CHECK(alone["left_out"][0]["combinations"].get<int>() + alone["left_out"][1]["combinations"].get<int>() == 2 * 2 * 2 * 2 - 8);
  const support::Json both = support::parsed(support::good(line + "--json --csv " + folder.file("s.csv")).out);
  const auto table = support::table_of_csv(support::text_of_file(folder.file("s.csv")));
  REQUIRE(table.size() == 1 + both["rows"].size());
  for (std::size_t i = 1; i < table.size(); ++i) {
    const support::Json& row = both["rows"][i - 1];
    CHECK(row.size() == table[0].size());
    for (std::size_t column = 0; column < table[0].size(); ++column) {
      CAPTURE(table[0][column]);
      const support::Json value = row.at(table[0][column]);
      CHECK(table[i][column] == (value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  support::good(line + "--json-file " + folder.file("s.json"));
  CHECK(support::parsed(support::text_of_file(folder.file("s.json")))["rows"].size() == 8);
  CHECK(support::refusal("sweep broadcast --on 4x4").find("--csv is required: the table; or --json") != std::string::npos);
}

TEST_CASE("a sweep that was killed goes on, and its table is the one of a sweep in one go", "[conformance]") {
  const support::Folder folder;
  REQUIRE(command(grid + folder.file("whole.csv")).status == 0);
  const std::string part = folder.file("s.csv.part");
  for (std::size_t rows = 5; rows <= 10; rows += 5) {
    const support::Ended killed = support::run_program(TORUS_PROGRAM, {.arguments = words(grid + folder.file("s.csv")),
                                                                       .when = support::has_lines(part, 1 + rows),  // what it is
                                                                       .signal = SIGKILL});
    REQUIRE(killed.signal == SIGKILL);
    CHECK(!std::filesystem::exists(folder.file("s.csv")));
  }
  std::filesystem::resize_file(part, std::filesystem::file_size(part) - 3);  // as if torn within its last line
  const std::vector<std::string> before = lines_of(support::text_of_file(part));
  const support::Ended ended = command(grid + folder.file("s.csv") + " --json-file " + folder.file("s.json"));
  CAPTURE(ended.out, ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("from before") != std::string::npos);
  const support::Json json = support::parsed(support::text_of_file(folder.file("s.json")));
  CHECK(json["from_before"] >= 5);
  CHECK(json["rows"].size() + 1 == figures(folder.file("whole.csv")).size());
  CHECK(figures(folder.file("s.csv")) == figures(folder.file("whole.csv")));
  CHECK(folder.files() == 3);
  // Wall times and all, the whole rows of before are there: they were not made again.
  const std::string after = support::text_of_file(folder.file("s.csv"));
  for (std::size_t i = 1; i + 1 < before.size(); ++i) {
    const support::Json row = support::parsed(before[i].substr(before[i].find('{')))["row"];
    for (const char* time : {"setup_s", "run_s", "verify_s"}) CHECK(after.find("," + row[time].dump() + ",") != std::string::npos);
  }
}

TEST_CASE("a sweep that was interrupted keeps its rows, and gives them to no sweep of other options", "[conformance]") {
  const support::Folder folder;
  const std::string endless = "sweep total-exchange --on 4x4,24x24 --algorithms a2 --bytes 0 --executor serial --repeat 100 --csv ";
  const support::Ended stopped = support::run_program(
      TORUS_PROGRAM,
      {.arguments = words(endless + folder.file("s.csv")),
       .when = [&](pid_t child) { return support::has_lines(folder.file("s.csv.part"), 2)(child) && support::has_worked(1)(child); },
       .signal = SIGINT});
  CAPTURE(stopped.err);
  CHECK(stopped.status == 1);
  CHECK(lines(stopped.err) == 1);
  CHECK(stopped.err.find("the same command goes on") != std::string::npos);
  const std::string part = support::text_of_file(folder.file("s.csv.part"));
  CHECK(lines(part) == 2);  // what it is, the row of 4x4
  const support::Ended other = command("sweep total-exchange --on 4x4 --algorithms a2 --bytes 8 --csv " + folder.file("s.csv"));
  CHECK(other.status == 2);
  CHECK(lines(other.err) == 1);
  CHECK(other.err.find("remove it") != std::string::npos);
  CHECK(support::text_of_file(folder.file("s.csv.part")) == part);
}

TEST_CASE("a sweep that ends while it plans says where its rows are, too", "[conformance]") {
  const support::Folder folder;
  const support::Ended stopped =
      support::run_program(TORUS_PROGRAM, {.arguments = words("sweep allreduce --on 4x4,10x10x10 --algorithms spanning-trees --bytes 1KiB "
                                                              "--plan-time 1000 --csv " +
                                                              folder.file("s.csv")),
                                           .when = support::has_lines(folder.file("s.csv.part"), 2)});
  CAPTURE(stopped.err);
  CHECK(stopped.status == 1);
  CHECK(lines(stopped.err) == 1);
  CHECK(stopped.err.find("what is done is in " + folder.file("s.csv.part") + "; the same command goes on from there") != std::string::npos);
}

TEST_CASE("an unfinished table is of all the options that decide its rows, one by one", "[conformance]") {
  struct Option {
    std::string name, value, other;  // no value: left out
  };
  const std::vector<Option> options{{"on", "4x4", "5x5"},
                                    {"bytes", "8", "9"},
                                    {"algorithms", "ring", "edst"},
                                    {"ports", "", "all"},
                                    {"switching", "", "packet"},
                                    {"contention", "", "forbid"},
                                    {"routing", "", "0,1"},
                                    {"sources", "", "all"},
                                    {"seed", "", "1"},
                                    {"segments", "", "auto"},
                                    {"h", "", "2"},
                                    {"prefix", "", "none"},
                                    {"chunk", "", "2"},
                                    {"expect", "", "16"},
                                    {"ts", "", "1e-6"},
                                    {"tc", "", "1e-9"},
                                    {"th", "", "0"},
                                    {"executor", "", "serial"},
                                    {"threads", "", "2"},
                                    {"repeat", "", "2"}};
  const support::Folder folder;
  const auto sweep = [&](const std::string& changed) {
    std::string line = "sweep multinode-broadcast --csv " + folder.file("s.csv");
    for (const Option& option : options) {
      const std::string& value = option.name == changed ? option.other : option.value;
      if (!value.empty()) line += " --" + option.name + " " + value;
    }
    return line;
  };
  // The table does not fit into its folder: a row is longer than the 512 bytes that a file may have here.
  support::command_under("-f 1", sweep(""));
  const std::string part = support::text_of_file(folder.file("s.csv.part"));
  REQUIRE(part.starts_with("unfinished table of torus "));
  for (const Option& option : options) {
    const support::Ended other = command(sweep(option.name));
    CAPTURE(option.name, other.err);
    CHECK(other.status == 2);
    CHECK(other.err.find("it is no unfinished table of these options") != std::string::npos);
    CHECK(support::text_of_file(folder.file("s.csv.part")) == part);
  }
  CHECK(command(sweep("") + " --memory 2GiB").status == 0);
  CHECK(folder.files() == 1);
}

TEST_CASE("a table that is complete is made anew", "[conformance]") {
  const support::Folder folder;
  folder.write("s.csv", "old\n");
  REQUIRE(command("sweep broadcast --on 4x4 --algorithms flood --bytes 8 --csv " + folder.file("s.csv")).status == 0);
  CHECK(figures(folder.file("s.csv")).size() == 2);
  CHECK(folder.files() == 1);
}

TEST_CASE("what does not fit into the memory is left out, with the reason, and the sweep goes on", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended =
      command("sweep broadcast --on 8x8 --algorithms flood --bytes 16MiB,64 --memory 64MiB --csv " + folder.file("s.csv"));
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(figures(folder.file("s.csv")).size() == 2);
  CHECK(ended.out.find("flood     1             ") != std::string::npos);
}

TEST_CASE("a shape too large for the memory is left out before it is planned", "[conformance]") {
  const support::Folder folder;
  for (const std::string collective : {"broadcast", "multinode-broadcast", "total-exchange"}) {
    const support::Ended ended = command("sweep " + collective + " --on 4x4,2^31 --bytes 16 --memory 1GiB --csv " + folder.file("s.csv"));
    CAPTURE(collective, ended.err);
    CHECK(ended.status == 0);
    CHECK(ended.out.find("the 2,147,483,648 nodes hold at least") != std::string::npos);
    CHECK(figures(folder.file("s.csv")).size() > 1);
  }
}

TEST_CASE("with its standard descriptors closed, a sweep writes its table alone into its file, and fails", "[conformance]") {
  const support::Folder folder;
  const auto closed = [&](const char* which) {
    return support::run_program(
        "/bin/sh", {.arguments = {"-c", std::string("exec \"$0\" \"$@\" ") + which, TORUS_PROGRAM, "sweep", "broadcast", "--on", "4x4",
                                  "--algorithms", "flood", "--bytes", "8", "--csv", folder.file("s.csv")}});
  };
  for (const char* which : {"<&- >&-", ">&-", "<&- >&- 2>&-"}) {
    const support::Ended ended = closed(which);
    CAPTURE(which, ended.err);
    CHECK(ended.status == 1);
    const std::string table = support::text_of_file(folder.file("s.csv"));
    CHECK(support::lines(table) == 2);
    CHECK(table.starts_with("shape,"));
    CHECK(folder.files() == 1);
  }
  CHECK(closed(">&-").err == "torus: standard output: writing it failed (Bad file descriptor)\n");
  CHECK(closed("<&-").status == 0);
}

TEST_CASE("counts of ports that a shape has no room for are left out with a word on it, and refused where none is left", "[conformance]") {
  const support::Folder folder;
  const std::string line = "sweep broadcast --on 4x4,8,4x4x4 --bytes 64 --algorithms flood --csv " + folder.file("s.csv");
  const std::string said = support::good(line + " --ports 1,4,9").out;
  CAPTURE(said);
  CHECK(
      said.find("--ports: left out 9 on 4x4, whose nodes have 4 ports; 4,9 on 8, whose nodes have 2 ports; 9 on 4x4x4, whose nodes have 6 "
                "ports; all would do\n") != std::string::npos);
  CHECK(support::good(line + " --ports 2,all").out.find("--ports: left out") == std::string::npos);
  support::check_refused_without(folder.file("no.csv"), "sweep broadcast --on 4x4,8 --ports 9,16 --csv " + folder.file("no.csv"),
                                 "--ports '9,16': no node of these shapes has so many channels; for instance all");
}

TEST_CASE("a regret says as a sweep which counts of ports it leaves out", "[conformance]") {
  CHECK(support::good("regret broadcast --on 4x4,8 --ports 1,4 --bytes 64")
            .out.ends_with("\n--ports: left out 4 on 8, whose nodes have 2 ports; all would do\n"));
  CHECK(support::good("regret broadcast --on 4x4,8 --bytes 64").out.find("--ports") == std::string::npos);
}
