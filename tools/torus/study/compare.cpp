/// torus compare COLLECTIVE: all algorithms that apply, side by side, and the fastest by size.
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include <torus/error.hpp>

#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/curves/curves.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/setting/schedule_file.hpp"
#include "tools/torus/study/comparison.hpp"
#include "tools/torus/study/failures.hpp"

namespace torus::command {
namespace {

struct CompareArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all", run = "first";
  std::optional<std::string> schedule, csv, html, svg;
  bool json = false, all_machines = false, every_single_link = false, every_single_node = false;
};

/// How many of the sizes, from the smallest, are to be run by all algorithms.
std::size_t run_sizes(const std::string& text, std::size_t sizes) {
  if (text == "first") return 1;
  if (text == "all") return sizes;
  if (text == "none" || text == "best") return 0;
  throw InputError(fmt::format("--run '{}': it must be first (the smallest size), best (of each size), all or none", text));
}

/// Every failure is run at one size: what draws curves or leaves runs out is refused.
int run_with_failures(const CompareArguments& arguments) {
  const std::string_view option = arguments.every_single_link ? "--every-single-link" : "--every-single-node";
  for (const auto& [name, value] : {std::pair("--html", arguments.html), std::pair("--svg", arguments.svg)}) {
    if (value)
      throw InputError(fmt::format("{} '{}': with {} there is one size, and no curve; leave it out, or name --csv", name, *value, option));
  }
  if (arguments.run == "none" || arguments.run == "best")
    throw InputError(fmt::format("--run '{}': with {} all is run; leave it out", arguments.run, option));
  static_cast<void>(run_sizes(arguments.run, 1));
  return run_single_failures({arguments.collective, arguments.setting, arguments.algorithms, arguments.csv, arguments.every_single_link,
                              arguments.every_single_node, arguments.json, arguments.all_machines});
}

int run_compare(const CompareArguments& arguments) {
  if (arguments.every_single_link || arguments.every_single_node) return run_with_failures(arguments);
  const Collective collective = parse_collective(arguments.collective, arguments.setting);
  ComparisonOptions options;
  TypedOptions typed = arguments.setting;
  options.sizes = table_sizes(collective, std::exchange(typed["bytes"], std::nullopt), "64:1MiB", typed);
  options.algorithms = parse_algorithms("--algorithms", arguments.algorithms, collective, catalogue());
  options.named = arguments.algorithms != "all";
  options.run_sizes = run_sizes(arguments.run, options.sizes.size());
  options.run_best = arguments.run == "best";
  options.all_machines = arguments.all_machines;
  if (arguments.run == "first") options.run_what_is_quick();
  CurveFiles curves(arguments.html, arguments.svg);

  RunSpec spec = parse_spec(collective, typed);
  play(spec, arguments.schedule);
  if (spec.schedule) {  // on the machine that its kind implies
    const Algorithm& file = algorithm_of_file(spec);
    options.algorithms.push_back(&file);
    if (!arguments.all_machines) {
      spec.switching = spec.switching.value_or(file.native.switching);
      spec.contention = spec.contention.value_or(file.native.contention);
    }
  }
  TypedOptions::Pairs of = arguments.setting.typed(true);
  of.insert(of.end(), {{"run", arguments.run}, {"all-machines", arguments.all_machines ? "yes" : "no"}});
  if (arguments.schedule) of.emplace_back("schedule", *arguments.schedule);
  Study study("compare " + arguments.collective, of, options.algorithms, arguments.csv);
  const Comparison comparison = compare(spec, options, study);
  study.progress().clear();
  if (comparison.interrupted) {
    throw RunError(fmt::format("interrupted; a table with gaps would mislead, so there is none; --run none is quicker{}", study.goes_on()));
  }
  study.finish([&] { return to_csv(comparison); });
  if (curves.any()) curves.write(curves_of(to_csv(comparison)));
  answer(
      arguments.json, [&] { return to_json(comparison); }, [&] { return to_table(comparison); });
  if (!comparison.failure) return 0;
  throw RunError(*comparison.failure);
}

}  // namespace

Command compare_command() {
  const auto arguments = std::make_shared<CompareArguments>();
  Command command{.help = "All algorithms that apply, side by side, with the bounds, and the fastest by size"};
  add_collective(command, arguments->collective);
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "only these, with commas between; default all");
  add_setting_options(command, arguments->setting);
  command.describe("--switching", "default: what `torus run` takes");
  command.describe("--bytes", "64,4KiB or 1KiB:16MiB (times 4) or 1KiB:16MiB:x2; default 64:1MiB", "SIZE,..");
  command.add("--run", "first|best|all|none", &arguments->run,
              "what to run and verify; default first: the smallest size, where that is quick; best: the best of each size");
  command.add("--all-machines", "", &arguments->all_machines,
              "what the options leave open of the machine: a table for each that an algorithm was made for");
  command.add("--schedule", "FILE", &arguments->schedule, "add a row for the schedule of another program, as `torus run` takes it");
  command.add("--every-single-link", "", &arguments->every_single_link,
              "run all with each link dead once, at one size: who survives, how fast");
  command.add("--every-single-node", "", &arguments->every_single_node, "the same with each node dead once, but those that are sources");
  command.add_output("--csv", ".csv", &arguments->csv, "write a line for each machine, algorithm and size to this file");
  command.add_output("--html", ".html", &arguments->html, "write a page with the curves: times against sizes, and the lower bound");
  command.add_output("--svg", ".svg", &arguments->svg, "write the curves alone, as a figure, to this file");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.more_files = [arguments] { return kept_beside(arguments->csv); };
  command.body = [arguments] { return run_compare(*arguments); };
  return command;
}

}  // namespace torus::command
