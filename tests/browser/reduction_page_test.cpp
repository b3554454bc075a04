/// Pages of reductions and barriers in a browser: who has contributed, what messages carry, and in which words.
#include <algorithm>
#include <bitset>
#include <map>

#include <torus/judge.hpp>
#include <torus/trace_reader.hpp>

#include "runtime/base/figures.hpp"
#include "tests/support/browser.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::Json;
using torus::support::browser;
using torus::support::Folder;
using torus::support::viewed;

namespace {

using Set = std::bitset<64>;  // of contributors

/// The shares of the nodes after each step with messages, by sets of contributors for each block: slow, and by the rules of the trace
/// alone.
std::vector<std::vector<double>> shares_of(const std::string& path) {
  TraceReader reader(path);
  const TraceHeader& header = reader.header();
  const std::string& collective = header.collective;
  const NodeId nodes = header.machine.topology.nodes();
  const bool owners = collective == "reduce-scatter", barrier = collective == "barrier";
  const std::uint64_t segments = barrier ? 1 : std::uint64_t{header.segments} * (owners ? nodes : 1);
  std::map<std::pair<NodeId, std::uint64_t>, Set> now;  // by node and block
  std::map<std::pair<NodeId, std::uint64_t>, std::size_t> most;
  const auto wanted = [&](NodeId node, std::uint64_t segment) -> std::size_t {
    if (owners && segment / header.segments != node) return 0;
    if (collective == "reduce" && node != header.sources.front()) return 0;
    return collective == "scan" ? node + 1 : nodes;
  };
  for (NodeId node = 0; node < nodes; ++node) {
    for (std::uint64_t s = 0; s < segments; ++s) now[{node, s}].set(node);
  }
  std::vector<std::vector<double>> shares;
  const auto note = [&] {
    std::vector<double> share;
    for (NodeId node = 0; node < nodes; ++node) {
      std::size_t all = 0, has = 0;
      for (std::uint64_t s = 0; s < segments; ++s) {
        std::size_t& m = most[{node, s}];
        m = std::max(m, std::min(now[{node, s}].count(), wanted(node, s)));
        all += wanted(node, s);
        has += m;
      }
      share.push_back(all == 0 ? -1 : static_cast<double>(has) / static_cast<double>(all));
    }
    shares.push_back(share);
  };
  std::vector<TraceMessage> step;
  const auto end_step = [&] {
    const auto before = now;
    for (const TraceMessage& m : step) {
      for (const std::uint64_t block : m.blocks) {
        if (m.releases) now[{m.source, block}].reset();
      }
    }
    for (const bool combines : {false, true}) {
      for (const TraceMessage& m : step) {
        if (barrier && combines) now[{m.destination, 0}] |= before.at({m.source, 0});
        for (const std::uint64_t block : m.blocks) {
          if (!combines && m.registers == 0) now[{m.destination, block}] = before.at({m.source, block});
          for (unsigned r = 0; combines && r < 8; ++r) {
            if ((m.registers >> r & 1U) != 0) now[{m.destination, r * segments + block % segments}] |= before.at({m.source, block});
          }
        }
      }
    }
    note();
    step.clear();
  };
  note();
  for (TraceMessage message; reader.next(message); step.push_back(message)) {
    if (!step.empty() && step.front().step != message.step) end_step();
  }
  end_step();
  return shares;
}

struct Run {
  const char* line;
  const char* legend;   // a part of what the colours mean
  const char* clicked;  // of a node that is clicked at the end
};
const std::vector<Run> runs{
    {"reduce --on 4x5 --source 7", "which the root alone wants", "It wants no result."},
    {"allreduce --on 4x4 --bytes 1KiB", "of all segments:", "Has had "},
    {"allreduce --on 5x4 --algorithm exchange", "of all segments:", "Has had "},
    {"reduce-scatter --on 3x4 --bytes 64 --algorithm rings --variant single", "of the segments that the node owns",
     "Has had 24 of the 24 contributions that it wants."},
    {"scan --on 3x4 --op xor --type u8", "from the nodes up to itself", "Has had "},
    {"barrier --on 4x4x3", "nodes that a node has heard of", "Has heard of 48 of 48 nodes."},
};

}  // namespace

TEST_CASE("pages of reductions have the contributors of each node, step by step, and what channels carry", "[browser]") {
  const auto b = browser();
  if (!b) return;
  for (const Run& run : runs) {
    CAPTURE(run.line);
    const Folder folder;
    b->open(viewed(folder, run.line));
    TraceReader reader(folder.file("t.jsonl"));
    Judge judge(reader.header());
    for (TraceMessage message; reader.next(message);) REQUIRE(judge.message(message));
    const Verdict verdict = judge.finish();
    REQUIRE(verdict.ok);
    CHECK(b->value("messages.count") == verdict.messages);
    CHECK(b->value("by_step.hops.reduce((a, b) => a + b, 0)") == verdict.hops);
    CHECK(b->value("by_step.fullest.reduce((a, b) => a + b, 0)") == verdict.channel_bytes);

    const auto shares = shares_of(folder.file("t.jsonl"));
    REQUIRE(b->value("last_time") == shares.size() - 1);
    std::string before;
    b->key("Home");
    for (std::size_t time = 0; time < shares.size(); ++time) {
      CAPTURE(time);
      if (time > 0) b->key("ArrowRight");
      REQUIRE(b->value("state.time") == time);
      const Json shown = b->value("Array.from({length: shape.nodes}, (_, n) => clock.share(n))");
      REQUIRE(shown.size() == shares[time].size());
      double off = 0;
      for (std::size_t n = 0; n < shown.size(); ++n) off = std::max(off, std::abs(shown[n].get<double>() - shares[time][n]));
      CHECK(off < 1e-9);
      if (time > 4) continue;
      const std::string now = b->screenshot();
      CHECK(now != before);
      before = now;
    }
    CHECK(b->complaints == std::vector<std::string>{});
  }
}

TEST_CASE("pages of reductions say what the colours mean, what a node has had, and what its messages do", "[browser]") {
  const auto b = browser();
  if (!b) return;
  for (const Run& run : runs) {
    CAPTURE(run.line);
    const Folder folder;
    b->open(viewed(folder, run.line), 390, 844, "dark");
    CHECK(b->value("document.documentElement.scrollWidth <= innerWidth") == true);
    CHECK(b->text("#share_meaning").find(run.legend) != std::string::npos);
    // Only what has one has a source or a root.
    CHECK(b->value("$('source_key').hidden") != std::string(run.line).starts_with("reduce --"));
    b->key("End");
    b->value("document.querySelector('#torus0').scrollIntoView(), 0");
    const Json at = b->value(
        "(r => [r.left + picture.x(picture.layout.x[3]), r.top + picture.y(picture.layout.y[3])])($('torus0').getBoundingClientRect())");
    b->click(at[0], at[1]);
    CHECK(b->text("#node_title").starts_with("Node "));
    CHECK(b->text("#node").find(run.clicked) != std::string::npos);
    const bool barrier = std::string(run.line).starts_with("barrier");
    CHECK((b->text("#node").find("combined") != std::string::npos) != barrier);
    CHECK(b->complaints == std::vector<std::string>{});
  }
}
