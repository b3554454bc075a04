/// torus bench --against: both programs in turn, and what the other one may be.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;

namespace {

/// A program of a few lines of shell, in which $torus is the real one.
std::string script(const support::Folder& folder, const std::string& name, const std::string& lines) {
  const std::string path = folder.write(name, std::string("#!/bin/sh\ntorus='") + TORUS_PROGRAM + "'\n" + lines);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

/// The real one, whose benches are changed by an expression of sed's.
std::string altered(const support::Folder& folder, const std::string& expression) {
  return script(folder, "altered",
                "[ \"$2\" = --help ] || [ \"$1\" = --version ] && exec \"$torus\" \"$@\"\n\"$torus\" \"$@\" 3>\"$0.json\" || exit\n"
                "sed '" +
                    expression + "' \"$0.json\" >&3\n");
}

support::Json row_of(const support::Folder& folder, const std::string& line, int status = 0) {
  const support::Ended ended = command(line + " --json-file " + folder.file("b.json"));
  CAPTURE(line, ended.out, ended.err);
  REQUIRE(ended.status == status);
  const auto json = support::parsed(support::text_of_file(folder.file("b.json")));
  REQUIRE(json["rows"].size() == 1);
  return json["rows"][0];
}

const std::string one_row = "bench broadcast --on 4x4 --bytes 64 --algorithms flood --executor serial --warmup 0 --repeat 1";

}  // namespace

TEST_CASE("a row against the same program has both medians, a ratio near one and its interval", "[conformance]") {
  const support::Folder folder;
  const std::string line = "bench broadcast --on 4x4 --bytes 64KiB,256KiB --algorithms flood,wang-tseng --executor serial --pairs 8";
  const support::Ended ended =
      command(line + " --against " + TORUS_PROGRAM + " --csv " + folder.file("b.csv") + " --json-file " + folder.file("b.json"));
  CAPTURE(ended.out, ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("8 pairs a row, each in turn with") != std::string::npos);
  const auto json = support::parsed(support::text_of_file(folder.file("b.json")));
  REQUIRE(json["rows"].size() == 4);
  for (const auto& row : json["rows"]) {
    CAPTURE(row.dump());
    CHECK(row["pairs"] == 8);
    CHECK(row["time_median_s"] > 0);
    CHECK(row["other_time_median_s"] > 0);
    CHECK(row["ratio_low"] <= row["ratio"]);
    CHECK(row["ratio"] <= row["ratio_high"]);
    CHECK(row["ratio"] > 0.2);
    CHECK(row["ratio"] < 5);
    CHECK_FALSE(row.contains("note"));
  }
  const std::string csv = support::text_of_file(folder.file("b.csv"));
  CHECK(csv.substr(0, csv.find('\n')).find(",other_time_median_s,ratio,ratio_low,ratio_high,pairs_won") != std::string::npos);
}

TEST_CASE("the ratio is this program's time by the other's, and other steps are other work", "[conformance]") {
  const support::Folder folder;
  const std::string other = altered(folder, "s/\"time_median_s\":[0-9.e+-]*/\"time_median_s\":1000/; s/\"steps\":[0-9]*/\"steps\":77/");
  const auto row = row_of(folder, one_row + " --pairs 6 --against " + other);
  CAPTURE(row.dump());
  CHECK(row["other_time_median_s"] == 1000);
  CHECK(row["ratio"].get<double>() == Approx(row["time_median_s"].get<double>() / 1000).epsilon(0.9));
  CHECK(row["ratio_high"] < 0.1);
  CHECK(row["pairs_won"] == 6);
  CHECK(row["note"].get<std::string>().find("not the same work: 4 steps, the other 77") != std::string::npos);
  // Fewer than six pairs enclose their median with less than 95 %.
  CHECK_FALSE(row_of(folder, one_row + " --pairs 5 --against " + other).contains("ratio_low"));
}

TEST_CASE("the two take turns, the first of a pair changing from pair to pair", "[conformance]") {
  const support::Folder folder;
  const std::string other = script(folder, "logged",
                                   "[ \"$2\" = --help ] || [ \"$1\" = --version ] && exec \"$torus\" \"$@\"\n"
                                   "date +%s%N >>\"$0.log\"\n\"$torus\" \"$@\"\nstatus=$?\ndate +%s%N >>\"$0.log\"\nexit $status\n");
  REQUIRE(
      command("bench broadcast --on 8x8 --bytes 16KiB --algorithms flood --executor serial --warmup 0 --repeat 400 --pairs 10 --against " +
              other)
          .status == 0);
  std::vector<double> at;
  std::istringstream log(support::text_of_file(other + ".log"));
  for (double ns = 0; log >> ns;) at.push_back(ns);
  REQUIRE(at.size() == 20);
  // Between the other's runs of a pair and the next there is by turns nothing and two runs of this one.
  std::vector<double> none, two;
  for (std::size_t run = 1; run < 10; ++run) (run % 2 == 1 ? none : two).push_back(at[2 * run] - at[2 * run - 1]);
  std::sort(none.begin(), none.end());
  std::sort(two.begin(), two.end());
  CHECK(2 * none[none.size() / 2] < two[two.size() / 2]);
}

TEST_CASE("what the other program is not is said in one line", "[conformance]") {
  const support::Folder folder;
  const auto says = [](const std::string& other, const std::string& rest, const std::string& words) {
    const std::string line = "bench broadcast --on 4x4 --against " + other + rest;
    support::check_refused(line);
    CAPTURE(line, command(line).err);
    CHECK(command(line).err.find(words) != std::string::npos);
  };
  const std::string help = "[ \"$1\" = --version ] && echo 'torus 0.0.1' && exit\n";
  says(folder.file("none"), "", "there is no such file");
  says("''", "", "there is no such file");
  says(folder.file(""), "", "it cannot be executed");
  says(folder.write("text", "hello\n"), "", "it cannot be executed");
  says("/bin/true", "", "it is no torus");
  says(script(folder, "killed", "kill -9 $$\n"), "", "it is no torus");
  says(script(folder, "before", help + "exit 2\n"), "", "torus 0.0.1 has no bench");
  says(script(folder, "old", help + "echo '--bytes --algorithms --json --only --tsx'\n"), " --ts 2us", "(torus 0.0.1) has no --");
  says(TORUS_PROGRAM, " --pairs 0", "--pairs '0'");
  support::check_refused("bench broadcast --on 4x4 --pairs 3");
}

TEST_CASE("a row that the other refuses has its reason, and one that it fails is a failure", "[conformance]") {
  const support::Folder folder;
  const std::string known = "[ \"$2\" = --help ] || [ \"$1\" = --version ] && exec \"$torus\" \"$@\"\n";
  const auto refused =
      row_of(folder, one_row + " --against " + script(folder, "refuses", known + "echo \"torus: no such algorithm\" >&2\nexit 2\n"));
  CHECK(refused["not_run"].get<std::string>().ends_with("refuses: no such algorithm"));
  const auto silent = row_of(folder, one_row + " --against " + script(folder, "silent", known + "exit 2\n"));
  CHECK(silent["not_run"].get<std::string>().ends_with("silent: it ended with exit status 2"));
  for (const std::string end :
       {"exit 1", "kill -9 $$", "exit 0", "echo '{\"rows\":[{}]}' >&3", "echo '[[[' >&3", "echo '{\"rows\":[3]}' >&3"}) {
    CAPTURE(end);
    const auto failed = row_of(folder, one_row + " --against " + script(folder, "fails", known + end + "\n"), 1);
    CHECK(failed["verified"] == false);
    CHECK(failed["failure"].get<std::string>().find("fails: ") != std::string::npos);
  }
}
