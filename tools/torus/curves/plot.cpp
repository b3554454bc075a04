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

namespace torus::command {
namespace {

struct PlotArguments {
  std::string table;
  std::optional<std::string> output, svg, algorithms, on;
};

constexpr const char* usual_plot = "plot.html";

int plot(PlotArguments arguments) {
  if (!arguments.output && !arguments.svg) arguments.output = usual_plot;
  std::vector<Chart> charts = read_curves(arguments.table);
  if (arguments.on) charts = only_on(std::move(charts), "--on", *arguments.on);
  if (arguments.algorithms) charts = only(std::move(charts), "--algorithms", *arguments.algorithms);
  std::size_t curves = 0;
  for (const Chart& chart : charts) curves += chart.curves.size();
  CurveFiles(arguments.output, arguments.svg).write(charts);
  for (const auto& file : {arguments.output, arguments.svg}) {
    if (file && OutputFile::written_path(*file) != OutputFile::written_path("/dev/stdout"))
      print(fmt::format("{}: {}, {}\n", *file, counted(charts.size(), "chart"), counted(curves, "curve")));
  }
  return 0;
}

}  // namespace

Command plot_command() {
  const auto arguments = std::make_shared<PlotArguments>();
  Command command{.help = "Draw a table of sweep, compare or bench: times against sizes, with the lower bound"};
  command.require("table", "FILE", &arguments->table, "a file that --csv wrote, plain or gzip; - is standard input");
  command.add_output("-o,--output", ".html", &arguments->output, "the page to write; default: plot.html, unless there is --svg");
  command.add_output("--svg", ".svg", &arguments->svg, "write the curves alone, as a figure, to this file");
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms, "only these, with commas between; default all");
  command.add("--on", "SHAPE,..", &arguments->on, "only these shapes, as the table has them, with commas between; default all");
  command.more_files = [arguments] { return usual_output(!arguments->output && !arguments->svg, usual_plot, ".html"); };
  command.body = [arguments] { return plot(*arguments); };
  return command;
}

}  // namespace torus::command
