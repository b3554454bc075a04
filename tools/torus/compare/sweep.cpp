/// torus sweep COLLECTIVE: every combination of shapes, ports, algorithms and sizes, run and verified; a table of them all.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/cli/version.hpp"
#include "tools/torus/compare/unfinished_table.hpp"
#include "tools/torus/curves/curves.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

struct SweepArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all", csv;
  std::optional<std::string> repeat, html, svg;
};

/// One row: what is run, and the algorithm.
struct Combination {
  const Algorithm* algorithm = nullptr;
  RunSpec spec;
};

/// What of an algorithm was not run, and why.
struct Omitted {
  std::size_t combinations = 0;
  std::string first_reason;
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
  TypedOptions of_any_shape = typed.without_damage();
  const std::optional<std::string> groups = take(of_any_shape["groups"]);
  RunSpec spec = parse_spec(collective, of_any_shape);
  spec.groups_text = groups;
  const std::vector<Bytes> sizes = bytes ? table_sizes(collective, bytes, "", typed) : std::vector<Bytes>{spec.bytes};
  const std::vector<Topology> shapes = on ? parse_shapes(*on) : std::vector<Topology>{spec.shape};
  const auto counts = ports ? std::optional(parse_port_counts(*ports)) : std::nullopt;
  Combinations combinations{{}, counts ? ports_left_out(shapes, *counts) : ""};
  for (const Topology& shape : shapes) {
    spec.shape = with_damage(shape, typed, spec.seed);
    settle_groups(spec);
    spec.ports.reset();
    static_cast<void>(make_machine(spec, NativeMachine{}));
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

/// All that decides what the rows say, in one line. The memory limit is no part of it.
std::string origin_of(const SweepArguments& arguments, const std::vector<const Algorithm*>& algorithms) {
  std::string text = fmt::format("unfinished table of torus {} sweep {}", version, arguments.collective);
  for (const auto& [name, value] : arguments.setting.typed()) text += fmt::format(" --{} {}", name, value);
  if (arguments.repeat) text += fmt::format(" --repeat {}", *arguments.repeat);
  text += " --algorithms ";
  for (const Algorithm* algorithm : algorithms) text += fmt::format("{}{}", algorithm == algorithms.front() ? "" : ",", algorithm->name);
  return text;
}

std::string bar(std::size_t done, std::size_t all) {
  constexpr std::size_t width = 30;
  const std::size_t full = all == 0 ? width : done * width / all;
  return fmt::format("[{}{}] {} of {}", std::string(full, '#'), std::string(width - full, '.'), grouped(done), grouped(all));
}

class Sweep {
 public:
  Sweep(Collective collective, const SweepArguments& arguments)
      : Sweep{collective, arguments, parse_algorithms("--algorithms", arguments.algorithms, collective, catalogue())} {
    resumed_ = table_.rows();
  }

  int run() {
    for (done_ = 0; done_ < combinations_.all.size(); ++done_) {
      if (!table_.has(done_)) row(combinations_.all[done_]);
      if (interrupted()) {
        throw RunError(fmt::format("interrupted with {} of at most {} done, in {}.part; the same command goes on from there",
                                   counted(table_.rows(), "row"), combinations_.all.size(), csv_.path()));
      }
    }
    progress_.clear();
    if (table_.rows() == 0) nothing_applies();
    const std::size_t failures = table_.failures();
    table_.finish(csv_);
    print(wrapped(summary(failures)));
    if (curves_.any()) curves_.write(read_curves(csv_.path()));
    if (failures == 0) return 0;
    throw RunError(fmt::format("{} of {} failed; the column failure of {} says how", failures, counted(table_.rows(), "run"), csv_.path()));
  }

 private:
  Sweep(Collective collective, const SweepArguments& arguments, const std::vector<const Algorithm*>& algorithms)
      : collective_{collective},
        repeat_{arguments.repeat ? static_cast<unsigned>(parse_whole("--repeat", *arguments.repeat, 1, 1000000)) : 1},
        algorithms_{algorithms},
        combinations_{combinations_of(collective, arguments.setting, algorithms)},
        csv_{arguments.csv},
        curves_{arguments.html, arguments.svg},
        table_{arguments.csv, origin_of(arguments, algorithms)} {}

  void row(const Combination& combination) {
    const Algorithm& algorithm = *combination.algorithm;
    const RunSpec& spec = combination.spec;
    const std::string what = fmt::format("{} on {}, {}", algorithm.name, spec.shape.text(), bytes_option(spec.bytes));
    if (progress_.due()) progress_.show(fmt::format("{} {}", bar(done_, combinations_.all.size()), what));
    EmulationOptions options;
    options.repeat = repeat_;
    options.stop = &interrupted();
    options.processes = processes();
    options.on_step = [&](Step step) {
      if (progress_.due()) progress_.show(fmt::format("{} {}: step {}", bar(done_, combinations_.all.size()), what, grouped(step)));
    };
    std::optional<Setting> setting;
    Emulation emulation;
    try {
      setting = open_setting(make_machine(spec, algorithm.native), make_fitting_request(spec), spec);
      if (const auto why_not = plan_with(*setting, algorithm, nullptr, &cache_)) return leave_out(algorithm, *why_not);
      emulation = emulate(*setting, options);
    } catch (const InputError& error) {  // it does not fit into the memory
      return leave_out(algorithm, error.what());
    } catch (const std::bad_alloc&) {
      return leave_out(algorithm, "there is not enough memory");
    } catch (const std::exception& error) {
      if (!setting) throw;
      emulation.failure = error.what();
    }
    if (emulation.interrupted) return;
    if (emulation.failure) std::replace(emulation.failure->begin(), emulation.failure->end(), '\n', ' ');
    const CsvLines lines = to_csv(*setting, emulation);
    table_.add(done_, emulation.failure.has_value(), lines.names, lines.values);
  }

  void leave_out(const Algorithm& algorithm, const std::string& reason) {
    Omitted& out = left_out_[&algorithm];
    if (out.combinations++ == 0) out.first_reason = reason;
    if (first_reason_.empty()) first_reason_ = reason;
  }

  [[noreturn]] void nothing_applies() {
    table_.drop();
    throw InputError(fmt::format("{}: none of the {} combinations can be run; the first says: {}; see `torus list` for what each needs",
                                 name(collective_), combinations_.all.size(), first_reason_));
  }

  std::string summary(std::size_t failures) const {
    std::size_t left_out = 0;
    for (const auto& [algorithm, out] : left_out_) left_out += out.combinations;
    std::string text = fmt::format("{}: {}{}, {} failed; {} left out\n", csv_.path(), counted(table_.rows(), "row"),
                                   resumed_ > 0 ? fmt::format(", {} of them from before", grouped(resumed_)) : "", grouped(failures),
                                   counted(left_out, "combination"));
    text += combinations_.left_out;
    Table lines;
    for (const Algorithm* algorithm : algorithms_) {
      if (const auto out = left_out_.find(algorithm); out != left_out_.end())
        lines.push_back({std::string(algorithm->name), grouped(out->second.combinations), out->second.first_reason});
    }
    if (lines.empty()) return text;
    lines.insert(lines.begin(), {"left out", "combinations", "because, the first time"});
    return text + "\n" + aligned(lines);
  }

  Collective collective_;
  unsigned repeat_;
  std::vector<const Algorithm*> algorithms_;
  Combinations combinations_;
  OutputFile csv_;
  CurveFiles curves_;
  UnfinishedTable table_;
  std::size_t resumed_ = 0, done_ = 0;
  std::map<const Algorithm*, Omitted> left_out_;
  std::string first_reason_;
  PlanCache cache_;
  Progress progress_{true};
};

int sweep(const SweepArguments& arguments) { return Sweep(parse_collective(arguments.collective, arguments.setting), arguments).run(); }

}  // namespace

Command sweep_command() {
  const auto arguments = std::make_shared<SweepArguments>();
  Command command{"sweep", "Every combination of shapes, ports, algorithms and sizes, verified, in one table; resumable"};
  add_collective(command, arguments->collective);
  command.add_output("--csv", ".csv", &arguments->csv, "the table; FILE.part until it is complete, and the same command goes on with that")
      .required = true;
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "names with commas between; default all");
  add_setting_options(command, arguments->setting);
  command.describe("--on", "shapes with commas between: 8x8,16x16m,4x4x4", "SHAPE,..");
  command.describe("--ports", "numbers with commas between, or all: 1,all; default: what the algorithm was made for", "N|all,..");
  command.describe("--bytes", "64,4KiB or 1KiB:16MiB (times 4) or 1KiB:16MiB:x2", "SIZE,..");
  command.add("--repeat", "R", &arguments->repeat, "timed repetitions of each; run_s is their median");
  command.add_output("--html", ".html", &arguments->html,
                     "write a page with the curves of the table: times against sizes, and the lower bound");
  command.add_output("--svg", ".svg", &arguments->svg, "write the curves alone, as a figure, to this file");
  command.more_files = [arguments] { return std::vector<NamedFile>{{"--csv", arguments->csv + ".part", ".csv"}}; };
  command.body = [arguments] { return sweep(*arguments); };
  return command;
}

}  // namespace torus::command
