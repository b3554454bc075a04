// torus ... --groups: every subcommand knows groups, or refuses them in one line.
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::good;
using support::Json;
using support::refusal;

namespace {

Json run_json(const std::string& words) { return support::parsed(good("run " + words + " --threads 1 --json").out); }

}  // namespace

TEST_CASE("a run in groups has the figures of a group's run, and says what the groups are", "[conformance]") {
  const Json all = run_json("allreduce --on 6x8 --groups rows --algorithm ring --judge");
  const Json alone = run_json("allreduce --on 8 --algorithm ring");
  CHECK(all["verified"] == true);
  CHECK(all["shape"] == "6x8");
  CHECK(all["nodes"] == 48);
  CHECK(all["groups"] == "rows");
  CHECK(all["group_count"] == 6);
  CHECK(all["group_shape"] == "8");
  CHECK(all["group_nodes"] == 8);
  for (const char* same : {"steps", "steps_formula", "steps_lower_bound", "channel_bytes_sum", "channel_bytes_formula", "model_time_s"})
    CHECK(all[same] == alone[same]);
  CHECK(all["messages"] == 6 * alone["messages"].get<int>());
  CHECK(good("run scan --on 6x4 --groups columns").out.find("groups        columns: 4 of 6 nodes, each a machine 6 with 2 ports") !=
        std::string::npos);
  CHECK(run_json("broadcast --on 6x8 --groups slice:3x4 --source 2,3")["sources"] == Json::array({11}));
  CHECK(run_json("barrier --on 4x4 --groups stride:2 --switching wormhole --contention share")["verified"] == true);
}

TEST_CASE("a run in groups whose hops are routes of several speeds is judged by the fastest", "[conformance]") {
  const support::Folder folder;
  const std::string groups = folder.write("groups", "0 1\n2 3\n");
  for (const char* collective : {"broadcast", "allgather", "alltoall", "allreduce"}) {
    CAPTURE(collective);
    const Json run = run_json(std::string(collective) + " --on 2x2 --groups file:" + groups + " --tc 3e-10,1e-10 --bytes 1MiB --judge");
    CHECK(run["model_time_lower_bound_s"].get<double>() <= run["model_time_s"].get<double>() * (1 + 1e-9));
    CHECK(run["model_time_formula_s"].get<double>() > 2 * run["model_time_s"].get<double>());  // all routes take the fast dimension
  }
}

TEST_CASE("what is left open suits groups that may meet on channels", "[conformance]") {
  const support::Folder folder;
  const std::string groups = folder.write("groups", "0 5 10\n3 6 9\n");
  for (const std::string& line :
       std::vector<std::string>{"broadcast --on 8x8 --groups stride:2", "broadcast --on 8x8 --groups stride:2 --algorithm flood",
                                "allreduce --on 4x4 --groups file:" + groups, "gather --on 4x4 --groups stride:2x1"}) {
    CAPTURE(line);
    const Json run = run_json(line + " --judge");
    CHECK(run["verified"] == true);
    CHECK(run["switching"] == "wormhole");
    CHECK(run["contention"] == "share");
  }
  const std::string none = refusal("run broadcast --on 8x8 --groups stride:2 --contention forbid");
  CHECK(none.find("the groups meet on channels (flood: ") != std::string::npos);
  CHECK(none.find("--contention share would do") != std::string::npos);
  // Where some algorithms have two messages on a channel, another is chosen.
  folder.write("groups", "1 4 12\n3 5 9\n");
  const Json other = run_json("allreduce --on 4x4 --contention forbid --bytes 1000 --groups file:" + groups);
  CHECK(other["verified"] == true);
  CHECK(other["chosen_because"].get<std::string>().find("would break a rule in these groups") != std::string::npos);
}

TEST_CASE("a trace of groups lists them and is judged", "[conformance]") {
  const support::Folder folder;
  for (const char* words : {"total-exchange --on 4x6 --groups axis:1", "reduce-scatter --on 4x3x4 --groups axis:0,2",
                            "gather --on 4x4 --groups slice:2x4 --root 5", "barrier --on 4x4 --groups rows",
                            "reduce --on 8x8 --groups stride:2 --switching wormhole --contention share --root 3"}) {
    CAPTURE(words);
    const std::string trace = support::traced(folder, words);
    CHECK(support::text_of_file(trace).find("\"groups\":[[0,") != std::string::npos);
    CHECK(good("verify " + trace).out.find("in each of ") != std::string::npos);
  }
  const std::string trace = support::traced(folder, "broadcast --on 4x4 --groups rows");
  good("view " + trace + " -o " + folder.file("page.html") + " --svg " + folder.file("figure.svg"));
  const std::string figure = support::text_of_file(folder.file("figure.svg"));
  CHECK(figure.find("on 4x4, in 4 groups") != std::string::npos);
  for (const char* colour : {"c0", "c1", "c2", "c3"}) CHECK(figure.find(std::string("<path class=\"full ") + colour) != std::string::npos);
  CHECK(figure.find("<path class=\"route") == figure.rfind("<path class=\"route"));  // in the legend alone
  CHECK(refusal("export " + trace + " --to dot -o " + folder.file("tree.dot")).find("which --to dot does not know yet") !=
        std::string::npos);
  good("export " + trace + " --to goal -o " + folder.file("goal"));
}

TEST_CASE("the steps of a run in groups are those of a group, with the messages of all", "[conformance]") {
  for (const std::string line :
       {"allreduce --algorithm ring", "broadcast --algorithm flood --switching packet", "barrier --algorithm flood"}) {
    CAPTURE(line);
    const Json all = run_json(line + " --on 5x6 --groups rows --steps"), one = run_json(line + " --on 6 --steps");
    REQUIRE(all["step_table"].size() == one["step_table"].size());
    const char* count = one["step_table"][0].contains("complete") ? "complete" : "informed";
    for (std::size_t step = 0; step < one["step_table"].size(); ++step) {
      for (const char* five_times : {"messages", "hops", "bytes", count})
        CHECK(all["step_table"][step][five_times] == 5 * one["step_table"][step][five_times].get<std::uint64_t>());
      CHECK(all["step_table"][step]["channel_bytes"] == one["step_table"][step]["channel_bytes"]);
    }
    CHECK(all["step_table"].back()[count] == 30);
  }
}

TEST_CASE("comparisons, sweeps, benchmarks and bounds know groups", "[conformance]") {
  const support::Folder folder;
  const Json compared =
      support::parsed(good("compare allreduce --on 4x6 --groups rows --bytes 64 --algorithms ring,rings --run all --json").out);
  CHECK(compared["shape"] == "4x6");
  CHECK(compared["groups"] == "rows");
  CHECK(compared["group_nodes"] == 6);
  const std::string csv = folder.file("sweep.csv");
  good("sweep broadcast --on 4x4,4x6 --groups axis:1 --bytes 64 --algorithms flood --csv " + csv);
  CHECK(support::count(support::text_of_file(csv), "axis:1") == 2);
  good("bench broadcast --on 4x4 --groups rows --bytes 64 --algorithms flood --repeat 2 --json-file " + folder.file("bench.json"));
  CHECK(support::parsed(support::text_of_file(folder.file("bench.json")))["rows"][0]["groups"] == "rows");
  const Json bounds = support::parsed(good("bounds --on 4x6 --groups rows --json").out);
  CHECK(bounds["shape"] == "6");
  CHECK(bounds["group_count"] == 4);
  const Json& broadcast = bounds["collectives"]["broadcast"];
  CHECK(broadcast["steps_lower_bound"] == 2);
  CHECK(broadcast["any_route_steps_lower_bound"] == 2);
  CHECK(bounds["collectives"]["total-exchange"]["any_route_model_time_lower_bound_s"] <=
        bounds["collectives"]["total-exchange"]["model_time_lower_bound_s"]);
}

TEST_CASE("what cannot take groups, or these groups, says so in a line", "[conformance]") {
  const support::Folder folder;
  const auto names = [](const std::string& line, const std::string& words) {
    CAPTURE(line);
    CHECK(refusal(line).find(words) != std::string::npos);
  };
  names("run broadcast --on 4x4 --groups rings", "groups 'rings': there are no such groups; for instance rows");
  names("run broadcast --on 4x4 --groups stride:2 --switching packet", "packet switching takes one a step");
  names("run broadcast --on 4x4 --groups rows --source 4", "4");
  names("run allreduce --on 4x3 --groups rows --algorithm recursive-halving", "recursive-halving");
  names("explain broadcast --on 4x4 --groups rows", "--groups 'rows': torus explain does not know groups yet; leave it out");
  names("explain swath --on 4x4 --groups rows", "torus explain does not know groups yet");
  names("compare broadcast --on 4x4 --groups rows --every-single-link", "a comparison of single failures does not know groups yet");
  names("run broadcast --on 4x4 --groups rows --dead-link 1:+1", "has other dead or slow links or nodes than group 0");
}
