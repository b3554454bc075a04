/// Plans of scans that play a table: the messages of one segment, or of a few, which others repeat every few steps.
#pragma once

#include <algorithm>
#include <bit>
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
