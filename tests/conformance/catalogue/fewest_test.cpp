// The table of the fewest steps against the catalogue: nothing beats a proven number, and the page says how far each collective is.
#include "algorithms/optimum/fewest.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "algorithms/optimum/play.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/generated.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using optimum::Between;
using optimum::FewestOfShape;

namespace {

/// The fewest steps that the catalogue predicts exactly for a collective on a machine, and whose they are.
std::optional<std::pair<std::uint64_t, std::string>> best_of_catalogue(const Machine& machine, Collective collective) {
  std::optional<std::pair<std::uint64_t, std::string>> best;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective != collective) continue;
    if (algorithm->name == "spanning-trees") continue;  // for long vectors: a search of seconds, and a step for each of many segments
    Request request;
    request.collective = collective;
    if (facts_of(collective).carries_bytes()) request.bytes = 64;
    if (facts_of(collective).rooted()) request.sources = {0};
    for (NodeId node = 0; facts_of(collective).from_sources() && node < machine.topology.nodes(); ++node) request.sources.push_back(node);
    if (refuses(*algorithm, machine, request)) continue;
    const Plan plan = make_plan(*algorithm, machine, request);
    if (plan.predicts() && plan.steps_exact && (!best || plan.steps < best->first)) best.emplace(plan.steps, algorithm->name);
  }
  return best;
}

std::string compact(const Between& between) {
  if (between.proven()) return std::to_string(between.at_least);
  return std::to_string(between.at_least) + "-" + (between.at_most ? std::to_string(*between.at_most) : "");
}

}  // namespace

TEST_CASE("the table has the numbers that were proven elsewhere", "[conformance]") {
  std::size_t cells = 0, numbers = 0, proven = 0;
  std::map<std::string, const FewestOfShape*> rows;
  for (const FewestOfShape& row : optimum::fewest_table()) {
    CAPTURE(row.shape, name(row.switching));
    CHECK(Topology(row.shape).max_ports() == static_cast<std::int32_t>(row.by_ports.size()));
    CHECK(rows.emplace(row.shape + " " + std::string(name(row.switching)), &row).second);
    for (const auto& [broadcast, gossip] : row.by_ports) {
      CHECK(broadcast.at_least <= gossip.at_least);
      CHECK((!broadcast.at_most || !gossip.at_most || *broadcast.at_most <= *gossip.at_most));
      ++cells;
      numbers += 2;
      proven += (broadcast.proven() ? 1U : 0U) + (gossip.proven() ? 1U : 0U);
    }
  }
  CHECK(cells >= 700);
  CHECK(proven * 100 >= numbers * 90);
  using Numbers = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const std::vector<std::pair<const char*, Numbers>> elsewhere{{"5 packet", {{3, 4}, {2, 2}}},
                                                               {"7 packet", {{4, 5}, {3, 3}}},
                                                               {"9 packet", {{5, 6}, {4, 4}}},
                                                               {"11 packet", {{6, 7}, {5, 5}}},
                                                               {"12 packet", {{6, 6}, {6, 6}}},
                                                               {"5 wormhole", {{3, 3}, {2, 2}}},
                                                               {"7 wormhole", {{3, 4}, {2, 3}}},
                                                               {"8 wormhole", {{3, 3}, {2, 3}}},
                                                               {"10 wormhole", {{4, 4}, {3, 4}}},
                                                               {"mesh:5 packet", {{4, 5}, {4, 4}}},
                                                               {"mesh:7 packet", {{6, 7}, {6, 6}}},
                                                               {"mesh:8 wormhole", {{3, 5}, {3, 4}}},
                                                               {"2x2x2 packet", {{3, 3}, {3, 3}, {3, 3}, {3, 3}, {3, 3}, {3, 3}}},
                                                               {"3x4 wormhole", {{4, 4}, {3, 3}, {2, 2}, {2, 2}}},
                                                               {"mesh:3x3 wormhole", {{4, 4}, {3, 3}, {2, 3}, {2, 3}}},
                                                               {"4x4 packet", {{4, 4}, {4, 4}, {4, 4}, {4, 4}}},
                                                               {"mesh:4x4 packet", {{6, 6}, {6, 6}, {6, 6}, {6, 6}}},
                                                               {"5x5 packet", {{5, 6}, {4, 4}, {4, 4}, {4, 4}}},
                                                               {"4x6 packet", {{5, 5}, {5, 5}, {5, 5}, {5, 5}}}};
  for (const auto& [shape, each] : elsewhere) {
    CAPTURE(shape);
    REQUIRE(rows.contains(shape));
    for (std::size_t i = 0; i < each.size(); ++i) {
      const auto& [broadcast, gossip] = rows[shape]->by_ports[i];
      for (const auto& [number, is] : {std::pair(broadcast, each[i].first), {gossip, each[i].second}}) {
        CHECK(number.at_least <= is);
        CHECK((!number.at_most || *number.at_most >= is));
      }
    }
  }
}

TEST_CASE("what is known of a machine is looked up by what its messages can do", "[conformance]") {
  const auto known = [](const char* shape, int ports, Switching switching, Collective collective, std::vector<Dimension> routing = {},
                        Contention contention = Contention::forbid) {
    const auto found = optimum::fewest_known(Machine(Topology(shape), ports, switching, contention, std::move(routing)), collective);
    return found ? found->text() : "";
  };
  using enum Collective;
  CHECK(known("9", 1, Switching::packet, broadcast) == "5");
  CHECK(known("9", 1, Switching::packet, gather) == "5");
  CHECK(known("1x9", 1, Switching::packet, total_exchange) == "6");
  CHECK(known("9", 1, Switching::packet, scan) == "");
  CHECK(known("4x3", 1, Switching::packet, barrier) == known("3x4", 1, Switching::packet, barrier));
  CHECK(known("3x4", 3, Switching::wormhole, broadcast) == "2");
  CHECK(known("3x4", 3, Switching::wormhole, reduce) == "");  // the worms of the table go the other way
  CHECK(known("4x3", 3, Switching::wormhole, broadcast) == "");
  CHECK(known("4x3", 3, Switching::wormhole, reduce) == "2");
  CHECK(known("4x3", 3, Switching::wormhole, broadcast, {1, 0}) == "2");
  CHECK(known("4x3", 3, Switching::wormhole, allreduce) == "2");
  CHECK(known("4x3", 3, Switching::wormhole, allreduce, {}, Contention::share) == "");
  CHECK(known("4x3", 3, Switching::circuit, allreduce) == "");
  for (const char* other : {"1", "4c", "4x4m", "2x4t", "64x64"}) CHECK(known(other, 1, Switching::packet, barrier) == "");
  CHECK(Between{4, 4}.text() == "4");
  CHECK(Between{4, 5}.text() == "4 or 5");
  CHECK(Between{4, 6}.text() == "4 to 6");
  CHECK(Between{4, {}}.text() == "4 or more");
}

TEST_CASE("no algorithm takes fewer steps than a proven number", "[conformance]") {
  CAPTURE(support::seed());
  support::Share share(30, 4);
  std::size_t met = 0;
  for (const FewestOfShape& row : optimum::fewest_table()) {
    for (int ports = 1; ports <= static_cast<int>(row.by_ports.size()); ++ports) {
      if (!share.takes_turn()) continue;
      const Machine machine(Topology(row.shape), ports, row.switching);
      for (const CollectiveFacts& facts : collectives()) {
        const auto fewest = optimum::fewest_known(machine, facts.collective);
        if (!fewest) continue;
        // Some plans are long searches on more nodes.
        const NodeId most_nodes = optimum::family_of(facts.collective) == optimum::Family::gossip ? 12 : 8;
        if (machine.topology.nodes() > most_nodes && share.one_in() > 4) continue;
        const auto best = best_of_catalogue(machine, facts.collective);
        if (!best) continue;
        CAPTURE(row.shape, name(row.switching), ports, facts.name, best->second);
        CHECK(best->first >= fewest->at_least);
        met += best->first == fewest->at_least ? 1U : 0U;
      }
    }
  }
  CHECK((met > 0 || share.one_in() > 1));
}

TEST_CASE("the page of the fewest steps has the table and the catalogue's distance to it", "[conformance]") {
  const std::string page = TORUS_SOURCE_DIR "/algorithms/fewest.md";
  std::vector<std::string> shapes;
  std::map<std::string, std::map<Switching, std::string>> cells;
  for (const FewestOfShape& row : optimum::fewest_table()) {
    if (!cells.contains(row.shape)) shapes.push_back(row.shape);
    std::string& cell = cells[row.shape][row.switching];
    for (const auto& [broadcast, gossip] : row.by_ports) cell += (cell.empty() ? "" : " ") + compact(broadcast) + "," + compact(gossip);
  }
  std::string table;
  for (const std::string& shape : shapes) {
    auto& row = cells[shape];
    table += "| " + shape + " | " + row[Switching::packet] + " | " + row[Switching::wormhole] + " |\n";
  }
  support::check_generated(page, "| shape | packet | wormhole |\n|---|---|---|\n", "<!-- the end of the table -->", table);

  std::string distances;
  for (const char* shape : {"8", "mesh:8", "3x3", "4x4", "mesh:4x4", "2x2x2", "2x2x4"}) {
    for (const Switching switching : {Switching::packet, Switching::wormhole}) {
      for (const int ports : {1, static_cast<int>(Topology(shape).max_ports())}) {
        const Machine machine(Topology(shape), ports, switching);
        if (!optimum::fewest_known(machine, Collective::barrier)) continue;
        distances += "| " + std::string(shape) + " | " + std::string(name(switching)) + " | " + std::to_string(ports) + " | " +
                     optimum::fewest_known(machine, Collective::barrier).value().text() + " |";
        for (const Collective each : {Collective::multinode_broadcast, Collective::total_exchange, Collective::reduce_scatter,
                                      Collective::allreduce, Collective::barrier}) {
          const auto best = best_of_catalogue(machine, each);
          distances += " " + (best ? std::to_string(best->first) : "-") + " |";
        }
        distances += "\n";
      }
    }
  }
  support::check_generated(page, "| all-reduce | barrier |\n|---|---|---|---|---|---|---|---|---|\n", "<!-- the end of the distances -->",
                           distances);
}
