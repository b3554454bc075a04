/// Random groups on holed and twisted machines: their classes are all of them, each is what the machine says, and all at once each is what
/// it is alone.
#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/session.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "tests/support/alike.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

using Random = std::mt19937_64;

Topology random_twisted(Random& random) {
  const auto k = static_cast<std::int32_t>(2 + random_below(random, 2));
  std::vector<DimensionShape> shape{{k, Wiring::ring}, {2 * k, Wiring::ring}};
  if (k == 2 && random_below(random, 3) > 0) shape.push_back({random_below(random, 2) == 0 ? k : 2 * k, Wiring::ring});
  std::shuffle(shape.begin(), shape.end(), random);
  return Topology(std::move(shape), true);
}

/// With some links or nodes dead or slow, where it holds together.
Topology random_holed(Random& random) {
  const Topology whole = random_below(random, 3) == 0 ? random_twisted(random) : random_topology(random, 48);
  try {
    return whole.with_faults(random_faults(random, whole, 2, 1, 2));
  } catch (const InputError&) {  // it falls apart
    return whole;
  }
}

std::string random_groups(Random& random, const Topology& topology) {
  std::string text;
  if (random_below(random, 3) == 0) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      auto side = static_cast<std::int32_t>(1 + random_below(random, static_cast<std::uint64_t>(topology.extent(d))));
      while (topology.extent(d) % side != 0) --side;
      text += (text.empty() ? "slice:" : "x") + std::to_string(side);
    }
    return text;
  }
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (random_below(random, 2) == 0) text += (text.empty() ? "axis:" : ",") + std::to_string(d);
  }
  return text.empty() ? "rows" : text;
}

std::vector<Groups> classes_or_none(const std::string& text, const Topology& topology) {
  try {
    return Groups::classes(text, topology);
  } catch (const InputError&) {  // a group is cut apart, or part of a complete dimension
    return {};
  }
}

/// Every node is in one group of one class, and a link of a group is the machine's, alive and slow as that.
void check_classes(const std::vector<Groups>& classes, const Topology& whole) {
  std::set<NodeId> nodes, numbers;
  for (const Groups& groups : classes) {
    for (NodeId group = 0; group < groups.count(); ++group) {
      CHECK(numbers.insert(groups.number_of(group)).second);
      CHECK((group == 0 || groups.number_of(group) > groups.number_of(group - 1)));
      for (NodeId local = 0; local < groups.topology().nodes(); ++local) {
        const NodeId rank = groups.member(group, local);
        CHECK(nodes.insert(rank).second);
        CHECK(groups.group_of(rank) == group);
        CHECK(groups.topology().living(local) == whole.living(rank));
        const Topology plain({groups.topology().shape().begin(), groups.topology().shape().end()}, groups.topology().twisted());
        plain.each_link(local, [&](Dimension d, std::int32_t hop, NodeId to) {
          const Leg leg = groups.leg_out(rank, d, hop).value();
          CHECK(whole.neighbour(rank, leg.dimension, leg.hops) == groups.member(group, to));
          CHECK(groups.topology().passes(local, d, hop) == whole.passes(rank, leg.dimension, leg.hops));
          CHECK(groups.topology().slowness(local, d, hop) == whole.slowness(rank, leg.dimension, leg.hops));
        });
      }
    }
  }
  CHECK(nodes.size() == whole.nodes());
  CHECK(*numbers.rbegin() + 1 == numbers.size());
}

/// The same collective in each class, by an algorithm that applies there; none where one has none.
std::vector<Member> random_members(Random& random, const Machine& machine, const std::vector<Groups>& classes) {
  const Collective collective = collectives()[random_below(random, collectives().size())].collective;
  const Bytes bytes = Bytes{8} * random_below(random, 60);
  std::vector<Member> members;
  for (const Groups& groups : classes) {
    const Machine seen = groups.machine(machine);
    Member member{.request = request_of_living(seen.topology, collective, bytes), .groups = groups};
    member.algorithm = some_algorithm(random, seen, member.request);
    if (member.algorithm == nullptr) return {};
    try {
      member.plan = make_plan(*member.algorithm, seen, member.request);
    } catch (const std::exception&) {  // a search that finds nothing
      return {};
    }
    members.push_back(std::move(member));
  }
  return members;
}

/// What adds up of the classes adds up, and what is the most of a step is the most of all of them.
void check_as_one(const SessionRun& session, const Run& run) {
  std::uint64_t steps = 0, messages = 0, hops = 0, digest = 0;
  Bytes channel_bytes = 0, combined = 0;
  for (const Run& each : session.each) {
    steps = std::max(steps, each.result.steps);
    messages += each.result.messages;
    hops += each.result.hops;
    digest += each.result.trace_digest;
    CHECK(run.result.model_time_s >= each.result.model_time_s * (1 - 1e-12));
    CHECK(run.result.channel_bytes_max >= each.result.channel_bytes_max);
  }
  for (std::size_t step = 0; step < steps; ++step) {
    Bytes most = 0, most_combined = 0;
    for (const Run& each : session.each) {
      if (step >= each.result.step_records.size()) continue;
      most = std::max(most, each.result.step_records[step].most_bytes);
      most_combined = std::max(most_combined, each.result.step_records[step].most_combined);
    }
    channel_bytes += most;
    combined += most_combined;
  }
  CHECK(run.result.steps == steps);
  CHECK(run.result.messages == messages);
  CHECK(run.result.hops == hops);
  CHECK(run.result.trace_digest == digest);
  CHECK(run.result.channel_bytes_sum == channel_bytes);
  CHECK(run.result.node_combined_sum == combined);
  CHECK(run.result.channel_idle_share >= 0);
  CHECK(run.result.channel_idle_share <= 1);
  CHECK(run.result.max_channel_load == std::max_element(session.each.begin(), session.each.end(), [](const Run& a, const Run& b) {
                                         return a.result.max_channel_load < b.result.max_channel_load;
                                       })->result.max_channel_load);
}

/// A fault strikes the class of its node alone; what it does is found there, or did no harm.
void check_fault(Random& random, const Machine& machine, const std::vector<Member>& members, SessionOptions options) {
  options.fault = fault_or_none(random, machine.topology);
  if (!options.fault) return;
  SessionRun session;
  try {
    session = run_session(machine, members, options);
  } catch (const RunError&) {  // a program noticed it
    return;
  }
  const Run run = session.as_one();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::optional<FaultRecord>& struck = session.each[i].result.fault;
    if (struck) CHECK(members[i].groups->group_of(struck->node) != Groups::none);
    if (struck) CHECK(run.result.fault->node == struck->node);
  }
  CHECK(run.result.verified == !run.check.failure);
  if (!run.result.fault) CHECK(run.check.failure.value_or("") == "");
}

}  // namespace

TEST_CASE("groups that differ are classes of equal ones, each at once what it is alone", "[property]") {
  CAPTURE(seed());
  Random random(seed());
  Share share(12, 3);
  int runs = 0, several = 0, twisted = 0;
  for (int draw = 0; draw < 800; ++draw) {
    Random own(random());
    if (!share.takes_turn()) continue;
    const Topology topology = random_holed(own);
    const std::string text = random_groups(own, topology);
    const std::vector<Groups> classes = classes_or_none(text, topology);
    if (classes.empty()) continue;
    CAPTURE(draw, topology.text(), text, classes.size());
    check_classes(classes, topology);
    const Machine machine = random_machine(own, topology, 3);
    std::vector<Member> members = random_members(own, machine, classes);
    if (members.empty()) continue;
    CAPTURE(name(members.front().request.collective), name(machine.switching), machine.ports);
    std::deque<JudgeWatcher> judges(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) members[i].watchers = {&judges[i]};
    SessionOptions options;
    options.executor = ExecutorKind::serial;
    const SessionRun session = run_session(machine, members, options);
    CHECK(session.failure.value_or("") == "");
    CHECK(session.verified());
    const Run run = members.size() > 1 ? session.as_one() : session.each.front();
    CHECK(complaint(run) == "");
    if (members.size() > 1) check_as_one(session, run);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Run alone = torus::run(*members[i].algorithm, machine, classes[i], members[i].request, options);
      CHECK(text_of(machine, session.each[i].result) == text_of(machine, alone.result));
    }
    for (Member& member : members) member.watchers.clear();
    check_fault(own, machine, members, options);
    std::vector<std::uint64_t> digests(std::min<NodeId>(2 + random_below(own, 2), topology.nodes()));
    detail::run_as_processes(static_cast<unsigned>(digests.size()), [&](Processes& processes) {
      SessionOptions apart = options;
      apart.processes = &processes;
      const SessionRun again = run_session(machine, members, apart);
      if (again.verified())
        for (const Run& each : again.each) digests[processes.self()] += each.result.trace_digest;
    });
    CHECK(digests == std::vector<std::uint64_t>(digests.size(), run.result.trace_digest));
    ++runs;
    several += members.size() > 1 ? 1 : 0;
    twisted += topology.twisted() ? 1 : 0;
  }
  if (share.one_in() > 1) return;
  CHECK(runs > 300);  // about 500
  CHECK(several > 50);
  CHECK(twisted > 50);
}
