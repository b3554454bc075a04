// torus run A .. + B ..: several collectives at once.
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::good;
using support::Json;
using support::refusal;

TEST_CASE("of several collectives each has the figures of a run alone", "[conformance]") {
  const Json both = support::parsed(
      good("run allgather --on 6x8 --groups rows --seed 7 --judge --json + allreduce --groups columns --bytes 64KiB --offset 3").out);
  CHECK(both["verified"] == true);
  CHECK(both["shape"] == "6x8");
  CHECK(both["shared_channels"] == 0);
  CHECK(both["violations"] == Json::array());
  const Json rows = support::parsed(good("run allgather --on 6x8 --groups rows --seed 7 --json").out);
  const Json columns = support::parsed(good("run allreduce --on 6x8 --groups columns --bytes 64KiB --seed 7 --json --algorithm " +
                                            both["collectives"][1]["algorithm"].get<std::string>() + " --switching " +
                                            rows["switching"].get<std::string>() + " --ports " + rows["ports"].dump())
                                           .out);
  for (const char* same : {"collective", "groups", "bytes", "seed", "steps", "messages", "hops", "model_time_s", "channel_bytes_sum",
                           "trace_digest", "verified", "ports", "switching", "contention"}) {
    CAPTURE(same);
    CHECK(both["collectives"][0][same] == rows[same]);
    CHECK(both["collectives"][1][same] == columns[same]);
  }
  CHECK(both["collectives"][0]["offset"] == 0);
  CHECK(both["collectives"][1]["offset"] == 3);
  CHECK(both["steps"] == std::max(rows["steps"].get<int>(), columns["steps"].get<int>() + 3));
  CHECK(both["model_time_in_turn_s"].get<double>() == Approx(rows["model_time_s"].get<double>() + columns["model_time_s"].get<double>()));
}

TEST_CASE("contention of two collectives is named where it is forbidden, and charged where channels are shared", "[conformance]") {
  const std::string two = " --algorithm mst --bytes 4KiB --json + broadcast --algorithm mst --bytes 4KiB";
  const support::Ended forbidden = support::command("run broadcast --on 4x4 --ports 2 --contention forbid" + two);
  CHECK(forbidden.status == 1);
  CHECK(forbidden.err.starts_with("torus: violation, channel used twice: step 0: channel (0,0) dimension "));
  CHECK(forbidden.err.find("carries 2 messages: of 1 broadcast from (0,0) by ") != std::string::npos);
  CHECK(forbidden.err.find("; and of 2 broadcast from (0,0) by ") != std::string::npos);
  CHECK(support::lines(forbidden.err) == 1);
  const Json named = support::parsed(forbidden.out);
  CHECK(named["verified"] == false);
  CHECK(named["violations_found"] == named["violations"].size());
  CHECK(named["violations"][0]["kind"] == "channel used twice");
  CHECK(named["collectives"][1]["failure"] == "stopped after step 1");

  // What one of them does wrong by itself counts as well.
  const support::Ended alone_wrong =
      support::command("run broadcast --on 8x8 --contention forbid --groups stride:2 --algorithm flood --json + barrier --offset 9");
  CHECK(alone_wrong.status == 1);
  const Json wrong = support::parsed(alone_wrong.out);
  CHECK(wrong["violations_found"].get<int>() > 0);
  CHECK(wrong["violations"][0]["kind"] == "channel used twice");

  const Json shared = support::parsed(good("run broadcast --on 4x4 --ports 2 --contention share" + two).out);
  const Json alone = support::parsed(good("run broadcast --on 4x4 --ports 2 --contention share --algorithm mst --bytes 4KiB --json").out);
  CHECK(shared["channel_bytes_sum"] == 2 * alone["channel_bytes_sum"].get<int>());
  CHECK(shared["busiest_channel"]["bytes_of_each"] == Json::array({alone["channel_bytes_max"], alone["channel_bytes_max"]}));
  CHECK(shared["shared_channels"].get<int>() > 0);

  const support::Ended ports = support::command("run broadcast --on 4x4 --ports 1 --contention share" + two);
  CHECK(ports.err ==
        "torus: violation, too many sends: step 0: node (0,0) sends 2 messages on 1 port: 1 of 1 broadcast, 1 of 2 broadcast "
        "(and 1 more in that step)\n");
}

TEST_CASE("each of several collectives has a trace, which the judge takes", "[conformance]") {
  const support::Folder folder;
  const std::string line = " --groups rows + total-exchange --groups columns --bytes 8 + barrier --groups slice:4x4 --offset 40";
  for (const char* executor : {"serial", "threads --threads 3", "tbb --threads 2", "shuffled"}) {
    CAPTURE(executor);
    good("run broadcast --on 4x4 --contention share --executor " + std::string(executor) + " --trace " + folder.file("t.x.jsonl") + line);
    for (const char* part : {"1", "2", "3"}) CHECK(good("verify " + folder.file(std::string("t.x.") + part + ".jsonl")).status == 0);
    if (std::string(executor) != "serial") {
      CHECK(support::text_of_file(folder.file("t.x.2.jsonl")) == support::text_of_file(folder.file("t.2.jsonl")));
      continue;
    }
    good("run broadcast --on 4x4 --contention share --executor serial --trace " + folder.file("t.jsonl") + line);
  }
  good("run broadcast --on 4x4 --trace " + folder.file("packed.gz") + " + broadcast --offset 40");
  CHECK(support::messages_of(folder.file("packed.2.gz")).front().step == 0);
}

TEST_CASE("a page shows two collectives on one clock", "[conformance]") {
  const support::Folder folder;
  good("run broadcast --on 4x4 --view " + folder.file("both.html") + " + gather --offset 40");
  const std::string page = support::text_of_file(folder.file("both.html"));
  CHECK(page.find("gather") != std::string::npos);
  CHECK(page.find("broadcast") != std::string::npos);
  CHECK(refusal("run broadcast --on 4x4 --view a.html + gather + scan --offset 90").find("a page plays two collectives, and these are 3") !=
        std::string::npos);
  good("run allgather --on 4x4 --groups rows --view " + folder.file("both.html") + " + allreduce --groups columns --bytes 64");
  CHECK(support::count(support::text_of_file(folder.file("both.html")), "\"group_colours\":[0,1,2,3]") == 2);
}

TEST_CASE("what is not for several collectives, or stands after a +, is refused by name", "[conformance]") {
  const auto says = [](const std::string& line, std::string_view words) {
    CAPTURE(line, words);
    CHECK(refusal("run " + line).find(words) != std::string::npos);
  };
  for (const std::string option : {"--on 4x4", "--ports 1", "--switching packet", "--contention share", "--tc 1e-9", "--ts 1us", "--seed 2",
                                   "--threads 1", "--executor serial", "--dead-node 3", "--memory 1GiB", "--machine gemini", "--json",
                                   "--trace t", "--view v", "--judge", "--repeat 2", "--wide", "--json-file f"})
    says("scan --on 4x4 + scan " + option, "collective 2: " + option + ": it is for all collectives; write it before the first +");
  for (const std::string option : {"--repeat 2", "--csv f", "--steps", "--fault random", "--digest 00c0ffee00c0ffee"})
    says("scan --on 4x4 " + option + " + scan", option + ": it is for a run of one collective");
  says("scan --on 4x4 +", "collective 2: collective is required");
  says("scan --on 4x4 + scan --byts 4", "collective 2: '--byts': run has no such option; did you mean '--bytes'?");
  says("scan --on 4x4 + scan + scan 5x5", "collective 3: '5x5': run has no such argument");
  says("scan --on 4x4 + allreduce --algorithm nonsense", "collective 2: --algorithm 'nonsense'");
  says("scan --on 4x4 --offset 3", "--offset 3: it is for several collectives at once");
  says("scan --on 4x4 + scan --offset 1000001", "collective 2: --offset '1000001'");
  says("broadcast --on 16x16 --bytes 8MiB --memory 3GiB + broadcast --bytes 8MiB", "2 collectives at once need ");
  CHECK(refusal("compare scan + scan").find("'+': compare takes one collective; torus run takes several") != std::string::npos);
  CHECK(good("run scan --on 4x4 + scan --help").out.find("--offset") != std::string::npos);
}

TEST_CASE("options of a file are those of the first collective, and an interrupt ends all", "[conformance]") {
  const support::Folder folder;
  folder.write("torus.toml", "on = \"4x4\"\nbytes = \"128\"\n");
  const Json both = support::parsed(good("run scan --config " + folder.file("torus.toml") + " --json + scan --offset 90").out);
  CHECK(both["shape"] == "4x4");
  CHECK(both["collectives"][0]["bytes"] == 128);
  CHECK(both["collectives"][1]["bytes"] == 4096);

  const support::Ended ended = support::run_program(
      TORUS_PROGRAM, {.arguments = support::words("run total-exchange --on 40x40 --algorithm a2 --bytes 0 --executor serial --trace " +
                                                  folder.file("t.jsonl") + " + broadcast --offset 1000000"),
                      .when = support::has_worked(1)});
  CAPTURE(ended.err);
  CHECK(ended.status == 1);
  CHECK(ended.signal == 0);
  CHECK(ended.err.find("interrupted") != std::string::npos);  // after a step, or on a busy host before the first
  CHECK(support::lines(ended.err) == 1);
  CHECK(folder.files() == 1);
}
