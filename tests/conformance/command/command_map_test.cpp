// torus ... --map: the ranks of programs, schedules and groups on other nodes than in row-major order.
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
  CHECK(wrong["model_time_lower_bound_s"] == run_json(line + " --switching wormhole")["model_time_lower_bound_s"]);
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
  CHECK(refusal("run allgather --on 4x4 --dead-link 0:+0 --map random:1").find("a map that turns or shifts the machine would do") !=
        std::string::npos);
  CHECK(run_json("allgather --on 4x4 --dead-link 1:+0 --map axis:1,0 --judge")["verified"] == true);
  CHECK(refusal("explain allreduce --on 4x4 --map snake").find("does not know maps of ranks yet") != std::string::npos);
}
