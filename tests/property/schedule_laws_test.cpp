// Laws of schedules, of every algorithm on random machines: more bytes take no less time, and a longer beginning no fewer steps.
#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/run.hpp>
#include <torus/schedule.hpp>
#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// Messages say of partials alone whether their sender gives them away.
Manner manner_of_message(const TraceMessage& m, Collective collective) {
  if (m.registers != 0) return m.releases ? Manner::combine : Manner::share;
  const bool moves = collective == Collective::scatter || collective == Collective::gather || collective == Collective::total_exchange;
  return m.releases || moves ? Manner::give : Manner::copy;
}

/// What a run of an algorithm sends.
struct Played {
  std::vector<TraceMessage> messages;
  Run run;
};
Played played_by(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  Played played;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.on_messages = [&played](std::span<const Message* const> messages) {
    for (const Message* m : messages) played.messages.emplace_back().assign(*m);
  };
  played.run = torus::run(algorithm, machine, request, options);
  return played;
}

/// The first steps of it as a schedule.
std::shared_ptr<const Schedule> beginning(const Played& played, Collective collective, const Topology& topology, Step end) {
  auto schedule = std::make_shared<Schedule>(topology.nodes());
  for (const TraceMessage& m : played.messages) {
    if (m.step >= end || m.blocks.empty()) continue;
    const std::vector<BlockId> blocks(m.blocks.begin(), m.blocks.end());
    schedule->add(m.step, m.source, m.destination, m.path, blocks, manner_of_message(m, collective),
                  m.registers == 0 ? std::uint8_t{1} : m.registers);
  }
  schedule->sort();
  return schedule;
}

RunResult followed(const std::shared_ptr<const Schedule>& schedule, const Machine& machine, Request request, const Plan& of, Bytes bytes) {
  request.bytes = bytes;
  Plan plan{.start = [schedule](Node& self) { return follow(self, *schedule); }, .segments = of.segments, .registers = of.registers};
  RunOptions options;
  options.executor = ExecutorKind::serial;
  return make_engine(machine, request, plan, options).run(plan.start);
}

}  // namespace

TEST_CASE("a schedule takes no less time for more bytes, and no fewer steps for more of it", "[property]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  std::set<const Algorithm*> seen;
  int schedules = 0;
  for (int turn = 0; turn < 3000 && schedules < 150; ++turn) {
    const Algorithm& algorithm = *catalogue()[support::random_below(random, static_cast<std::uint32_t>(catalogue().size()))];
    const Topology topology = support::random_topology(random, 30);
    const int ports = algorithm.native.ports == 0 || support::random_below(random, 2) == 0
                          ? all_ports
                          : std::min(algorithm.native.ports, static_cast<int>(topology.max_ports()));
    const Contention contention = support::random_below(random, 3) == 0 ? Contention::share : algorithm.native.contention;
    CostModel cost;
    cost.hop_s = 1e-9 * support::random_below(random, 3);
    const Machine machine(topology, ports, algorithm.native.switching, contention, {}, cost);
    Request request;
    request.collective = algorithm.collective;
    const Bytes element = unit_of(request.collective, request.reduction);
    if (request.collective == Collective::barrier) continue;  // it has no bytes
    request.bytes = element * support::random_below(random, 2000);
    if (facts_of(request.collective).rooted()) request.sources = {support::random_below(random, topology.nodes())};
    for (NodeId node = 0; request.collective == Collective::multinode_broadcast && node < topology.nodes(); ++node) {
      if (support::random_below(random, 3) > 0) request.sources.push_back(node);
    }
    if (refuses(algorithm, machine, request)) continue;
    CAPTURE(algorithm.name, topology.text(), ports, request.bytes);
    const Played played = played_by(algorithm, machine, request);
    REQUIRE(support::complaint(played.run) == "");
    const Plan& plan = played.run.plan;
    Step steps = 0;
    for (const TraceMessage& m : played.messages) steps = m.blocks.empty() ? steps : m.step + 1;

    const auto whole = beginning(played, request.collective, topology, steps);
    const RunResult all = followed(whole, machine, request, plan, request.bytes);
    CHECK(all.good());
    CHECK(all.steps == steps);
    std::vector<Bytes> sizes{0, request.bytes};
    for (int i = 0; i < 3; ++i) sizes.push_back(element * support::random_below(random, 4000));
    std::sort(sizes.begin(), sizes.end());
    double before_s = 0;
    Bytes before_bytes = 0;
    for (const Bytes bytes : sizes) {
      const RunResult result = followed(whole, machine, request, plan, bytes);
      CAPTURE(bytes);
      CHECK(result.verified);
      CHECK(result.steps == steps);
      CHECK(result.model_time_s >= before_s);
      CHECK(result.channel_bytes_sum >= before_bytes);
      before_s = result.model_time_s;
      before_bytes = result.channel_bytes_sum;
    }

    std::vector<Step> ends{0, steps};
    for (int i = 0; i < 3; ++i) ends.push_back(support::random_below(random, static_cast<std::uint32_t>(steps) + 1));
    std::sort(ends.begin(), ends.end());
    Step before_steps = 0;
    before_s = 0;
    for (const Step end : ends) {
      const RunResult result = followed(beginning(played, request.collective, topology, end), machine, request, plan, request.bytes);
      CAPTURE(end, steps);
      CHECK(result.steps <= end);
      CHECK(result.steps >= before_steps);
      CHECK(result.model_time_s >= before_s);
      before_steps = static_cast<Step>(result.steps);
      before_s = result.model_time_s;
    }
    CHECK(before_steps == steps);
    seen.insert(&algorithm);
    ++schedules;
  }
  CHECK(schedules == 150);
  CHECK(seen.size() > catalogue().size() / 3);  // by chance fewer than half at times
}
