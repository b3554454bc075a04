// The stress plays settings beside themselves, too.
#include <atomic>
#include <memory>

#include <torus/algorithm.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/stress.hpp"

using namespace torus;
using namespace torus::command;

namespace {

/// What all runs of a plan share, by mistake.
struct Common {
  std::atomic<unsigned> programs = 0;  // that have not ended
  std::atomic<bool> moving = false;    // one of them has waited
  std::atomic<bool> mixed = false;     // one began after that: it is of another run
};

/// A program that has begun and not ended.
class Begun {
 public:
  explicit Begun(Common& common) noexcept : common_{common} {
    ++common_.programs;
    if (common_.moving) common_.mixed = true;
  }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;
  ~Begun() {
    if (--common_.programs == 0) common_.moving = common_.mixed = false;
  }

 private:
  Common& common_;
};

/// Round a ring. Node 1 hesitates while programs of several runs go on.
Program meet(Node& self, NodeId source, Common& common) {
  const Begun begun(common);
  if (self.rank() != source) co_await self.arrival();
  if (self.rank() != source) common.moving = true;
  const auto next = self.neighbour({0, +1});
  if (!next || *next == source) co_return;
  if (self.rank() == 1 && common.mixed) co_await self.step();
  self.send({{0, +1}}, self.blocks());
}

Plan plan_meeting(const Machine&, const Request& request) {
  return {
      .start = [source = request.sources.front(), common = std::make_shared<Common>()](Node& self) { return meet(self, source, *common); }};
}

}  // namespace

TEST_CASE("the stress finds programs whose runs know of each other", "[unit]") {
  const Algorithm meeting{.name = "meeting",
                          .collective = Collective::broadcast,
                          .native = {.switching = Switching::packet},
                          .needs = {.shape = Requirements::Shape::torus, .dimensions = 1},
                          .plan = plan_meeting};
  CAPTURE(support::seed());
  const StressOutcome outcome = support::stress_of(meeting, 300);
  REQUIRE(outcome.failures.size() == 1);
  CHECK(outcome.failures.front().what.find("beside itself") != std::string::npos);
  CHECK(outcome.failures.front().command.find(" + broadcast --algorithm meeting") != std::string::npos);
}
