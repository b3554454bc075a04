/// torus verify TRACE: judge a trace, ours or anybody's.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/traces/imported.hpp"
#include "tools/torus/traces/without_barrier.hpp"

namespace torus::command {
namespace {

struct VerifyArguments {
  std::string trace;
  TypedOptions machine;  ///< of a schedule that is no trace
  std::optional<std::string> seconds;
  bool no_barrier = false;
  bool json = false;
};

Json to_json(const TraceHeader& header, const Verdict& verdict) {
  Json json{{"ok", verdict.ok},
            {"shape", header.machine.topology.text()},
            {"collective", header.collective},
            {"algorithm", header.algorithm},
            {"busy_steps", verdict.busy_steps},
            {"last_step", verdict.last_step},
            {"messages", verdict.messages},
            {"control_messages", verdict.control_messages},
            {"hops", verdict.hops},
            {"bytes", verdict.bytes},
            {"max_channel_load", verdict.max_channel_load},
            {"max_channel_bytes", verdict.max_channel_bytes},
            {"channel_bytes_sum", verdict.channel_bytes},
            {"missing_blocks", verdict.missing_blocks},
            {"trace_digest", digest_text(verdict.digest)},
            {"violations", verdict.violations}};
  if (!header.groups.empty()) json["groups"] = header.groups.size();
  if (!header.machine.cost.one_speed()) json["channel_time_s"] = verdict.channel_time_s;
  return json;
}

/// The most dependences or nodes of a cycle that a table names.
constexpr std::size_t max_named = 12;

std::string text_of(const ChannelName& c) { return fmt::format("node {} dimension {} {:+}", c.from, c.dimension, c.hop); }

std::string text_of(const Dependence& d) {
  return fmt::format("step {}: the message from node {} to node {} holds {} and asks for {}", d.step, d.source, d.destination,
                     text_of(d.held), text_of(d.asked));
}

std::string text_of(const Circle& circle) {
  std::string nodes;
  for (std::size_t i = 0; i < std::min(circle.nodes.size(), max_named); ++i)
    nodes += fmt::format("{}{}", i == 0 ? "" : ", ", circle.nodes[i]);
  if (circle.nodes.size() > max_named) nodes += fmt::format(" and {} more", circle.nodes.size() - max_named);
  return fmt::format("in step {} nodes {} wait for one another", circle.step, nodes);
}

Json to_json(const WithoutBarrier& without) {
  std::vector<std::string> cycle;
  for (const Dependence& d : without.cycle()) cycle.push_back(text_of(d));
  const Buffered buffered = without.buffered();
  Json json{{"free_of_deadlock", cycle.empty()},
            {"cycle", cycle},
            {"datelines", Json()},
            {"buffered_blocks", buffered.blocks},
            {"buffered_bytes", buffered.bytes},
            {"sends_first_circle", without.circle().nodes}};
  if (const auto datelines = without.datelines()) json["datelines"] = *datelines;
  return json;
}

void add_rows(Rows& rows, const WithoutBarrier& without) {
  const std::vector<Dependence> cycle = without.cycle();
  for (std::size_t i = 0; i < std::min(cycle.size(), max_named); ++i) rows.emplace_back(i == 0 ? "cycle" : "", text_of(cycle[i]));
  if (cycle.size() > max_named) rows.emplace_back("", fmt::format("and {} more, back to the first", cycle.size() - max_named));
  rows.emplace_back("buffered", buffered_text(without.buffered()));
  const Circle circle = without.circle();
  const std::string program = "where nodes send all of a step before they receive, without a buffer";
  rows.emplace_back("sends first",
                    circle.nodes.empty() ? "does not hang " + program : fmt::format("hangs {}: {}", program, text_of(circle)));
  if (cycle.empty()) {
    rows.emplace_back("no barrier", "free of deadlock in any timing: no cycle of channels held and asked for");
    return;
  }
  rows.emplace_back("no barrier", "may deadlock on wormhole routers");
  std::string where;
  if (const auto datelines = without.datelines()) {
    for (const Dimension d : *datelines) where += (where.empty() ? "" : ", ") + std::to_string(d);
    where = "2 a channel, with a dateline on the rings of dimension " + where + ", break all cycles";
  }
  rows.emplace_back("virtual channels", where.empty() ? "more than 2 a channel; a dateline on all rings leaves a cycle" : where);
}

/// The ports that the judge goes by: where channels are shared, there may be more than channels.
std::uint64_t judged_ports(const TraceHeader& header) {
  const auto ports = static_cast<std::uint64_t>(header.machine.ports);
  return header.machine.contention == Contention::share ? std::max(ports, header.ports) : ports;
}

std::string to_table(const TraceHeader& header, const Verdict& verdict, const std::string& reading, const WithoutBarrier* without) {
  const Machine& machine = header.machine;
  Rows rows;
  rows.emplace_back("machine",
                    fmt::format("{}: {}, {}, {}, contention {}", machine.topology.text(), counted(machine.topology.nodes(), "node"),
                                name(machine.switching), counted(judged_ports(header), "port"), name(machine.contention)));
  const std::string each = header.groups.empty() ? "" : fmt::format(", in each of {}", counted(header.groups.size(), "group"));
  rows.emplace_back(reading.empty() ? "trace" : "schedule", fmt::format("{} by {}{}", header.collective, header.algorithm, each));
  if (!reading.empty()) rows.emplace_back("read as", reading);
  rows.emplace_back("steps", verdict.busy_steps == 0
                                 ? "none with traffic"
                                 : fmt::format("{} with traffic, the last is step {}", grouped(verdict.busy_steps), verdict.last_step));
  rows.emplace_back("messages",
                    fmt::format("{} over {}, {}", grouped(verdict.messages), counted(verdict.hops, "hop"), counted(verdict.bytes, "byte")));
  if (!machine.cost.one_speed())
    rows.emplace_back("byte term", fmt::format("{}: each step's max of bytes times T_c", seconds_text(verdict.channel_time_s)));
  rows.emplace_back("digest", digest_text(verdict.digest));
  for (const std::string& violation : verdict.violations) rows.emplace_back("violation", violation);
  if (verdict.stopped) rows.emplace_back("", "there may be more: the rest was not read");
  if (without != nullptr) add_rows(rows, *without);
  rows.emplace_back("verdict", verdict.ok ? "legal and complete" : "REFUSED");
  return aligned(rows);
}

/// Ends work that takes longer than a trace of its size can be worth: a few lines may describe a machine and routes that take hours.
class Patience {
 public:
  Patience(const std::string& trace, const std::optional<std::string>& seconds) : trace_{trace} {
    if (seconds) seconds_ = parse_real("--seconds", *seconds, 0.001, 1e9, "60");
  }
  /// bytes: of the file, read so far.
  void look(std::uint64_t bytes) const {
    const double allowed = seconds_ ? *seconds_ : 10 * std::max(1.0, static_cast<double>(bytes) / 0x1p20);
    if (std::chrono::duration<double>(Clock::now() - start_).count() < allowed) return;
    throw RunError(fmt::format("trace '{}': judging what was read of it, {}, takes more than {:.4g} s; --seconds allows more", trace_,
                               bytes_text(bytes), allowed));
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string trace_;
  std::optional<double> seconds_;
  Clock::time_point start_ = Clock::now();
};

/// Prints the verdict. `reading`: how a schedule of another program was read; empty: it is a trace. `without`: asked for by --no-barrier.
int say(const VerifyArguments& arguments, const TraceHeader& header, const Verdict& verdict, const WithoutBarrier& without,
        const std::string& reading = {}) {
  const bool asked = arguments.no_barrier && verdict.ok;
  answer(
      arguments.json,
      [&] {
        Json json = to_json(header, verdict);
        if (!reading.empty()) json["schedule"] = reading;
        if (asked) json["no_barrier"] = to_json(without);
        return json;
      },
      [&] { return to_table(header, verdict, reading, asked ? &without : nullptr); });
  if (!verdict.ok) throw RunError(verdict.violations.front());
  if (!asked) return 0;
  const std::vector<Dependence> cycle = without.cycle();
  if (!cycle.empty())
    throw RunError(fmt::format("without a barrier it may deadlock: {}, in a cycle of {}", text_of(cycle.front()), cycle.size()));
  return 0;
}

/// Judges the messages of another program's schedule as those of a trace.
int verify_schedule(const VerifyArguments& arguments, const Patience& patience) {
  const Setting setting = imported(arguments.trace, arguments.machine);
  WithoutBarrier without(header_of(setting));
  const auto see = [&](const TraceMessage& message) {
    if (arguments.no_barrier) without.message(message);
  };
  const Verdict verdict = judged(
      setting, schedule_of(setting), [&] { patience.look(0); }, see);
  return say(arguments, header_of(setting), verdict, without, setting.plan.notes.front().second);
}

int verify(const VerifyArguments& arguments) {
  const Patience patience(arguments.trace, arguments.seconds);
  if (ForeignSchedule::kind_of(arguments.trace) != ForeignSchedule::Kind::trace) return verify_schedule(arguments, patience);
  if (const auto typed = arguments.machine.typed(); !typed.empty()) {
    const auto [option, value] = typed.front();
    throw InputError(fmt::format("--{} '{}': '{}' is a trace, which names its own machine; leave it out", option, value, arguments.trace));
  }
  TraceReader reader(arguments.trace);
  const auto look = [&] { patience.look(reader.bytes_read()); };
  Judge judge(reader.header(), look);
  WithoutBarrier without(reader.header());
  Progress progress;
  TraceMessage message;
  while (reader.next(message) && judge.message(message)) {
    if (arguments.no_barrier) without.message(message);
    if (reader.line() % 4096 == 0) look();
    if (progress.due()) progress.show(fmt::format("line {}", grouped(reader.line())));
  }
  progress.clear();
  return say(arguments, reader.header(), judge.finish(), without);
}

}  // namespace

Command verify_command() {
  const auto arguments = std::make_shared<VerifyArguments>();
  Command command{.help = "Judge a trace, or a schedule of another program: legality of every step, causality, delivery"};
  command.require("trace", "FILE", &arguments->trace,
                  "a trace, MSCCL XML, TE-CCL JSON or ForestColl trees, plain or gzip; - is a trace from standard input");
  add_options(command, OptionGroup::machine, arguments->machine);
  command.describe("--on", "of a schedule that is no trace: its machine, with the options below");
  command.add("--seconds", "S", &arguments->seconds, "so long at most; default 10 for each MiB of the file, and for a smaller one");
  command.add("--no-barrier", "", &arguments->no_barrier,
              "also: could it deadlock on wormhole routers if no barrier kept the steps apart?");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return verify(*arguments); };
  return command;
}

}  // namespace torus::command
