/// What the command lists of its algorithms and collectives, and the names that it takes.
#include <fmt/format.h>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;
using support::lines;

TEST_CASE("the list of one algorithm has its papers in full", "[conformance]") {
  const std::string text = command("list wang-tseng").out;
  CHECK(text.find("paper: S.-Y. Wang, Y.-C. Tseng: Algebraic Foundations and Broadcasting Algorithms for Wormhole-Routed All-Port Tori. "
                  "IEEE Transactions on Computers 49(3), 246-258, 2000\n") != std::string::npos);
  CHECK(text.find("Sheu") == std::string::npos);
  CHECK(command("list flood").out.find("paper: ") == std::string::npos);
  const Json json = support::parsed(command("list tsai-mckinley --json").out)["algorithms"];
  CHECK(json[0]["references"].size() == 2);  // the paper, and the one that quotes it
}

TEST_CASE("every algorithm is listed, with all that it says of itself", "[conformance]") {
  const Json json = support::parsed(command("list --json").out)["algorithms"];
  CHECK(json.size() == catalogue().size());
  const std::string text = command("list").out;
  CHECK(lines(text) ==
        3 * catalogue().size() + 2 * collectives().size() - 1);  // three lines each, a head for each collective, a gap between two of them
  for (const Algorithm* algorithm : catalogue()) {
    CAPTURE(algorithm->name);
    const std::size_t at = text.find("\n  " + std::string(algorithm->name) + " ");
    REQUIRE(at != std::string::npos);
    const std::string ports = ports_text(*algorithm);
    for (const std::string_view said : {std::string_view(ports), algorithm->shapes, algorithm->steps, algorithm->source})
      CHECK(text.find(said, at) != std::string::npos);
  }
  for (const auto& entry : json) {
    for (const char* field : {"collective", "algorithm", "switching", "ports", "shapes", "steps", "source"})
      CHECK(!entry[field].get<std::string>().empty());
  }
}

TEST_CASE("the algorithms of one collective can be listed alone", "[conformance]") {
  const Json json = support::parsed(command("list total-exchange --json").out)["algorithms"];
  REQUIRE(!json.empty());
  for (const auto& entry : json) CHECK(entry["collective"] == "total-exchange");
}

TEST_CASE("collectives may be named as MPI does", "[conformance]") {
  const auto collective = [](const std::string& word) {
    return support::parsed(command("run " + word + " --on 4x4 --bytes 8 --json").out)["collective"].get<std::string>();
  };
  CHECK(collective("bcast") == "broadcast");
  CHECK(collective("allgather") == "multinode-broadcast");
  CHECK(collective("all-gather") == "multinode-broadcast");
  CHECK(collective("alltoall") == "total-exchange");
  CHECK(collective("all-to-all") == "total-exchange");
  CHECK(command("list alltoall").out == command("list total-exchange").out);
}

TEST_CASE("on a machine the list says which algorithms apply, and a run agrees", "[conformance]") {
  const std::string machine = " --on 6x4 --ports 2";
  int applying = 0;
  const Json list = support::parsed(command("list" + machine + " --json").out);
  for (const Json& entry : list["algorithms"]) {
    CAPTURE(entry.dump());
    const std::string collective = entry["collective"];
    const support::Ended ended = command("run " + collective + machine + (collective == "barrier" ? "" : " --bytes 8") + " --algorithm " +
                                         entry["algorithm"].get<std::string>());
    CHECK(ended.status == (entry["applies"] == true ? 0 : 2));
    if (entry["applies"] == true)
      ++applying;
    else
      CHECK(ended.err == "torus: " + entry["why_not"].get<std::string>() + "\n");
  }
  CHECK(applying >= 5);
  CHECK(command("list" + machine).out.find("applies; steps: ") != std::string::npos);
}

TEST_CASE("the list knows machines of more nodes than f32 can add up exactly", "[conformance]") {
  const support::Ended ended = command("list --on 4097x4096");
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out.find("type f32") == std::string::npos);
  CHECK(lines(command("list allreduce --on 4097x4096").out) > 3);
}

TEST_CASE("one algorithm is listed with its parameters and the command that runs it", "[conformance]") {
  const std::string text = command("list hierarchical").out;
  CHECK(text.find("--h N: ") != std::string::npos);
  CHECK(text.find("torus run multinode-broadcast --algorithm hierarchical --steps\n") != std::string::npos);
  const support::Ended wrong = command("list hierarchial");
  CHECK(wrong.status == 2);
  CHECK(wrong.err ==
        "torus: list 'hierarchial': it must be a collective, an algorithm that `torus list` names, or of a paper that `torus paper` names; "
        "did you mean 'hierarchical'?\n");
}

TEST_CASE("help and the version have the names that people try", "[conformance]") {
  CHECK(command("help").out == command("--help").out);
  CHECK(command("help run").out == command("run --help").out);
  CHECK(command("help").status == 0);
  CHECK(command("-V").out == command("--version").out);
  const Json json = support::parsed(command("list flood --json").out);
  CHECK(command("--version").out ==
        fmt::format("torus {}, commit {}\n", json["version"].get<std::string>(), json["commit"].get<std::string>()));
}

TEST_CASE("the machines that exist are listed with the sources of their figures", "[conformance]") {
  const Json json = support::parsed(command("list --machines --json").out)["machines"];
  const std::string text = command("list --machines").out;
  REQUIRE(!json.empty());
  for (const Json& machine : json) {
    const auto name = machine["machine"].get<std::string>();
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
    CHECK(command("bounds --machine " + name + (machine["shape"].get<std::string>().empty() ? " --on 4x4x4" : "")).status == 0);
    for (const char* from : {"shapes_from", "speed_from", "start_up_from"}) CHECK(!machine[from].get<std::string>().empty());
  }
}

TEST_CASE("one machine is listed alone, and a name of none is refused with those that are near", "[conformance]") {
  const Json json = support::parsed(command("list --machines trn2 --json").out)["machines"];
  REQUIRE(json.size() == 1);
  CHECK(json[0]["machine"] == "trn2");
  const std::string all = command("list --machines").out, one = command("list --machines trn2").out;
  CHECK(all.find(one.substr(0, one.find("\n\n"))) != std::string::npos);
  CHECK(one.find("compare allreduce --machine trn2 ") != std::string::npos);
  CHECK(support::refusal("list --machines trn22").find("did you mean 'trn2'?") != std::string::npos);
  CHECK(support::refusal("list trn2").find("write torus list --machines trn2") != std::string::npos);
}
