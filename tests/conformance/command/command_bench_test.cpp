/// torus bench: its rows, its files, and what it counts.
#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::lines;

namespace {

support::Json json_of(const support::Folder& folder, const std::string& line, int status = 0) {
  const support::Ended ended = command(line + " --json-file " + folder.file("b.json"));
  CAPTURE(line, ended.out, ended.err);
  REQUIRE(ended.status == status);
  return support::parsed(support::text_of_file(folder.file("b.json")));
}

std::size_t rows_in(const std::string& text) {
  std::size_t comments = text.starts_with('#') ? 1 : 0;
  for (std::size_t at = text.find("\n#"); at != std::string::npos; at = text.find("\n#", at + 1)) ++comments;
  return lines(text) - comments;
}

}  // namespace

TEST_CASE("a bench has a row for each size and algorithm, with its figures", "[conformance]") {
  const support::Folder folder;
  const std::string line = "bench broadcast --on 4x4 --bytes 8:64:x2 --algorithms flood,wang-tseng --repeat 7 --executor serial";
  const support::Ended ended = command(line + " --csv " + folder.file("b.csv") + " --json-file " + folder.file("b.json"));
  CAPTURE(ended.out, ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.out.starts_with("# torus "));
  for (const char* part : {", commit ", "1 thread, executor serial", "# torus bench broadcast --on 4x4 --bytes 8:64:x2", "busbw"})
    CHECK(ended.out.find(part) != std::string::npos);
  CHECK(rows_in(ended.out) == 8);
  const auto json = support::parsed(support::text_of_file(folder.file("b.json")));
  for (const char* field : {"version", "commit", "host", "threads", "executor", "date", "command"}) CHECK(json.contains(field));
  REQUIRE(json["rows"].size() == 8);
  for (const auto& row : json["rows"]) {
    CAPTURE(row.dump());
    CHECK(row["runs"] == 7);
    CHECK(row["wrong"] == 0);
    CHECK(row["verified"] == true);
    CHECK(row["time_min_s"] <= row["time_median_low_s"]);
    CHECK(row["time_median_low_s"] <= row["time_median_s"]);
    CHECK(row["time_median_s"] <= row["time_median_high_s"]);
    CHECK(row["time_median_high_s"] <= row["time_max_s"]);
    CHECK(row["algbw_bytes_per_s"].get<double>() == Approx(row["bytes"].get<double>() / row["time_median_s"].get<double>()));
    CHECK(row["busbw_bytes_per_s"] == row["algbw_bytes_per_s"]);
    CHECK(row["times_the_bound"].get<double>() >= 1);
  }
  const std::string csv = support::text_of_file(folder.file("b.csv"));
  CHECK(lines(csv) == 9);
  CHECK(csv.starts_with("collective,shape,nodes,"));
  for (const char* column : {",time_median_low_s,", ",time_median_high_s,", ",algbw_bytes_per_s,", ",busbw_bytes_per_s,", ",wrong,"})
    CHECK(csv.substr(0, csv.find('\n')).find(column) != std::string::npos);
}

TEST_CASE("runs of the warm-up are not counted, and a count that was typed is kept", "[conformance]") {
  const support::Folder folder;
  const auto counts = [&](const std::string& options) {
    const auto row = json_of(folder, "bench broadcast --on 4x4 --bytes 8 --executor serial --algorithms flood " + options)["rows"][0];
    return std::pair(row["warm_up_runs"].get<int>(), row["runs"].get<int>());
  };
  CHECK(counts("--warmup 0 --repeat 1") == std::pair(0, 1));
  CHECK(counts("--warmup 5 --repeat 2") == std::pair(5, 2));
  const auto [warm_up, runs] = counts("");
  CHECK(warm_up >= 1);
  CHECK(warm_up <= 2);
  CHECK(runs >= 3);
  CHECK(runs <= 20);
}

TEST_CASE("algorithms rank the same by algbw and by time, for every collective", "[conformance]") {
  const support::Folder folder;
  for (const char* line : {"bench broadcast --on 4x4 --bytes 4KiB", "bench multinode-broadcast --on 4x4 --bytes 64 --sources random:5",
                           "bench total-exchange --on 4x4 --bytes 64"}) {
    CAPTURE(line);
    std::vector<std::pair<double, double>> rows;  // time, algbw
    const support::Json json = json_of(folder, std::string(line) + " --algorithms all --repeat 3");
    for (const auto& row : json["rows"]) {
      if (row.contains("time_median_s")) rows.emplace_back(row["time_median_s"], row["algbw_bytes_per_s"]);
    }
    REQUIRE(rows.size() >= 3);
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i - 1].second >= rows[i].second);
  }
}

TEST_CASE("a bench without names takes at each size the algorithm that a run chooses", "[conformance]") {
  const support::Ended ended = command("bench broadcast --on 8x8 --bytes 8,1MiB --repeat 1 --json");
  REQUIRE(ended.status == 0);
  const support::Json json = support::parsed(ended.out);
  REQUIRE(json["rows"].size() == 2);
  for (const auto& row : json["rows"]) {
    const std::string bytes = std::to_string(row["bytes"].get<std::uint64_t>());
    CHECK(row["algorithm"] == support::parsed(command("run broadcast --on 8x8 --json --bytes " + bytes).out)["algorithm"]);
  }
  const std::string text = command("bench broadcast --on 8x8 --bytes 8 --repeat 5").out;
  CHECK(text.find("# size: of the message, which each node has in the end\n") != std::string::npos);
  CHECK(text.find("# noise of the host: the median of a row was ") != std::string::npos);
}

TEST_CASE("every JSON object says which program, host and command wrote it, on standard output and in --json-file", "[conformance]") {
  const support::Folder folder;
  const std::string file = folder.file("a.json");
  const std::string trace = support::traced(folder, "broadcast --on 4x4");
  for (const std::string& line :
       {std::string("run broadcast --on 4x4"), std::string("compare broadcast --on 4x4 --run none"), std::string("bounds --on 4x4"),
        std::string("regret broadcast --on 4x4 --bytes 64"), std::string("stress --runs 2"), std::string("stress --faults --runs 2"),
        "verify " + trace, std::string("bench broadcast --on 4x4 --bytes 8"), std::string("explain broadcast flood --on 4x4"),
        std::string("list broadcast"), std::string("list --machines"),
        std::string("compare broadcast --on 3x3 --bytes 8 --algorithms flood --every-single-link")}) {
    CAPTURE(line);
    const support::Ended ended = command(line + " --json --json-file " + file);
    REQUIRE(ended.status == 0);
    const support::Json json = support::parsed(ended.out);
    for (const char* field : {"version", "commit", "host", "command"}) CHECK(!json[field].get<std::string>().empty());
    CHECK(json["command"] == "torus " + line + " --json --json-file " + file);
    CHECK(support::text_of_file(file) == ended.out);
    // Without --json the table is printed, and the file is written all the same.
    const support::Ended words = command(line + " --json-file " + file);
    CHECK(!words.out.starts_with("{"));
    CHECK(support::parsed(support::text_of_file(file)).size() == json.size());
  }
}

TEST_CASE("what the bandwidths count follows from the collective", "[conformance]") {
  const support::Folder folder;
  const auto moved = [&](const std::string& line) {
    const auto row = json_of(folder, line + " --repeat 1 --warmup 0")["rows"][0];
    CHECK(row["busbw_bytes_per_s"].get<double>() / row["algbw_bytes_per_s"].get<double>() == Approx(15.0 / 16));
    return row["algbw_bytes_per_s"].get<double>() * row["time_median_s"].get<double>();
  };
  CHECK(moved("bench multinode-broadcast --on 4x4 --bytes 64 --sources random:5") == Approx(5 * 64));
  CHECK(moved("bench total-exchange --on 4x4 --bytes 64") == Approx(16 * 64));
}

TEST_CASE("what cannot run is a row with its reason, and the table goes on", "[conformance]") {
  const support::Folder folder;
  // Named, and refused by the shape.
  const auto named = json_of(folder, "bench broadcast --on 4x5 --bytes 8,64 --algorithms flood,wang-tseng --repeat 1")["rows"];
  REQUIRE(named.size() == 4);
  for (const auto& row : named) CHECK(row.contains("not_run") == (row["algorithm"] == "wang-tseng"));
  // A size at which nothing applies.
  const auto odd = json_of(folder, "bench allreduce --on 2x2 --bytes 3,8 --type f32 --repeat 1")["rows"];
  REQUIRE(odd.size() == 2);
  CHECK(odd[0]["bytes"] == 3);
  CHECK(odd[0]["not_run"].get<std::string>().find("whole elements of 4 bytes") != std::string::npos);
  CHECK(odd[1]["verified"] == true);
  // Too large for the memory, after sizes that are not.
  const auto large = json_of(folder, "bench broadcast --on 4x4 --bytes 8,1GiB --memory 1GiB --algorithms flood --repeat 1")["rows"];
  REQUIRE(large.size() == 2);
  CHECK(large[0]["verified"] == true);
  CHECK(large[1]["not_run"].get<std::string>().find("1 GiB may be used") != std::string::npos);
  // Too long for the table.
  const auto late = json_of(folder, "bench broadcast --on 4x4 --bytes 8,64 --algorithms flood --seconds 0.001 --repeat 50")["rows"];
  REQUIRE(late.size() == 2);
  CHECK(late[1]["not_run"].get<std::string>().find("--seconds") != std::string::npos);
}

TEST_CASE("a bench that cannot write its file or is asked for nonsense says so before it runs", "[conformance]") {
  const support::Folder folder;
  for (const std::string& line : {
           std::string("bench"),
           std::string("bench bcasts"),
           std::string("bench broadcast --on 4y4"),
           std::string("bench broadcast --on 4x4,8x8"),
           std::string("bench broadcast --bytes 8:16MiB:y2"),
           std::string("bench broadcast --bytes 16MiB:8"),
           std::string("bench broadcast --bytes 8:64:+0"),
           std::string("bench broadcast --bytes 1:1GiB:+1"),
           std::string("bench broadcast --algorithms flood,wang-tsang"),
           std::string("bench broadcast --on 4x5 --algorithms wang-tseng"),
           std::string("bench broadcast --on 4x4 --repeat 0"),
           std::string("bench broadcast --on 4x4 --warmup -1"),
           std::string("bench broadcast --on 4x4 --seconds 0"),
           std::string("bench broadcast --on 4x4 --source 99"),
           std::string("bench broadcast --on 4x4 --csv -"),
           std::string("bench broadcast --on 4x4 --csv ''"),
           "bench broadcast --on 4x4 --json-file " + folder.file("none/t"),
           "bench broadcast --on 4x4 --csv " + folder.file("t") + " --json-file " + folder.file("./t"),
       }) {
    support::check_refused(line);
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("an interrupted bench leaves its rows on standard output, and no files", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended = support::run_program(
      TORUS_PROGRAM,
      {.arguments = support::words("bench broadcast --on 16x16 --bytes 8 --repeat 1000000 --seconds 600 --algorithms flood --csv " +
                                   folder.file("b.csv")),
       .when = support::has_worked(1),
       .signal = SIGINT});
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(ended.out.starts_with("# torus "));
  CHECK(folder.files() == 0);
}

TEST_CASE("the heading of the table has one line, however narrow the terminal and long the names", "[conformance]") {
  for (const std::string columns : {"80", "100", "120", "132"}) {
    for (const std::string what : {"total-exchange", "reduce-scatter", "reduce", "scan"}) {
      const support::Ended ended =
          support::run_program("/usr/bin/env", {.arguments = {"COLUMNS=" + columns, TORUS_PROGRAM, "bench", what, "--on", "2x2", "--bytes",
                                                              "64", "--warmup", "0", "--repeat", "1", "--executor", "serial"}});
      CAPTURE(columns, what, ended.out, ended.err);
      REQUIRE(ended.status == 0);
      const std::size_t heading = ended.out.find("#   size  algorithm");
      REQUIRE(heading != std::string::npos);
      CHECK(ended.out.substr(heading, ended.out.find('\n', heading) - heading).ends_with("  note"));
    }
  }
}
