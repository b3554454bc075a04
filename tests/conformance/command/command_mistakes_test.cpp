/// Mistakes of users' own algorithms (tests/support/own_mistakes.cpp): each is said in a line or two, with algorithm, node and step.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using support::Json;
using support::lines;

namespace {

support::Ended mistaken(const std::string& line) {
  return support::run_program(TORUS_MISTAKES_PROGRAM, {.arguments = support::words(line)});
}

/// What must be said of an all-reduce on mesh:4x4, of which node (1,1) makes the mistake.
struct Mistake {
  std::string algorithm;
  std::vector<std::string> says;
  std::string options = {};
  int signal = 0;
};

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all{
      {"wrong-bytes",
       {"wrong delivery after step 12: node (0,0), block 0, offset 5", "it is changed in step 1 at node (1,1): offset 5"},
       "--type u32"},
      {"missing", {"node (0,0), block 0: lacks the contribution of node (1,1)", "node (1,1) drops it in step 0"}},
      {"replaced",
       {"step 0: message from node (1,1) to (0,1): block 0: replaces a partial, and node (0,1)'s contribution with it",
        "lacks the contribution of node (0,1)"}},
      {"twice",
       {"has the contribution of node (1,1) twice",
        "step 1: message from node (1,1) to (0,1): block 0: node (1,1) would be counted twice"}},
      {"ports", {"step 1: node (1,1) sends 2 messages on 1 port: to (0,1) by [[0,-1]], to (1,2) by [[1,1]]"}, "--ports 1"},
      {"contention", {"channel used twice: step 1: channel (1,1) dimension 0 direction -1 carries two messages: from (1,1)"}},
      {"deadlock", {"hang: 1 node waits for ever: (1,1) for a message, last arrival in step 9"}},
      {"endless-loop", {"node (1,1) has not ended step 1 after 1 s", "repeat it with: "}, "--step-time 1"},
      {"null", {"crashed while node (1,1) ran step 1: segmentation fault"}, "", SIGSEGV},
      {"exception", {"step 1, node (1,1): no such neighbour"}},
      {"no-such-node", {"step 1, node (1,1): node 16 as a destination: it must be 0 to 15"}},
      {"off-the-mesh", {"route leaves the machine: step 1: the route from (1,1) by [[1,-2]], control only leaves the machine"}},
      {"two-hops",
       {"more than one hop: step 1: the route from (1,1) by [[1,2]], control only takes more than one hop, under packet switching"}},
      {"not-held", {"block not held: step 1: ", "(1,1)"}}};
  return all;
}

}  // namespace

TEST_CASE("mistakes of an own algorithm are said with algorithm, node and step", "[conformance]") {
  for (const Mistake& mistake : mistakes()) {
    for (const std::string threads : {"1", "3"}) {
      const support::Ended ended = mistaken("run allreduce --on mesh:4x4 --bytes 64 --algorithm " + mistake.algorithm + " --threads " +
                                            threads + " --executor threads " + mistake.options);
      CAPTURE(mistake.algorithm, threads, ended.out, ended.err);
      CHECK((ended.status == 1 || (mistake.signal != 0 && ended.signal == mistake.signal)));
      CHECK(ended.err.starts_with("torus: " + mistake.algorithm + ": "));
      for (const std::string& text : mistake.says) CHECK(ended.err.find(text) != std::string::npos);
#ifndef __SANITIZE_ADDRESS__  // which has its own words for a crash
      CHECK(lines(ended.err) <= 2);
#endif
    }
  }
}

TEST_CASE("the page of a failed run says what the terminal says, and shows the messages that break a rule", "[conformance]") {
  struct Shown {
    std::string algorithm, options;
    Json illegal;  ///< messages that break a rule: source, destination, and legs as dimension, hops, ..
    Json nodes = {5};
  };
  for (const Shown& shown : {Shown{"two-hops", "", {{5, 7, {1, 2}}}}, Shown{"off-the-mesh", "", {{5, 4, {1, -2}}}},
                             Shown{"ports", "--ports 1", {{5, 1, {0, -1}}, {5, 6, {1, 1}}, {10, 6, {0, -1}}}, {5, 6}},
                             Shown{"contention", "", {{5, 1, {0, -1}}, {5, 1, {0, -1}}}}, Shown{"not-held", "", Json::array()},
                             Shown{"missing", "", Json::array(), Json::array()}, Shown{"deadlock", "", Json::array(), Json::array()}}) {
    const support::Folder folder;
    const support::Ended ended = mistaken("run allreduce --on mesh:4x4 --bytes 64 --algorithm " + shown.algorithm + " --view " +
                                          folder.file("p.html") + " " + shown.options);
    CAPTURE(shown.algorithm, ended.err);
    REQUIRE(ended.status == 1);
    const std::string page = support::text_of_file(folder.file("p.html"));
    const std::size_t from = page.find("<script id=\"data\" type=\"application/json\">") + 42;
    const Json data = support::parsed(page.substr(from, page.find("</script>", from) - from));
    CHECK(data["verdict"]["ok"] == false);
    CHECK("torus: " + data["verdict"]["text"].get<std::string>() + "\n" == ended.err);
    const Json& each = data["each"];
    Json illegal = Json::array();
    for (const std::size_t m : data["failure"]["messages"]) {
      std::size_t leg = 0;
      for (std::size_t i = 0; i < m; ++i) leg += 2 * each["legs"][i].get<std::size_t>();
      Json path = Json::array();
      for (std::size_t i = 0; i < 2 * each["legs"][m].get<std::size_t>(); ++i) path.push_back(each["paths"][leg + i]);
      illegal.push_back({each["source"][m], each["destination"][m], path});
    }
    CHECK(illegal == shown.illegal);
    CHECK(data["failure"]["nodes"] == shown.nodes);
    if (!shown.nodes.empty()) CHECK(data["by_step"]["step"].back() == 1);
    // The line repeats it.
    const std::string line = data["failure"]["command"];
    CHECK(mistaken(line.substr(line.find(' ') + 1)).err == ended.err);
  }
}

TEST_CASE("of several collectives at once, a mistake of one ends all", "[conformance]") {
  for (const Mistake& mistake : mistakes()) {
    for (const std::string beside : {"scan --offset 1000000", "multinode-broadcast --groups rows --bytes 2"}) {
      const support::Ended ended = mistaken("run allreduce --on mesh:4x4 --bytes 64 --executor threads --threads 2 --algorithm " +
                                            mistake.algorithm + " " + mistake.options + " + " + beside);
      CAPTURE(mistake.algorithm, beside, ended.out, ended.err);
      CHECK((ended.status == 1 || (mistake.signal != 0 && ended.signal == mistake.signal)));
      if (beside.starts_with("multinode")) continue;  // the two may clash before
      const auto said = [&](const std::string& text) { return ended.err.find(text) != std::string::npos; };
      CHECK(std::any_of(mistake.says.begin(), mistake.says.end(), said));
    }
  }
}

TEST_CASE("a signal ends a run and a stress whose node does not end its step, names the node and leaves no file", "[conformance]") {
  const support::Folder folder;
  const std::string run = "run allreduce --on mesh:4x4 --algorithm interrupted-loop ", csv = " --csv " + folder.file("c");
  for (const std::string& line :
       {run + "--trace " + folder.file("t.gz") + csv, run + "--executor threads --threads 3" + csv,
        run + "--trace " + folder.file("t") + " + scan --offset 2", "stress --only interrupted-loop --runs 200 --seed 3" + csv}) {
    const support::Ended ended = mistaken(line);
    CAPTURE(line, ended.out, ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.err.starts_with("torus: interrupted; interrupted-loop: node ("));
    CHECK(ended.err.find(") has not ended step 1\ntorus: repeat it with: ") != std::string::npos);
    CHECK(lines(ended.err) == 2);
    CHECK(folder.files() == 0);
  }
}

TEST_CASE("what a program asks amiss fails in the stress as it does alone", "[conformance]") {
  const support::Ended ended = mistaken("stress --only no-such-node --runs 200 --seed " + std::to_string(support::seed()));
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 1);
  CHECK(ended.out.find(" as a destination: it must be 0 to ") != std::string::npos);
  CHECK(ended.out.find("this does not repeat it") == std::string::npos);
}

TEST_CASE("a crash in the stress names the node, and the line that repeats it", "[conformance]") {
  const support::Ended ended = mistaken("stress --only null --runs 200");
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status != 0);
  CHECK(ended.err.starts_with("torus: null: crashed while node ("));
  CHECK(ended.err.find("torus: crashed; repeat it with: ") != std::string::npos);
}
