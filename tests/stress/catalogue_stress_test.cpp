#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/stress/trials.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("random settings of every algorithm are legal, complete and as long as predicted", "[stress]") {
  StressOptions options;
  options.algorithms = catalogue();
  options.seed = support::seed();
  options.runs = 2 * catalogue().size();
  CAPTURE(options.seed);
  const StressOutcome outcome = stress(options);
  for (const StressFailure& failure : outcome.failures) {
    UNSCOPED_INFO(failure.what + "\n  " + failure.command);
  }
  CHECK(outcome.failures.empty());
  CHECK(outcome.runs == options.runs);
}
