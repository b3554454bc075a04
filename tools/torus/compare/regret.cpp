/// torus regret COLLECTIVE: how far the best algorithm is from the lower bound. Over a grid of shapes, ports, switching and sizes, its
/// model time in times the bound. A row is a comparison (comparison.hpp) of all algorithms that apply, on one machine.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/compare/comparison.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"

namespace torus::command {
namespace {

/// The best of a machine at one size.
struct RegretCell {
  std::vector<const Algorithm*> algorithms;  ///< those that tie, in the order of the catalogue
  Entry entry;                               ///< of the first of them
  double bound_s = 0;

  /// None where the bound is 0.
  std::optional<double> times_the_bound() const noexcept;
};

struct RegretRow {
  Machine machine;
  std::vector<std::optional<RegretCell>> cells;  ///< by size; none where nothing applies

  bool all_ports() const noexcept { return machine.ports == static_cast<int>(machine.topology.max_ports()); }
};

struct Regret {
  Collective collective = Collective::broadcast;
  std::vector<Bytes> sizes;
  std::size_t run_sizes = 0;
  std::vector<RegretRow> rows;
  std::optional<std::string> failure;  ///< of the first run that failed
  bool interrupted = false;
};

/// The grid: every combination, without counts of ports that a shape has no room for. Empty lists stand for the defaults of the collective.
struct RegretGrid {
  std::vector<Topology> shapes;
  std::vector<int> ports;  ///< 0: all
  std::vector<std::string> switchings;
};

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

std::optional<double> RegretCell::times_the_bound() const noexcept {
  if (bound_s <= 0) return std::nullopt;
  return entry.model_time_s() / bound_s;
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
        const std::vector<int> ports = ports_on(shape, std::array{asked});
        if (ports.empty()) continue;
        TypedOptions one = typed;
        one["on"] = shape.text();
        one["switching"] = switching;
        one["ports"] = std::to_string(ports.front());
        if (!one["contention"]) one["contention"] = "forbid";
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

std::string names_text(const RegretCell& cell, std::string_view between) {
  std::string text;
  for (const Algorithm* algorithm : cell.algorithms) text += (text.empty() ? "" : std::string(between)) + std::string(algorithm->name);
  return text;
}

std::string ports_text(const RegretRow& row) {
  if (row.machine.ports == 1) return "one port";
  return row.all_ports() ? "all ports" : fmt::format("{} ports", row.machine.ports);
}

/// "64K": as --bytes reads it, and short.
std::string size_text(Bytes bytes) {
  std::string text = bytes_option(bytes);
  if (text.ends_with("iB")) text.resize(text.size() - 2);
  return text;
}

/// The cell that is farthest from its bound.
struct Worst {
  const RegretRow* row = nullptr;
  std::size_t size = 0;
  double ratio = 0;

  void raise(const RegretRow& other) {
    for (std::size_t i = 0; i < other.cells.size(); ++i) {
      const auto times = other.cells[i] ? other.cells[i]->times_the_bound() : std::nullopt;
      if (times && *times > ratio) *this = {&other, i, *times};
    }
  }
};

std::vector<std::string> line_of(const RegretRow& row) {
  std::vector<std::string> line{row.machine.topology.text()};
  for (const auto& cell : row.cells) {
    const auto times = cell ? cell->times_the_bound() : std::nullopt;
    line.push_back(times ? fmt::format("{}{:.2f}", cell->entry.exact || cell->entry.run ? "" : "<", *times) : "-");
  }
  Worst worst;
  worst.raise(row);
  line.push_back(worst.row != nullptr ? fmt::format("{:.2f}", worst.ratio) : "-");
  return line;
}

Json cell_json(const RegretCell& cell, Bytes bytes) {
  Json json{{"bytes", bytes},
            {"algorithms", Json::array()},
            {"steps", cell.entry.run ? cell.entry.run->steps : cell.entry.steps},
            {"exact", cell.entry.exact},
            {"model_time_s", cell.entry.model_time_s()},
            {"model_time_lower_bound_s", cell.bound_s},
            {"run", cell.entry.run.has_value()}};
  for (const Algorithm* algorithm : cell.algorithms) json["algorithms"].push_back(algorithm->name);
  if (const auto times = cell.times_the_bound()) json["times_the_bound"] = *times;
  return json;
}

std::string to_table(const Regret& regret) {
  std::string text = fmt::format("{}: model time of the best algorithm, in times the lower bound\n", name(regret.collective));
  Table table;
  std::string title;
  const auto flush = [&] {
    if (!table.empty()) text += fmt::format("\n{}\n{}", title, aligned(table));
    table.clear();
  };
  Worst worst;
  for (const RegretRow& row : regret.rows) {
    const std::string machine = fmt::format("{}, {}", name(row.machine.switching), ports_text(row));
    if (machine != title) flush();
    title = machine;
    if (table.empty()) {
      table.push_back({"shape"});
      for (const Bytes size : regret.sizes) table.back().push_back(size_text(size));
      table.back().push_back("worst");
    }
    table.push_back(line_of(row));
    worst.raise(row);
  }
  flush();
  if (worst.row != nullptr) {
    text += fmt::format("\nworst {:.2f}: {}, {}, {}, {}, by {}\n", worst.ratio, worst.row->machine.topology.text(),
                        name(worst.row->machine.switching), ports_text(*worst.row), bytes_option(regret.sizes[worst.size]),
                        names_text(*worst.row->cells[worst.size], ", "));
  }
  return text + (regret.run_sizes == 0 ? "predicted; nothing was run\n" : "sizes that were run: verified; the rest is predicted\n");
}

Json to_json(const Regret& regret) {
  Json json{{"collective", name(regret.collective)}, {"bytes", regret.sizes}, {"rows", Json::array()}};
  for (const RegretRow& row : regret.rows) {
    Json line{{"shape", row.machine.topology.text()},
              {"nodes", row.machine.topology.nodes()},
              {"switching", name(row.machine.switching)},
              {"ports", row.machine.ports},
              {"all_ports", row.all_ports()},
              {"contention", name(row.machine.contention)},
              {"sizes", Json::array()}};
    Worst worst;
    worst.raise(row);
    if (worst.row != nullptr) line["worst"] = worst.ratio;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i]) line["sizes"].push_back(cell_json(*row.cells[i], regret.sizes[i]));
    }
    json["rows"].push_back(std::move(line));
  }
  if (regret.failure) json["failure"] = *regret.failure;
  return json;
}

std::string to_csv(const Regret& regret) {
  std::string text = csv_line({"collective", "shape", "nodes", "switching", "ports", "contention", "bytes", "algorithms", "steps", "exact",
                               "model_time_s", "model_time_lower_bound_s", "times_the_bound", "run"});
  for (const RegretRow& row : regret.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!row.cells[i]) continue;
      const RegretCell& cell = *row.cells[i];
      const Json json = cell_json(cell, regret.sizes[i]);
      text += csv_line({std::string(name(regret.collective)), row.machine.topology.text(), std::to_string(row.machine.topology.nodes()),
                        std::string(name(row.machine.switching)), std::to_string(row.machine.ports),
                        std::string(name(row.machine.contention)), std::to_string(regret.sizes[i]), names_text(cell, " "),
                        json.at("steps").cell(), json.at("exact").cell(), json.at("model_time_s").cell(),
                        json.at("model_time_lower_bound_s").cell(), json.at("times_the_bound").cell(), json.at("run").cell()});
    }
  }
  return text;
}

struct RegretArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all", run = "none";
  std::optional<std::string> csv;
  bool json = false;
};

int run_regret(const RegretArguments& arguments) {
  const Collective collective = parse_collective(arguments.collective, arguments.setting);
  refuse_groups(arguments.setting["groups"], "torus regret");
  TypedOptions typed = arguments.setting;
  const auto take = [](std::optional<std::string>& option, const std::string& otherwise) {
    return std::exchange(option, std::nullopt).value_or(otherwise);
  };
  ComparisonOptions options;
  options.sizes = table_sizes(collective, std::exchange(typed["bytes"], std::nullopt), facts_of(collective).regret_sizes, typed);
  options.algorithms = parse_algorithms("--algorithms", arguments.algorithms, collective, catalogue());
  if (arguments.run != "none" && arguments.run != "all")
    throw InputError(fmt::format("--run '{}': it must be none or all; for instance all", arguments.run));
  options.run_sizes = arguments.run == "all" ? options.sizes.size() : 0;
  options.stop = &interrupted();
  Progress progress;
  options.progress = &progress;
  RegretGrid grid;
  grid.shapes = parse_shapes(take(typed["on"], std::string(facts_of(collective).regret_shapes)));
  grid.ports = parse_port_counts(take(typed["ports"], "1,all"));
  const std::string switchings = take(typed["switching"], facts_of(collective).of_pairs() ? "packet" : "wormhole");
  for (const std::string_view word : split(switchings, ',')) grid.switchings.emplace_back(word);
  std::optional<OutputFile> csv;
  if (arguments.csv) csv.emplace(*arguments.csv);

  const Regret table = regret(collective, typed, grid, options);
  progress.clear();
  if (table.interrupted) throw RunError("interrupted; a table with gaps would mislead, so there is none");
  if (csv) {
    csv->write(to_csv(table));
    csv->commit();
  }
  answer(
      arguments.json, [&] { return to_json(table); }, [&] { return to_table(table) + ports_left_out(grid.shapes, grid.ports); });
  if (!table.failure) return 0;
  throw RunError(*table.failure);
}

}  // namespace

Command regret_command() {
  const auto arguments = std::make_shared<RegretArguments>();
  Command command{"regret", "How far the best algorithm is from the lower bound, over shapes, ports and sizes"};
  add_collective(command, arguments->collective);
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "only these, with commas between; default all");
  add_setting_options(command, arguments->setting);
  command.describe("--on", "shapes with commas between: 8x8,16x16m,4x4x4; default: a set for the collective", "SHAPE,..");
  command.describe("--ports", "numbers with commas between, or all; default 1,all", "N|all,..");
  command.describe("--switching", "with commas between; default wormhole, total exchange: packet", "packet|wormhole|circuit,..");
  command.describe("--contention", "two messages on a channel in one step; default forbid");
  command.describe("--bytes", "64,4KiB or 1KiB:16MiB (times 4) or 1KiB:16MiB:x2; default 1KiB:256MiB, others 4:1MiB", "SIZE,..");
  command.add("--run", "none|all", &arguments->run, "what to run and verify; default none");
  command.add_output("--csv", ".csv", &arguments->csv, "write a line for each machine and size to this file");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return run_regret(*arguments); };
  return command;
}

}  // namespace torus::command
