/// Plans of scans that play a table: the messages of one segment, or of a few, which others repeat every few steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/reduction/rounds_prediction.hpp"
#include "algorithms/schedule/repeated.hpp"

namespace torus::reduction {

/// The segments of a round have the ids register * segments + segment.
struct ScanTable {
  RepeatedSchedule schedule;
  std::uint32_t segments = 1;  ///< of a round
  bool once = false;           ///< the segments are all: pieces of the vector
};

/// The most blocks of a round that all nodes hold and have on their way, in each step and behind the last. A node that has not run yet in a
/// step has what arrives in that step beside what it holds, and another what it sends.
inline std::vector<std::uint64_t> blocks_by_step(const ScanTable& table, std::uint32_t registers) {
  const Schedule& schedule = table.schedule.first();
  const std::size_t ids = std::size_t{registers} * table.segments;
  std::vector<std::vector<const Schedule::Send*>> sends(schedule.steps() + std::size_t{1});
  for (const Schedule::Send& s : schedule.sends()) sends[s.step].push_back(&s);
  struct Count {
    std::uint64_t held, arrive = 0, sent = 0;
  };
  std::vector<Count> nodes(schedule.nodes(), Count{table.segments});
  std::vector<bool> held(schedule.nodes() * ids);
  for (NodeId node = 0; node < schedule.nodes(); ++node)
    std::fill_n(held.begin() + static_cast<std::ptrdiff_t>(node * ids), table.segments, true);
  const auto hold = [&](NodeId node, BlockId id, bool holds) {
    auto place = held[node * ids + id];
    nodes[node].held += static_cast<std::uint64_t>(holds) - static_cast<std::uint64_t>(bool{place});
    place = holds;
  };
  std::vector<std::uint64_t> most;
  for (std::size_t step = 0; step < sends.size(); ++step) {
    std::vector<Count> before = nodes;
    for (const Schedule::Send* s : step > 0 ? sends[step - 1] : std::vector<const Schedule::Send*>{}) {
      before[s->to].arrive += s->blocks;
      for (const BlockId id : schedule.blocks(*s)) {
        for (std::uint32_t r = 0; r < registers; ++r) {
          if ((s->registers >> r & 1U) != 0) hold(s->to, r * table.segments + id % table.segments, true);
        }
      }
    }
    for (Count& node : nodes) node.sent = 0;
    for (const Schedule::Send* s : sends[step]) {
      nodes[s->from].sent += s->blocks;
      for (const BlockId id : schedule.blocks(*s)) {
        if (s->manner == Manner::combine || s->manner == Manner::give) hold(s->from, id, false);
      }
    }
    std::uint64_t sum = 0;
    for (NodeId node = 0; node < schedule.nodes(); ++node)
      sum += std::max(before[node].held + before[node].arrive, nodes[node].held + nodes[node].sent);
    most.push_back(sum);
  }
  return most;
}

/// Those of all rounds, each a period behind the last one. Where more rounds than meet have begun, each further one adds what a round has
/// before its first step or behind its last.
inline std::uint64_t most_blocks(const ScanTable& table, std::uint32_t registers, std::uint32_t rounds) {
  const std::vector<std::uint64_t> of_round = blocks_by_step(table, registers);
  const std::uint64_t at_first = std::uint64_t{table.schedule.first().nodes()} * table.segments;
  const std::uint64_t period = table.schedule.period(), last = of_round.size() - 1;
  const std::uint64_t meet = std::min<std::uint64_t>(rounds, last / period + 2);
  std::uint64_t most = 0;
  for (std::uint64_t step = 0; step <= last + period * (meet - 1); ++step) {
    std::uint64_t sum = 0;
    for (std::uint64_t round = 0; round < meet; ++round)
      sum += step < round * period ? at_first : of_round[std::min(step - round * period, last)];
    most = std::max(most, sum);
  }
  return most + (rounds - meet) * std::max(at_first, of_round[last]);
}

/// For as many segments as the request says, then in no pieces, else for the best number of them: by the table of least model time, the
/// first among equals. One table has rounds of one segment.
inline Plan plan_in_turns(const Machine& machine, const Request& request, const std::vector<ScanTable>& tables) {
  struct Choice {
    const ScanTable* table;
    std::uint32_t rounds, registers;
  };
  const auto time = [&](const ScanTable& table, std::uint32_t rounds) {
    Plan plan;
    predict_rounds(plan, machine, request, table.schedule, rounds, std::uint64_t{rounds} * table.segments);
    return plan.model_time_s(machine.cost);
  };
  const auto element = size_of(request.reduction.type);
  std::vector<Choice> choices;
  for (const ScanTable& table : tables) {
    std::uint32_t registers = 1;
    for (const Schedule::Send& s : table.schedule.first().sends())
      registers = std::max(registers, static_cast<std::uint32_t>(std::bit_width(unsigned{s.registers})));
    if (const std::uint32_t segments = request.parameters.whole("segments")) {
      if (segments % table.segments == 0 && !table.once) choices.push_back({&table, segments / table.segments, registers});
      continue;
    }
    const double period = table.schedule.period(), latency = (static_cast<double>(table.schedule.steps(1)) - period) / period;
    choices.push_back({&table, 1, registers});
    if (table.once) continue;
    choices.push_back(
        {&table,
         best_segments(std::max(0.0, latency), request.bytes / element / table.segments,
                       registers * table.segments * machine.topology.nodes(), machine.cost.byte_s * static_cast<double>(element),
                       machine.cost.steps(1, 0, 1), [&](std::uint32_t rounds) { return time(table, rounds); }),
         registers});
  }
  const Choice best = *cheapest(choices, [&](const Choice& c) { return std::optional<double>(time(*c.table, c.rounds)); });
  Plan plan;
  const std::uint32_t in_round = best.table->segments;
  plan.segments = best.rounds * in_round;
  plan.registers = best.registers;
  const std::uint64_t placed = std::uint64_t{machine.topology.nodes()} * plan.registers * plan.segments;
  plan.copies = std::max(placed, most_blocks(*best.table, plan.registers, best.rounds)) - placed;
  const auto schedule = std::make_shared<const RepeatedSchedule>(
      machine, best.table->schedule.first().renumbered([&](BlockId id) { return id / in_round * plan.segments + id % in_round; }),
      best.table->schedule.period(), in_round, plan.segments);
  plan.start = [schedule, rounds = best.rounds](Node& self) { return follow(self, *schedule, rounds); };
  const char* form = best.table->once ? "" : in_round == 1 ? "T + q (S-1), " : "T + q (S/2 - 1), ";
  plan.formula = form + ("T = " + std::to_string(schedule->first().steps())) + " as found";
  predict_rounds(plan, machine, request, *schedule, best.rounds, plan.segments);
  plan.table_bytes = schedule->table_bytes();
  plan.notes = {{best.table->once ? "pieces" : "segments", std::to_string(plan.segments)}};
  if (best.rounds > 1)
    plan.notes.emplace_back(in_round == 1 ? "steps from segment to segment" : "steps from two segments to two",
                            std::to_string(schedule->period()));
  return plan;
}

}  // namespace torus::reduction
