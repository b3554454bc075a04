// The groups of a trace: who is where, how they are coloured, and that what a group's nodes want comes from the group alone.
#include "tools/torus/view/trace_groups.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <torus/catalogue.hpp>
#include <torus/session.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/view/contributors.hpp"

using namespace torus;
using command::ContributorCounts;
using command::TraceGroups;

namespace {

TraceHeader header_of(const Topology& topology, std::vector<std::vector<NodeId>> groups) {
  return {.machine = Machine(topology, all_ports, Switching::packet), .collective = "allreduce", .groups = std::move(groups)};
}

/// Rows, columns or boxes of a machine of two dimensions.
std::string some_groups(std::mt19937_64& random, const Topology& topology) {
  switch (random() % 3) {
    case 0: return "rows";
    case 1: return "columns";
    default: {
      const std::int32_t high = topology.extent(0) % 2 == 0 ? 2 : 1;
      return "slice:" + std::to_string(high) + "x" + std::to_string(topology.extent(1));
    }
  }
}

}  // namespace

TEST_CASE("a node's place in its group leads back to it, and nodes of no group have none", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int draw = 0; draw < 200; ++draw) {
    const Topology topology = support::random_topology(random, 40);
    std::vector<NodeId> nodes(topology.nodes());
    for (NodeId node = 0; node < nodes.size(); ++node) nodes[node] = node;
    std::shuffle(nodes.begin(), nodes.end(), random);
    // Groups of any sizes, and some nodes left over.
    std::vector<std::vector<NodeId>> groups;
    for (std::size_t at = 0; at < nodes.size() && (groups.empty() || random() % 8 != 0);) {
      const std::size_t size = std::min<std::size_t>(1 + random() % 5, nodes.size() - at);
      groups.emplace_back(nodes.begin() + static_cast<std::ptrdiff_t>(at), nodes.begin() + static_cast<std::ptrdiff_t>(at + size));
      at += size;
    }
    const TraceGroups told(header_of(topology, groups));
    REQUIRE(told.count() == groups.size());
    std::size_t in_groups = 0, most = 0;
    for (NodeId group = 0; group < groups.size(); ++group) {
      in_groups += groups[group].size();
      most = std::max(most, groups[group].size());
      REQUIRE(told.nodes(group) == groups[group].size());
      for (NodeId rank = 0; rank < groups[group].size(); ++rank) {
        const auto place = told.place(groups[group][rank]);
        REQUIRE((place.group == group && place.rank == rank && told.node(group, rank) == groups[group][rank]));
      }
    }
    CHECK(told.most_nodes() == most);
    std::size_t in_none = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) in_none += told.place(node).group == TraceGroups::none ? 1U : 0U;
    CHECK(in_none + in_groups == topology.nodes());
    // Up to seven groups have a colour each.
    const std::vector<NodeId> colours = told.colour();
    if (groups.size() <= TraceGroups::colours) CHECK(std::set<NodeId>(colours.begin(), colours.end()).size() == groups.size());
  }
}

TEST_CASE("groups side by side have different colours, however many there are", "[unit]") {
  for (const auto& [shape, words] : {std::pair("16x16", "rows"), std::pair("7x14", "columns"), std::pair("16x28", "slice:4x4"),
                                     std::pair("8x8x8", "slice:4x4x2"), std::pair("mesh:9x9", "slice:1x3")}) {
    CAPTURE(shape, words);
    const Topology topology = Topology::parse(shape);
    const Groups groups = Groups::parse(words, topology);
    std::vector<std::vector<NodeId>> lists;
    for (NodeId group = 0; group < groups.count(); ++group) lists.emplace_back(groups.members(group).begin(), groups.members(group).end());
    const TraceGroups told(header_of(topology, lists));
    const std::vector<NodeId> colours = told.colour();
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const auto next = topology.neighbour(node, d, 1);
        if (!next || told.place(node).group == told.place(*next).group) continue;
        CHECK(colours[told.place(node).group] != colours[told.place(*next).group]);
      }
    }
  }
}

TEST_CASE("in groups nodes want the contributions of their groups, and have them in the end", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned runs = 0;
  for (unsigned draw = 0; draw < 200; ++draw) {
    std::mt19937_64 own(random());
    const auto extent = [&] { return std::to_string(1 + own() % 5); };
    const Topology topology = Topology::parse((own() % 3 == 0 ? "mesh:" : "") + extent() + "x" + extent());
    const std::string words = some_groups(own, topology);
    const Groups groups = Groups::parse(words, topology);
    const Machine machine(topology, all_ports, Switching::packet);
    const Request request = support::random_request(own, groups.topology(), support::random_bytes(own, 9));
    if (!ContributorCounts::follows(name(request.collective))) continue;
    const Algorithm* algorithm = support::some_algorithm(own, groups.machine(machine), request);
    if (algorithm == nullptr) continue;
    CAPTURE(draw, topology.text(), words, std::string(algorithm->name));
    std::optional<ContributorCounts> counts;
    RunOptions options;
    options.executor = ExecutorKind::serial;
    TraceMessage line;
    options.on_messages = [&](std::span<const Message* const> messages) {
      for (const Message* m : messages) {
        line.assign(*m);
        counts->sent(line);
      }
      counts->end_step();
    };
    try {
      const Plan plan = make_plan(*algorithm, groups.machine(machine), request);
      counts.emplace(torus::header_of(machine, &groups, request, plan, algorithm->name, 1));
      if (!run(*algorithm, machine, groups, request, options).result.verified) continue;
    } catch (const RunError&) {  // a search that finds nothing
      continue;
    } catch (const InputError&) {
      continue;
    }
    NodeId wanting = 0;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      CHECK(counts->had(node) == counts->wanted(node));
      if (counts->wanted(node) > 0) ++wanting;
    }
    CHECK(counts->complete() == wanting);
    CHECK(wanting >= groups.count());
    ++runs;
  }
  CHECK(runs > 30);
}

TEST_CASE("a message that leaves its group tells nobody anything", "[unit]") {
  // Two groups of a line of four, and one node of a fifth in none.
  const Topology line = Topology::parse("mesh:5");
  for (const char* collective : {"allreduce", "barrier", "reduce-scatter"}) {
    CAPTURE(collective);
    TraceHeader header = header_of(line, {{0, 1}, {3, 2}});
    header.collective = collective;
    ContributorCounts counts(header);
    for (const auto& [from, to] : {std::pair(1, 2), std::pair(3, 4), std::pair(4, 3)}) {
      TraceMessage message;
      message.source = static_cast<NodeId>(from);
      message.destination = static_cast<NodeId>(to);
      message.blocks = {0};
      message.registers = 1;
      counts.sent(message);
    }
    for (const auto& effect : counts.end_step()) CHECK(effect.gained == 0);
    CHECK(counts.wanted(4) == 0);
    CHECK(counts.complete() == 0);
  }
}
