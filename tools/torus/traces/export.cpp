/// torus export TRACE --to FORMAT: a trace for other programs.
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/traces/formats.hpp"

namespace torus::command {
namespace {

struct ExportArguments {
  std::string trace, to;
  std::optional<std::string> output, step, origin;
};

std::string usual_export(const std::string& to) { return to == "perfetto" ? "trace.pftrace" : to == "msccl" ? "trace.xml" : "trace." + to; }

int run_export(const ExportArguments& arguments) {
  const std::string& to = arguments.to;
  if (to != "perfetto" && to != "dot" && to != "goal" && to != "msccl") refuse("--to", to, "it must be perfetto, dot, goal or msccl");
  std::optional<Step> step;
  if (arguments.step) {
    if (to != "dot")
      throw InputError(fmt::format("--step {}: a step is chosen of a graph; leave it out, or use --to dot", *arguments.step));
    step = static_cast<Step>(parse_whole("--step", *arguments.step, 0, std::numeric_limits<Step>::max() - 1));
  }
  if (arguments.origin && (to != "dot" || step))
    throw InputError(
        fmt::format("--origin {}: an origin is chosen of a tree; leave it out, or use --to dot without --step", *arguments.origin));
  const std::string output = arguments.output.value_or(usual_export(to));
  TraceSteps steps(arguments.trace);
  if (const std::size_t groups = steps.header().groups.size(); groups > 0 && !steps.header().mapped() && to != "goal")
    throw InputError(fmt::format("trace '{}': it is of {}, which --to {} does not know yet; --to goal does", arguments.trace,
                                 counted(groups, "group"), to));
  std::optional<NodeId> origin;
  if (arguments.origin) origin = parse_node("--origin", *arguments.origin, steps.header().machine.topology);
  OutputFile file(output);
  const Note note = to == "perfetto" ? export_perfetto(steps, file)
                    : to == "dot"    ? export_dot(steps, step, origin, file)
                    : to == "msccl"  ? export_msccl(steps, file)
                                     : export_goal(steps, file);
  file.commit();
  if (OutputFile::written_path(output) != OutputFile::written_path("/dev/stdout")) print(fmt::format("{}: {}\n", output, note));
  return 0;
}

}  // namespace

Command export_command() {
  const auto arguments = std::make_shared<ExportArguments>();
  Command command{.help = "Write a trace for other programs: Perfetto, Graphviz, LogGOPSim, MSCCL"};
  command.require("trace", "FILE", &arguments->trace, "a file, plain or gzip; - is standard input");
  command.require("--to", "perfetto|dot|goal|msccl", &arguments->to, "for ui.perfetto.dev, Graphviz, LogGOPSim or MSCCL");
  command.add_output("-o,--output", ".out", &arguments->output,
                     "the file to write; default: trace.pftrace, trace.dot, trace.goal or trace.xml");
  command.add("--step", "STEP", &arguments->step,
              "dot: the messages of this step; default: the tree by which data spread, or came to the root");
  command.add("--origin", "NODE", &arguments->origin,
              "dot: the node whose data the tree follows, where many have some; default: the first source");
  command.more_files = [arguments] { return usual_output(!arguments->output, usual_export(arguments->to), ".out"); };
  command.body = [arguments] { return run_export(*arguments); };
  return command;
}

bool TraceSteps::next(std::vector<TraceMessage>& messages) {
  messages.clear();
  TraceMessage message;
  if (!begun_) {
    begun_ = true;
    if (reader_.next(message)) first_ = message;
  }
  if (!first_) return false;
  messages.push_back(std::move(*first_));
  first_.reset();
  while (reader_.next(message)) {
    const Step now = messages.front().step;
    if (message.step < now)
      throw InputError(fmt::format("{} line {}: step {} comes after step {}: steps must ascend; sort the messages by step", path_,
                                   reader_.line(), message.step, now));
    if (message.step > now) {
      first_ = std::move(message);
      break;
    }
    messages.push_back(message);
  }
  return true;
}

}  // namespace torus::command
