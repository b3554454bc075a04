// torus ... --map: the ranks of programs, schedules and groups on other nodes than in row-major order.
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::good;
using support::Json;
using support::refusal;

namespace {

Json run_json(const std::string& words) { return support::parsed(good("run " + words + " --threads 1 --json").out); }

}  // namespace

TEST_CASE("a map lays ranks out, and the report says both", "[conformance]") {
  const std::string text = good("run broadcast --on 4x4 --map snake --source 4 --judge").out;
  CAPTURE(text);
  CHECK(text.find("map           snake: ranks 0, 1, .. are nodes (0,0) (0,1) (0,2) (0,3) (1,3) (1,2) (1,1) (1,0) ..") != std::string::npos);
  CHECK(text.find("from rank 4, node (1,3)") != std::string::npos);
  const Json json = run_json("scan --on 4x4m --map axis:1,0 --judge");
  CHECK(json["verified"] == true);
  CHECK(json["map"] == "axis:1,0");
  CHECK(json.count("groups") == 0);
  CHECK(run_json("allreduce --on 4x4 --map row-major").count("map") == 0);
  for (const char* line : {"allgather --on 4x6 --map random:7 --groups rows", "reduce --on 3x4mx2 --map snake --groups axis:0,2 --root 2",
                           "alltoall --on 2x2x3 --map random:2", "barrier --on 4x4 --map axis:1,0"}) {
    CAPTURE(line);
    CHECK(run_json(std::string(line) + " --judge")["verified"] == true);
  }
}

TEST_CASE("ranks in the wrong order cost model time, and a torus turned round none", "[conformance]") {
  const std::string line = "allreduce --on 4x4 --bytes 1MiB --algorithm rings";
  const Json straight = run_json(line), turned = run_json(line + " --map axis:1,0"), wrong = run_json(line + " --map random:1");
  CHECK(turned["model_time_s"] == straight["model_time_s"]);
  CHECK(turned["steps"] == straight["steps"]);
  CHECK(wrong["steps"] == straight["steps"]);
  CHECK(wrong["model_time_s"].get<double>() > 2 * straight["model_time_s"].get<double>());
  CHECK(wrong["model_time_lower_bound_s"] == run_json(line + " --switching wormhole --contention share")["model_time_lower_bound_s"]);
}

TEST_CASE("a trace with a map is judged, and names both ranks where it is wrong", "[conformance]") {
  const support::Folder folder;
  const std::string trace = support::traced(folder, "allgather --on 4x4 --map snake --algorithm ring");
  CHECK(support::text_of_file(trace).find("\"groups\":[[0,1,2,3,7,6,5,4,8,9,10,11,15,14,13,12]]") != std::string::npos);
  good("verify " + trace);
  const support::Ended failed = command("run allgather --on 4x4 --map snake --bytes 64 --fault corrupt@1,7");
  CAPTURE(failed.err);
  CHECK(failed.status == 1);
  CHECK(failed.err.find("node (") != std::string::npos);
  CHECK(failed.err.find("), rank ") != std::string::npos);
  std::string cut = support::text_of_file(trace);
  cut.erase(cut.rfind('\n', cut.size() - 2) + 1);
  const support::Ended lacks = command("verify " + folder.write("cut", cut));
  CAPTURE(lacks.err, lacks.out);
  CHECK(lacks.status == 1);
  CHECK((lacks.err + lacks.out).find(", rank ") != std::string::npos);
}

TEST_CASE("bounds and comparisons know maps", "[conformance]") {
  CHECK(good("bounds broadcast --on mesh:4x4 --map snake").out.find("bounds hold for ranks anywhere") != std::string::npos);
  const std::string text = good("compare allreduce --on 4x4 --map random:3 --bytes 64 --algorithms rings,ring").out;
  CAPTURE(text);
  CHECK(text.find("ranks laid out by random:3") != std::string::npos);
  CHECK(good("bench allreduce --on 4x4 --map snake --bytes 64 --repeat 1").out.find("with ranks laid out by snake") != std::string::npos);
}

TEST_CASE("a map that is none is refused in a line with what would do", "[conformance]") {
  const support::Folder folder;
  const std::string twice = folder.write("twice", "0 1 2 2"), short_one = folder.write("short", "0 1 2"),
                    high = folder.write("high", "0 1 2 4");
  for (const auto& [map, words] : {std::pair<std::string, std::string_view>{"file:" + twice, "names node 2 twice"},
                                   {"file:" + short_one, "it names 3 nodes, and 2x2 has 4; name each once"},
                                   {"file:" + high, "4"},
                                   {"snak", "did you mean 'snake'?"},
                                   {short_one, "it must be row-major, snake, axis:1,0, random:7 or file:FILE"},
                                   {"axis:0", "it must name every dimension of 2x2 once; for instance axis:1,0"},
                                   {"axis:0,0", "for instance axis:1,0"},
                                   {"random:x", "random:7"}}) {
    CAPTURE(map);
    CHECK(refusal("run allgather --on 2x2 --map " + map).find(words) != std::string::npos);
  }
  CHECK(refusal("run allgather --on 4x4 --switching packet --map random:1").find("ranks laid out by a map: a hop") != std::string::npos);
  CHECK(refusal("run allgather --on 4x4 --dead-link 0:+0 --map random:1").find("a map that turns or shifts the machine would do") !=
        std::string::npos);
  CHECK(run_json("allgather --on 4x4 --dead-link 1:+0 --map axis:1,0 --judge")["verified"] == true);
}

TEST_CASE("steps, graphs and figures of mapped ranks name both", "[conformance]") {
  const support::Folder folder;
  const std::string line = "scan --on 4x4 --algorithm sklansky --map snake --steps";
  CHECK(good("run " + line).out.find("(0,3), rank 3 0:+1") != std::string::npos);
  const Json steps = run_json(line)["step_table"];
  for (const Json& step : steps) {
    const auto node = step["fullest_channel"]["node"].get<int>(), rank = step["fullest_channel"]["rank"].get<int>();
    CHECK(rank == (node / 4 % 2 == 0 ? node : node / 4 * 4 + 3 - node % 4));
  }
  CHECK(steps.back()["complete"] == 16);
  const std::string trace = support::traced(folder, "alltoall --on 2x3 --map random:2 --bytes 8");
  good("export " + trace + " --to dot -o " + folder.file("dot"));
  CHECK(support::text_of_file(folder.file("dot")).find("), rank 3\"];") != std::string::npos);
  good("export " + trace + " --to msccl -o " + folder.file("xml"));
  good("run alltoall --on 2x3 --bytes 8 --schedule " + folder.file("xml"));  // whose gpus are nodes
  good("export " + trace + " --to perfetto -o " + folder.file("pftrace"));
  good("view " + trace + " --svg " + folder.file("svg"));
  const std::string two = "run allgather --on 3x3 --map random:1 --view " + folder.file("two.html") + " + allreduce --offset 9";
  good(two);
  CHECK(support::count(support::text_of_file(folder.file("two.html")), "\"ranks\":[") == 2);
}

TEST_CASE("an explanation knows the map, and measures what no formula says", "[conformance]") {
  const std::string line = "explain allreduce --on 3x3 --bytes 64 ", turned = good(line + "--map axis:1,0").out,
                    apart = good(line + "--map random:1").out;
  CAPTURE(turned, apart);
  CHECK(turned.find("map: axis:1,0: ranks 0, 1, .. are nodes (0,0) (1,0)") != std::string::npos);
  CHECK(turned.find("Against the others here, predicted (") != std::string::npos);
  CHECK(apart.find("Against the others here, measured (") != std::string::npos);
  CHECK(apart.find("predicts nothing") == std::string::npos);
  const auto told = [](const std::string& text) { return support::parsed(good(text + " --json").out); };
  const Json straight = told(line), same = told(line + "--map axis:1,0");
  for (const char* what : {"steps", "model_time_s", "model_time_lower_bound_s", "phases"}) CHECK(straight[what] == same[what]);
  CHECK(same["map"] == "axis:1,0");
}

TEST_CASE("regret of mapped ranks is that of the machine turned, or measured", "[conformance]") {
  const std::string line = "regret allgather --on 3x3 --bytes 64,1KiB --ports all ";
  const auto rows = [&](const std::string& options) { return support::parsed(good(line + options + " --json").out)["rows"]; };
  const Json straight = rows("")[0], turned = rows("--map axis:1,0")[0];
  CHECK(turned["sizes"] == straight["sizes"]);
  CHECK(turned["map"] == "axis:1,0");
  const Json apart = rows("--map random:1 --run all")[0];
  CHECK(apart["contention"] == "share");
  REQUIRE(apart["sizes"].size() == 2);
  for (const Json& size : apart["sizes"]) CHECK(size["run"] == true);
  CHECK(refusal(line + "--map random:1").find("--run all measures it") != std::string::npos);
}

TEST_CASE("single failures of a machine that is turned are those of the machine", "[conformance]") {
  const std::string line =
      "broadcast --on 3x4 --bytes 64 --source 1 --algorithms flood,tree-packing --every-single-link --every-single-node";
  const auto told = [](const std::string& words) { return support::parsed(good("compare " + words + " --json").out); };
  const auto times = [](const Json& comparison) {
    std::multiset<double> all;
    for (const Json& failure : comparison["machines"][0]["algorithms"][0]["failures"]) all.insert(failure.value("model_time_s", 0.0));
    return all;
  };
  const support::Folder folder;
  const Json straight = told(line), turned = told(line + " --map file:" + folder.write("map", "11 10 9 8 7 6 5 4 3 2 1 0"));
  CHECK(straight["skipped"] == Json{"--dead-node 1"});
  CHECK(turned["skipped"] == Json{"--dead-node 10"});  // which is rank 1
  CHECK(times(turned) == times(straight));
  CHECK(turned["machines"][0]["algorithms"][0]["survives_all"] == true);
  CHECK(refusal("compare " + line + " --map random:1").find("must turn or shift the machine") != std::string::npos);
}
