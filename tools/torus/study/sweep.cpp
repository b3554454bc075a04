/// torus sweep COLLECTIVE: every combination of shapes, ports, algorithms and sizes, run and verified; a table of them all.
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/curves/curves.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/study/study.hpp"

namespace torus::command {
namespace {

struct SweepArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all";
  std::optional<std::string> csv, repeat, html, svg;
  bool json = false;
};

/// One row: what is run, and the algorithm.
struct Combination {
  const Algorithm* algorithm = nullptr;
  RunSpec spec;
};

/// All combinations, and a line on the counts of ports that a shape has no room for; empty: there are none.
struct Combinations {
  std::vector<Combination> all;
  std::string left_out;
};

/// Sizes fastest. Throws InputError on options that do not fit one of the shapes, before anything runs.
Combinations combinations_of(Collective collective, TypedOptions typed, const std::vector<const Algorithm*>& algorithms) {
  const auto take = [](std::optional<std::string>& list) { return std::exchange(list, std::nullopt); };
  const auto on = take(typed["on"]), ports = take(typed["ports"]), bytes = take(typed["bytes"]);
  const auto counts = ports ? std::optional(parse_port_counts(*ports)) : std::nullopt;
  const std::vector<Topology> shapes = on ? parse_shapes(*on) : std::vector<Topology>{parse_spec(collective, typed).shape};
  Combinations combinations{{}, counts ? ports_left_out(shapes, *counts) : ""};
  for (const Topology& shape : shapes) {
    if (on) typed["on"] = shape.text();
    RunSpec spec = parse_spec(collective, typed);
    static_cast<void>(make_machine(spec, NativeMachine{}));
    const std::vector<Bytes> sizes = bytes ? table_sizes(collective, bytes, "", typed) : std::vector<Bytes>{spec.bytes};
    RunSpec empty = spec;
    empty.bytes = 0;
    if (!why_it_cannot_fit(empty, 0, 0, usable_memory()))  // else it is left out, before its sources are listed
      static_cast<void>(make_request(spec));
    for (const int count : counts ? ports_on(shape, *counts) : std::vector<int>{0}) {
      if (counts) spec.ports = count;
      for (const Algorithm* algorithm : algorithms) {
        for (const Bytes size : sizes) {
          spec.bytes = size;
          combinations.all.push_back({algorithm, spec});
        }
      }
    }
  }
  if (!combinations.all.empty()) return combinations;
  throw InputError(fmt::format("--ports '{}': no node of these shapes has so many channels; for instance all", *ports));
}

/// The charts of their curves: one for each shape and machine on which one of them applies.
std::size_t charts_of(const Combinations& combinations) {
  std::set<std::tuple<std::string, Switching, int, Contention>> charts;
  for (const auto& [algorithm, spec] : combinations.all) {
    const Machine machine = make_machine(spec, algorithm->native);
    const std::tuple chart(spec.shape.text(), machine.switching, machine.ports, machine.contention);
    if (charts.contains(chart)) continue;
    try {
      if (!refuses(*algorithm, machine, make_fitting_request(spec))) charts.insert(chart);
    } catch (const InputError&) {  // too large: it will be left out
    }
  }
  return charts.size();
}

/// Combinations that were not run, and why the first was not.
struct LeftOutRuns {
  std::size_t count = 0;
  std::string first_reason;

  void add(const std::string& reason) {
    if (count++ == 0) first_reason = reason;
  }
};

int sweep(const SweepArguments& arguments) {
  const bool keeps_rows = arguments.json || !json_file_path().empty();
  if (!arguments.csv && !keeps_rows) throw InputError("--csv is required: the table; or --json; see torus sweep --help");
  const Collective collective = parse_collective(arguments.collective, arguments.setting);
  const auto algorithms = parse_algorithms("--algorithms", arguments.algorithms, collective, catalogue());
  const unsigned repeat = arguments.repeat ? static_cast<unsigned>(parse_whole("--repeat", *arguments.repeat, 1, 1000000)) : 1;
  const Combinations combinations = combinations_of(collective, arguments.setting, algorithms);
  TypedOptions::Pairs typed = arguments.setting.typed();
  if (arguments.repeat) typed.emplace_back("repeat", *arguments.repeat);
  Study study("sweep " + arguments.collective, typed, algorithms, arguments.csv, true);
  CurveFiles curves(arguments.html, arguments.svg);
  if (curves.any()) curves.check(charts_of(combinations));
  LeftOutRuns left_out;
  std::map<const Algorithm*, LeftOutRuns> left_out_of;
  std::string table;  // as CSV
  Json rows = Json::array();
  std::size_t number = 0;
  for (const auto& [algorithm, spec] : combinations.all) {
    ++number;
    const Json row = study.next([&, algorithm = algorithm, &spec = spec]() -> StudyRow {
      std::optional<Setting> setting;
      Effort effort = study.effort(fmt::format("{} of {}: {} on {}, {}", grouped(number), grouped(combinations.all.size()), algorithm->name,
                                               spec.shape.text(), bytes_option(spec.bytes)));
      effort.repeat = repeat;
      effort.judge_apart = true;
      const Outcome outcome = attempt(spec, *algorithm, effort, setting);
      if (outcome.left_out()) {
        left_out.add(outcome.why);
        left_out_of[algorithm].add(outcome.why);
      }
      if (outcome.left_out() || outcome.is(Outcome::Kind::interrupted)) return {};
      return {to_row(*setting, outcome.run), outcome.why};
    });
    if (!row.is_null()) {
      const CsvLines lines = to_csv(row);
      table += (table.empty() ? lines.names : "") + lines.values;
      if (keeps_rows) rows.push_back(row);
    }
    if (interrupted()) {
      throw RunError(
          fmt::format("interrupted with {} of at most {} done{}", counted(study.rows(), "row"), combinations.all.size(), study.goes_on()));
    }
  }
  study.progress().clear();
  if (study.rows() == 0) {
    throw InputError(fmt::format("{}: none of the {} combinations can be run; the first says: {}; see `torus list` for what each needs",
                                 name(collective), combinations.all.size(), left_out.first_reason));
  }
  study.finish([&] { return table; });
  Table reasons{{"left out", "combinations", "because, the first time"}};
  Json reasons_json = Json::array();
  for (const Algorithm* algorithm : algorithms) {
    const auto out = left_out_of.find(algorithm);
    if (out == left_out_of.end()) continue;
    const auto& [count, because] = out->second;
    reasons.push_back({std::string(algorithm->name), grouped(count), because});
    reasons_json.push_back({{"algorithm", algorithm->name}, {"combinations", count}, {"because", because}});
  }
  const std::size_t failures = study.failures();
  const std::string file = arguments.csv.value_or(json_file_path());
  answer(
      arguments.json,
      [&] {
        return Json{{"rows", rows}, {"from_before", study.from_before()}, {"failed", failures}, {"left_out", reasons_json}};
      },
      [&] {
        return fmt::format("{}: {}{}, {} failed; {} left out\n", file, counted(study.rows(), "row"),
                           study.from_before() > 0 ? fmt::format(", {} of them from before", grouped(study.from_before())) : "",
                           grouped(failures), counted(left_out.count, "combination")) +
               combinations.left_out + (reasons.size() > 1 ? "\n" + aligned(reasons) : "");
      });
  if (curves.any()) curves.write(curves_of(table));
  if (failures == 0) return 0;
  throw RunError(fmt::format("{} of {} failed; the column failure{} says how", failures, counted(study.rows(), "run"),
                             file.empty() ? "" : " of " + file));
}

}  // namespace

Command sweep_command() {
  const auto arguments = std::make_shared<SweepArguments>();
  Command command{.help = "Every combination of shapes, ports, algorithms and sizes, verified, in one table; resumable"};
  add_collective(command, arguments->collective);
  command.add_output("--csv", ".csv", &arguments->csv, "the table; FILE.part until it is complete, and the same command goes on with that");
  command.add("--json", "", &arguments->json, "print one JSON object, whose rows have the columns of the table");
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "names with commas between; default all");
  add_setting_options(command, arguments->setting);
  command.describe("--on", "shapes with commas between: 8x8,16x16m,4x4x4", "SHAPE,..");
  command.describe("--ports", "numbers with commas between, or all: 1,all; default: what the algorithm was made for", "N|all,..");
  command.describe("--bytes", "64,4KiB or 1KiB:16MiB (times 4) or 1KiB:16MiB:x2", "SIZE,..");
  command.add("--repeat", "R", &arguments->repeat, "timed repetitions of each; run_s is their median");
  command.add_output("--html", ".html", &arguments->html,
                     "write a page with the curves of the table: times against sizes, and the lower bound");
  command.add_output("--svg", ".svg", &arguments->svg, "write the curves alone, as a figure, to this file");
  command.more_files = [arguments] { return kept_beside(arguments->csv); };
  command.body = [arguments] { return sweep(*arguments); };
  return command;
}

}  // namespace torus::command
