/// torus view TRACE: a trace, ours or anybody's, as one HTML page that plays it.
#include <fmt/format.h>
#include <memory>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "runtime/trace/output_file.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/subcommands.hpp"
#include "tools/torus/view.hpp"

namespace torus::command {
namespace {

struct ViewArguments {
  std::string trace;
  std::string output = "view.html";
};

int view(const ViewArguments& arguments) {
  if (arguments.trace != "-" && OutputFile::written_path(arguments.trace) == OutputFile::written_path(arguments.output))
    throw InputError(
        fmt::format("--output '{}': it is the trace itself; for instance --output {}.html", arguments.output, arguments.trace));
  TraceReader reader(arguments.trace);
  OutputFile page(arguments.output);
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
  page.write(view.page());
  page.commit();
  if (OutputFile::written_path(arguments.output) != OutputFile::written_path("/dev/stdout"))
    print(fmt::format("{}: {}\n", arguments.output, view.summary()));
  return 0;
}

}  // namespace

Subcommand add_view(CLI::App& torus) {
  const auto arguments = std::make_shared<ViewArguments>();
  CLI::App* app = torus.add_subcommand("view", "Make one HTML page that plays a trace in any browser, without a network");
  app->add_option("trace", arguments->trace, "a file, plain or gzip; - is standard input")->required();
  app->add_option("-o,--output", arguments->output, "the page to write; default: view.html")->type_name("FILE");
  return {app, [arguments] { return view(*arguments); }};
}

}  // namespace torus::command
