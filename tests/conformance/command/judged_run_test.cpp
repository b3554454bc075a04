/// What `--judge` adds to a run: a plan that predicts other bytes or hops than the run takes is a failure.
#include <string>

#include "tests/support/catch.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/setting.hpp"

using namespace torus;
using namespace torus::command;

namespace {

/// Once round a ring in the + direction; `Lie` is what the plan gets wrong.
enum class Lie { none, too_many_bytes, too_few_bytes, too_many_hops };

Program once_round(Node& self) {
  if (self.rank() != 0) co_await self.arrival();
  if (self.neighbour({0, +1}) != NodeId{0}) self.send({{0, +1}}, self.blocks());
}

template <Lie lie>
Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = once_round;
  plan.steps = machine.topology.nodes() - 1;
  plan.formula = "n - 1";
  plan.channel_bytes = times_bytes(plan.steps, request.bytes);
  plan.route_hops = plan.steps;
  if (lie == Lie::too_many_bytes) plan.channel_bytes += 1;
  if (lie == Lie::too_few_bytes) plan.channel_bytes -= 1;
  if (lie == Lie::too_many_hops) plan.route_hops = plan.steps + 1;
  return plan;
}

/// The failure of a run on a ring of 5 whose hops cost something; empty if there is none.
template <Lie lie>
std::string failure(bool judge) {
  static const Algorithm algorithm{.name = "once-round",
                                   .collective = Collective::broadcast,
                                   .source = "tests",
                                   .shapes = "ring",
                                   .steps = "n - 1",
                                   .native = {.switching = Switching::packet},
                                   .plan = plan<lie>};
  TypedOptions options;
  options["on"] = "5";
  options["th"] = "1e-9";
  options["bytes"] = "100";
  const RunSpec spec = parse_spec(Collective::broadcast, options);
  Setting setting = open_setting(make_machine(spec, algorithm.native), make_request(spec), spec);
  REQUIRE_FALSE(plan_with(setting, algorithm));
  JudgeWatcher watcher;
  return emulate(setting, {}, {judge ? std::vector<Watcher*>{&watcher} : std::vector<Watcher*>{}}).check.failure.value_or("");
}

}  // namespace

TEST_CASE("a judged run has nothing against a plan that is right", "[conformance]") { CHECK(failure<Lie::none>(true).empty()); }

TEST_CASE("a judged run fails where the plan predicts other bytes, and says both numbers", "[conformance]") {
  CHECK(failure<Lie::too_many_bytes>(true) ==
        "400 bytes on the fullest channels, summed over the steps, where 401 were predicted (Plan::channel_bytes)");
  CHECK(failure<Lie::too_few_bytes>(true) ==
        "400 bytes on the fullest channels, summed over the steps, where 399 were predicted (Plan::channel_bytes)");
}

TEST_CASE("a judged run fails where the plan predicts other hops, and says both numbers", "[conformance]") {
  CHECK(failure<Lie::too_many_hops>(true) ==
        "4 hops of the longest routes, summed over the steps, where 5 were predicted (Plan::route_hops)");
}

TEST_CASE("a run that is not judged does not look at the prediction of its bytes", "[conformance]") {
  CHECK(failure<Lie::too_many_bytes>(false).empty());
}
