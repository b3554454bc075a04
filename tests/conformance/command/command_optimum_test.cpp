/// torus optimum: numbers, schedules that are played on real bytes as each collective, proofs; and what is said without a solver.
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;

using support::Folder;
using support::good;
using support::parsed;

namespace {

/// Whether tests of the solver make sense; where there is none, the command must say which package it needs.
bool solves() {
  const support::Ended ended = support::command("optimum 2");
  if (ended.status == 0) return true;
  CHECK(ended.status == 2);
  CHECK(ended.err.find("install libcadical-dev") != std::string::npos);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  return false;
}

}  // namespace

TEST_CASE("the schedules of the fewest steps are legal and complete, and run on real bytes as each collective", "[conformance]") {
  if (!solves()) return;
  const Folder folder;
  const std::string gossip = folder.file("gossip.jsonl"), broadcast = folder.file("broadcast.jsonl");
  for (const auto& [shape, options, steps, all_reduce] : {std::tuple{"4x4", " --ports 1 --switching packet", "4", true},
                                                          {"7", " --ports 1 --switching wormhole", "4", false},
                                                          {"mesh:3x3", " --ports 2 --switching wormhole", "3", false},
                                                          {"3x3", " --ports 2 --switching packet", "2", true},
                                                          {"6", " --ports 2 --switching packet --dead-link 0:+0", "5", false},
                                                          {"3x3", " --switching packet --dead-node 4", "2", false}}) {
    CAPTURE(shape, options);
    const auto found =
        parsed(good(std::string("optimum ") + shape + options + " --json --gossip " + gossip + " --broadcast " + broadcast).out);
    CHECK(found["gossip"]["proven"] == true);
    CHECK(found["gossip"]["steps_max"] == std::stoi(steps));
    for (const std::string& trace : {gossip, broadcast}) CHECK(parsed(good("verify " + trace + " --json").out)["ok"] == true);
    const std::string machine = std::string(" --on ") + shape + options;
    const auto play = [&](const std::string& collective, const std::string& trace) {
      CAPTURE(collective);
      const auto run = parsed(good("run " + collective + machine + " --judge --json --schedule " + trace).out);
      CHECK(run["verified"] == true);
      return run["steps"].get<int>();
    };
    for (const char* collective : {"allgather", "alltoall", "reduce-scatter", "barrier"})
      CHECK(play(collective, gossip) == std::stoi(steps));
    for (const char* collective : {"gather", "scatter", "reduce", "broadcast"}) CHECK(play(collective, gossip) <= std::stoi(steps));
    if (all_reduce) CHECK(play("allreduce", gossip) == std::stoi(steps));
    for (const char* collective : {"broadcast", "scatter"}) CHECK(play(collective, broadcast) == found["broadcast"]["steps_max"]);
  }
}

TEST_CASE("a schedule is no other collective where it leaves something out, and a line says so", "[conformance]") {
  const Folder folder;
  const std::string trace = folder.file("trace.jsonl");
  good("run broadcast --on 4x4 --trace " + trace);
  for (const auto& [line, words] : {std::pair{"run allgather --on 4x4 --schedule ", "it is of broadcast, not of multinode-broadcast"},
                                    {"run scatter --on 4x4 --root 3 --schedule ", "ask for them with --source"}}) {
    const support::Ended ended = support::command(line + trace);
    CAPTURE(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find(words) != std::string::npos);
  }
  good("run scatter --on 4x4 --schedule " + trace);
  good("run multinode-broadcast --on 4x4 --sources 1 --trace " + trace);
  CHECK(support::command("run barrier --on 4x4 --schedule " + trace).err.find("nothing that node 0 has reaches") != std::string::npos);
}

TEST_CASE("a proof is two files that other programs read", "[conformance]") {
  if (!solves()) return;
  const Folder folder;
  const std::string name = folder.file("ring");
  const std::string out = good("optimum 9 --ports 1 --switching packet --proof " + name).out;
  CAPTURE(out);
  CHECK(out.find("6 steps, proven: all-gather") != std::string::npos);
  CHECK(out.find("5 steps as a formula") != std::string::npos);
  for (const char* number : {"broadcast", "gossip"}) {
    const std::string file = name + "." + number;
    CHECK(support::text_of_file(file + ".cnf").starts_with("p cnf "));
    CHECK(support::text_of_file(file + ".drat").ends_with("0\n"));
  }
  // Where an argument says why no step less does, there is nothing to prove.
  const std::string other = folder.file("line");
  good("optimum 8m --ports 1 --switching packet --proof " + other);
  CHECK_FALSE(std::filesystem::exists(other + ".gossip.cnf"));
}

TEST_CASE("what is not decided is an interval, and the same everywhere where conflicts are counted", "[conformance]") {
  if (!solves()) return;
  const std::string line = "optimum 4x4 --ports 4 --switching wormhole --conflicts 2000 --json";
  const auto found = parsed(good(line).out);
  CHECK(found["gossip"]["proven"] == false);
  CHECK(found["gossip"]["steps_min"] == 2);
  CHECK(found["gossip"]["steps_max"] == 3);
  CHECK(found["broadcast"]["steps_max"] == 2);
  CHECK(good("optimum 4x4 --ports 4 --switching wormhole --conflicts 2000").out.find("2 to 3 steps") != std::string::npos);
}

TEST_CASE("what torus optimum cannot take is refused in a line with what would do", "[conformance]") {
  for (const auto& [line, words] : {std::pair{"12x12", "up to 128 are tried, for instance 4x4"},
                                    {"4x4 --switching circuit", "packet or wormhole would do"},
                                    {"4x4 --seconds 0", "for instance 60"},
                                    {"4x4 --gossip", "--gossip"}}) {
    CAPTURE(line);
    const support::Ended ended = support::command(std::string("optimum ") + line);
    CAPTURE(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find(words) != std::string::npos);
  }
}
