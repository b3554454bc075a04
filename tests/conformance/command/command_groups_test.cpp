// torus ... --groups: every subcommand knows groups, or refuses them in one line.
#include <cmath>
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
  names("compare broadcast --on 4x4 --groups stride:2 --every-single-link",
        "its hops may cross what is dead; choose rows, columns, axis: or");
  names("run broadcast --on 4x4m --groups rows --dead-link 5:+1", "of group 1, dead links and nodes cut mesh:4 apart");
  names("run broadcast --on 4x4 --groups rows --source 0 --dead-node 4", "in group 1: --source '0': node 0 is dead; for instance 1");
}

TEST_CASE("groups that differ in what is dead or slow run at once, each class by a plan of its own", "[conformance]") {
  const Json all = run_json("allreduce --on 4x4x8 --groups axis:0 --dead-link 0:+0 --bytes 1KiB --judge");
  CHECK(all["verified"] == true);
  CHECK(all["group_count"] == 32);
  REQUIRE(all["group_classes"].size() == 2);
  const Json& broken = all["group_classes"][0];
  const Json& whole = all["group_classes"][1];
  CHECK(broken["groups"] == Json::array({0}));
  CHECK(broken["dead_links"] == 1);
  CHECK(whole["groups"].size() == 31);
  CHECK(broken["slowest"] == true);
  CHECK(all["algorithm"] == broken["algorithm"]);
  CHECK(all["steps"] == broken["steps_formula"]);
  CHECK(all["model_time_lower_bound_s"] == broken["model_time_lower_bound_s"]);
  // The class of whole groups is what these are on a machine where nothing is dead.
  const Json alone = run_json("allreduce --on 4x4x8 --groups axis:0 --bytes 1KiB");
  CHECK(whole["algorithm"] == alone["algorithm"]);
  CHECK(whole["steps_formula"] == alone["steps_formula"]);
  CHECK(alone.count("group_classes") == 0);

  const std::string words = good("run allreduce --on 4x4x8 --groups axis:0 --dead-link 0:+0 --bytes 1KiB").out;
  CHECK(words.find("axis:0: 4 nodes, each a machine 4 with 2 ports, in 2 classes by what is dead or slow") != std::string::npos);
  CHECK(words.find("group 0 (1 dead link): ") != std::string::npos);
  CHECK(words.find("; the slowest: formulas and bounds are of it alone") != std::string::npos);
  CHECK(words.find("groups like 1, 31 of them (whole): ") != std::string::npos);
}

TEST_CASE("a step ends for all classes when it ends for the last, and is predicted so", "[conformance]") {
  const std::string setting = "allreduce --machine tpu-v4 --on 4x4x8 --groups axis:0 --dead-link 0:+0 --bytes 1MiB --segments 3";
  const Json run = run_json(setting + " --algorithm spanning-trees");  // five long steps beside nine short ones
  CHECK(run["model_time_s"] > 1.1 * run["model_time_formula_s"].get<double>());
  const Json compared = support::parsed(good("compare " + setting + " --algorithms spanning-trees --run none --json").out);
  const Json& predicted = compared["machines"][0]["algorithms"][0]["sizes"][0];
  const double is = run["model_time_s"].get<double>();
  CHECK(std::abs(predicted["model_time_formula_s"].get<double>() - is) < 0.01 * is);
  CHECK(predicted["steps_formula_exact"] == false);
  CHECK(good("run " + setting + " --algorithm spanning-trees").out.find("all together about ") != std::string::npos);
}

TEST_CASE("classes of groups keep pace with the slowest where the number of segments is left open", "[conformance]") {
  for (const char* words : {"allreduce --on 4x4x8 --groups axis:2 --dead-link 0:+2 --bytes 1MiB",
                            "allreduce --on 2x2x8 --groups axis:2 --dead-link 0:+2 --bytes 4MiB",
                            "allreduce --machine tpu-v4 --on 4x4x8 --groups axis:0 --dead-link 0:+0 --bytes 1MiB"}) {
    CAPTURE(words);
    const Json chosen = run_json(words + std::string(" --judge")), open = run_json(words + std::string(" --algorithm spanning-trees"));
    CHECK(chosen["verified"] == true);
    CHECK(chosen["model_time_s"] <= open["model_time_s"]);
    CHECK(open["model_time_s"] <= 1.01 * open["model_time_formula_s"].get<double>());  // the slowest class alone takes that
  }
}

TEST_CASE("parts of a twisted torus are lines, rings and twisted tori", "[conformance]") {
  for (const char* words :
       {"alltoall --on 4x4x8t --groups axis:2 --sizes zipf:1.2 --bytes 256", "broadcast --on 4x4x8t --groups axis:0,2 --algorithm flood",
        "allreduce --on 4x4x8t --groups slice:4x4x4 --bytes 64", "allgather --on 4x8t --groups columns --dead-node 7 --bytes 8",
        "reduce --on 2x4x4t --groups axis:0,1 --slow-link 0:+1:3 --bytes 8"}) {
    CAPTURE(words);
    CHECK(run_json(std::string(words) + " --judge")["verified"] == true);
  }
}

TEST_CASE("a run of several classes of groups is repeated, traced and struck as any other", "[conformance]") {
  const support::Folder folder;
  const std::string line = "broadcast --on 4x6 --groups rows --dead-link 7:+1 --slow-link 20:+1:2 --bytes 64 --algorithm flood";
  const Json once = run_json(line + " --trace " + folder.file("t.jsonl"));
  REQUIRE(once["group_classes"].size() == 3);
  for (const char* number : {"1", "2", "3"}) good("verify " + folder.file(std::string("t.") + number + ".jsonl"));
  const std::string digest = once["trace_digest"].get<std::string>();
  CHECK(run_json(line + " --repeat 3 --digest " + digest)["repeat"]["runs"] == 3);
  CHECK(run_json(line + " --executor shuffled --digest " + digest)["verified"] == true);
  CHECK(run_json(line + " --fault double@0,6+")["fault"]["harmless"].is_string());
  const auto struck = support::command("run " + line + " --fault drop@0,8+");
  CHECK(struck.status == 1);
  CHECK(struck.err.find("group 1") != std::string::npos);
}

TEST_CASE("tables and bounds of groups that differ are of the slowest class", "[conformance]") {
  const support::Folder folder;
  const std::string where = " --on 4x6 --groups rows --dead-link 7:+1";
  const Json compared = support::parsed(good("compare allreduce" + where + " --bytes 64 --run all --json").out);
  CHECK(compared["other_classes"] == Json::array({"group 1"}));
  const Json bounds = support::parsed(good("bounds broadcast" + where + " --json").out);
  CHECK(bounds["group_count"] == 4);
  CHECK(bounds["collectives"]["broadcast"]["of_groups"] == "group 1");
  const Json run = run_json("broadcast" + where);
  CHECK(run["steps_lower_bound"] == bounds["collectives"]["broadcast"]["steps_lower_bound"]);
  good("sweep broadcast" + where + " --bytes 64 --algorithms flood --csv " + folder.file("s.csv"));
  good("bench broadcast" + where + " --bytes 64 --algorithms flood --repeat 2 --json-file " + folder.file("b.json"));
  CHECK(support::parsed(support::text_of_file(folder.file("b.json")))["rows"][0]["verified"] == true);
  const Json beside = support::parsed(good("run allgather" + where + " --json + allreduce --groups columns --algorithm rings").out);
  CHECK(beside["collectives"].size() == 3);
  CHECK(beside["verified"] == true);
}

TEST_CASE("single failures are compared in groups, one of which has the failure", "[conformance]") {
  const Json links = support::parsed(
      good("compare allgather --on 3x4 --groups rows --bytes 64 --every-single-link --algorithms rings,tree-packing --json").out);
  CHECK(links["groups"] == "rows");
  CHECK(links["failure_count"] == 12);
  const Json& entrants = links["machines"][0]["algorithms"];
  REQUIRE(entrants.size() == 1);  // rings take no holes
  CHECK(entrants[0]["algorithm"] == "tree-packing");
  CHECK(entrants[0]["survives_all"] == true);
  const std::string cut = good("compare broadcast --on 3x4m --groups rows --bytes 64 --every-single-node --algorithms flood").out;
  CHECK(cut.find("6 of them cut a group apart") != std::string::npos);
}
