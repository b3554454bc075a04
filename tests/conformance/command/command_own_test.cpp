/// The command with algorithms of a user's own (tests/support/own_torus.cpp): every tool has them, and a bad planner ends no command.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "runtime/base/figures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::Json;
using support::lines;

namespace {

support::Ended own(const std::string& line) { return support::run_program(TORUS_OWN_PROGRAM, {.arguments = support::words(line)}); }

/// By algorithm, the entries of its sizes.
std::map<std::string, Json> rows_of(const Json& machine) {
  std::map<std::string, Json> rows;
  for (const Json& row : machine["algorithms"]) rows[row["algorithm"]] = row["sizes"];
  return rows;
}

}  // namespace

TEST_CASE("own algorithms are in the list, behind those of their collective", "[conformance]") {
  const Json list = support::parsed(own("list broadcast --json").out)["algorithms"];
  const auto at = std::find_if(list.begin(), list.end(), [](const Json& entry) { return entry["algorithm"] == "relay"; });
  REQUIRE(at != list.end());
  CHECK(at->at("steps") == "");
  CHECK(own("list relay").out.find("steps: not said\n") != std::string::npos);
  CHECK(own("list --on 4x4m --json").status == 0);
  CHECK(own("list relay --on 4x4m").out.find("relay needs a torus") != std::string::npos);
}

TEST_CASE("an algorithm that predicts nothing runs, and nothing is held against it", "[conformance]") {
  const support::Folder folder;
  const std::string line = "run broadcast --on 5x3 --algorithm relay --bytes 100 --judge";
  const support::Ended ended = own(line + " --trace " + folder.file("t.jsonl") + " --csv " + folder.file("r.csv"));
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out.find("; not predicted; lower bound 3\n") != std::string::npos);
  CHECK(own("verify " + folder.file("t.jsonl")).status == 0);
  CHECK(own("view " + folder.file("t.jsonl") + " -o " + folder.file("v.html")).status == 0);
  const Json run = support::parsed(own(line + " --json").out);
  CHECK(run["steps"] == 6);
  for (const char* field : {"steps_formula", "steps_formula_text", "channel_bytes_formula", "model_time_formula_s"}) {
    CAPTURE(field);
    CHECK(run[field].is_null());
  }
  CHECK(lines(support::text_of_file(folder.file("r.csv"))) == 2);
  CHECK(own("run broadcast --on 5x3 --algorithm relay-predicted --bytes 100 --judge").status == 0);
  const support::Ended boastful = own("run broadcast --on 5x3 --algorithm boastful --bytes 100");
  CHECK(boastful.status == 1);
  CHECK(boastful.err.find("6 steps, where the formula sum of n_d - 1 says 7") != std::string::npos);
}

TEST_CASE("who predicts nothing is never chosen where another predicts", "[conformance]") {
  const Json run = support::parsed(own("run broadcast --on 4x4 --plan-time 0.5 --json").out);
  CHECK(run["algorithm"] != "relay");
  const std::string why = run["chosen_because"];
  CHECK(why.find("throws cannot be planned: no way beyond four nodes") != std::string::npos);
  CHECK(why.find("planning endless took more than 500 ms") != std::string::npos);
  CHECK(why.find("searches finds nothing on 4x4") != std::string::npos);
}

TEST_CASE("a planner that fails or does not end is a row of a comparison with its reason", "[conformance]") {
  const support::Ended ended =
      own("compare broadcast --on 3x3 --switching packet --bytes 64,4KiB,1MiB --plan-time 0.3 --json "
          "--algorithms relay,relay-predicted,throws,throws-anything,searches,endless,empty");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  auto rows = rows_of(support::parsed(ended.out)["machines"][0]);
  REQUIRE(rows.size() == 7);
  for (const Json& entry : rows["relay"]) {  // nothing is predicted, so that all sizes are run
    CHECK(entry["run"] == true);
    CHECK(entry["verified"] == true);
    CHECK(!entry.contains("model_time_formula_s"));
  }
  CHECK(rows["relay-predicted"][2]["run"] == false);
  CHECK(rows["relay"][2]["model_time_s"].get<double>() == Approx(rows["relay-predicted"][2]["model_time_formula_s"].get<double>()));
  CHECK(rows["relay"][2]["best"] == true);
  CHECK(rows["relay-predicted"][2]["best"] == true);
  CHECK(rows["throws"][0]["no_plan"] == "throws cannot be planned: no way beyond four nodes");
  CHECK(rows["throws-anything"][0]["no_plan"] == "throws-anything cannot be planned: its planner throws what is no std::exception");
  CHECK(rows["searches"][0]["no_plan"] == "searches finds nothing on 3x3");
  CHECK(rows["empty"][0]["no_plan"] == "empty cannot be planned: its plan has no program; set .start");
  CHECK(rows["endless"][0]["verified"] == true);
  CHECK(rows["endless"][1]["no_plan"] == "planning endless took more than 300 ms; a larger --plan-time waits for it");
  CHECK(rows["endless"][2]["no_plan"] == "planning took too long at 4KiB, and this is more");
  const support::Ended table = own("compare broadcast --on 3x3 --switching packet --bytes 4KiB,8KiB --algorithms throws,relay --run none");
  CHECK(table.status == 0);
  CHECK(table.out.find("throws       -      no plan   no plan\n") != std::string::npos);
  CHECK(table.out.find("relay        -      ?         ?\n") != std::string::npos);
  CHECK(table.out.find("throws at 4KiB, throws at 8KiB: no plan: throws cannot be planned: no way beyond four nodes\n") !=
        std::string::npos);
}

TEST_CASE("a planner that fails or does not end is refused in one line by a run, and left out by a sweep and a bench", "[conformance]") {
  const support::Ended throws = own("run broadcast --on 3x3 --algorithm throws");
  CHECK(throws.status == 2);
  CHECK(throws.err == "torus: throws cannot be planned: no way beyond four nodes\n");
  const support::Ended endless = own("run broadcast --on 3x3 --algorithm endless --plan-time 0.2");
  CHECK(endless.status == 2);
  CHECK(endless.err == "torus: planning endless took more than 200 ms; a larger --plan-time waits for it\n");
  const support::Folder folder;
  const std::string what = " broadcast --on 3x3 --bytes 128 --algorithms throws,endless,relay --plan-time 0.2 --csv ";
  const support::Ended sweep = own("sweep" + what + folder.file("s.csv"));
  CAPTURE(sweep.out, sweep.err);
  CHECK(sweep.status == 0);
  CHECK(sweep.out.find("1 row, 0 failed; 2 combinations left out") != std::string::npos);
  const support::Ended bench = own("bench" + what + folder.file("b.csv"));
  CAPTURE(bench.out, bench.err);
  CHECK(bench.status == 0);
  CHECK(bench.out.find("not run: throws cannot be planned") != std::string::npos);
  CHECK(bench.out.find("not run: planning endless took more than 200 ms") != std::string::npos);
  const support::Ended again = own("bench broadcast --on 3x3 --bytes 128,256,512 --algorithms endless --plan-time 0.2");  // 0.2 s once
  CAPTURE(again.out, again.err);
  CHECK(support::count(again.out, "not run: planning endless took more than 200 ms") == 1);
  CHECK(support::count(again.out, "not run: planning endless has once waited more than 200 ms") == 2);
}

TEST_CASE("a prediction below its bound is refused by name, whatever would use it", "[conformance]") {
  const std::string why =
      "modest predicts 1 byte on the fullest channels, summed over the steps (Plan::channel_bytes), less than the lower bound 32: ";
  const support::Ended run = own("run broadcast --on 3x3 --bytes 128 --algorithm modest");
  CHECK(run.status == 2);
  CHECK(run.err.starts_with("torus: " + why));
  const std::string what = " broadcast --on 3x3 --bytes 128 --switching packet --algorithms modest,relay-predicted ";
  auto rows = rows_of(support::parsed(own("compare" + what + "--json").out)["machines"][0]);
  CHECK(rows["modest"][0]["no_plan"].get<std::string>().starts_with(why));
  CHECK(rows["relay-predicted"][0]["best"] == true);
  const support::Folder folder;
  CHECK(own("sweep" + what + "--csv " + folder.file("s.csv")).out.find("1 row, 0 failed; 1 combination left out") != std::string::npos);
  CHECK(own("bench" + what + "--csv " + folder.file("b.csv")).out.find("not run: " + why) != std::string::npos);
  CHECK(own("run broadcast --on 3x3 --bytes 128 --plan-time 0.3 --json").out.find(why) != std::string::npos);
  CHECK(own("stress --only modest --runs 20").status == 1);
}

TEST_CASE("a bench tells of wrong runs, how many, and how to repeat the first", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended = own("bench broadcast --on 6x6 --algorithms lossy --bytes 8,16 --csv " + folder.file("b.csv"));
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(ended.out.find("FAILED: hang: 29 nodes wait for ever: (1,1) for a message") != std::string::npos);
  CHECK(ended.err.starts_with("torus: 2 of 2 rows failed; the first: hang: 29 nodes wait for ever"));
  CHECK(ended.err.find("repeat it with: ") != std::string::npos);
  CHECK(ended.err.find(" run broadcast --on 6x6 --algorithm lossy ") != std::string::npos);
  CHECK(support::text_of_file(folder.file("b.csv")).find("hang: 29 nodes") != std::string::npos);
}

TEST_CASE("what a comparison, a sweep and a bench call verified the judge has seen, or the row says that it has not", "[conformance]") {
  const support::Folder folder;
  const std::string what = " broadcast --on 3x3 --bytes 64 --switching packet --contention share --algorithms relay-predicted,thrifty ";
  const std::string why = "bytes on the fullest channels";
  const support::Ended compare = own("compare" + what);
  CHECK(compare.status == 1);
  CHECK(compare.err.find(why) != std::string::npos);
  const support::Ended sweep = own("sweep" + what + "--repeat 2 --csv " + folder.file("s.csv"));
  CAPTURE(sweep.out, sweep.err);
  CHECK(sweep.status == 1);
  CHECK(sweep.out.find("2 rows, 1 failed; 0 combinations left out") != std::string::npos);
  CHECK(support::text_of_file(folder.file("s.csv")).find(why) != std::string::npos);
  const support::Ended bench = own("bench" + what);
  CAPTURE(bench.out, bench.err);
  CHECK(bench.status == 1);
  CHECK(bench.out.find("every byte of each verified, every message judged in a run before") != std::string::npos);
  CHECK(bench.err.find(why) != std::string::npos);
  CHECK(bench.err.ends_with(" --judge\n"));
  const support::Ended cold = own("bench" + what + "--warmup 0 --json");  // no run but the timed ones
  CHECK(cold.status == 0);
  const Json rows = support::parsed(cold.out)["rows"];
  REQUIRE(rows.size() == 2);
  for (const Json& row : rows) CHECK(row["note"].get<std::string>().find("not judged") != std::string::npos);
}

TEST_CASE("a row that failed is one that failed when its table goes on", "[conformance]") {
  const support::Folder folder;
  const std::string line = "sweep broadcast --on 6x6,3x3,4x4,5x5 --bytes 8,16 --repeat 2 --algorithms lossy --csv " + folder.file("s.csv");
  support::Start start{.arguments = {"-c", "ulimit -f 16; exec \"$0\" \"$@\"", TORUS_OWN_PROGRAM}};  // a file has at most 8 KiB
  for (const std::string& word : support::words(line)) start.arguments.push_back(word);
  const support::Ended torn = support::run_program("/bin/sh", start);
  CAPTURE(torn.err);
  REQUIRE(support::lines(support::text_of_file(folder.file("s.csv.part"))) > 2);
  const support::Ended ended = own(line);
  CHECK(ended.status == 1);
  CHECK(ended.err.find("8 of 8 runs failed") != std::string::npos);
}

TEST_CASE("where hops cost time, runs and predictions pay for them, though the algorithm does not count them", "[conformance]") {
  const auto rows_at = [](const std::string& hop) {
    const support::Ended ended =
        own("compare broadcast --on 6x6 --algorithms relay,relay-predicted --bytes 64,1MiB --run all --json --th " + hop);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return rows_of(support::parsed(ended.out)["machines"][0]);
  };
  auto free = rows_at("0"), dear = rows_at("1us");
  const auto hops_us = [&](const char* algorithm, std::size_t size, const char* field) {
    return 1e6 * (dear[algorithm][size][field].get<double>() - free[algorithm][size][field].get<double>());
  };
  for (std::size_t size = 0; size < 2; ++size) {  // ten steps of one hop
    CHECK(dear["relay"][size]["verified"] == true);
    CHECK(hops_us("relay", size, "model_time_s") == Approx(10));
    CHECK(hops_us("relay-predicted", size, "model_time_formula_s") == Approx(10));
  }
}

TEST_CASE("the stress passes a good algorithm and shrinks the failure of a bad one", "[conformance]") {
  CHECK(own("stress --only relay --runs 40").status == 0);
  CHECK(own("stress --only relay-predicted --runs 40").status == 0);
  const support::Ended lossy = own("stress --only lossy --runs 60 --json");
  CAPTURE(lossy.out, lossy.err);
  CHECK(lossy.status == 1);
  const Json failure = support::parsed(lossy.out)["failures"][0];
  const std::string again = failure["command"];  // one with a node of rank 7 that no shorter side would leave
  CHECK(again.starts_with(std::string(TORUS_OWN_PROGRAM) + " run broadcast --on "));
  CHECK((again.find(" --on 8 ") != std::string::npos || again.find(" --on 2x2x2 ") != std::string::npos ||
         again.find(" --on 2x4 ") != std::string::npos || again.find(" --on 4x2 ") != std::string::npos ||
         again.find(" --on 3x3 ") != std::string::npos));
  CHECK(again.find(" --bytes 0 ") != std::string::npos);
  const support::Ended repeated = own(again.substr(again.find(" run ") + 1));
  CHECK(repeated.status == 1);
  CHECK(repeated.err.find(failure["what"].get<std::string>()) != std::string::npos);
  const support::Ended throws = own("stress --only throws --runs 60 --json");
  CAPTURE(throws.out, throws.err);
  CHECK(throws.status == 1);
  const Json fault = support::parsed(throws.out)["failures"][0];
  CHECK(fault["what"].get<std::string>().find("throws cannot be planned: no way beyond four nodes") != std::string::npos);
  const std::string refused = fault["command"];
  CHECK(own(refused.substr(refused.find(" run ") + 1)).err == "torus: throws cannot be planned: no way beyond four nodes\n");
  CHECK(own("stress --only searches --runs 5").status == 0);  // a search that finds nothing says so; it is no failure
}

TEST_CASE("the stress says once of an own algorithm how many deliveries told a node what it had", "[conformance]") {
  const support::Ended ended = own("stress --only wasteful --runs 20");
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  const std::string words = " reached a node that had them already; for instance\n  ";
  const std::size_t at = ended.out.find(words);
  REQUIRE(at != std::string::npos);
  CHECK(ended.out.find(words, at + 1) == std::string::npos);
  const std::size_t line = ended.out.find(" run broadcast ", at) + 1;
  const std::string again = ended.out.substr(line, ended.out.find('\n', line) - line);
  const std::string report = own(again).out;
  CAPTURE(again, report);
  CHECK(report.find("\nduplicates ") != std::string::npos);
  const Json row = support::parsed(own("stress --only wasteful --runs 20 --json").out)["rows"][0];
  CHECK(ended.out.find(fmt::format("\nwasteful: {} of {} blocks{}", grouped(row["duplicates"].get<std::uint64_t>()),
                                   grouped(row["blocks"].get<std::uint64_t>()), words)) != std::string::npos);
  // Those of this project do it by design, or do not.
  CHECK(own("stress --only relay,flood --runs 20").out.find("reached a node") == std::string::npos);
}

TEST_CASE("the stress takes a list of collectives and algorithms, in any order", "[conformance]") {
  const Json rows = support::parsed(own("stress --only relay-predicted,barrier,swath --runs 9 --seconds 0.001 --json").out)["rows"];
  std::vector<std::string> names;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->name == "swath" || algorithm->collective == Collective::barrier) names.emplace_back(algorithm->name);
    if (algorithm->name == "swath") names.emplace_back("relay-predicted");
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> listed;
  for (const Json& row : rows) listed.push_back(row["algorithm"]);
  std::sort(listed.begin(), listed.end());
  CHECK(listed == names);
  CHECK(own("stress --only relay,nosuch").err ==
        "torus: --only 'nosuch': it must be collectives or algorithms that `torus list` names, with commas between; for instance "
        "edst-broadcast\n");
}

TEST_CASE("the stress repeats its own line in a process of its own, and says where that does not fail", "[conformance]") {
  const Json lossy = support::parsed(own("stress --only lossy --runs 60 --json").out)["failures"][0];
  CAPTURE(lossy.dump());
  CHECK(lossy["repeated"] == true);
  const support::Ended forgetful = own("stress --only forgetful --runs 200");
  CAPTURE(forgetful.out, forgetful.err);
  CHECK(forgetful.status == 1);
  CHECK(forgetful.out.find("\n  alone, this does not repeat it: it ended with exit status 0\n") != std::string::npos);
  // The line that it names instead fails, since it makes the same plans before.
  const std::size_t at = forgetful.err.find(" stress --only forgetful --seed 1 --runs ");
  REQUIRE(at != std::string::npos);
  const support::Ended again = own(forgetful.err.substr(at + 1, forgetful.err.find('\n', at) - at - 1));
  CHECK(again.status == 1);
  CHECK(again.err == forgetful.err);
}

TEST_CASE("a crash in a stress leaves the line that crashes again, and says that it does", "[conformance]") {
  for (const std::string kind : {"stress", "stress --faults"}) {
    const support::Ended ended = own(kind + " --only crashes --runs 200");
    CAPTURE(kind, ended.out, ended.err);
    CHECK(ended.signal == SIGABRT);
    const std::string before = "torus: crashed; repeat it with: ", after = "torus: run again in a process of its own, it crashes, too\n";
    CHECK(ended.err.starts_with("torus: crashes: crashed while node ("));
    const std::string repeat = ended.err.substr(ended.err.find('\n') + 1);
    REQUIRE(repeat.starts_with(before));
    CHECK(repeat.ends_with(after));
    const std::string line = repeat.substr(0, repeat.find('\n'));
    CHECK(own(line.substr(line.find(" run ") + 1)).signal == SIGABRT);
  }
}
