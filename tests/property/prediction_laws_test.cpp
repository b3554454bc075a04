/// Predictions against lower bounds: of every algorithm that applies, on random machines, for messages of any length; and of what runs,
/// against what it takes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

/// What is wrong with a prediction; empty if nothing is. What is refused since it is past 2^63 is right by this.
std::string objection(const Algorithm& algorithm, const Machine& machine, const Request& request, const Plan& plan, const Bounds& bounds) {
  try {
    check_prediction(algorithm, machine, request, plan, bounds);
  } catch (const PredictionError& error) {
    return error.what();
  } catch (const InputError&) {
    return plan.channel_bytes > 0x1p63 || plan.combined_bytes > 0x1p63 ? "" : "refused for no reason";
  }
  return "";
}

}  // namespace

TEST_CASE("no prediction is below its lower bound or its offer, for messages of up to 2^62 bytes", "[property]") {
  std::mt19937_64 random(seed());
  Share share(32, 32);
  CAPTURE(seed());
  int plans = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t state = random();
    if (!share.takes_turn()) continue;
    std::mt19937_64 own(state);
    const Machine machine = random_machine(own, random_shape(own, 100));
    const Request request = random_request(own, machine.topology, random_bytes(own, 62));
    const Bounds bounds = lower_bounds(machine, request);
    each_plan(machine, request, [&](const Algorithm& algorithm, const Plan& plan, const PlanCache&) {
      const std::string wrong = objection(algorithm, machine, request, plan, bounds);
      if (!wrong.empty()) FAIL_CHECK(text_of(machine, request) << ": " << wrong);
      if (algorithm.offer != nullptr && plan.predicts()) {
        CAPTURE(algorithm.name, text_of(machine, request));
        const Offer offered = algorithm.offer(machine, request);
        CHECK(plan.likely_steps() >= offered.steps);
        CostModel cost = machine.cost;
        if (!plan.route_hops) cost.hop_s = 0;
        if (!request.expected_sources) CHECK(plan.model_time_s(cost) >= (1 - 1e-9) * bounds.model_time_s(cost, offered));
      }
      ++plans;
    });
  }
  CHECK(plans > 20000 / static_cast<int>(share.one_in()));
}

TEST_CASE("the pieces of a source's message are forecast together", "[property]") {
  // Of two nodes one is a source, and half of two pieces is no message.
  const Machine machine(Topology("2c"), all_ports, Switching::packet);
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.sources = {0};
  request.expected_sources = 1;
  request.bytes = 275;
  for (const char* variant : {"parallel", "single"}) {
    CAPTURE(variant);
    request.parameters.set("variant", variant);
    CHECK(make_plan(*find_algorithm(Collective::multinode_broadcast, "rings"), machine, request).channel_bytes >= 275);
  }
}

TEST_CASE("the bytes of a prediction grow as the message does, up to 2^62", "[property]") {
  std::mt19937_64 random(seed());
  Share share(32, 32);
  CAPTURE(seed());
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t state = random();
    if (!share.takes_turn()) continue;
    std::mt19937_64 own(state);
    const Machine machine = random_machine(own, random_shape(own, 100));
    constexpr unsigned bits = 20;
    const Bytes bytes = Bytes{1} << (58 + random_below(own, 5));
    Request request = random_request(own, machine.topology, bytes);
    each_plan(machine, request, [&](const Algorithm& algorithm, const Plan& plan, PlanCache& cache) {
      const bool control_alone = request.collective == Collective::multinode_broadcast && request.sources.empty();
      if (!plan.predicts() || request.bytes == 0 || control_alone) return;
      Request shorter = request;
      shorter.bytes >>= bits;
      for (const Parameter& parameter : algorithm.parameters) {  // the variant that was chosen for the longer message
        for (const auto& [name, value] : plan.notes) {
          if (name == parameter.name && !parameter.words.empty()) shorter.parameters.set(name, value);
        }
      }
      const Plan less = algorithm.plan(machine, shorter, cache);
      CAPTURE(algorithm.name, text_of(machine, request), plan.channel_bytes, less.channel_bytes);
      const double times = std::ldexp(1.0, bits);
      // The plan of least time for another length may be cut otherwise, and bring other bytes. A sum that overflows is off by far more.
      const bool cut_alike = plan.steps == less.steps && plan.segments == less.segments && plan.notes == less.notes;
      const double slack = cut_alike ? 0.1 : 0.5;
      CHECK(plan.channel_bytes == Approx(less.channel_bytes * times).epsilon(slack));
      CHECK(plan.combined_bytes == Approx(less.combined_bytes * times).epsilon(slack));
    });
  }
}

TEST_CASE("where all nodes have long messages for all, no run takes longer than predicted", "[property]") {
  std::mt19937_64 random(seed());
  Share share(4, 4);
  CAPTURE(seed());
  int estimates = 0;
  for (int i = 0; i < 240; ++i) {
    const std::uint64_t state = random();
    if (!share.takes_turn()) continue;
    std::mt19937_64 own(state);
    std::vector<DimensionShape> shape(2 + random_below(own, 2));
    for (DimensionShape& d : shape) d = {static_cast<std::int32_t>(2 + random_below(own, shape.size() == 2 ? 8 : 3)), Wiring::ring};
    const Topology topology(std::move(shape));
    const int ports = random_below(own, 3) == 0 ? 1 + static_cast<int>(random_below(own, 3)) : all_ports;
    const Machine machine(topology, ports, static_cast<Switching>(random_below(own, 3)));
    Request request;
    request.collective = Collective::multinode_broadcast;
    request.bytes = random_bytes(own, 16);
    request.sources.resize(topology.nodes());
    std::iota(request.sources.begin(), request.sources.end(), NodeId{0});
    each_plan(machine, request, [&](const Algorithm& algorithm, const Plan&, const PlanCache&) {
      if (algorithm.name == "edst") return;  // what its pipeline says is a rule, and no limit
      const Run run = emulate(algorithm, machine, request);
      CAPTURE(algorithm.name, text_of(machine, request), run.plan.steps, run.result.steps, run.plan.channel_bytes);
      CHECK(run.result.verified);
      CHECK(run.result.model_time_s <= run.plan.model_time_s(machine.cost) * (1 + 1e-9));
      estimates += run.plan.steps_estimate ? 1 : 0;
    });
  }
  CHECK(estimates > 120 / static_cast<int>(share.one_in()));
}
