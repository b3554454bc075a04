// What an algorithm refuses it refuses in one line, which names the value and the rule; the value that the line suggests meets the rule.
// tests/golden/refusals has a line of each rule of each algorithm.
#include <cctype>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/record.hpp"

using namespace torus;

namespace {

/// The setting with what a refusal suggests in the place of what it refuses; none if it suggests nothing.
std::optional<support::Cell> mended(const support::Cell& cell, const Refusal& refusal) {
  using About = Refusal::About;
  support::Cell out = cell;
  Machine& m = out.machine;
  const auto rebuild = [&](Topology topology, int ports, Switching switching, Contention contention, std::vector<Dimension> routing) {
    CostModel cost = m.cost;
    if (!cost.one_speed() && topology.dimensions() != m.topology.dimensions()) cost.dimension_byte_s.clear();
    m = Machine(std::move(topology), ports, switching, contention, std::move(routing), cost);
  };
  if (refusal.fix.empty() && refusal.about != About::parameter) return std::nullopt;
  switch (refusal.about) {
    case About::shape: {
      const Topology topology = Topology::parse(refusal.fix);
      const bool same_dimensions = topology.dimensions() == m.topology.dimensions();
      const int ports = m.all_port() ? all_ports : std::min<int>(m.ports, topology.max_ports());
      rebuild(topology, ports, m.switching, m.contention, same_dimensions ? m.routing : std::vector<Dimension>{});
      if (facts_of(out.request.collective).rooted()) out.request.sources = {0};
      if (out.request.collective == Collective::multinode_broadcast) out.request.sources.clear();
      break;
    }
    case About::ports: rebuild(m.topology, std::stoi(refusal.fix), m.switching, m.contention, m.routing); break;
    case About::switching: rebuild(m.topology, m.ports, parse_switching(refusal.fix), m.contention, m.routing); break;
    case About::contention: rebuild(m.topology, m.ports, m.switching, parse_contention(refusal.fix), m.routing); break;
    case About::routing: {
      std::vector<Dimension> order;
      std::istringstream in(refusal.fix);
      for (std::string d; std::getline(in, d, ',');) order.push_back(std::stoi(d));
      rebuild(m.topology, m.ports, m.switching, m.contention, order);
      break;
    }
    case About::bytes: out.request.bytes = std::stoull(refusal.fix); break;
    case About::parameter:
      if (refusal.parameter == "values") out.request.reduction.values = torus::Values::small;
      out.request.parameters.set(refusal.parameter, refusal.fix);
      break;
    case About::sizes:
    case About::reduction:
    case About::faults: return std::nullopt;
  }
  return out;
}

template <class F>
void each_drawn(std::mt19937_64& random, const Algorithm& algorithm, int draws, F&& f) {
  for (const char* shape : {"1",    "2",        "7",     "8m",    "6c",    "1x5",     "4x4",  "5x5",   "6x11",    "4x4c",
                            "5x3m", "mesh:4x6", "3x3x3", "4x3x4", "2x3x5", "2x2x2x2", "4x8t", "40x40", "128x128", "32x32x32"}) {
    const Topology topology = Topology::parse(shape);
    for (int i = 0; i < draws; ++i) {
      if (const auto cell = support::draw_any(random, algorithm, topology)) f(*cell);
    }
  }
}

}  // namespace

TEST_CASE("a refusal is one line that names the value, and what it suggests is refused no more", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned refused = 0;
  for (const Algorithm* algorithm : catalogue()) {
    each_drawn(random, *algorithm, 6, [&](const support::Cell& drawn) {
      std::optional<support::Cell> cell = drawn;
      std::set<std::string> rules;
      std::string texts;
      for (auto why = refuses(*algorithm, cell->machine, cell->request); why && cell;) {
        const std::string line = text(*why);
        texts += line + "\n";
        CAPTURE(drawn.text, texts);
        CHECK(line.find('\n') == std::string::npos);
        CHECK_FALSE(why->value.empty());
        CHECK(line.starts_with(std::string(why->subject()) + " " + why->value + ": " + why->rule));
        ++refused;
        const bool mended_before = !rules.insert(why->rule).second;
        CHECK_FALSE(mended_before);
        if (mended_before) return;
        cell = mended(*cell, *why);
        if (cell) why = refuses(*algorithm, cell->machine, cell->request);
      }
    });
  }
  CHECK(refused > 1000);
}

TEST_CASE("every algorithm refuses what it has always refused, in the same words", "[conformance]") {
  std::map<std::string, std::string> seen;
  for (const Algorithm* algorithm : catalogue()) {
    std::mt19937_64 random(1);
    std::set<std::string> rules;
    each_drawn(random, *algorithm, 12, [&](const support::Cell& cell) {
      const auto why = refuses(*algorithm, cell.machine, cell.request);
      if (!why) return;
      std::string rule;
      for (const char c : std::string(why->subject()) + why->rule) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) rule += c;
      }
      if (rules.insert(rule).second) seen[cell.text] = text(*why);
    });
  }
  support::compare_with_record(TORUS_SOURCE_DIR "/tests/golden/refusals", seen, true);
}
