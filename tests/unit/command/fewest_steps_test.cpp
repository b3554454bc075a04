// The fewest steps by the solver against all schedules of small machines, tried one by one; proofs; and what a lost constraint does.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/optimum/fewest.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/optimum/search.hpp"

using namespace torus;
using command::fewest_steps;
using optimum::Transfer;

namespace {

/// Calls f for each set of transfers that a step can take and that no other can join.
void each_full_step(const Machine& machine, const std::vector<Transfer>& transfers, const std::function<void(const std::vector<int>&)>& f) {
  std::vector<int> taken, sends(machine.topology.nodes(), 0), receives(machine.topology.nodes(), 0);
  std::set<std::uint64_t> used;
  const auto fits = [&](const Transfer& t) {
    return sends[t.from] < machine.ports && receives[t.to] < machine.ports &&
           std::none_of(t.channels.begin(), t.channels.end(), [&](std::uint64_t c) { return used.contains(c); });
  };
  const std::function<void(std::size_t)> choose = [&](std::size_t i) {
    if (i == transfers.size()) {
      if (std::none_of(transfers.begin(), transfers.end(), fits)) f(taken);
      return;
    }
    const Transfer& t = transfers[i];
    if (fits(t)) {
      taken.push_back(static_cast<int>(i));
      ++sends[t.from];
      ++receives[t.to];
      used.insert(t.channels.begin(), t.channels.end());
      choose(i + 1);
      for (const std::uint64_t c : t.channels) used.erase(c);
      --receives[t.to];
      --sends[t.from];
      taken.pop_back();
    }
    choose(i + 1);
  };
  choose(0);
}

/// Steps until all living nodes have heard of all origins, by trying all of them: what each node has heard is a bit for each origin.
Step tried(const Machine& machine, const std::vector<NodeId>& origins) {
  const Topology& topology = machine.topology;
  const std::vector<Transfer> transfers = optimum::transfers_of(machine);
  std::vector<std::vector<int>> steps;
  each_full_step(machine, transfers, [&](const std::vector<int>& step) { steps.push_back(step); });
  using State = std::vector<std::uint8_t>;
  State start(topology.nodes(), 0), all(topology.nodes(), 0);
  for (std::size_t i = 0; i < origins.size(); ++i) {
    start[origins[i]] = static_cast<std::uint8_t>(start[origins[i]] | 1U << i);
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (topology.living(node)) all[node] = static_cast<std::uint8_t>(all[node] | 1U << i);
    }
  }
  std::set<State> reached{start};
  for (Step count = 0;; ++count) {
    if (reached.contains(all)) return count;
    std::set<State> next;
    for (const State& before : reached) {
      for (const std::vector<int>& step : steps) {
        State after = before;
        for (const int i : step) {
          const Transfer& t = transfers[static_cast<std::size_t>(i)];
          after[t.to] = static_cast<std::uint8_t>(after[t.to] | before[t.from]);
        }
        next.insert(std::move(after));
      }
    }
    reached = std::move(next);
  }
}

/// What is wrong with steps; empty: each is legal, and all living nodes hear of all origins.
std::string wrong_with(const Machine& machine, const optimum::Steps& steps, const std::vector<NodeId>& origins) {
  std::vector<std::set<NodeId>> heard(machine.topology.nodes());
  for (const NodeId origin : origins) heard[origin].insert(origin);
  for (const auto& step : steps) {
    std::vector<int> sends(machine.topology.nodes(), 0), receives(machine.topology.nodes(), 0);
    std::set<std::uint64_t> used;
    const auto before = heard;
    for (const Transfer& t : step) {
      if (++sends[t.from] > machine.ports) return "a node sends too many";
      if (++receives[t.to] > machine.ports) return "a node receives too many";
      for (const std::uint64_t channel : t.channels) {
        if (!used.insert(channel).second) return "two on a channel";
      }
      heard[t.to].insert(before[t.from].begin(), before[t.from].end());
    }
  }
  for (const NodeId node : living_ranks(machine.topology)) {
    if (heard[node].size() != origins.size()) return "not all have heard";
  }
  return "";
}

std::vector<Machine> small_machines() {
  std::vector<Topology> shapes;
  for (const char* shape : {"1", "2", "3", "4", "5", "2m", "3m", "4m", "5m", "2x2", "mesh:2x2", "2mx2", "4c", "3c"})
    shapes.emplace_back(shape);
  Faults link, node;
  link.dead_links = {{0, 0, 1}};
  node.dead_nodes = {2};
  for (const char* shape : {"4", "5", "2x2", "mesh:2x2"}) shapes.push_back(Topology(shape).with_faults(link));
  for (const char* shape : {"5", "2x2"}) shapes.push_back(Topology(shape).with_faults(node));
  std::vector<Machine> machines;
  for (const Topology& shape : shapes) {
    for (int ports = 1; ports <= shape.max_ports(); ++ports) {
      machines.emplace_back(shape, ports, Switching::packet);
      machines.emplace_back(shape, ports, Switching::wormhole);
    }
  }
  return machines;
}

}  // namespace

TEST_CASE("the transfers of a machine are its hops, or its worms of shortest length", "[unit]") {
  const auto count = [](const char* shape, Switching switching) {
    return optimum::transfers_of(Machine(Topology(shape), 1, switching)).size();
  };
  CHECK(count("5", Switching::packet) == 10);
  CHECK(count("5m", Switching::packet) == 8);
  CHECK(count("2", Switching::packet) == 4);  // two links
  CHECK(count("5", Switching::wormhole) == 20);
  CHECK(count("4", Switching::wormhole) == 16);  // both ways to the opposite node
  CHECK(count("4x4", Switching::wormhole) == 384);
  CHECK(count("mesh:3x3", Switching::wormhole) == 72);
  CHECK(count("4c", Switching::wormhole) == 12);
  CHECK_THROWS_WITH(count("4", Switching::circuit), "switching circuit: its routes are too many to try; packet or wormhole would do");
}

TEST_CASE("the solver finds as few steps on machines of up to five nodes as trying all schedules does", "[unit]") {
  for (const Machine& machine : small_machines()) {
    CAPTURE(machine.topology.text(), machine.topology.living_nodes(), machine.ports, name(machine.switching));
    const std::vector<NodeId> nodes = living_ranks(machine.topology);
    Step broadcast = 0;
    for (const NodeId root : nodes) broadcast = std::max(broadcast, tried(machine, {root}));
    const command::Optimum found = fewest_steps(machine, {}, {.proof = true});
    REQUIRE(found.broadcast.at_least == broadcast);
    REQUIRE(found.broadcast.proven());
    REQUIRE(found.gossip.at_least == tried(machine, nodes));
    REQUIRE(found.gossip.proven());
    CHECK(wrong_with(machine, found.broadcast.steps, {found.broadcast.root}) == "");
    CHECK(wrong_with(machine, found.gossip.steps, nodes) == "");
    for (const command::Fewest* fewest : {&found.broadcast, &found.gossip}) {
      if (!fewest->impossible) continue;
      CHECK(fewest->impossible->steps + 1 == fewest->at_least);
      CHECK(optimum::refutation_error(fewest->impossible->formula, fewest->impossible->proof) == "");
    }
  }
}

TEST_CASE("a formula that has lost any one clause says the same, or gives steps that break a rule", "[unit]") {
  int broken = 0;
  for (const auto& [shape, switching, steps] : {std::tuple{"5", Switching::packet, Step{3}}, {"4m", Switching::wormhole, Step{2}}}) {
    const Machine machine(Topology(shape), 1, switching);
    const std::vector<NodeId> nodes = living_ranks(machine.topology);
    const std::vector<Transfer> transfers = optimum::transfers_of(machine);
    const optimum::Model model(machine, transfers, {.steps = steps, .origins = nodes});
    REQUIRE(command::solve(model.formula(), {}).satisfiable == false);
    const std::vector<optimum::Clause>& clauses = model.formula().clauses();
    for (std::size_t lost = 0; lost < clauses.size(); ++lost) {
      optimum::Formula formula;
      while (formula.variables() < model.formula().variables()) formula.variable();
      for (std::size_t i = 0; i < clauses.size(); ++i) {
        if (i != lost) formula.add(clauses[i]);
      }
      const command::Solved solved = command::solve(formula, {});
      if (solved.satisfiable == false) continue;
      ++broken;
      CAPTURE(shape, lost);
      REQUIRE(wrong_with(machine, model.steps(solved.values), nodes) != "");
    }
  }
  CHECK(broken > 10);
}

TEST_CASE("a proof is refused once a clause of it is another", "[unit]") {
  const command::Optimum found = fewest_steps(Machine(Topology("9"), 1, Switching::packet), {}, {.proof = true});
  REQUIRE(found.gossip.impossible);
  const auto& [steps, formula, proof] = *found.gossip.impossible;
  CHECK(steps == 5);
  REQUIRE(optimum::refutation_error(formula, proof) == "");
  // A transfer of the first step need not be taken, nor need it not.
  for (const char* other : {"1 0\n", "-1 0\n"}) {
    const std::string changed = other + proof.substr(proof.find('\n') + 1);
    CHECK(optimum::refutation_error(formula, changed) == "line 1: its clause does not follow by unit propagation");
  }
  // There is no proof at all for one step more.
  const Machine machine(Topology("9"), 1, Switching::packet);
  const std::vector<Transfer> transfers = optimum::transfers_of(machine);
  const optimum::Model more(machine, transfers, {.steps = 6, .origins = living_ranks(machine.topology)});
  CHECK(optimum::refutation_error(more.formula(), proof) != "");
}

TEST_CASE("machines of the table come out again, with steps that do and proofs that hold", "[unit]") {
  CAPTURE(support::seed());
  support::Share share(64, 16);
  constexpr NodeId most_nodes = 9;  // larger machines take seconds each
  std::size_t decided = 0, checked = 0;
  for (const optimum::FewestOfShape& row : optimum::fewest_table()) {
    for (std::size_t i = 0; i < row.by_ports.size(); ++i) {
      const Machine machine(Topology(row.shape), static_cast<int>(i) + 1, row.switching);
      if ((machine.topology.nodes() > most_nodes && share.one_in() > 1) || !share.takes_turn()) continue;
      CAPTURE(row.shape, name(row.switching), machine.ports);
      const command::Optimum found = fewest_steps(machine, {.seconds = {}, .conflicts = 1000}, {.proof = true});
      const auto agrees = [&](const command::Fewest& fewest, const optimum::Between& known, const std::vector<NodeId>& origins) {
        CHECK((!known.at_most || fewest.at_least <= *known.at_most));
        if (fewest.at_most) {
          CHECK(*fewest.at_most >= known.at_least);
          CHECK(wrong_with(machine, fewest.steps, origins) == "");
        }
        decided += fewest.proven() ? 1U : 0U;
        if (fewest.impossible && fewest.impossible->proof.size() < 100'000) {
          ++checked;
          CHECK(optimum::refutation_error(fewest.impossible->formula, fewest.impossible->proof) == "");
        }
      };
      agrees(found.broadcast, row.by_ports[i].broadcast, {found.broadcast.root});
      agrees(found.gossip, row.by_ports[i].gossip, living_ranks(machine.topology));
    }
  }
  INFO(decided << " decided, " << checked << " proofs checked");
  CHECK(decided > 2);
}

TEST_CASE("the numbers of machines that were proven elsewhere come out again", "[unit]") {
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  const auto numbers = [](const char* shape, int ports, Switching switching) {
    const command::Optimum found = fewest_steps(Machine(Topology(shape), ports, switching), {});
    CHECK(found.broadcast.proven());
    CHECK(found.gossip.proven());
    return Pair(found.broadcast.at_least, found.gossip.at_least);
  };
  CHECK(numbers("7", 1, Switching::packet) == Pair(4, 5));
  CHECK(numbers("9", 1, Switching::packet) == Pair(5, 6));
  CHECK(numbers("8m", 1, Switching::packet) == Pair(7, 7));
  CHECK(numbers("7", 1, Switching::wormhole) == Pair(3, 4));
  CHECK(numbers("6m", 2, Switching::wormhole) == Pair(3, 3));
  CHECK(numbers("3x4", 3, Switching::wormhole) == Pair(2, 2));
  CHECK(numbers("4x4", 2, Switching::wormhole) == Pair(3, 3));
  CHECK(numbers("mesh:3x3", 3, Switching::wormhole) == Pair(2, 3));
}
