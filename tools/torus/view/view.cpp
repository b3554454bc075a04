/// torus view TRACE: a trace, ours or anybody's, as one HTML page that plays it; torus view A B: two on one clock.
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

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
  std::optional<std::string> other, output, svg, steps;
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

std::unique_ptr<View> read(const std::string& trace) {
  TraceReader reader(trace);
  auto view = std::make_unique<View>(reader.header());
  Progress progress;
  TraceMessage message;
  while (reader.next(message)) {
    try {
      view->message(message);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} line {}: {}", trace, reader.line(), error.what()));
    }
    if (progress.due()) progress.show(fmt::format("line {}", grouped(reader.line())));
  }
  progress.clear();
  return view;
}

constexpr const char* usual_page = "view.html";

int view(ViewArguments arguments) {
  if (!arguments.output && !arguments.svg) arguments.output = usual_page;
  if (arguments.steps && !arguments.svg)
    throw InputError(fmt::format("--steps {}: it chooses the steps of a figure; add --svg FILE, or leave it out", *arguments.steps));
  const auto steps = arguments.steps ? std::optional(parse_steps(*arguments.steps)) : std::nullopt;
  if (arguments.other && !arguments.output)
    throw InputError(fmt::format("'{}': a figure is of one trace; leave out --svg, or the second trace", *arguments.other));
  std::optional<OutputFile> page, figure;
  if (arguments.output) page.emplace(*arguments.output);
  if (arguments.svg) figure.emplace(*arguments.svg);
  const auto view = read(arguments.trace), other = arguments.other ? read(*arguments.other) : nullptr;
  if (other) {
    for (const auto& [trace, run] : {std::pair(&arguments.trace, view.get()), std::pair(&*arguments.other, other.get())}) {
      if (run->left_out())
        throw InputError(fmt::format("trace '{}': {}, and two runs are played by their messages; view it alone", *trace, *run->left_out()));
    }
  }
  if (figure) figure->write(view->svg(steps));
  if (page) page->write(view->page(other.get()));
  if (figure) figure->commit();
  if (page) page->commit();
  for (const auto& file : {arguments.output, arguments.svg}) {
    if (file && OutputFile::written_path(*file) != OutputFile::written_path("/dev/stdout"))
      print(fmt::format("{}: {}{}\n", *file, view->summary(), other ? "; beside it " + other->summary() : ""));
  }
  return 0;
}

}  // namespace

Command view_command() {
  const auto arguments = std::make_shared<ViewArguments>();
  Command command{.help = "Make one HTML page that plays a trace, or two, in any browser, without a network"};
  command.require("trace", "FILE", &arguments->trace, "a file, plain or gzip; - is standard input");
  command.add("other", "FILE", &arguments->other, "a second trace, to play both on one clock, side by side");
  command.add_output("-o,--output", ".html", &arguments->output, "the page to write; default: view.html, unless there is --svg");
  command.add_output("--svg", ".svg", &arguments->svg, "write steps side by side, as a figure, to this file");
  command.add("--steps,--step", "STEP,..", &arguments->steps, "of the figure: 3 or 0,1,2; default all that have messages");
  command.more_files = [arguments] { return usual_output(!arguments->output && !arguments->svg, usual_page, ".html"); };
  command.body = [arguments] { return view(*arguments); };
  return command;
}

}  // namespace torus::command
