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
#include "tests/support/protocol_buffer.hpp"

using namespace torus;
using torus::support::check_refused_without;
using torus::support::command;
using torus::support::Field;
using torus::support::field_of;
using torus::support::fields_of;
using torus::support::Folder;
using torus::support::text_of_file;

namespace {

std::string trace_of(const Folder& folder, const std::string& line) {
  const support::Ended ended = command("run " + line + " --trace " + folder.file("t.jsonl"));
  CAPTURE(line, ended.err);
  REQUIRE(ended.status == 0);
  return folder.file("t.jsonl");
}

std::vector<TraceMessage> messages_of(const std::string& path) {
  TraceReader reader(path);
  std::vector<TraceMessage> messages;
  TraceMessage message;
  while (reader.next(message)) messages.push_back(message);
  return messages;
}

std::string exported(const Folder& folder, const std::string& trace, const std::string& options) {
  const support::Ended ended = command("export " + trace + " --to " + options + " -o " + folder.file("out"));
  CAPTURE(options, ended.err);
  REQUIRE(ended.status == 0);
  return text_of_file(folder.file("out"));
}

struct Slice {
  std::string track, name;
  std::uint64_t begin = 0, end = 0;
};
struct Perfetto {
  std::map<std::uint64_t, std::string> tracks;
  std::vector<Slice> slices;
  std::map<std::string, std::vector<std::uint64_t>> counters;
  std::size_t instants = 0;
};

Perfetto parse_perfetto(const std::string& text) {
  Perfetto out;
  std::map<std::uint64_t, std::vector<Slice>> open;
  bool first = true;
  for (const Field& packet : fields_of(text)) {
    REQUIRE(packet.number == 1);
    const auto fields = fields_of(packet.bytes);
    REQUIRE(field_of(fields, 10)->value == 1);  // the sequence that its writer is trusted with
    CHECK((field_of(fields, 13).has_value() == first));
    first = false;
    if (const auto descriptor = field_of(fields, 60)) {
      const auto track = fields_of(descriptor->bytes);
      const std::uint64_t number = field_of(track, 1)->value;
      CHECK_FALSE(out.tracks.contains(number));
      if (const auto parent = field_of(track, 5)) CHECK(out.tracks.contains(parent->value));
      out.tracks[number] = field_of(track, 2)->bytes;
      continue;
    }
    const auto event = fields_of(field_of(fields, 11).value().bytes);
    const std::uint64_t time = field_of(fields, 8)->value, track = field_of(event, 11)->value;
    REQUIRE(out.tracks.contains(track));
    switch (field_of(event, 9)->value) {
      case 1: open[track].push_back({out.tracks[track], field_of(event, 23)->bytes, time, 0}); break;
      case 2:
        REQUIRE_FALSE(open[track].empty());
        open[track].back().end = time;
        CHECK(open[track].back().begin < time);
        out.slices.push_back(open[track].back());
        open[track].pop_back();
        break;
      case 3: ++out.instants; break;
      case 4: out.counters[out.tracks[track]].push_back(field_of(event, 30)->value); break;
      default: FAIL("an event of no type that there is");
    }
  }
  for (const auto& [track, slices] : open) CHECK(slices.empty());
  return out;
}

std::vector<Slice> on_track(const Perfetto& perfetto, const std::string& track) {
  std::vector<Slice> slices;
  for (const Slice& slice : perfetto.slices) {
    if (slice.track == track) slices.push_back(slice);
  }
  return slices;
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

bool has_perfetto() {
  const Folder folder;
  const support::Ended ended = command("export " + trace_of(folder, "broadcast --on 4") + " --to perfetto -o " + folder.file("p"));
  if (ended.status == 0) return true;
  CHECK(ended.err.find("built without protozero; install libprotozero-dev") != std::string::npos);
  std::cout << "not tried here: this build has no protozero, and --to perfetto says so\n";
  return false;
}

}  // namespace

TEST_CASE("Perfetto's packets have each step, its counters, and each channel that carried something", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const std::string trace = trace_of(folder, "broadcast --on 8x8 --bytes 1KiB --algorithm tsai-mckinley --ts 1us --tc 1ns");
  const Perfetto perfetto = parse_perfetto(exported(folder, trace, "perfetto"));
  CHECK(perfetto.tracks.at(1) == "broadcast on 8x8");
  const auto steps = on_track(perfetto, "steps");
  REQUIRE(steps.size() == 3);
  for (std::size_t s = 0; s < 3; ++s) {  // T_s 1 us and 1,024 bytes of 1 ns each
    CHECK(steps[s].name == "step " + std::to_string(s));
    CHECK(steps[s].begin == 2024 * s);
    CHECK(steps[s].end == 2024 * (s + 1));
  }
  CHECK(perfetto.counters.at("messages") == std::vector<std::uint64_t>{3, 12, 48, 0});
  CHECK(perfetto.counters.at("bytes") == std::vector<std::uint64_t>{3072, 12288, 49152, 0});
  CHECK(perfetto.counters.at("busy channels") == std::vector<std::uint64_t>{16, 32, 64, 0});  // as many as hops: none is shared
  CHECK(perfetto.counters.at("bytes on the fullest channel") == std::vector<std::uint64_t>{1024, 1024, 1024, 0});
  CHECK(perfetto.slices.size() == 3 + 16 + 32 + 64);
  CHECK(perfetto.instants == 0);
  const auto channel = on_track(perfetto, "(0,0) 0:-1");  // the fullest channel of `run --steps`
  REQUIRE_FALSE(channel.empty());
  CHECK(channel[0].name.ends_with(", 1024 bytes"));
}

TEST_CASE("Perfetto's last slice ends at the model time of the run, whatever takes time in it", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const auto last_end = [&](const std::string& trace) {
    const auto steps = on_track(parse_perfetto(exported(folder, trace, "perfetto")), "steps");
    REQUIRE_FALSE(steps.empty());
    return static_cast<double>(steps.back().end);
  };
  const std::string costs = " --ts 1us --tc 1ns --th 300ns";
  for (const std::string& line : {"broadcast --on 9x9 --bytes 1KiB --algorithm wang-tseng" + costs,  // routes of several hops
                                  "broadcast --on 4x4 --bytes 1KiB --algorithm flood --switching packet --slow-link 0,0:+0:3" + costs,
                                  std::string("multinode-broadcast --on 4x6 --bytes 1KiB --ts 1us --tc 1ns,3ns --th 300ns"),
                                  "allreduce --on 4x4 --bytes 1KiB --tg 5ns" + costs}) {
    const support::Ended ended = command("run " + line + " --json --trace " + folder.file("t"));
    CAPTURE(line, ended.err);
    REQUIRE(ended.status == 0);
    const support::Json run = support::parsed(ended.out);
    CHECK(last_end(folder.file("t")) == Approx(run["model_time_s"].get<double>() * 1e9).epsilon(1e-6));
  }
  // Steps 1 and 2 are idle: they take a start-up each.
  const std::string idle = folder.write(
      "idle", R"({"format":"torus-trace","version":1,"shape":[8],"ports":2,"switching":"wormhole","collective":"multinode-broadcast",)"
              R"("sources":[],"ts_s":1e-06,"tc_s":1e-09,"th_s":3e-07})"
              "\n"
              R"({"step":0,"src":0,"dst":2,"path":[[0,2]],"bytes":500,"blocks":[]})"
              "\n"
              R"({"step":3,"src":0,"dst":3,"path":[[0,3]],"bytes":100,"blocks":[]})"
              "\n");
  CHECK(last_end(idle) == 4 * 1000 + 500 + 100 + (2 + 3) * 300);
}

TEST_CASE("Perfetto shows phases one after the other, and shared channels once a step", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const std::string trace = trace_of(folder, "multinode-broadcast --on 9x9 --sources random:5 --algorithm aggregate-distribute");
  std::vector<std::string> named;
  for (const TraceMessage& m : messages_of(trace)) {
    if (!m.phase.empty() && (named.empty() || named.back() != m.phase)) named.push_back(m.phase);
  }
  REQUIRE(named.size() > 1);
  const auto phases = on_track(parse_perfetto(exported(folder, trace, "perfetto")), "phases");
  REQUIRE(phases.size() == named.size());
  for (std::size_t i = 0; i < named.size(); ++i) CHECK(phases[i].name == named[i]);

  const std::string shared = trace_of(folder, "total-exchange --on 4x4 --bytes 8 --contention share --algorithm direct");
  const Perfetto perfetto = parse_perfetto(exported(folder, shared, "perfetto"));
  std::set<std::pair<std::string, std::uint64_t>> begins;
  for (const Slice& slice : perfetto.slices) CHECK(begins.emplace(slice.track, slice.begin).second);
}

TEST_CASE("the slices of a long run end at a step, and the file says so", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const std::string trace = trace_of(folder, "broadcast --on 32x32 --bytes 8KiB --algorithm flood --switching packet --segments 250");
  const support::Ended ended = command("export " + trace + " --to perfetto -o " + folder.file("p"));
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("no slices from step ") != std::string::npos);
  CHECK(ended.out.find("there are at most 200,000") != std::string::npos);
  const Perfetto perfetto = parse_perfetto(text_of_file(folder.file("p")));
  CHECK(perfetto.instants == 1);
  CHECK(perfetto.slices.size() > 190000);
  std::size_t total = 0;
  for (const std::uint64_t messages : perfetto.counters.at("messages")) total += messages;
  CHECK(total == messages_of(trace).size());
}

TEST_CASE("the tree of a broadcast reaches each node once, and a step has its messages", "[conformance]") {
  const Folder folder;
  const std::string trace = trace_of(folder, "broadcast --on 8x8 --source 2,3 --algorithm tsai-mckinley");
  const auto tree = edges_of(exported(folder, trace, "dot"));
  CHECK(tree.size() == 63);
  std::map<unsigned, int> step{{2 * 8 + 3, -1}};
  for (const auto& [from, to, label] : tree) {
    REQUIRE(step.contains(from));
    CHECK(step.at(from) < std::stoi(label));
    CHECK(step.emplace(to, std::stoi(label)).second);
  }
  CHECK(step.size() == 64);
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
    return edges_of(exported(folder, trace_of(folder, line), "dot" + options));
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

  const std::string trace = trace_of(folder, "multinode-broadcast --on 3x3 --sources 1;5");
  check_refused_without(folder.file("o"), "export " + trace + " --to dot --origin 2 -o " + folder.file("o"),
                        "--origin 2: the node is no source");
  check_refused_without(folder.file("o"), "export " + trace + " --to dot --origin 9 -o " + folder.file("o"), "--origin '9'");
  check_refused_without(folder.file("o"), "export " + trace + " --to goal --origin 1 -o " + folder.file("o"), "--origin 1: an origin is");
  check_refused_without(folder.file("o"), "export " + trace_of(folder, "reduce --on 3") + " --to dot --origin 1 -o " + folder.file("o"),
                        "--origin 1: a reduce has one root");

  folder.write("none", R"({"format":"torus-trace","version":1,"shape":[4],"ports":1,"switching":"packet",)"
                       R"("collective":"multinode-broadcast","sources":[]})");
  check_refused_without(folder.file("o"), "export " + folder.file("none") + " --to dot -o " + folder.file("o"), "the run has no source");
}

TEST_CASE("a GOAL schedule has a receive for each send, and keeps the order of the steps", "[conformance]") {
  const Folder folder;
  const std::string trace = trace_of(folder, "total-exchange --on 4x4 --bytes 8 --algorithm direct");
  const auto messages = messages_of(trace);
  std::istringstream lines(exported(folder, trace, "goal"));
  std::string line;
  std::getline(lines, line);
  CHECK(std::regex_match(line, std::regex("// GOAL by torus [0-9.]+[^:]*: total-exchange on 4x4; ranks are row-major, .*")));
  std::getline(lines, line);
  CHECK(line == "num_ranks 16");
  // The rules of LogGOPSim's txt2bin: a label stands before it is referred to.
  const std::regex begin("rank (\\d+) \\{"), send("l(\\d+): send (\\d+)b to (\\d+) tag (\\d+)"),
      receive("l(\\d+): recv (\\d+)b from (\\d+) tag (\\d+)"), calc("l(\\d+): calc 0"), requires_text("l(\\d+) requires l(\\d+)");
  struct Rank {
    std::map<int, std::set<int>> needs;  // by label
    std::map<unsigned, int> sends, receives;
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
  const std::string trace = trace_of(folder, "broadcast --on 4x4"), out = folder.file("out");
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
  refused("export " + trace + " --to svg -o " + out, "--to 'svg': it must be perfetto, dot or goal");
  refused("export " + trace + " -o " + out, "--to");
  refused("export " + trace + " --to goal --step 1 -o " + out, "--step 1: a step is chosen of a graph");
  refused("export " + trace + " --to dot --step x -o " + out, "--step 'x'");
  refused("export " + trace + " --to dot -o " + trace, "it is the trace itself");
  refused("export " + folder.file("absent") + " --to dot -o " + out, "absent");
  for (const std::string format : {"dot", "goal"})
    refused("export " + back + " --to " + format + " -o " + out, "line 3: step 1 comes after step 3");
}
