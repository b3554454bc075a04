/// Plans of scans that play a table: the messages of one segment, with the registers' numbers for ids, which other segments repeat every
/// few steps.
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

/// For as many segments as the request says, else for the best number of them: by the table of least model time, the first among equals.
inline Plan plan_in_turns(const Machine& machine, const Request& request, const std::vector<RepeatedSchedule>& tables) {
  struct Choice {
    const RepeatedSchedule* table;
    std::uint32_t segments, registers;
  };
  const auto time = [&](const RepeatedSchedule& table, std::uint32_t segments) {
    Plan plan;
    predict_rounds(plan, machine, request, table, segments, segments);
    return plan.model_time_s(machine.cost);
  };
  const auto element = size_of(request.reduction.type);
  std::vector<Choice> choices;
  for (const RepeatedSchedule& table : tables) {
    std::uint32_t registers = 1;
    for (const Schedule::Send& s : table.first().sends())
      registers = std::max(registers, static_cast<std::uint32_t>(std::bit_width(unsigned{s.registers})));
    if (const std::uint32_t segments = request.parameters.whole("segments")) {
      choices.push_back({&table, segments, registers});
      continue;
    }
    const double period = table.period(), latency = (static_cast<double>(table.steps(1)) - period) / period;
    choices.push_back({&table, 1, registers});
    choices.push_back({&table,
                       best_segments(std::max(0.0, latency), request.bytes / element, registers * machine.topology.nodes(),
                                     machine.cost.byte_s * static_cast<double>(element), machine.cost.steps(1, 0, 1),
                                     [&](std::uint32_t segments) { return time(table, segments); }),
                       registers});
  }
  const Choice best = *cheapest(choices, [&](const Choice& c) { return std::optional<double>(time(*c.table, c.segments)); });
  Plan plan;
  plan.segments = best.segments;
  plan.registers = best.registers;
  const auto schedule = std::make_shared<const RepeatedSchedule>(
      machine, best.table->first().renumbered([&](BlockId id) { return id * best.segments; }), best.table->period(), 1);
  plan.start = [schedule, segments = plan.segments](Node& self) { return follow(self, *schedule, segments); };
  plan.formula = "T + q (S-1), T = " + std::to_string(schedule->first().steps()) + " as found";
  predict_rounds(plan, machine, request, *schedule, plan.segments, plan.segments);
  plan.table_bytes = schedule->table_bytes();
  plan.notes = {{"segments", std::to_string(plan.segments)}};
  if (plan.segments > 1) plan.notes.emplace_back("steps from segment to segment", std::to_string(schedule->period()));
  return plan;
}

}  // namespace torus::reduction
