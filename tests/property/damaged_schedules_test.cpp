// A trace that the judge refuses is no schedule: it is refused as one, or the run that plays it fails. One that the judge takes plays.
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/foreign_schedule.hpp>
#include <torus/judge.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using support::random_below;

namespace {

struct LegalTrace {
  Collective collective;
  TraceHeader header;
  std::vector<TraceMessage> messages;
};

/// The run of an algorithm of the catalogue on a small machine; none where the one that is drawn does not apply.
std::optional<LegalTrace> random_trace(std::mt19937_64& random) {
  const auto all = catalogue();
  const Algorithm& algorithm = *all[random_below(random, all.size())];
  const Machine machine(support::random_topology(random, 8), all_ports, algorithm.native.switching, algorithm.native.contention);
  Request request;
  request.collective = algorithm.collective;
  request.bytes = 48;
  request.sources = {random_below(random, machine.topology.nodes())};
  if (!facts_of(request.collective).rooted()) request.sources = row_major(machine.topology);
  if (machine.topology.nodes() < 2 || refuses(algorithm, machine, request)) return std::nullopt;
  const Plan plan = make_plan(algorithm, machine, request);
  LegalTrace out{algorithm.collective,
                 {.machine = machine,
                  .collective = std::string(name(request.collective)),
                  .sources = facts_of(request.collective).names_sources() ? request.sources : std::vector<NodeId>(),
                  .segments = plan.segments,
                  .block_bytes = facts_of(request.collective).combines ? 0 : request.bytes / plan.segments,
                  .registers = plan.registers},
                 {}};
  RunOptions options{.executor = ExecutorKind::serial};
  options.on_messages = [&](std::span<const Message* const> messages) {
    for (const Message* m : messages) out.messages.emplace_back().assign(*m);
  };
  REQUIRE(make_engine(machine, request, plan, options).run(plan.start).good());
  if (out.header.sources.empty()) out.header.sources = row_major(machine.topology);
  return out;
}

/// Changes one field of one message, a message or the header; returns which.
std::string damage(LegalTrace& trace, std::mt19937_64& random) {
  const Topology topology = trace.header.machine.topology;
  const auto at = static_cast<std::ptrdiff_t>(random_below(random, trace.messages.size()));
  TraceMessage& m = trace.messages[static_cast<std::size_t>(at)];
  const auto some_node = [&] { return random_below(random, topology.nodes()); };
  switch (random_below(random, 14)) {
    case 0: return m.step = m.step == 0 ? 1 : m.step - 1, "step";
    case 1: return m.source = some_node(), "src";
    case 2: return m.destination = some_node(), "dst";
    case 3: return m.path.back().hops += random_below(random, 2) == 0 ? 1 : -1, "path";
    case 4:
      return m.path.push_back({static_cast<Dimension>(random_below(random, static_cast<unsigned>(topology.dimensions()))), 1}), "path";
    case 5: return m.bytes = m.bytes > 0 ? random_below(random, m.bytes) : 0, "bytes";
    case 6: return m.blocks.push_back(random_below(random, 2 * topology.nodes())), "blocks";
    case 7:
      if (!m.blocks.empty()) m.blocks.pop_back();
      return "blocks";
    case 8: return m.registers = facts_of(trace.collective).combines ? m.registers ^ 1U : 0, "combine";
    case 9: return m.releases ^= facts_of(trace.collective).combines, "release";
    case 10: return trace.messages.erase(trace.messages.begin() + at), "lost";
    case 11: return trace.messages.insert(trace.messages.begin() + at, TraceMessage(m)), "twice";
    case 12: return std::swap(trace.messages.front(), trace.messages.back()), "order";
    default: return trace.header.machine.ports = std::max(1, trace.header.machine.ports - 1), "ports";
  }
}

Verdict verdict_on(const std::string& path) {
  TraceReader reader(path);
  Judge judge(reader.header());
  for (TraceMessage m; reader.next(m) && judge.message(m);) {
  }
  return judge.finish();
}

/// On the machine of the trace, with bytes that are verified.
bool plays(const std::string& path, const Machine& machine) {
  try {
    const ForeignSchedule file = ForeignSchedule::read(path);
    const ForeignSchedule::Placed placed = file.on(machine, row_major(machine.topology));
    Request request;
    request.collective = file.collective();
    request.sources = file.sources();
    request.bytes = 48;
    const Plan plan{.start = [&](Node& self) { return follow(self, placed.schedule); },
                    .segments = file.segments(),
                    .registers = placed.registers,
                    .steps_estimate = placed.schedule.steps()};
    return make_engine(machine, request, plan, {.executor = ExecutorKind::serial}).run(plan.start).good();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

TEST_CASE("what the judge refuses of a trace does not play as a schedule, whatever field is wrong, and all else does", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  const support::Folder folder;
  std::map<std::string, unsigned> refused, taken;
  for (int turn = 0; turn < 150; ++turn) {
    std::optional<LegalTrace> trace;
    while (!trace || trace->messages.empty()) trace = random_trace(random);
    for (int damages = 0; damages < 8; ++damages) {
      LegalTrace damaged = *trace;
      const std::string what = damages == 0 ? "nothing" : damage(damaged, random);
      std::string text = to_json_line(damaged.header) + "\n";
      for (const TraceMessage& m : damaged.messages) text += to_json_line(m) + "\n";
      const std::string path = folder.write("t", text);
      const Verdict verdict = verdict_on(path);
      ++(verdict.ok ? taken : refused)[what];
      CAPTURE(what, text, verdict.unasked_blocks);
      // The judge counts partials that nobody wants; a run must not leave any.
      CHECK(plays(path, damaged.header.machine) == (verdict.ok && verdict.unasked_blocks == 0));
    }
  }
  CHECK(refused["nothing"] == 0);
  for (const char* field : {"step", "src", "dst", "path", "bytes", "blocks", "combine", "release", "lost", "twice", "order", "ports"}) {
    CAPTURE(field);
    CHECK(refused[field] > 0);
  }
}
