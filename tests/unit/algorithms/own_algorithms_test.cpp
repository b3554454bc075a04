// The catalogue grows at the start of a program by the algorithms that it brings.
#include <algorithm>
#include <string>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

TEST_CASE("the catalogue grows by algorithms of a program's own, whose names are free", "[unit]") {
  const auto nothing = [](const Machine&, const Request&) { return Plan{}; };
  const auto refused = [](Algorithm own) {
    const Algorithm* const list[] = {&own};
    try {
      extend_catalogue(list);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::size_t before = catalogue().size();
  CHECK(refused({.name = "flood", .collective = Collective::broadcast, .plan = nothing}) ==
        "algorithm 'flood': there is a broadcast of that name already; for instance my-flood");
  CHECK(refused({.name = "Mine", .collective = Collective::broadcast, .plan = nothing}).starts_with("algorithm 'Mine': a name has small"));
  CHECK(refused({.name = "", .collective = Collective::broadcast, .plan = nothing}).starts_with("algorithm ''"));
  CHECK(refused({.name = "broadcast", .collective = Collective::broadcast, .plan = nothing}).find("a collective") != std::string::npos);
  CHECK(refused({.name = "mine", .collective = Collective::broadcast}).find("no plan") != std::string::npos);
  const Algorithm* const none[] = {nullptr};
  CHECK_THROWS_AS(extend_catalogue(none), InputError);
  CHECK(catalogue().size() == before);

  static const Algorithm first{.name = "flood", .collective = Collective::total_exchange, .plan = nothing};
  static const Algorithm second{.name = "mine", .collective = Collective::broadcast, .plan = nothing};
  const Algorithm* const twice[] = {&second, &second};
  CHECK_THROWS_AS(extend_catalogue(twice), InputError);
  const Algorithm* const both[] = {&first, &second};
  extend_catalogue(both);
  CHECK(catalogue().size() == before + 2);
  CHECK(find_algorithm(Collective::total_exchange, "flood") == &first);
  CHECK(find_algorithm(Collective::broadcast, "mine") == &second);
  CHECK(std::is_sorted(catalogue().begin(), catalogue().end(),
                       [](const Algorithm* a, const Algorithm* b) { return a->collective < b->collective; }));
  CHECK_THROWS_AS(extend_catalogue(both), InputError);
}

TEST_CASE("a plan that says its steps may pause for as long, whatever the collective", "[unit]") {
  const Machine machine(Topology("2"), all_ports, Switching::packet);
  Request request;
  request.sources = {0};
  request.bytes = 8;
  const auto hangs = [&](Plan plan) {
    plan.start = [](Node& self) -> Program {
      for (int i = 0; i < 499; ++i) co_await self.step();
      if (self.rank() == 0) self.send({{0, +1}}, self.blocks());
    };
    const RunResult result = make_engine(machine, request, plan, {.executor = ExecutorKind::serial}).run(plan.start);
    CHECK(result.verified != result.hang.has_value());
    return result.hang.has_value();
  };
  CHECK(hangs({}));
  CHECK_FALSE(hangs({.steps = 500, .formula = "500"}));
  CHECK_FALSE(hangs({.steps_estimate = 500}));
  CHECK(hangs({.steps = 400, .formula = "400"}));
}
