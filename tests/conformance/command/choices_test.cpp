/// Choices by the time to run, held against the estimates of all algorithms.
#include <array>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "algorithms/dry_run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/setting/setting.hpp"

using namespace torus;
using namespace torus::command;

namespace {

constexpr double any_s = std::numeric_limits<double>::infinity();

std::optional<double> run_s(const Setting& setting, double most_s = any_s) {
  return detail::estimated_run_s(setting.machine, setting.request, setting.plan, most_s);
}

}  // namespace

TEST_CASE("no algorithm that is planned soon is estimated to run sooner than the one that is chosen by wall time", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  static constexpr std::array ports{"1", "2", "all"};
  int others = 0, turned = 0;
  for (int turn = 0; turn < 40 || others < 100; ++turn) {
    TypedOptions typed;
    const Topology shape = support::random_topology(random, 100);
    if (shape.nodes() < 2) continue;
    typed["on"] = shape.text();
    if (random() % 2 == 0 && shape.max_ports() > 1) typed["ports"] = ports[random() % ports.size()];
    const CollectiveFacts& facts = collectives()[random() % collectives().size()];
    if (facts.carries_bytes()) typed["bytes"] = std::to_string(8 * (1 + random() % 2000));
    typed["choose"] = "wall";
    RunSpec spec = parse_spec(facts.collective, typed);
    const Setting chosen = make_setting(spec, std::nullopt, catalogue());
    CAPTURE(command_line(chosen));
    const std::optional<double> least_s = run_s(chosen);
    REQUIRE(least_s);
    CHECK(run_s(chosen, *least_s) == least_s);
    CHECK_FALSE(run_s(chosen, *least_s * 0.999));
    spec.choose_by.reset();
    turned += make_setting(spec, std::nullopt, catalogue()).algorithm != chosen.algorithm ? 1 : 0;
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective != facts.collective || algorithm->offer != nullptr || algorithm->plan.searches()) continue;
      Setting other = open_setting(usual_machine(spec), make_request(spec), spec);
      if (plan_with(other, *algorithm)) continue;
      ++others;
      CAPTURE(algorithm->name);
      CHECK(run_s(other).value_or(any_s) >= *least_s);
    }
  }
  CHECK(turned > 0);
}
