/// Injected faults from outside: what a run says of one, and that the checks miss none.
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/setting/random.hpp"
#include "tools/torus/stress/trials.hpp"

using namespace torus;
using support::Json;
using support::lines;

TEST_CASE("a run with a fault says what it did and is refused where it shows", "[conformance]") {
  const std::string run = "run broadcast --on 4x4 --algorithm flood --bytes 64 --json --fault ";
  const support::Ended ended = support::command(run + "corrupt@1,1");
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(ended.err.find("torus: wrong delivery after step ") == 0);
  const Json json = support::parsed(ended.out);
  CHECK(json["fault"]["step"] == 1);
  CHECK(json["fault"]["node"] == 1);
  CHECK(json["fault"]["text"].get<std::string>().find("step 1: the message from (0,1) to ") == 0);
  CHECK(json["verified"] == false);
  CHECK(support::command(run + "random --seed 3").out.find("\"fault\":") != std::string::npos);
  CHECK(support::command(run + "random:stall").out.find(" does not run") != std::string::npos);
  const support::Ended nothing = support::command(run + "drop@3000,1");
  CHECK(nothing.status == 1);
  CHECK(nothing.err ==
        "torus: --fault 'drop@3000,1': there was nothing to strike: node (0,1) sends no message in step 3000; "
        "--trace shows what nodes send, and when\n");
}

TEST_CASE("a fault that cannot strike says why", "[conformance]") {
  const auto why = [](const std::string& line) {
    const std::string err = support::command("run " + line).err;
    const std::size_t from = err.find("strike: "), to = err.find("; --trace shows");
    return from == err.npos || to == err.npos ? err : err.substr(from + 8, to - from - 8);
  };
  const std::string rings = "allreduce --on 4x4 --algorithm rings --bytes 1KiB --fault ";
  CHECK(why(rings + "wrong-neighbour@2,5") ==
        "node (1,1) sends 4 messages in step 2, and no neighbour to which it sends nothing has a free port");
  CHECK(why(rings + "wrong-neighbour@2,5:+1") ==
        "node (1,1) sends 1 message in step 2 through that channel, and no neighbour to which it sends nothing has a free port");
  CHECK(why(rings + "wrong-neighbour@300,5+") == "no message from there on can be struck like that");
  CHECK(why(rings + "stall@300,5") == "the program of node (1,1) ends before step 300, or waits there for a message");
  CHECK(why("allreduce --on 4x4 --algorithm rings --bytes 0 --fault corrupt@2,5") == "node (1,1) sends 2 messages in step 2, and no bytes");
  CHECK(why("broadcast --on 4 --algorithm flood --segments 1 --bytes 8 --fault swap@0,0") ==
        "node (0) sends 2 messages in step 0, and no other block of as many bytes arrives");
  CHECK(why("allreduce --on 4x4x2 --groups axis:0 --dead-link 0:+0 --bytes 64 --fault drop@300,3") ==
        "node (0,1,1) sends no message in step 300");
}

TEST_CASE("the channel of a fault is written as that of a dead link", "[conformance]") {
  const std::string rings = "run allreduce --on 4x4 --algorithm rings --bytes 1KiB --fault ";
  for (const char* fault : {"drop@2,5:+1", "drop@2,1,1:+1", "drop@2,5,2"}) {
    CAPTURE(fault);
    CHECK(support::command(rings + fault).out.find("from (1,1) to (1,2) is dropped (--fault drop@2,5:+1)") != std::string::npos);
  }
  CHECK(support::command(rings + "drop@2,5:-0+").out.find("from (1,1) to (0,1) is dropped (--fault drop@2,5:-0)") != std::string::npos);
  const std::string complete = "run broadcast --on 5c --algorithm flood --bytes 64 --fault ";
  CHECK(support::command(complete + "drop@0,0:3@0").out.find("from (0) to (3) is dropped (--fault drop@0,0:3@0)") != std::string::npos);
  CHECK(support::command(rings + "drop@2,5:2@0").err ==
        "torus: --fault 'drop@2,5:2@0': it must be one living channel of the node; for instance 5:+0\n");
  CHECK(support::command("run broadcast --on mesh:4 --fault drop@0,3:+0").err ==
        "torus: --fault 'drop@0,3:+0': it must be one living channel of the node; for instance 3:-0\n");
}

TEST_CASE("a fault that brings a program messages out of turn ends the run, not the command", "[conformance]") {
  const std::string run =
      "run multinode-broadcast --on 3x4 --algorithm hierarchical --dcn scatter --ports 4 --switching wormhole --contention forbid --bytes "
      "64 "
      "--sources random:3 --expect 9 --seed 657 --executor shuffled --threads 1 --fault ";
  const support::Ended ended = support::command(run + "stall@1,9");
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(command::names_step_and_node(ended.err));
  for (int step = 1; step < 12; ++step) {
    for (int node = 0; node < 12; ++node) {
      const std::string fault = "stall@" + std::to_string(step) + "," + std::to_string(node);
      const int status = support::command(run + fault).status;
      CAPTURE(fault, status);
      CHECK((status == 0 || status == 1));
    }
  }
}

TEST_CASE("a fault that is written wrong is wrong usage", "[conformance]") {
  for (const char* fault : {"drop",    "drop@",    "drop@1",      "drop@1,",     "drop@1,16",    "drop@1,1,4",        "drop@1,1,1,1",
                            "drop+",   "drop@+",   "drop@1+",     "drop@1,1++",  "drop@1,1,+",   "drop@x,1",          "dorp@1,1",
                            "@1,1",    "''",       "drop@1,1:+2", "drop@1,1:",   "drop@1,16:+0", "drop@:+0",          "drop@1,1:+0;2:+0",
                            "random:", "random:x", "stall@0,1",   "stall@1,1,1", "drop@-1,1",    "drop@99999999999,1"}) {
    const support::Ended ended = support::command(std::string("run broadcast --on 4x4 --algorithm flood --fault ") + fault);
    CAPTURE(fault, ended.err);
    CHECK(ended.status == 2);
    CHECK(lines(ended.err) == 1);
    CHECK(ended.out.empty());
  }
}

TEST_CASE("a text names a step and a node, or it does not", "[conformance]") {
  CHECK(command::names_step_and_node("step 3, node (1,2): no"));
  CHECK(command::names_step_and_node("hang: 3 nodes wait: (2) for a message; last traffic in step 1"));
  for (const char* text : {"", "step 3", "node (3)", "the step (none)", "3 steps, where the formula says 2 (exact)"}) {
    CAPTURE(text);
    CHECK(!command::names_step_and_node(text));
  }
}

TEST_CASE("no injected fault is missed, in any algorithm", "[conformance]") {
  const std::uint64_t seed = support::seed();
  const support::Ended ended = support::command("stress --faults --each 8 --seed " + std::to_string(seed) + " --json");
  CAPTURE(seed, ended.out, ended.err, ended.signal);
  CHECK(ended.status == 0);
  const Json json = support::parsed(ended.out);
  CHECK(json["missed"].empty());
  CHECK(json["no_run"].empty());
  std::uint64_t detected = 0;
  for (const Json& row : json["faults"]) {
    CAPTURE(row.dump());
    CHECK(row["missed"] == 0);
    CHECK(row["runs"] > 0);
    CHECK(row["detected"].get<std::uint64_t>() + row["harmless"].get<std::uint64_t>() + row["nothing_to_strike"].get<std::uint64_t>() ==
          row["runs"].get<std::uint64_t>());
    detected += row["detected"].get<std::uint64_t>();
    std::uint64_t because = 0;
    for (const auto& [reason, runs] : row["harmless_because"].items()) because += runs.get<std::uint64_t>();
    CHECK(row["harmless"] == because);
  }
  CHECK(detected > 150);
}

TEST_CASE("the line that a stress has for a fault strikes the same again, with the same outcome", "[conformance]") {
  const std::uint64_t seed = support::seed();
  CAPTURE(seed);
  command::Random random(seed, 0xfa017);
  std::vector<const Algorithm*> algorithms;
  for (int i = 0; i < 4; ++i) algorithms.push_back(random.one_of(catalogue()));
  std::vector<command::RepeatLine> struck;
  command::StressOptions options;
  options.algorithms = algorithms;
  options.seed = seed;
  options.runs = all_fault_kinds.size() * algorithms.size();
  options.on_struck = [&](const command::RepeatLine& line) { struck.push_back(line); };
  CHECK(command::stress_faults(options).failures.empty());
  CHECK(struck.size() > 16);
  for (const command::RepeatLine& line : struck) {
    REQUIRE(line.command.starts_with("torus run "));
    const support::Ended again = support::command(line.command.substr(6));
    CAPTURE(line.command, again.out, again.err);
    CHECK(again.status == line.status);
    for (const std::string& text : line.says) {
      CAPTURE(text);
      CHECK((again.out.find(text) != std::string::npos || again.err.find(text) != std::string::npos));
    }
  }
}

TEST_CASE("a fault may strike from a step and a node on, and the run names what it struck", "[conformance]") {
  const std::string run = "run broadcast --on 4x4 --algorithm flood --bytes 64 --json --fault ";
  const Json json = support::parsed(support::command(run + "late@0,5+").out);  // node 5 sends later, node 0 is too low
  CHECK(json["fault"]["step"].get<int>() > 0);
  const auto option = json["fault"]["option"].get<std::string>();
  CHECK(option == "late@" + json["fault"]["step"].dump() + "," + json["fault"]["node"].dump());
  const Json again = support::parsed(support::command(run + option).out);
  CHECK(again["fault"] == json["fault"]);
  CHECK(again["steps"] == json["steps"]);
  CHECK(support::command(run + "stall@0,0+").status != 2);
}

TEST_CASE("a wrong bit that a sum rounds away is harmless, and the run says why", "[conformance]") {
  int rounded = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    const std::string run =
        "run allreduce --on 4x4 --algorithm rings --bytes 64 --type f32 --fault random:corrupt --seed " + std::to_string(seed);
    const support::Ended ended = support::command(run + " --json");
    const Json json = support::parsed(ended.out);
    CAPTURE(run, ended.out, ended.err);
    CHECK(json["verified"] == json["fault"].contains("harmless"));
    CHECK(json["verified"] == (ended.status == 0));
    if (ended.status != 0) continue;
    const auto why = json["fault"]["harmless"].get<std::string>();
    const auto option = json["fault"]["option"].get<std::string>();
    CHECK(why.find(" rounds the difference away (f32)") != std::string::npos);
    if (rounded++ > 0) continue;
    const std::string text = support::good(run).out;
    CHECK(text.find(" (--fault " + option + ")\n") != std::string::npos);
    CHECK(text.find(" harmless: " + why + "\n") != std::string::npos);
  }
  CHECK(rounded > 0);
}

TEST_CASE("each algorithm has as many runs as were asked for", "[conformance]") {
  const Json json = support::parsed(support::good("stress --only hamiltonian --each 2 --seed 4 --json").out);
  CHECK(json["rows"].size() == 3);
  for (const Json& row : json["rows"]) CHECK(row["runs"] == 2);
  CHECK(json["no_run"].empty());
  const support::Ended little = support::command("stress --only hamiltonian --runs 2 --seed 3");
  CHECK(little.status == 0);
  CHECK(little.out.find("\nno run: reduce-scatter hamiltonian\n") != std::string::npos);
  const support::Ended hurried = support::command("stress --only hamiltonian --each 1000 --seconds 0.001");
  CHECK(hurried.status == 1);
  CHECK(hurried.err.find("torus: --each 1000: no setting was found of ") == 0);
  CHECK(support::command("stress --each 2 --runs 3").status == 2);
}

TEST_CASE("a table of faults says the same as text, as CSV and as JSON", "[conformance]") {
  const support::Folder folder;
  const std::string stress = "stress --faults --runs 20 --seed 3 ";
  const Json json = support::parsed(support::good(stress + "--json").out);
  const std::string text = support::good(stress + "--csv " + folder.file("faults.csv")).out;
  const std::string csv = support::text_of_file(folder.file("faults.csv"));
  CHECK(lines(csv) == 1 + json["faults"].size());
  for (const Json& row : json["faults"]) {
    const auto fault = row["fault"].get<std::string>();
    const std::string runs = row["runs"].dump();
    CAPTURE(fault, runs);
    CHECK(csv.find(fault + "," + runs + "," + row["detected"].dump() + ",") != std::string::npos);
    const std::size_t at = text.find("\n" + fault + " ");
    REQUIRE(at != std::string::npos);
    CHECK(text.substr(text.find_first_not_of(' ', at + 1 + fault.size()), runs.size()) == runs);
  }
  CHECK(text.find("\nall ") != std::string::npos);
}
