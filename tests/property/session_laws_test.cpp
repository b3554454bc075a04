// Random collectives at once: each is what it is alone, and what they have in common is what their messages say.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/session.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "runtime/engine/rules/auditor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

using Random = std::mt19937_64;

std::int32_t one_to(Random& random, std::uint32_t most) { return static_cast<std::int32_t>(1 + support::random_below(random, most)); }

/// A machine on which an algorithm of the catalogue may run, with costs of its own.
Machine machine_for_several(Random& random) {
  const Algorithm& algorithm = *catalogue()[support::random_below(random, catalogue().size())];
  std::vector<DimensionShape> shape(static_cast<std::size_t>(one_to(random, 3)));
  for (DimensionShape& d : shape) {
    d.extent = one_to(random, shape.size() == 1 ? 12 : shape.size() == 2 ? 6 : 3);
    if (support::random_below(random, 4) == 0) d.wiring = static_cast<Wiring>(support::random_below(random, 3));
  }
  if (support::random_below(random, 2) == 0) {
    for (DimensionShape& d : shape) d = shape.front();
  }
  Topology topology(std::move(shape));
  if (support::random_below(random, 5) == 0) topology = topology.with_faults(support::random_faults(random, topology, 0, 0, 1));
  CostModel cost;
  cost.hop_s = support::random_below(random, 2) * 1e-7;
  cost.combine_s = support::random_below(random, 2) * 3e-10;
  if (support::random_below(random, 3) == 0) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) cost.dimension_byte_s.push_back(one_to(random, 4) * 1e-10);
  }
  const int ports = support::random_below(random, 3) == 0 ? one_to(random, static_cast<std::uint32_t>(topology.max_ports())) : all_ports;
  const Contention contention = support::random_below(random, 2) == 0 ? Contention::share : algorithm.native.contention;
  return Machine(topology, ports, algorithm.native.switching, contention, {}, cost);
}

std::optional<Groups> some_groups(Random& random, const Machine& machine) {
  const std::vector<std::string> texts{"rows", "columns", "axis:0", "axis:1", "stride:2", "slice:2x2", "axis:0,1"};
  if (support::random_below(random, 5) < 2) return std::nullopt;
  try {
    Groups groups = Groups::parse(texts[support::random_below(random, texts.size())], machine.topology);
    static_cast<void>(groups.machine(machine));
    return groups;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// A collective that runs alone on the machine without a complaint; none where no such is found soon.
std::optional<Member> some_collective(Random& random, const Machine& machine) {
  for (int attempt = 0; attempt < 40; ++attempt) {
    Member c;
    c.algorithm = catalogue()[support::random_below(random, catalogue().size())];
    if (c.algorithm->name.find("synthesized") != std::string_view::npos) continue;  // they search for long
    c.groups = some_groups(random, machine);
    const Machine seen = c.groups ? c.groups->machine(machine) : machine;
    c.request.collective = c.algorithm->collective;
    c.request.bytes = c.request.collective == Collective::barrier ? 0 : std::uint64_t{8} * support::random_below(random, 100);
    const NodeId nodes = seen.topology.nodes();
    if (facts_of(c.request.collective).rooted()) c.request.sources = {support::random_below(random, nodes)};
    for (NodeId node = 0; !facts_of(c.request.collective).rooted() && node < nodes; ++node) c.request.sources.push_back(node);
    c.request = support::suited(*c.algorithm, seen, c.request);
    if (refuses(*c.algorithm, seen, c.request)) continue;
    c.offset = support::random_below(random, 3) == 0 ? support::random_below(random, 6) : 0;
    try {
      RunOptions serial;
      serial.executor = ExecutorKind::serial;
      c.plan = make_plan(*c.algorithm, seen, c.request);
      const Run alone = c.groups ? run(*c.algorithm, machine, *c.groups, c.request, serial) : run(*c.algorithm, machine, c.request, serial);
      if (alone.check.good()) return c;
    } catch (const std::exception&) {  // it finds no plan for this
    }
  }
  return std::nullopt;
}

RunResult alone(const Machine& machine, const Member& c) {
  RunOptions serial;
  serial.executor = ExecutorKind::serial;
  return make_engine(machine, c.request, *c.plan, serial, c.groups ? &*c.groups : nullptr).run(c.plan->start);
}

/// Keeps the messages of a step until all have shown theirs.
struct Kept : Watcher {
  void step(const StepSends& sends) override { messages = sends.messages; }
  std::span<const Message* const> messages;
};

/// Adds up what the messages of all carry, from the messages alone.
class Recount {
 public:
  explicit Recount(const Machine& machine)
      : machine_{machine}, anywhere_{Placement::replicated(machine.topology, {0}, 0)}, nobody_{machine_, anywhere_} {}

  void step(Step step, std::span<const std::span<const Message* const>> sends) {
    while (steps.size() < step) steps.emplace_back();
    StepRecord& record = steps.emplace_back();
    std::map<std::tuple<NodeId, Dimension, std::int32_t>, std::pair<Bytes, std::vector<std::size_t>>> channels;
    std::vector<const Message*> all;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      for (const Message* m : sends[i]) {
        all.push_back(m);
        std::uint32_t hops = 0;
        NodeId at = m->source();
        for (const Leg& leg : m->route()) {
          const bool complete = machine_.topology.wiring(leg.dimension) == Wiring::complete;
          const std::int32_t hop = complete ? leg.hops : leg.hops > 0 ? 1 : -1;
          for (std::int32_t left = leg.hops; left != 0; left -= hop, ++hops) {
            auto& [bytes, whose] = channels[{at, leg.dimension, hop}];
            bytes += m->bytes();
            whose.push_back(i);
            at = machine_.topology.neighbour(at, leg.dimension, hop).value();
          }
        }
        CHECK(at == m->destination());
        record.longest_route = std::max(record.longest_route, hops);
      }
    }
    record.messages = all.size();
    for (const auto& [channel, load] : channels) {
      const auto& [from, dimension, hop] = channel;
      const auto& [bytes, whose] = load;
      record.most_bytes = std::max(record.most_bytes, bytes);
      record.channel_time_s = std::max(record.channel_time_s, static_cast<double>(bytes) * machine_.byte_s(from, dimension, hop));
      max_load = std::max<std::uint64_t>(max_load, whose.size());
      if (whose.front() != whose.back()) ++shared_crossings;
      total[channel] += bytes;
    }
    const Violations found = audit(machine_, nobody_, detail::Slab(machine_.topology), all);
    for (const Violation& v : found.first()) violations.emplace(v.kind, v.kind == ViolationKind::channel_used_twice ? 0 : v.node);
  }

  std::vector<StepRecord> steps;
  std::map<std::tuple<NodeId, Dimension, std::int32_t>, Bytes> total;
  std::uint64_t max_load = 0, shared_crossings = 0;
  std::set<std::pair<ViolationKind, NodeId>> violations;  // of the last step that has any

 private:
  const Machine& machine_;
  const Placement anywhere_;
  const detail::Members nobody_;
};

/// What is told of a run, as one text: equal for every executor.
std::string all_of(const Machine& machine, const SessionRun& run) {
  std::string text = std::to_string(run.steps) + " " + std::to_string(run.model_time_s * 1e9) + " " + std::to_string(run.shared_crossings) +
                     " " + run.failure.value_or("good") + "\n";
  for (const Run& each : run.each) text += support::text_of(machine, each.result) + "\n";
  for (const Violation& v : run.violations) text += v.text + "\n";
  return text;
}

/// The run of the first of several processes, with the judge of each collective.
SessionRun on_processes(unsigned count, const Machine& machine, std::vector<Member> collectives) {
  SessionRun first;
  std::vector<JudgeWatcher> judges(collectives.size());
  for (std::size_t i = 0; i < collectives.size(); ++i) collectives[i].watchers = {&judges[i]};
  const auto body = [&](Processes& processes) {
    SessionOptions options;
    options.executor = ExecutorKind::serial;
    options.processes = &processes;
    SessionRun run = run_session(machine, collectives, options);
    if (processes.self() == 0) first = std::move(run);
  };
  detail::run_as_processes(count, body);
  return first;
}

void check_sums(const Machine& machine, std::span<const Member> collectives, const Recount& recount, const SessionRun& together) {
  REQUIRE(together.steps >= recount.steps.size());
  REQUIRE(together.step_records.size() == together.steps);
  double model_time_s = 0;
  Bytes channel_bytes = 0;
  for (std::size_t step = 0; step < together.steps; ++step) {
    const StepRecord& record = together.step_records[step];
    const StepRecord counted = step < recount.steps.size() ? recount.steps[step] : StepRecord{};
    CHECK(record.messages == counted.messages);
    CHECK(record.most_bytes == counted.most_bytes);
    CHECK(record.channel_time_s == Approx(counted.channel_time_s));
    CHECK(record.longest_route == counted.longest_route);
    channel_bytes += counted.most_bytes;
    model_time_s += machine.cost.start_up_s + counted.channel_time_s + counted.longest_route * machine.cost.hop_s +
                    static_cast<double>(record.most_combined) * machine.cost.combine_s;
    // What a node combines of all is at least the most of one, and at most the sum of the most of each.
    Bytes most = 0, sum = 0;
    for (std::size_t i = 0; i < collectives.size(); ++i) {
      const std::vector<StepRecord>& own = together.each[i].result.step_records;
      const std::size_t own_step = step - collectives[i].offset;  // past the end where it has not begun
      if (own_step >= own.size()) continue;
      most = std::max(most, own[own_step].most_combined);
      sum += own[own_step].most_combined;
    }
    const bool counts = machine.cost.combine_s > 0;
    CHECK(record.most_combined >= (counts ? most : 0));
    if (together.violations.empty()) CHECK(record.most_combined <= (counts ? sum : 0));  // else the last step is not charged for
  }
  CHECK(together.model_time_s == Approx(model_time_s).epsilon(1e-12));
  CHECK(together.channel_bytes_sum == channel_bytes);
  CHECK(together.max_channel_load == recount.max_load);
  CHECK(together.shared_crossings == recount.shared_crossings);
  Bytes fullest = 0;
  for (const auto& [channel, bytes] : recount.total) fullest = std::max(fullest, bytes);
  CHECK(together.busiest.has_value() == !recount.total.empty());
  if (together.busiest) CHECK(together.busiest->bytes == fullest);
}

}  // namespace

TEST_CASE("collectives at once are each what they are alone, and share what their messages share", "[property]") {
  CAPTURE(support::seed());
  Random random(support::seed());
  support::Share share(8);
  std::map<std::string, unsigned> outcomes;
  for (int draw = 0; draw < 250; ++draw) {
    Random own(random());
    if (!share.takes_turn()) continue;
    const Machine machine = machine_for_several(own);
    std::vector<Member> collectives;
    for (std::uint32_t n = 2 + support::random_below(own, 2); n > 0; --n) {
      if (auto c = some_collective(own, machine)) collectives.push_back(std::move(*c));
    }
    if (collectives.size() < 2) continue;
    std::string what = machine.topology.text() + " " + std::string(name(machine.switching)) + " " + std::string(name(machine.contention)) +
                       " ports " + std::to_string(machine.ports);
    for (const Member& c : collectives)
      what += " + " + std::string(name(c.request.collective)) + " " + std::string(c.algorithm->name) + " of " +
              std::to_string(c.request.bytes) + " in " + (c.groups ? c.groups->text() : "all") + " from " + std::to_string(c.offset);
    CAPTURE(draw, what);
    Recount recount(machine);
    std::vector<Kept> kept(collectives.size());
    for (std::size_t i = 0; i < collectives.size(); ++i) collectives[i].watchers = {&kept[i]};
    SessionOptions options;
    options.executor = ExecutorKind::serial;
    options.on_step = [&](Step step) {
      std::vector<std::span<const Message* const>> sends;
      for (Kept& each : kept) sends.push_back(std::exchange(each.messages, {}));
      recount.step(step, sends);
    };
    const SessionRun together = run_session(machine, collectives, options);
    check_sums(machine, collectives, recount, together);

    std::set<std::pair<ViolationKind, NodeId>> violations;
    for (const Violation& v : together.violations) violations.emplace(v.kind, v.kind == ViolationKind::channel_used_twice ? 0 : v.node);
    CHECK(violations == recount.violations);
    CHECK(together.verified() == violations.empty());
    CHECK(together.failure.has_value() == !violations.empty());
    double alone_s = 0, longest_s = 0;
    for (std::size_t i = 0; violations.empty() && i < collectives.size(); ++i) {
      const RunResult by_itself = alone(machine, collectives[i]);
      CHECK(support::text_of(machine, together.each[i].result) == support::text_of(machine, by_itself));
      CHECK(together.each[i].span_s >= by_itself.model_time_s * (1 - 1e-12));
      alone_s += by_itself.model_time_s + collectives[i].offset * machine.cost.start_up_s;
      longest_s = std::max(longest_s, by_itself.model_time_s);
    }
    if (violations.empty()) {
      CHECK(together.model_time_s >= longest_s * (1 - 1e-12));
      CHECK(together.model_time_s <= alone_s * (1 + 1e-12));
    }
    ++outcomes[violations.empty() ? (together.shared_crossings > 0 ? "shared" : "apart") : std::string(name(violations.begin()->first))];

    options.on_step = {};
    for (Member& c : collectives) c.watchers.clear();
    const std::vector<support::Workers> executors = support::every_executor();
    const support::Workers workers = executors[support::random_below(own, executors.size())];
    options.executor = workers.executor;
    options.threads = workers.threads;
    CHECK(all_of(machine, run_session(machine, collectives, options)) == all_of(machine, together));

    // On several processes, which are threads here; a run that is stopped ends a step later there.
    const auto processes = std::min(2 + support::random_below(own, 3), machine.topology.nodes());
    const SessionRun apart = on_processes(processes, machine, collectives);
    CAPTURE(processes);
    CHECK(apart.failure == together.failure);
    CHECK(apart.steps == together.steps);
    CHECK(apart.model_time_s == together.model_time_s);
    if (violations.empty()) CHECK(all_of(machine, apart) == all_of(machine, together));
  }
  if (share.one_in() > 1) return;
  // The draws are no empty ones.
  CHECK(outcomes["shared"] > 1);  // about 12
  CHECK(outcomes["apart"] > 10);
  CHECK(outcomes["channel used twice"] > 3);
  CHECK(outcomes["too many sends"] > 3);
}

TEST_CASE("a reduction and its copy combine twice as much at each node", "[property]") {
  CAPTURE(support::seed());
  Random random(support::seed());
  unsigned compared = 0;
  for (const Algorithm* algorithm : catalogue()) {
    if (!facts_of(algorithm->collective).combines) continue;
    CostModel cost;
    cost.combine_s = 1e-9;
    const Machine machine(random() % 2 == 0 ? "4x4" : "3x6", all_ports, algorithm->native.switching, Contention::share, {}, cost);
    Member c;
    c.algorithm = algorithm;
    c.request.collective = algorithm->collective;
    c.request.bytes = 1600;
    if (facts_of(algorithm->collective).rooted()) c.request.sources = {5};
    c.request = support::suited(*algorithm, machine, c.request);
    if (refuses(*algorithm, machine, c.request)) continue;
    CAPTURE(std::string(algorithm->name), std::string(name(algorithm->collective)), machine.topology.text());
    c.plan = make_plan(*algorithm, machine, c.request);
    const RunResult by_itself = alone(machine, c);
    REQUIRE(by_itself.good());
    SessionOptions options;
    options.executor = ExecutorKind::serial;
    Member later = c;
    later.offset = static_cast<Step>(by_itself.steps);
    CHECK(run_session(machine, std::vector{c, later}, options).node_combined_sum == 2 * by_itself.node_combined_sum);
    const SessionRun together = run_session(machine, std::vector{c, c}, options);
    if (!together.violations.empty()) continue;  // of ports
    CHECK(together.node_combined_sum == 2 * by_itself.node_combined_sum);
    ++compared;
  }
  CHECK(compared > 2);
}
