// A collective in all groups of a machine at once is, in each of them, the collective alone on the group's topology.
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// The digest of each group's messages in the group's own terms, as a run of the group alone has it.
class LocalDigests {
 public:
  explicit LocalDigests(const Groups& groups) : groups_{groups}, digests_(groups.count()) {}

  void step(std::span<const Message* const> messages) {
    for (const Message* m : messages) {
      line_.assign(*m);
      line_.source = groups_.local(m->source());
      line_.destination = groups_.local(m->destination());
      for (Leg& leg : line_.path) leg = groups_.leg_in(m->source(), m->destination(), leg);
      if (groups_.by_routes()) line_.path.resize(1);
      digests_[groups_.group_of(m->source())] += message_digest(line_);
    }
  }
  const std::vector<std::uint64_t>& all() const noexcept { return digests_; }

 private:
  const Groups& groups_;
  TraceMessage line_;
  std::vector<std::uint64_t> digests_;
};

struct Grid {
  std::string shape, groups;
};

/// 0: an algorithm does not apply to the group. Else runs it alone and in all groups.
unsigned run_both(const Algorithm& algorithm, const Machine& whole, const Groups& groups, Bytes bytes, support::Workers workers) {
  const Machine group = groups.machine(whole);
  const NodeId nodes = group.topology.nodes();
  Request request;
  request.collective = algorithm.collective;
  request.bytes = algorithm.collective == Collective::barrier ? 0 : bytes;
  if (facts_of(request.collective).names_sources()) request.sources = {nodes / 2};
  if (request.collective == Collective::multinode_broadcast && nodes > 1) request.sources.push_back(nodes - 1);
  request.sources.erase(std::unique(request.sources.begin(), request.sources.end()), request.sources.end());
  if (refuses(algorithm, group, request)) return 0;
  CAPTURE(std::string(algorithm.name), std::string(name(algorithm.collective)), whole.topology.text(), groups.text(), whole.ports,
          workers.text());
  RunOptions options;
  options.executor = workers.executor;
  options.threads = workers.threads;
  const Run alone = run(algorithm, group, request, options);
  LocalDigests digests(groups);
  options.on_messages = [&](std::span<const Message* const> messages) { digests.step(messages); };
  const Run all = run(algorithm, whole, groups, request, options);
  const RunResult &a = alone.result, &g = all.result;
  CHECK(support::complaint(alone) == "");
  // Two groups whose hops share channels may meet there: that is a violation of its own where it is forbidden.
  if (groups.dilated() && whole.contention == Contention::forbid && !g.violations.empty()) {
    CHECK(g.violations.front().kind == ViolationKind::channel_used_twice);
    return 1;
  }
  CHECK(support::complaint(all) == "");
  CHECK(g.verified);
  CHECK(g.steps == a.steps);
  CHECK(g.busy_steps == a.busy_steps);
  CHECK(g.messages == a.messages * groups.count());
  CHECK(g.blocks_delivered == a.blocks_delivered * groups.count());
  CHECK(g.duplicates == a.duplicates * groups.count());
  CHECK(g.combined_bytes == a.combined_bytes * groups.count());
  CHECK(g.node_combined_sum == a.node_combined_sum);
  CHECK(digests.all() == std::vector<std::uint64_t>(groups.count(), a.trace_digest));
  if (!groups.dilated()) {
    CHECK(g.hops == a.hops * groups.count());
    CHECK(g.channel_bytes_sum == a.channel_bytes_sum);
    CHECK(g.channel_time_s == a.channel_time_s);
    CHECK(g.route_hops_sum == a.route_hops_sum);
    CHECK(g.model_time_s == Approx(a.model_time_s));
  }
  return 1;
}

unsigned runs_on(const Grid& grid, int ports, std::optional<Contention> contention, Bytes bytes, support::Workers workers) {
  const Topology topology = Topology::parse(grid.shape);
  const Groups groups = Groups::parse(grid.groups, topology);
  unsigned runs = 0;
  for (const Algorithm* algorithm : catalogue()) {
    const NativeMachine& native = algorithm->native;
    if (groups.dilated() && native.switching == Switching::packet) continue;
    const Machine whole(topology, std::min<int>(ports, topology.max_ports()), native.switching, contention.value_or(native.contention));
    runs += run_both(*algorithm, whole, groups, bytes, workers);
  }
  return runs;
}

}  // namespace

TEST_CASE("every algorithm runs in all groups as it runs alone", "[conformance]") {
  support::Share share(3, 2);
  unsigned runs = 0;
  for (const Grid& grid : {Grid{"6x7", "rows"},
                           {"6x7", "columns"},
                           {"8x8", "rows"},
                           {"4x3x4", "axis:0,2"},
                           {"5x2x5", "axis:2,0"},
                           {"3x2x9", "axis:0,2"},
                           {"8x8", "slice:4x4"},
                           {"8x8", "slice:4x8"},
                           {"6x6", "slice:2x3"},
                           {"3x3", "slice:1x1"},
                           {"3x3x3", "axis:0,1,2"},
                           {"2mx4x4c", "axis:1,2"}}) {
    for (const int ports : {0, 1}) {
      if (!share.takes_turn()) continue;
      runs += runs_on(grid, ports, std::nullopt, 1000, {});
      runs += runs_on(grid, ports, std::nullopt, 840, {ExecutorKind::threads, 2});
    }
  }
  CHECK(runs > 500);
}

TEST_CASE("groups of every second node charge or forbid what they share", "[conformance]") {
  unsigned runs = 0;
  for (const Grid& grid : {Grid{"8x8", "stride:2"}, {"6x8", "stride:2x1"}, {"9x9", "stride:3"}}) {
    runs += runs_on(grid, 0, Contention::share, 96, {});
    runs += runs_on(grid, 1, std::nullopt, 96, {ExecutorKind::threads, 2});
  }
  CHECK(runs > 100);
}

TEST_CASE("groups of any nodes run what complete graphs run", "[conformance]") {
  const support::Folder folder;
  const std::string file = folder.write("groups", "23 4 9 0 17\n1 2 3 5 22\n# node 24 is in none\n8 7 6 11 10\n");
  const Grid grid{"5x5", "file:" + file};
  CHECK(runs_on(grid, 0, Contention::share, 96, {}) >= 10);
  CHECK(runs_on(grid, 1, std::nullopt, 96, {ExecutorKind::threads, 2}) > 5);
}

TEST_CASE("groups run alike on every executor and any number of processes, whatever fault strikes", "[conformance]") {
  const std::uint64_t seed = support::seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  unsigned runs = 0;
  for (const Algorithm* algorithm : catalogue()) {
    for (const Grid& grid : {Grid{"6x4", "rows"}, {"6x4", "columns"}, {"3x4x3", "axis:0,2"}, {"6x8", "slice:3x4"}, {"6x6", "stride:3"}}) {
      if (random() % 4 > 0) continue;
      const Topology topology = Topology::parse(grid.shape);
      const Groups groups = Groups::parse(grid.groups, topology);
      const NativeMachine& native = algorithm->native;
      if (groups.dilated() && native.switching == Switching::packet) continue;
      const Machine machine(topology, std::min<int>(native.ports, topology.max_ports()), native.switching, native.contention);
      const Machine group = groups.machine(machine);
      const Request request = support::request_on(group, algorithm->collective, 200);
      if (refuses(*algorithm, group, request)) continue;
      const Plan plan = algorithm->plan(group, request);
      RunOptions options;
      options.fault = support::fault_or_none(random, topology);
      CAPTURE(algorithm->name, grid.shape, grid.groups, options.fault.has_value());
      const Placement placement = placement_of(group, request, plan);
      support::check_alike(machine, placement, plan.start, options, {static_cast<unsigned>(2 + random() % 2)}, 1, &groups);
      if (!options.fault) {
        const support::Outcome serial = support::emulate(machine, placement, plan.start, {}, options, &groups);
        for (const support::Workers& workers : support::every_executor()) {
          CAPTURE(workers.text());
          const support::Outcome same = support::emulate(machine, placement, plan.start, workers, options, &groups);
          CHECK(same.trace == serial.trace);
          CHECK(support::text_of(machine, same.result) == support::text_of(machine, serial.result));
        }
      }
      ++runs;
    }
  }
  CHECK(runs > 30);
}

TEST_CASE("processes with different groups are refused", "[conformance]") {
  const Machine machine(Topology::parse("4x4"));
  std::vector<std::string> refusals(2);
  detail::run_as_processes(2, [&](Processes& processes) {
    const Groups groups = Groups::parse(processes.self() == 0 ? "rows" : "columns", machine.topology);
    RunOptions options;
    options.processes = &processes;
    try {
      Engine(machine, groups, Placement::replicated(groups.topology(), {0}, 8), options);
    } catch (const InputError& error) {
      refusals[processes.self()] = error.what();
    }
  });
  CHECK(refusals[0].find("groups.text columns instead of groups.text rows") != std::string::npos);
  CHECK(refusals[1] == refusals[0]);
}
