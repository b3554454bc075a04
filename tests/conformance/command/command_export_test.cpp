/// torus export: each format read back by its own rules, and held against the trace.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using torus::support::check_refused_without;
using torus::support::command;
using torus::support::Folder;
using torus::support::messages_of;
using torus::support::text_of_file;
using torus::support::traced;

namespace {

std::string exported(const Folder& folder, const std::string& trace, const std::string& options) {
  const support::Ended ended = command("export " + trace + " --to " + options + " -o " + folder.file("out"));
  CAPTURE(options, ended.err);
  REQUIRE(ended.status == 0);
  return text_of_file(folder.file("out"));
}

/// The edges of a graph: from, to, label. Nodes are named before.
std::vector<std::tuple<unsigned, unsigned, std::string>> edges_of(const std::string& text) {
  // digraph "name" { statements; }
  REQUIRE(std::regex_match(text.substr(0, text.find('\n')), std::regex("digraph \"[^\"]*\" \\{")));
  REQUIRE(text.ends_with(";\n}\n"));
  std::istringstream lines(text);
  std::vector<std::tuple<unsigned, unsigned, std::string>> edges;
  std::set<unsigned> named;
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  CHECK(line == "  node [shape=box];");
  const std::regex node("  n(\\d+) \\[label=\"\\([\\d,]+\\)\"\\];"),
      edge("  n(\\d+) -> n(\\d+) \\[label=\"([^\"]*)\"(, style=dashed)?\\];");
  while (std::getline(lines, line) && line != "}") {
    std::smatch found;
    CAPTURE(line);
    if (std::regex_match(line, found, node)) {
      CHECK(named.insert(static_cast<unsigned>(std::stoul(found[1]))).second);
      continue;
    }
    REQUIRE(std::regex_match(line, found, edge));
    edges.emplace_back(std::stoul(found[1]), std::stoul(found[2]), found[3]);
    CHECK(named.contains(std::get<0>(edges.back())));
    CHECK(named.contains(std::get<1>(edges.back())));
  }
  return edges;
}

/// Each node but the root has one edge on the side away from the root, and steps ascend along every path from the root (`out`) or to it.
void check_tree(const std::vector<std::tuple<unsigned, unsigned, std::string>>& edges, unsigned root, std::size_t nodes, bool out) {
  CHECK(edges.size() == nodes - 1);
  std::map<unsigned, std::pair<unsigned, int>> next;  // by node: towards the root
  for (const auto& [from, to, label] : edges) CHECK(next.emplace(out ? to : from, std::pair(out ? from : to, std::stoi(label))).second);
  CHECK_FALSE(next.contains(root));
  for (const auto& [node, hop] : next) {
    if (hop.first == root) continue;
    REQUIRE(next.contains(hop.first));
    CHECK((out ? hop.second > next.at(hop.first).second : hop.second < next.at(hop.first).second));
  }
}

}  // namespace

TEST_CASE("the tree of a broadcast reaches each node once, and a step has its messages", "[conformance]") {
  const Folder folder;
  const std::string trace = traced(folder, "broadcast --on 8x8 --source 2,3 --algorithm tsai-mckinley");
  const auto tree = edges_of(exported(folder, trace, "dot"));
  CHECK(tree.size() == 63);
  std::map<unsigned, int> step{{2 * 8 + 3, -1}};
  for (const auto& [from, to, label] : tree) {
    REQUIRE(step.contains(from));
    CHECK(step.at(from) < std::stoi(label));
    CHECK(step.emplace(to, std::stoi(label)).second);
  }
  CHECK(step.size() == 64);
  support::check_refused("export " + trace + " --to dot --step 99 -o " + folder.file("none"));
  const auto second = edges_of(exported(folder, trace, "dot --step 1"));
  std::size_t at = 0;
  for (const TraceMessage& m : messages_of(trace)) {
    if (m.step != 1) continue;
    REQUIRE(at < second.size());
    CHECK(std::get<0>(second[at]) == m.source);
    CHECK(std::get<1>(second[at]) == m.destination);
    ++at;
  }
  CHECK(at == second.size());
}

TEST_CASE("the tree of a gathering leads to its root, and where many have data it follows one node's", "[conformance]") {
  const Folder folder;
  const auto tree_of = [&](const std::string& line, const std::string& options = "") {
    CAPTURE(line);
    return edges_of(exported(folder, traced(folder, line), "dot" + options));
  };
  check_tree(tree_of("reduce --on 5x4 --source 7"), 7, 20, false);
  check_tree(tree_of("reduce --on 4x4 --source 3 --bytes 1KiB --ports 1"), 3, 16, false);
  check_tree(tree_of("gather --on 3x1x4m --source 5"), 5, 12, false);
  check_tree(tree_of("scatter --on 5x4 --source 7"), 7, 20, true);
  check_tree(tree_of("barrier --on 5x4"), 0, 20, true);
  check_tree(tree_of("barrier --on 2x3m --algorithm flood", " --origin 1,1"), 4, 6, true);
  check_tree(tree_of("allreduce --on 4x4"), 0, 16, true);
  check_tree(tree_of("allreduce --on 5x4 --algorithm exchange", " --origin 9"), 9, 20, true);
  check_tree(tree_of("reduce-scatter --on 4x4", " --origin 5"), 5, 16, true);
  check_tree(tree_of("multinode-broadcast --on 5x5 --sources 3;8;24", " --origin 8"), 8, 25, true);
  check_tree(tree_of("total-exchange --on 4x3", " --origin 2,1"), 7, 12, true);
  // In a scan a contribution goes to the nodes from its own on alone.
  const auto scan = tree_of("scan --on 3x4", " --origin 5");
  std::set<unsigned> reached;
  for (const auto& [from, to, label] : scan) reached.insert(to);
  for (unsigned node = 6; node < 12; ++node) CHECK(reached.contains(node));

  const std::string trace = traced(folder, "multinode-broadcast --on 3x3 --sources 1;5");
  check_refused_without(folder.file("o"), "export " + trace + " --to dot --origin 2 -o " + folder.file("o"),
                        "--origin 2: the node is no source");
  check_refused_without(folder.file("o"), "export " + trace + " --to dot --origin 9 -o " + folder.file("o"), "--origin '9'");
  check_refused_without(folder.file("o"), "export " + trace + " --to goal --origin 1 -o " + folder.file("o"), "--origin 1: an origin is");
  check_refused_without(folder.file("o"), "export " + traced(folder, "reduce --on 3") + " --to dot --origin 1 -o " + folder.file("o"),
                        "--origin 1: a reduce has one root");

  folder.write("none", R"({"format":"torus-trace","version":1,"shape":[4],"ports":1,"switching":"packet",)"
                       R"("collective":"multinode-broadcast","sources":[]})");
  check_refused_without(folder.file("o"), "export " + folder.file("none") + " --to dot -o " + folder.file("o"), "the run has no source");
}

TEST_CASE("a GOAL schedule has a receive for each send, and keeps the order of the steps", "[conformance]") {
  const Folder folder;
  const std::string trace = traced(folder, "total-exchange --on 4x4 --bytes 8 --algorithm direct");
  const auto messages = messages_of(trace);
  std::istringstream lines(exported(folder, trace, "goal"));
  std::string line;
  std::getline(lines, line);
  CHECK(std::regex_match(line, std::regex("// GOAL by torus [0-9.]+[^:]*: total-exchange on 4x4; ranks are row-major, .*")));
  std::getline(lines, line);
  CHECK(line == "num_ranks 16");
  // The rules of LogGOPSim's txt2bin: a label stands before it is referred to.
  const std::regex begin("rank (\\d+) \\{"), send("l(\\d+): send (\\d+)b to (\\d+) tag (\\d+) cpu (\\d+) nic (\\d+)"),
      receive("l(\\d+): recv (\\d+)b from (\\d+) tag (\\d+) cpu (\\d+) nic (\\d+)"), calc("l(\\d+): calc 0"),
      requires_text("l(\\d+) requires l(\\d+)");
  struct Rank {
    std::map<int, std::set<int>> needs;  // by label
    std::map<unsigned, int> sends, receives;
    std::map<Step, std::set<unsigned>> ports_out, ports_in;
  };
  std::vector<Rank> ranks;
  while (std::getline(lines, line)) {
    std::smatch found;
    CAPTURE(line);
    if (line.empty() || line == "}") continue;
    if (std::regex_match(line, found, begin)) {
      REQUIRE(std::stoul(found[1]) == ranks.size());
      ranks.emplace_back();
      continue;
    }
    Rank& rank = ranks.at(ranks.size() - 1);
    if (std::regex_match(line, found, requires_text)) {
      REQUIRE(rank.needs.contains(std::stoi(found[1])));
      REQUIRE(rank.needs.contains(std::stoi(found[2])));
      const auto also = rank.needs[std::stoi(found[2])];
      rank.needs[std::stoi(found[1])].insert(std::stoi(found[2]));
      rank.needs[std::stoi(found[1])].insert(also.begin(), also.end());
      continue;
    }
    const bool sends = std::regex_match(line, found, send), receives = !sends && std::regex_match(line, found, receive);
    REQUIRE((sends || receives || std::regex_match(line, found, calc)));
    CHECK(rank.needs.emplace(std::stoi(found[1]), std::set<int>{}).second);
    if (!sends && !receives) continue;
    const auto tag = static_cast<unsigned>(std::stoul(found[4]));
    REQUIRE(tag < messages.size());
    const TraceMessage& m = messages[tag];
    CHECK(m.bytes == std::stoul(found[2]));
    CHECK((sends ? m.source : m.destination) == ranks.size() - 1);
    CHECK((sends ? m.destination : m.source) == std::stoul(found[3]));
    CHECK((sends ? rank.sends : rank.receives).emplace(tag, std::stoi(found[1])).second);
    // Each message of a step has a port of its own.
    CHECK(found[5] == found[6]);
    CHECK((sends ? rank.ports_out : rank.ports_in)[m.step].insert(static_cast<unsigned>(std::stoul(found[5]))).second);
    CHECK(std::stoul(found[5]) < 4);
  }
  REQUIRE(ranks.size() == 16);
  std::size_t sends = 0, receives = 0;
  for (const Rank& rank : ranks) {
    sends += rank.sends.size();
    receives += rank.receives.size();
    // A send requires all that the rank received in steps before.
    for (const auto& [tag, label] : rank.sends) {
      for (const auto& [other, received] : rank.receives)
        CHECK(rank.needs.at(label).contains(received) == (messages[other].step < messages[tag].step));
    }
  }
  CHECK(sends == messages.size());
  CHECK(receives == messages.size());
}

TEST_CASE("what cannot be exported is refused, and no file is left", "[conformance]") {
  const Folder folder;
  const std::string trace = traced(folder, "broadcast --on 4x4"), out = folder.file("out");
  const std::string message = R"("src":0,"dst":1,"path":[[1,1]],"bytes":8,"blocks":[0]})";
  const std::string text = text_of_file(trace);
  const std::string back =
      folder.write("back", text.substr(0, text.find('\n') + 1) + "{\"step\":3," + message + "\n{\"step\":1," + message + "\n");
  const auto refused = [&](const std::string& line, const std::string& words) {
    const support::Ended ended = command(line);
    CAPTURE(line, ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find(words) != std::string::npos);
    CHECK(support::lines(ended.err) == 1);
    CHECK_FALSE(std::filesystem::exists(out));
  };
  refused("export " + trace + " --to svg -o " + out, "--to 'svg': it must be perfetto, dot, goal or msccl");
  refused("export " + trace + " -o " + out, "--to");
  refused("export " + trace + " --to goal --step 1 -o " + out, "--step 1: a step is chosen of a graph");
  refused("export " + trace + " --to dot --step x -o " + out, "--step 'x'");
  refused("export " + trace + " --to dot -o " + trace, "it is the file that torus export reads");
  refused("export " + folder.file("absent") + " --to dot -o " + out, "absent");
  const std::string sized = folder.file("sized");
  support::good("run total-exchange --on 4x4 --sizes zeros:0.5 --trace " + sized);
  refused("export " + sized + " --to msccl -o " + out, "blocks have sizes of their own");
  for (const std::string format : {"dot", "goal"})
    refused("export " + back + " --to " + format + " -o " + out, "line 3: step 1 comes after step 3");
}
