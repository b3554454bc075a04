// The theorem: a schedule of an all-gather, a total exchange, a reduce-scatter, an all-reduce or a barrier plays each of the others in as
// many steps, and a broadcast, a scatter, a reduce or a gather each other of these. Over all algorithms of the catalogue, on real bytes.
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "algorithms/optimum/play.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/judged.hpp"

using namespace torus;

namespace {

/// Plays steps as a collective.
class Player : public PlanSource {
 public:
  Player(const optimum::Steps& steps, Collective as) : steps_{steps} {
    algorithm.name = "player";
    algorithm.collective = as;
    algorithm.needs.lives_with_holes = algorithm.needs.takes_twists = true;
    algorithm.plan = Planner(*this);
  }
  Plan plan(const Machine& machine, const Request& request) const override {
    const NodeId root = request.sources.empty() ? 0 : request.sources.front();
    const auto schedule = std::make_shared<const Schedule>(optimum::played(machine, steps_, request.collective, root));
    Plan plan;
    plan.start = [schedule](Node& self) { return follow(self, *schedule); };
    plan.steps = schedule->steps();
    plan.steps_estimate = plan.steps;  // a schedule may pause for as long
    plan.copies = schedule->arrivals();
    return plan;
  }
  Algorithm algorithm{.name = {}, .collective = Collective::broadcast};

 private:
  const optimum::Steps& steps_;
};

/// The transfers of a run.
optimum::Steps steps_of_run(const support::Cell& cell) {
  optimum::Steps steps;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.on_messages = [&](std::span<const Message* const> messages) {
    for (const Message* m : messages) {
      if (m->step() >= steps.size()) steps.resize(m->step() + std::size_t{1});
      Route route;
      for (const Leg& leg : m->route()) route.push_back(leg);
      steps[m->step()].push_back({m->source(), m->destination(), route, {}});
    }
  };
  const Run run = support::run(cell, options);
  REQUIRE(run.result.verified);
  return steps;
}

}  // namespace

TEST_CASE("a schedule of one collective plays the others of its family in as many steps", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  support::Share share(6);
  std::map<std::string, int> played, once;
  for (const Algorithm* algorithm : catalogue()) {
    if (!optimum::family_of(algorithm->collective)) continue;
    for (const char* shape : {"2", "5", "6m", "3x3", "4x4", "mesh:3x4", "2x2x3", "4c", "2x4t"}) {
      if (!share.takes_turn()) continue;
      auto cell = support::draw_cell(random, *algorithm, Topology::parse(shape), 6, false);
      if (!cell || cell->request.sizes) continue;
      if (cell->request.bytes == 0 && facts_of(algorithm->collective).carries_bytes()) continue;
      const Topology& topology = cell->machine.topology;
      if (facts_of(algorithm->collective).from_sources() && cell->request.sources.size() < topology.living_nodes()) continue;
      CAPTURE(cell->text);
      const optimum::Steps steps = steps_of_run(*cell);
      const NodeId root = facts_of(algorithm->collective).rooted() ? cell->request.sources.front() : first_living(topology);
      const auto family = *optimum::family_of(algorithm->collective);
      for (const CollectiveFacts& facts : collectives()) {
        if (!optimum::turns(algorithm->collective, facts.collective)) continue;
        CAPTURE(facts.name);
        Request request = support::reduction_request(facts.collective, facts.carries_bytes() ? 8 : 0);
        if (facts.rooted()) request.sources = {root};
        for (NodeId node = 0; facts.from_sources() && node < topology.nodes(); ++node) {
          if (topology.living(node)) request.sources.push_back(node);
        }
        try {
          const bool back = family != optimum::Family::gossip && family != *optimum::family_of(facts.collective);
          const optimum::Steps turned = back ? optimum::backwards(cell->machine, steps) : steps;
          const Player player(turned, facts.collective);
          const support::Judged judged = support::judged(player.algorithm, cell->machine, request);
          CHECK(judged.complaint == "");
          CHECK(judged.run.result.steps <= steps.size());
          ++played[std::string(facts.name)];
        } catch (const InputError& error) {
          // Sums count each once, and worms backwards may take the dimensions in an order that the machine does not.
          const std::string why = error.what();
          CAPTURE(why);
          const bool twice = facts.collective == Collective::allreduce && why.find(" twice, and sums count each once") != std::string::npos;
          CHECK((twice || why.find("--routing in that order would do") != std::string::npos));
        }
      }
    }
  }
  for (const auto& [collective, count] : played) {
    CAPTURE(collective);
    CHECK(count > 0);
  }
  CHECK(played.size() == 9);
}

TEST_CASE("steps that leave somebody out play nothing, and say who", "[property]") {
  const Machine machine(Topology("3m"), 1, Switching::packet);
  const optimum::Steps steps{{{0, 1, Route{{0, 1}}, {}}}, {{1, 2, Route{{0, 1}}, {}}}};
  CHECK(optimum::played(machine, steps, Collective::broadcast, 0).steps() == 2);
  CHECK(optimum::played(machine, steps, Collective::reduce, 2).steps() == 2);
  for (const Collective as : {Collective::barrier, Collective::multinode_broadcast, Collective::allreduce}) {
    CHECK_THROWS_WITH(optimum::played(machine, steps, as, 0),
                      "nothing that node 1 has reaches node 0; the schedule of a collective that brings it there would do");
  }
  CHECK_THROWS_AS(optimum::played(machine, steps, Collective::reduce, 0), InputError);
  CHECK_THROWS_AS(optimum::played(machine, steps, Collective::scan, 0), InputError);
  CHECK_FALSE(optimum::turns(Collective::broadcast, Collective::barrier));
  CHECK_FALSE(optimum::turns(Collective::scan, Collective::broadcast));
  CHECK(optimum::turns(Collective::barrier, Collective::reduce));
}
