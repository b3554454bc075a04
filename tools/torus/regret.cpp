#include "tools/torus/regret.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include <torus/error.hpp>

namespace torus::command {
namespace {

RegretRow row_of(const Comparison& comparison) {
  const Contest& contest = comparison.contests.front();
  RegretRow row{contest.machine, {}};
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    std::optional<RegretCell> cell;
    for (const Contender& contender : contest.contenders) {
      const auto& entry = contender.entries[i];
      if (!entry || !entry->best) continue;
      if (!cell) cell = RegretCell{{}, *entry, contest.bounds[i].model_time_s(contest.machine.cost)};
      cell->algorithms.push_back(contender.algorithm);
    }
    row.cells.push_back(std::move(cell));
  }
  return row;
}

/// The counts of ports that are different ones in a shape, in the order given.
std::vector<int> ports_on(const Topology& shape, const std::vector<int>& counts) {
  std::vector<int> ports;
  for (int count : counts) {
    if (count == 0) count = std::max(1, static_cast<int>(shape.max_ports()));
    if (count <= std::max(1, static_cast<int>(shape.max_ports())) && std::find(ports.begin(), ports.end(), count) == ports.end())
      ports.push_back(count);
  }
  return ports;
}

}  // namespace

std::optional<double> RegretCell::times_the_bound() const noexcept {
  if (bound_s <= 0) return std::nullopt;
  return entry.model_time_s() / bound_s;
}

std::string default_regret_shapes(Collective collective) {
  switch (collective) {
    case Collective::broadcast: return "5x5,8x8,15x15,16x16,25x25,32x32,64x64,12x40,4x64,4x4x4,8x8x8,16x16x16";
    case Collective::multinode_broadcast: return "5x5,8x8,15x15,16x16,25x25,12x40,4x4x4,8x8x8";
    case Collective::total_exchange: return "5x5,8x8,9x9,16x16,4x16,4x4x4,8x8x8";
    default: return "8x8,15x15,16x16,25x25,12x40,8x8x8,4x4x4x4";
  }
}

std::string default_regret_sizes(Collective collective) {
  switch (collective) {
    case Collective::broadcast: return "1KiB:256MiB";
    case Collective::reduce:
    case Collective::allreduce: return "64:64MiB";
    case Collective::barrier: return "0";
    default: return "4:1MiB";
  }
}

Regret regret(Collective collective, const TypedOptions& typed, const RegretGrid& grid, const ComparisonOptions& options) {
  PlanCache cache;
  ComparisonOptions of_all = options;
  of_all.cache = &cache;
  Regret regret{collective, options.sizes, options.run_sizes, {}, {}, false};
  std::string nothing;
  for (const std::string& switching : grid.switchings) {
    for (const int asked : grid.ports) {
      for (const Topology& shape : grid.shapes) {
        const std::vector<int> ports = ports_on(shape, {asked});
        if (ports.empty()) continue;
        TypedOptions one = typed;
        one.on = shape.text();
        one.switching = switching;
        one.ports = std::to_string(ports.front());
        if (!one.contention) one.contention = "forbid";
        const RunSpec spec = parse_spec(collective, one);
        const Machine machine = make_machine(spec, NativeMachine{});
        const auto there = [&](const RegretRow& row) {
          return row.machine.ports == machine.ports && row.machine.switching == machine.switching &&
                 row.machine.topology.text() == shape.text();
        };
        if (std::any_of(regret.rows.begin(), regret.rows.end(), there)) continue;  // a small shape: all its ports are named twice
        try {
          const Comparison comparison = compare(spec, of_all);
          regret.interrupted = comparison.interrupted;
          if (regret.interrupted) return regret;
          if (!regret.failure) regret.failure = comparison.failure;
          regret.rows.push_back(row_of(comparison));
        } catch (const InputError& error) {  // nothing applies
          if (nothing.empty()) nothing = error.what();
          regret.rows.push_back({machine, std::vector<std::optional<RegretCell>>(options.sizes.size())});
        }
      }
    }
  }
  if (regret.rows.empty()) throw InputError("--ports: no node of these shapes has so many channels; for instance all");
  const auto has_cell = [](const RegretRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [](const auto& cell) { return cell.has_value(); });
  };
  if (std::none_of(regret.rows.begin(), regret.rows.end(), has_cell)) throw InputError(nothing);
  return regret;
}

}  // namespace torus::command
