// The stress plays schedules with fewer bytes too.
#include <torus/algorithm.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/stress.hpp"

using namespace torus;
using namespace torus::command;

namespace {

/// Round a ring. A node hesitates before it passes on a message of odd length.
Program hesitate(Node& self, NodeId source) {
  if (self.rank() != source) co_await self.arrival();
  const auto next = self.neighbour({0, +1});
  if (!next || *next == source) co_return;
  if (self.bytes(self.blocks().front()).size() % 2 == 1) co_await self.step();
  self.send({{0, +1}}, self.blocks());
}

Plan plan_hesitating(const Machine&, const Request& request) {
  return {.start = [source = request.sources.front()](Node& self) { return hesitate(self, source); }};
}

}  // namespace

TEST_CASE("the stress finds an algorithm that takes longer for fewer bytes", "[unit]") {
  const Algorithm hesitant{.name = "hesitant",
                           .collective = Collective::broadcast,
                           .native = {.switching = Switching::packet},
                           .needs = {.shape = Requirements::Shape::torus, .dimensions = 1},
                           .plan = plan_hesitating};
  CAPTURE(support::seed());
  const StressOutcome outcome = support::stress_of(hesitant, 150);
  REQUIRE(outcome.failures.size() == 1);
  CHECK(outcome.failures.front().what.find("played with") != std::string::npos);
}
