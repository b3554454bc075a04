/// torus run --steps: a line a step.
#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using torus::support::command;
using torus::support::Json;

namespace {

Json steps_of(const std::string& line) {
  const torus::support::Ended ended = command(line + " --steps --json");
  CAPTURE(line, ended.err);
  REQUIRE(ended.status == 0);
  return torus::support::parsed(ended.out);
}

}  // namespace

TEST_CASE("the steps of a run add up to its report", "[conformance]") {
  for (const std::string line : {"run broadcast --on 9x7 --bytes 100 --source 3,2", "run multinode-broadcast --on 9x9 --sources random:5",
                                 "run total-exchange --on 4x4 --bytes 8 --contention share --algorithm direct",
                                 "run broadcast --on 5x4m --switching packet --algorithm flood --segments 3 --bytes 64",
                                 "run broadcast --on 6c --algorithm flood --bytes 3"}) {
    const Json run = steps_of(line);
    CAPTURE(line, run.dump());
    std::uint64_t messages = 0, hops = 0, channel_bytes = 0;
    for (const Json& step : run["step_table"]) {
      messages += step["messages"].get<std::uint64_t>();
      hops += step["hops"].get<std::uint64_t>();
      channel_bytes += step["channel_bytes"].get<std::uint64_t>();
      CHECK(step.contains("fullest_channel") == (step["messages"] > 0));
    }
    const Json& last = run["step_table"].back();
    CHECK(run["step_table"].size() == run["steps"]);
    CHECK(messages == run["messages"]);
    CHECK(hops == run["hops"]);
    CHECK(channel_bytes == run["channel_bytes_sum"]);
    CHECK(last["informed"] == run["nodes"]);
    CHECK(last["model_time_s"].get<double>() == Approx(run["model_time_s"].get<double>()));
  }
}

TEST_CASE("a step names its fullest channel and counts the nodes that hold data after it", "[conformance]") {
  // A flood on a ring goes one node further each way in each step.
  const Json run = steps_of("run broadcast --on 8 --source 5 --bytes 10 --algorithm flood --switching packet --ports 2");
  const Json& steps = run["step_table"];
  REQUIRE(steps.size() >= 4);
  CHECK(steps[0]["informed"] == 3);
  CHECK(steps[1]["informed"] == 5);
  CHECK(steps[2]["informed"] == 7);
  CHECK(steps[3]["informed"] == 8);
  // Both ways are equally full: the channel of the lower node, and of its direction -1, counts.
  CHECK(steps[0]["fullest_channel"] == Json({{"node", 5}, {"dimension", 0}, {"hop", -1}}));
  CHECK(steps[1]["fullest_channel"] == Json({{"node", 4}, {"dimension", 0}, {"hop", -1}}));
}

TEST_CASE("for people the steps are a table under the report", "[conformance]") {
  const torus::support::Ended ended = command("run broadcast --on 5x5 --algorithm wang-tseng --steps");
  CHECK(ended.status == 0);
  CHECK(ended.out.find("step  messages  hops") != std::string::npos);
  CHECK(ended.out.find("(0,0) 0:-1") != std::string::npos);
  CHECK(command("run broadcast --on 5x5 --steps --repeat 2").err ==
        "torus: --repeat 2: a run whose messages are looked at, by --steps, is no timed run; leave out --repeat or --steps\n");
}

TEST_CASE("in every algorithm that lives with holes, all living nodes have what they want after the last step", "[conformance]") {
  unsigned runs = 0;
  for (const torus::Algorithm* algorithm : torus::catalogue()) {
    if (!algorithm->needs.lives_with_holes) continue;
    const std::string collective(torus::name(algorithm->collective));
    if (collective == "barrier") continue;  // nobody wants blocks
    for (const std::string& machine : {std::string("4x4 --dead-node 5"), std::string("mesh:3x4 --dead-node 2,3;0,0")}) {
      const std::string line = "run " + collective + " --on " + machine + " --bytes 64 --algorithm " + std::string(algorithm->name);
      const torus::support::Ended ended = command(line + " --source 6 --steps --json");
      const torus::support::Ended all = ended.status == 0 ? ended : command(line + " --steps --json");  // which takes no source
      CAPTURE(line, all.err);
      if (all.err.starts_with("torus: 0 dead links, ")) continue;  // it lives with some dead links alone
      REQUIRE(all.status == 0);
      const Json run = torus::support::parsed(all.out);
      const Json& last = run["step_table"].back();
      const std::uint64_t living = machine.starts_with("4x4") ? 15 : 10;
      if (collective != "gather")  // in which only those on the way get something
        CHECK(last[last.contains("complete") ? "complete" : "informed"] == (collective == "reduce" ? 1 : living));
      ++runs;
    }
  }
  CHECK(runs >= 10);
}
