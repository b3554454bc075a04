/// torus plot CSV: the curves of a finished table.
#include <fmt/format.h>
#include <memory>
#include <optional>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/curves/curves.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

struct PlotArguments {
  std::string table;
  std::optional<std::string> output, svg, algorithms;
};

int plot(PlotArguments arguments) {
  if (!arguments.output && !arguments.svg) arguments.output = "plot.html";
  refuse_one_file_for_two("--output", arguments.output, "--svg", arguments.svg, ".svg");
  for (const auto& [name, file] : {std::pair("--output", arguments.output), std::pair("--svg", arguments.svg)}) {
    if (file && arguments.table != "-" && OutputFile::written_path(arguments.table) == OutputFile::written_path(*file))
      throw InputError(fmt::format("{} '{}': it is the table itself; for instance {} {}.html", name, *file, name, arguments.table));
  }
  std::vector<Chart> charts = read_curves(arguments.table);
  if (arguments.algorithms) charts = only(std::move(charts), "--algorithms", *arguments.algorithms);
  std::size_t curves = 0;
  for (const Chart& chart : charts) curves += chart.curves.size();
  CurveFiles(arguments.output, arguments.svg).write(charts);
  for (const auto& file : {arguments.output, arguments.svg}) {
    if (file && OutputFile::written_path(*file) != OutputFile::written_path("/dev/stdout"))
      print(fmt::format("{}: {} {}, {} curves\n", *file, charts.size(), charts.size() == 1 ? "chart" : "charts", grouped(curves)));
  }
  return 0;
}

}  // namespace

Command plot_command() {
  const auto arguments = std::make_shared<PlotArguments>();
  Command command{"plot", "Draw a table of sweep, compare or bench: times against sizes, with the lower bound"};
  command.require("table", "FILE", &arguments->table, "a file that --csv wrote, plain or gzip; - is standard input");
  command.add("-o,--output", "FILE", &arguments->output, "the page to write; default: plot.html, unless there is --svg");
  command.add("--svg", "FILE", &arguments->svg, "write the curves alone, as a figure, to this file");
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "only these, with commas between; default all");
  command.body = [arguments] { return plot(*arguments); };
  return command;
}

}  // namespace torus::command
