/// torus regret COLLECTIVE: how far the best algorithm is from the lower bound. Over a grid of shapes, ports, switching and sizes, its
/// model time in times the bound. A row is a comparison (comparison.hpp) of all algorithms that apply, on one machine. `torus regret all`
/// counts how many of these are near the bound, of every collective.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/study/comparison.hpp"

namespace torus::command {
namespace {

/// The grid: every combination, without counts of ports that a shape has no room for.
struct RegretGrid {
  std::vector<Topology> shapes;
  std::vector<int> ports;  ///< 0: all
  std::vector<std::string> switchings;
};

/// The rows, an object for each machine, as --json has them; table and CSV are views of them.
struct Regret {
  Collective collective = Collective::broadcast;
  std::optional<std::string> groups, map;  ///< as typed
  std::vector<Bytes> sizes;
  std::size_t run_sizes = 0;
  Json rows = Json::array();
};

Json row_of(const RunSpec& spec, const Machine& machine) {
  Json row{{"shape", spec.shape.text()},
           {"nodes", spec.shape.nodes()},
           {"switching", name(machine.switching)},
           {"ports", machine.ports},
           {"all_ports", machine.ports == static_cast<int>(machine.topology.max_ports())},
           {"contention", name(machine.contention)},
           {"sizes", Json::array()}};
  if (spec.groups_text)
    row.update({{"groups", *spec.groups_text}, {"group_shape", machine.topology.text()}, {"group_nodes", machine.topology.nodes()}});
  if (spec.map) row["map"] = *spec.map;
  return row;
}

/// The best at one size.
Json cell_of(const Contest& contest, Bytes bytes, std::size_t size, const std::vector<const Contender*>& fastest) {
  const Entry& entry = *fastest.front()->entries[size];
  Json cell{{"bytes", bytes},
            {"algorithms", Json::array()},
            {"steps", entry.run ? entry.run->steps : entry.steps},
            {"exact", entry.exact},
            {"model_time_s", entry.model_time_s()},
            {"model_time_lower_bound_s", contest.bounds[size].model_time_s(contest.machine.cost)},
            {"run", entry.run.has_value()}};
  for (const Contender* contender : fastest) cell["algorithms"].push_back(contender->algorithm->name);
  if (const auto times = times_the_bound(contest, entry, size)) cell["times_the_bound"] = *times;
  return cell;
}

double times_the_bound(const Json& cell) { return cell.at("times_the_bound").number().value_or(0); }

/// The rows of the sizes of a comparison, of one machine, and the worst of them.
void add_cells(Json& row, const Comparison& comparison) {
  double worst = 0;
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    const auto fastest = fastest_at(comparison.contests.front(), i);
    if (fastest.empty()) continue;
    Json cell = cell_of(comparison.contests.front(), comparison.sizes[i], i, fastest);
    worst = std::max(worst, times_the_bound(cell));
    row["sizes"].push_back(std::move(cell));
  }
  if (worst > 0) row["worst"] = worst;
}

Regret regret(Collective collective, const TypedOptions& typed, const RegretGrid& grid, const ComparisonOptions& options, Study& study) {
  Regret regret{collective, typed["groups"], std::nullopt, options.sizes, options.run_sizes};
  std::set<std::string> there;
  std::string nothing;
  bool any = false;
  for (const std::string& switching : grid.switchings) {
    for (const int asked : grid.ports) {
      for (const Topology& shape : grid.shapes) {
        const std::vector<int> ports = ports_on(shape, std::array{asked});
        if (ports.empty()) continue;
        TypedOptions one = typed;
        one["on"] = shape.text();
        one["switching"] = switching;
        one["ports"] = std::to_string(ports.front());
        RunSpec spec = parse_spec(collective, one);
        regret.map = spec.map;
        const bool apart = spec.groups && spec.groups->carries();
        if (!spec.contention && !apart) spec.contention = Contention::forbid;
        if (apart && options.run_sizes == 0)
          throw InputError(
              fmt::format("--map '{}': it lays the ranks of {} apart, and no formula says what that costs; --run all measures it",
                          *spec.map, one["on"].value_or("")));
        Json row = row_of(spec, make_machine(spec, NativeMachine{}));
        if (!there.insert(row.dump()).second) continue;  // a small shape: all its ports are named twice
        try {
          const Comparison comparison = compare(spec, options, study);
          if (comparison.interrupted)
            throw RunError(fmt::format("interrupted; a table with gaps would mislead, so there is none{}", study.goes_on()));
          add_cells(row, comparison);
        } catch (const InputError& error) {  // nothing applies
          if (nothing.empty()) nothing = error.what();
        }
        any = any || row["sizes"].size() > 0;
        regret.rows.push_back(std::move(row));
      }
    }
  }
  if (there.empty()) throw InputError("--ports: no node of these shapes has so many channels; for instance all");
  if (!any) throw InputError(nothing);
  return regret;
}

std::string names_text(const Json& cell, std::string_view between) {
  std::string text;
  const Json names = cell.at("algorithms");
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : std::string(between)) + names.at(i).cell();
  return text;
}

/// "wormhole, all ports".
std::string machine_words(const Json& row) {
  const std::string ports = row.at("ports").cell();
  return fmt::format("{}, {}", row.at("switching").cell(),
                     ports == "1"                        ? "one port"
                     : row.at("all_ports") == Json(true) ? "all ports"
                                                         : ports + " ports");
}

/// "64K": as --bytes reads it, and short.
std::string size_text(Bytes bytes) {
  std::string text = bytes_option(bytes);
  if (text.ends_with("iB")) text.resize(text.size() - 2);
  return text;
}

/// Of several sizes the worst ratio; of one, which is the worst itself, the model time.
std::vector<std::string> line_of(const Json& row, const std::vector<Bytes>& sizes) {
  std::vector<std::string> line{row.at("shape").cell()};
  const Json cells = row.at("sizes");
  std::size_t next = 0;
  for (const Bytes bytes : sizes) {
    const Json cell = cells.at(next);  // the sizes that have one, ascending
    const bool here = cell.at("bytes") == Json(bytes);
    next += here ? 1 : 0;
    const bool limit = cell.at("exact") == Json(false) && cell.at("run") == Json(false);
    line.push_back(here && times_the_bound(cell) > 0 ? fmt::format("{}{:.2f}", limit ? "<" : "", times_the_bound(cell)) : "-");
  }
  const auto worst = row.at("worst").number();
  if (sizes.size() == 1 && next == 1)
    line.push_back(seconds_text(cells.at(0).at("model_time_s").number().value_or(0)));
  else
    line.push_back(worst ? fmt::format("{:.2f}", *worst) : "-");
  return line;
}

std::string to_table(const Regret& regret) {
  std::string text = fmt::format("{}: model time of the best algorithm, in times the lower bound{}{}\n", name(regret.collective),
                                 regret.groups ? fmt::format(", in each group of {} at once", *regret.groups) : "",
                                 regret.map ? fmt::format(", ranks laid out by {}", *regret.map) : "");
  Table table;
  std::string title, worst_text;
  double worst = 0;
  const auto flush = [&] {
    if (!table.empty()) text += fmt::format("\n{}\n{}", title, aligned(table));
    table.clear();
  };
  for (std::size_t i = 0; i < regret.rows.size(); ++i) {
    const Json row = regret.rows.at(i);
    const std::string machine = machine_words(row);
    if (machine != title) flush();
    title = machine;
    if (table.empty()) {
      table.push_back({"shape"});
      for (const Bytes size : regret.sizes) table.back().push_back(size_text(size));
      table.back().push_back(regret.sizes.size() == 1 ? "model time" : "worst");
    }
    table.push_back(line_of(row, regret.sizes));
    for (std::size_t j = 0; j < row.at("sizes").size(); ++j) {
      const Json cell = row.at("sizes").at(j);
      if (times_the_bound(cell) <= worst) continue;
      worst = times_the_bound(cell);
      worst_text = fmt::format("\nworst {:.2f}: {}, {}, {}, by {}\n", worst, row.at("shape").cell(), machine,
                               bytes_option(whole_number(cell.at("bytes").cell()).value_or(0)), names_text(cell, ", "));
    }
  }
  flush();
  return text + worst_text +
         (regret.run_sizes == 0 ? "predicted; nothing was run\n" : "sizes that were run: verified; the rest is predicted\n");
}

std::string to_csv(const Regret& regret) {
  Json lines = Json::array();
  for (std::size_t i = 0; i < regret.rows.size(); ++i) {
    const Json row = regret.rows.at(i), cells = row.at("sizes");
    for (std::size_t j = 0; j < cells.size(); ++j) {
      Json line = row;
      line.update(cells.at(j));
      line.update({{"collective", name(regret.collective)}, {"algorithms", names_text(cells.at(j), " ")}});
      lines.push_back(std::move(line));
    }
  }
  const std::string columns =
      "collective,shape,nodes,switching,ports,contention,bytes,algorithms,steps,exact,model_time_s,model_time_lower_bound_s,"
      "times_the_bound,run";
  return csv_of(columns + (regret.groups ? ",groups" : "") + (regret.map ? ",map" : ""), lines);
}

struct RegretArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all", run = "none";
  std::optional<std::string> csv;
  bool json = false;
};

/// How near the bound the best algorithm is, over many cells, each a machine and a size.
struct Score {
  std::uint64_t cells = 0, empty = 0, within_1_25 = 0, within_2 = 0, above_4 = 0;
  double worst = 0;
  std::string worst_at;

  void add(const Regret& regret) {
    for (std::size_t i = 0; i < regret.rows.size(); ++i) {
      const Json row = regret.rows.at(i), sizes = row.at("sizes");
      cells += regret.sizes.size();
      empty += regret.sizes.size() - sizes.size();
      for (std::size_t j = 0; j < sizes.size(); ++j) {
        const double times = times_the_bound(sizes.at(j));
        within_1_25 += times <= 1.25 ? 1 : 0;
        within_2 += times <= 2 ? 1 : 0;
        above_4 += times > 4 ? 1 : 0;
        if (times <= worst) continue;
        worst = times;
        worst_at = fmt::format("{}, {}, {}, {}", name(regret.collective), row.at("shape").cell(), machine_words(row),
                               bytes_option(whole_number(sizes.at(j).at("bytes").cell()).value_or(0)));
      }
    }
  }
  void add(const Score& other) {
    cells += other.cells;
    empty += other.empty;
    within_1_25 += other.within_1_25;
    within_2 += other.within_2;
    above_4 += other.above_4;
    if (other.worst <= worst) return;
    worst = other.worst;
    worst_at = other.worst_at;
  }
  Json json(std::string_view of) const {
    return {{"collective", of},     {"cells", cells},     {"empty", empty}, {"within_1_25", within_1_25},
            {"within_2", within_2}, {"above_4", above_4}, {"worst", worst}, {"worst_at", worst_at}};
  }
  std::vector<std::string> line(std::string_view of) const {
    const auto share = [&](std::uint64_t count) {
      return fmt::format("{:.1f} %", 100 * static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(1, cells)));
    };
    return {std::string(of), std::to_string(cells),   std::to_string(empty),       share(within_1_25),
            share(within_2), std::to_string(above_4), fmt::format("{:.2f}", worst)};
  }
};

/// The machines of `torus regret all`, and one with a dead link.
constexpr std::string_view score_shapes = "8,15,8x8,7x9,4x16,mesh:8x8,mesh:5x9,4x4x4,3x4x5,mesh:4x4x4,6x6c,4x4x8t";
constexpr std::string_view score_holed_shape = "6x6", score_dead_link = "3:+0";
constexpr std::string_view score_sizes = "4,1KiB,4KiB,64KiB,1MiB,16MiB";

/// All collectives on all machines.
int run_score(const RegretArguments& arguments) {
  if (arguments.csv) throw InputError("--csv: torus regret all writes none; for instance torus regret broadcast --csv t.csv");
  if (arguments.algorithms != "all" || arguments.run != "none")
    throw InputError("--algorithms and --run: torus regret all predicts all algorithms; for instance torus regret broadcast --run all");
  Score total;
  Json rows = Json::array();
  Table table{{"collective", "cells", "empty", "within 1.25", "within 2", "above 4", "worst"}};
  const auto say = [&](const Score& score, std::string_view of) {
    rows.push_back(score.json(of));
    table.push_back(score.line(of));
  };
  for (const CollectiveFacts& facts : collectives()) {
    TypedOptions typed = arguments.setting;
    const auto take = [&](const char* option, std::string_view otherwise) {
      return std::exchange(typed[option], std::nullopt).value_or(std::string(otherwise));
    };
    ComparisonOptions options;
    const std::string sizes = take("bytes", score_sizes);
    options.sizes = table_sizes(facts.collective, facts.carries_bytes() ? std::optional(sizes) : std::nullopt, facts.regret_sizes, typed);
    options.algorithms = parse_algorithms("--algorithms", "all", facts.collective, catalogue());
    RegretGrid grid;
    const bool all_machines = !typed["on"];
    grid.shapes = parse_shapes(take("on", score_shapes));
    grid.ports = parse_port_counts(take("ports", "1,2,3,all"));
    const std::string switchings = take("switching", "packet,wormhole,circuit");
    for (const std::string_view word : split(switchings, ',')) grid.switchings.emplace_back(word);
    Study study(fmt::format("regret {}", facts.name), arguments.setting.typed(true), options.algorithms, std::nullopt);
    Score score;
    score.add(regret(facts.collective, typed, grid, options, study));
    if (all_machines && !typed["dead-link"]) {
      typed["dead-link"] = std::string(score_dead_link);
      grid.shapes = parse_shapes(score_holed_shape);
      score.add(regret(facts.collective, typed, grid, options, study));
    }
    study.progress().clear();
    say(score, facts.name);
    total.add(score);
  }
  say(total, "all");
  answer(
      arguments.json,
      [&] {
        return Json{{"collective", "all"}, {"rows", rows}};
      },
      [&] {
        return fmt::format("model time of the best algorithm, in times the lower bound, by prediction\n\n{}\nworst: {}\n", aligned(table),
                           total.worst_at);
      });
  return 0;
}

int run_regret(const RegretArguments& arguments) {
  if (arguments.collective == "all") return run_score(arguments);
  const Collective collective = parse_collective(arguments.collective, arguments.setting);
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
  RegretGrid grid;
  grid.shapes = parse_shapes(take(typed["on"], std::string(facts_of(collective).regret_shapes)));
  grid.ports = parse_port_counts(take(typed["ports"], "1,all"));
  const std::string switchings = take(typed["switching"], facts_of(collective).of_pairs() ? "packet" : "wormhole");
  for (const std::string_view word : split(switchings, ',')) grid.switchings.emplace_back(word);
  TypedOptions::Pairs of = arguments.setting.typed(true);
  of.emplace_back("run", arguments.run);
  Study study("regret " + arguments.collective, of, options.algorithms, arguments.csv);
  const Regret table = regret(collective, typed, grid, options, study);
  study.progress().clear();
  study.finish([&] { return to_csv(table); });
  Json json{{"collective", name(collective)}, {"bytes", table.sizes}, {"rows", table.rows}};
  if (study.failures() > 0) json["failure"] = study.first_failure();
  answer(
      arguments.json, [&] { return json; }, [&] { return to_table(table) + ports_left_out(grid.shapes, grid.ports); });
  if (study.failures() == 0) return 0;
  throw RunError(study.first_failure());
}

}  // namespace

Command regret_command() {
  const auto arguments = std::make_shared<RegretArguments>();
  Command command{.help = "How far the best algorithm is from the lower bound, over shapes, ports and sizes"};
  add_collective(command, arguments->collective, "; all: how many are near, of every collective");
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "only these, with commas between; default all");
  add_setting_options(command, arguments->setting);
  command.describe("--on", "shapes with commas between: 8x8,16x16m,4x4x4; default: a set for the collective", "SHAPE,..");
  command.describe("--ports", "numbers with commas between, or all; default 1,all", "N|all,..");
  command.describe("--switching", "with commas between; default wormhole, total exchange: packet", "packet|wormhole|circuit,..");
  command.describe("--contention", "two messages on a channel in one step; default forbid, or share where --map lays ranks apart");
  command.describe("--bytes", "64,4KiB or 1KiB:16MiB (times 4) or 1KiB:16MiB:x2; default 1KiB:256MiB, others 4:1MiB", "SIZE,..");
  command.add("--run", "none|all", &arguments->run, "what to run and verify; default none");
  command.add_output("--csv", ".csv", &arguments->csv, "write a line for each machine and size to this file");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.more_files = [arguments] { return kept_beside(arguments->csv); };
  command.body = [arguments] { return run_regret(*arguments); };
  return command;
}

}  // namespace torus::command
