/// torus import FILE --on SHAPE: a schedule of another program as a trace.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <tuple>
#include <utility>

#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/trace_reader.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/traces/imported.hpp"

namespace torus::command {
namespace {

struct ImportArguments {
  std::string file;
  TypedOptions setting;
  std::optional<std::string> output;
};

constexpr const char* usual_trace = "trace.jsonl";

/// Calls f for each message of such a setting, in the order of a trace, until it returns false.
void each_message(const Setting& setting, const Schedule& schedule, const std::function<bool(const TraceMessage&)>& f) {
  const Placement placement = placement_of(setting.machine, setting.request, setting.plan);
  const bool partials = facts_of(setting.request.collective).combines;
  std::vector<const Schedule::Send*> sends;
  sends.reserve(schedule.sends().size());
  for (const Schedule::Send& send : schedule.sends()) sends.push_back(&send);
  std::stable_sort(sends.begin(), sends.end(), [&](const Schedule::Send* a, const Schedule::Send* b) {
    if (a->step != b->step) return a->step < b->step;
    if (a->from != b->from) return a->from < b->from;
    const auto by_dimension = [](const Leg& x, const Leg& y) { return std::tie(x.dimension, x.hops) < std::tie(y.dimension, y.hops); };
    const RouteView p = schedule.route(*a), q = schedule.route(*b);
    return std::lexicographical_compare(p.begin(), p.end(), q.begin(), q.end(), by_dimension);
  });
  TraceMessage message;
  for (const Schedule::Send* send : sends) {
    const RouteView route = schedule.route(*send);
    const auto blocks = schedule.blocks(*send);
    message.step = send->step;
    message.source = send->from;
    message.destination = send->to;
    message.path.assign(route.begin(), route.end());
    message.blocks.assign(blocks.begin(), blocks.end());
    message.bytes = 0;
    for (const BlockId id : blocks) message.bytes += placement.bytes(id);
    message.registers = partials && (send->manner == Manner::combine || send->manner == Manner::share) ? send->registers : 0;
    message.releases = partials && (send->manner == Manner::combine || send->manner == Manner::give);
    if (!f(message)) return;
  }
}

int run_import(const ImportArguments& arguments) {
  const std::string output = arguments.output.value_or(usual_trace);
  const Setting setting = imported(arguments.file, arguments.setting);
  const Schedule schedule = schedule_of(setting);
  const Verdict verdict = write_trace(output, setting, schedule, arguments.file);
  if (OutputFile::written_path(output) != OutputFile::written_path("/dev/stdout"))
    print(fmt::format("{}: {} in {}, {} on {}\nread as {}\n", output, counted(verdict.messages, "message"),
                      counted(setting.plan.steps, "step"), name(setting.request.collective), setting.machine.topology.text(),
                      setting.plan.notes.front().second));
  return 0;
}

}  // namespace

Setting imported(const std::string& path, const TypedOptions& typed) {
  const ForeignSchedule file = ForeignSchedule::read(path);
  if (!typed["on"] && !typed["machine"] && file.kind() == ForeignSchedule::Kind::trace) {
    const std::string shape = TraceReader(path).header().machine.topology.text();
    throw InputError(fmt::format("'{}' is a trace of a run on {}; add --on SHAPE, for instance --on {}", path, shape, shape));
  }
  if (!typed["on"] && !typed["machine"])
    throw InputError(fmt::format("'{}' is a schedule for {} ranks, and names no machine; add --on SHAPE, for instance --on {}", path,
                                 file.ranks(), file.ranks()));
  if (file.uneven() && !typed["sizes"] && !typed["bytes"])
    throw InputError(
        fmt::format("schedule '{}': its blocks have sizes of their own; say them with --sizes, or --bytes for equal ones", path));
  RunSpec spec = parse_spec(file.collective(), typed);
  play(spec, path);
  if (!typed["bytes"] && facts_of(file.collective()).carries_bytes())
    spec.bytes = std::max(spec.bytes, Bytes{8} * file.segments());  // no block is empty
  return scheduled_setting(spec, false);
}

Verdict judged(const Setting& setting, const Schedule& schedule, std::function<void()> look,
               const std::function<void(const TraceMessage&)>& see) {
  Judge judge(header_of(setting), std::move(look));
  each_message(setting, schedule, [&](const TraceMessage& message) {
    if (see) see(message);
    return judge.message(message);
  });
  return judge.finish();
}

Verdict write_trace(const std::string& path, const Setting& setting, const Schedule& schedule, std::string_view called) {
  Verdict verdict = judged(setting, schedule);
  if (!verdict.ok) throw RunError(fmt::format("schedule '{}': {}", called, verdict.violations.front()));
  OutputFile file(path);
  file.write(to_json_line(header_of(setting)) + "\n");
  each_message(setting, schedule, [&](const TraceMessage& message) {
    file.write(to_json_line(message) + "\n");
    return true;
  });
  file.commit();
  return verdict;
}

Command import_command() {
  const auto arguments = std::make_shared<ImportArguments>();
  Command command{.help = "Turn a schedule of another program into a trace: MSCCL XML, TE-CCL JSON, ForestColl trees"};
  command.require("file", "FILE", &arguments->file, "the schedule, plain or gzip");
  add_setting_options(command, arguments->setting);
  command.describe("--switching", "how a message crosses several channels; default: what the kind of the file implies");
  command.describe("--contention", "two messages on a channel in one step; default: what the kind of the file implies");
  command.add_output("-o,--output", ".jsonl", &arguments->output, "the trace to write; default: trace.jsonl; compressed if it ends in .gz");
  command.more_files = [arguments] { return usual_output(!arguments->output, usual_trace, ".jsonl"); };
  command.body = [arguments] { return run_import(*arguments); };
  return command;
}

}  // namespace torus::command
