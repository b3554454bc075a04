/// torus view TRACE: a trace, ours or anybody's, as one HTML page that plays it.
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/view/playback.hpp"

namespace torus::command {
namespace {

struct ViewArguments {
  std::string trace;
  std::optional<std::string> output, svg, steps;
};

/// "3" or "0,1,2", in the order given.
std::vector<Step> parse_steps(const std::string& text) {
  std::vector<Step> steps;
  for (const std::string_view part : split(text, ',')) {
    const auto step = whole_number(part);
    if (!step || *step >= std::numeric_limits<Step>::max())
      refuse("--steps", text, "it must be steps with commas between, for instance 0,1,2");
    steps.push_back(static_cast<Step>(*step));
  }
  return steps;
}

int view(ViewArguments arguments) {
  if (!arguments.output && !arguments.svg) arguments.output = "view.html";
  if (arguments.steps && !arguments.svg)
    throw InputError(fmt::format("--steps {}: it chooses the steps of a figure; add --svg FILE, or leave it out", *arguments.steps));
  const auto steps = arguments.steps ? std::optional(parse_steps(*arguments.steps)) : std::nullopt;
  for (const auto& [name, ending, file] : {std::tuple("--output", "html", arguments.output), std::tuple("--svg", "svg", arguments.svg)}) {
    if (file && arguments.trace != "-" && OutputFile::written_path(arguments.trace) == OutputFile::written_path(*file))
      throw InputError(fmt::format("{0} '{1}': it is the trace itself; for instance {0} {2}.{3}", name, *file, arguments.trace, ending));
  }
  refuse_one_file_for_two("--output", arguments.output, "--svg", arguments.svg, ".svg");
  TraceReader reader(arguments.trace);
  if (!reader.header().groups.empty())
    throw InputError(fmt::format("trace '{}': it is of {} groups, which the page does not show yet; `torus verify` judges it",
                                 arguments.trace, reader.header().groups.size()));
  std::optional<OutputFile> page, figure;
  if (arguments.output) page.emplace(*arguments.output);
  if (arguments.svg) figure.emplace(*arguments.svg);
  View view(reader.header());
  Progress progress;
  TraceMessage message;
  while (reader.next(message)) {
    try {
      view.message(message);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} line {}: {}", arguments.trace, reader.line(), error.what()));
    }
    if (progress.due()) progress.show(fmt::format("line {}", grouped(reader.line())));
  }
  progress.clear();
  if (figure) figure->write(view.svg(steps));
  if (page) page->write(view.page());
  if (figure) figure->commit();
  if (page) page->commit();
  for (const auto& file : {arguments.output, arguments.svg}) {
    if (file && OutputFile::written_path(*file) != OutputFile::written_path("/dev/stdout"))
      print(fmt::format("{}: {}\n", *file, view.summary()));
  }
  return 0;
}

}  // namespace

Command view_command() {
  const auto arguments = std::make_shared<ViewArguments>();
  Command command{"view", "Make one HTML page that plays a trace in any browser, without a network"};
  command.require("trace", "FILE", &arguments->trace, "a file, plain or gzip; - is standard input");
  command.add("-o,--output", "FILE", &arguments->output, "the page to write; default: view.html, unless there is --svg");
  command.add("--svg", "FILE", &arguments->svg, "write steps side by side, as a figure, to this file");
  command.add("--steps,--step", "STEP,..", &arguments->steps, "of the figure: 3 or 0,1,2; default all that have messages");
  command.body = [arguments] { return view(*arguments); };
  return command;
}

}  // namespace torus::command
