#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/run/several.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

std::string verdict_of(const Run& run) {
  if (run.check.failure) return run.result.interrupted ? *run.check.failure : "FAILED";
  return run.result.verified ? "verified" : "not verified";
}

/// "x1.07".
std::string times_text(double time_s, double of_s) { return of_s > 0 ? fmt::format("x{:.2f}", time_s / of_s) : "-"; }

std::string busiest_text(const Topology& topology, const SessionRun::Busiest& busiest) {
  std::string text = fmt::format("busiest {} {}:{:+}, {}:", node_text(topology, busiest.from), busiest.dimension, busiest.hop,
                                 counted(busiest.bytes, "byte"));
  for (std::size_t i = 0; i < busiest.of_each.size(); ++i)
    text += fmt::format("{} {} of {}", i == 0 ? "" : ",", grouped(busiest.of_each[i]), i + 1);
  return text;
}

std::string shared_text(const SessionRun& run) {
  if (run.shared_channels == 0) return "no channel";
  const std::string channels = counted(run.shared_channels, "channel");
  if (run.shared_crossings == 0) return channels + ", none in one step";
  return fmt::format("{}; {} several cross one in one step, at most {} messages", channels, counted(run.shared_crossings, "time"),
                     grouped(run.max_channel_load));
}

/// "rows", "rows, group 3"; "-": none.
std::string groups_text(const Setting& setting) {
  if (!setting.groups) return "-";
  return setting.groups->text() + (setting.groups->are_a_class() ? ", " + class_text(*setting.groups) : "");
}

/// A row a collective; with its verdict where they differ.
Table collectives_table(const std::deque<PartOfRun>& parts, const SessionRun& run) {
  Table table{{"", "collective", "groups", "bytes", "algorithm", "begins", "steps", "alone", "together"}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Setting& setting = parts[i].setting;
    const Run& each = run.each[i];
    const double alone_s = each.result.model_time_s;
    table.push_back({fmt::format("{}", i + 1), std::string(name(setting.request.collective)), groups_text(setting),
                     bytes_option(setting.request.bytes), std::string(setting.algorithm->name), grouped(parts[i].offset),
                     grouped(each.result.steps), seconds_text(alone_s), times_text(each.span_s, alone_s)});
    if (run.failure) table.back().push_back(verdict_of(each));
  }
  if (run.failure) table.front().emplace_back("verdict");
  return table;
}

}  // namespace

Json several_json(const std::deque<PartOfRun>& parts, const SessionRun& run) {
  const Machine& machine = parts.front().setting.whole();
  Json json;
  json["shape"] = machine.topology.text();
  json["nodes"] = machine.topology.nodes();
  json["ports"] = machine.ports;
  json["switching"] = name(machine.switching);
  json["contention"] = name(machine.contention);
  json["collectives"] = Json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Json each = to_json(parts[i].setting, run.each[i]);
    each["offset"] = parts[i].offset;
    each["together_s"] = run.each[i].span_s;
    if (!parts[i].trace.empty()) each["trace"] = parts[i].trace;
    json["collectives"].push_back(std::move(each));
  }
  json["steps"] = run.steps;
  json["busy_steps"] = run.busy_steps;
  json["model_time_s"] = run.model_time_s;
  json["model_time_in_turn_s"] = run.one_after_the_other_s();
  json["channel_bytes_sum"] = run.channel_bytes_sum;
  json["max_channel_load"] = run.max_channel_load;
  json["shared_channels"] = run.shared_channels;
  json["shared_crossings"] = run.shared_crossings;
  if (run.busiest) {
    json["busiest_channel"] = {{"node", run.busiest->from},
                               {"dimension", run.busiest->dimension},
                               {"hop", run.busiest->hop},
                               {"bytes", run.busiest->bytes},
                               {"bytes_of_each", run.busiest->of_each}};
  }
  json["violations"] = Json::array();
  const auto add = [&json](std::span<const Violation> violations, Step offset) {
    for (const Violation& v : violations)
      json["violations"].push_back(Json{{"kind", name(v.kind)}, {"step", v.step + offset}, {"node", v.node}, {"text", v.text}});
  };
  std::uint64_t found = run.violations_found;
  add(run.violations, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {  // and what a collective does wrong alone
    const RunResult& alone = run.each[i].result;
    add(alone.violations, parts[i].offset);
    found += alone.violations_found;
  }
  json["violations_found"] = found;
  json["verified"] = run.verified();
  if (run.failure) json["failure"] = *run.failure;
  return json;
}

std::string several_table(const std::deque<PartOfRun>& parts, const SessionRun& run) {
  const Setting& first = parts.front().setting;
  const Machine& machine = first.whole();
  RunOptions options;
  options.executor = first.executor;
  options.seed = first.seed;
  const Rows of_first = torus::report(machine, run.each.front().result, options);
  Rows rows{of_first.front()};
  if (const Faults& faults = machine.topology.faults(); !faults.empty())
    rows.emplace_back("faults", fmt::format("{}:{}", damage_text(faults), damage_options(faults, machine.topology)));
  const unsigned threads = run.each.front().result.threads;
  const double in_turn_s = run.one_after_the_other_s();
  rows.emplace_back("together", fmt::format("{} ({} with traffic), {}", counted(run.steps, "step"), grouped(run.busy_steps),
                                            seconds_text(run.model_time_s)));
  std::uint64_t steps = 0;
  Bytes memory = 0;
  double run_s = 0, verify_s = 0;
  std::vector<std::string> digests;
  for (const Run& each : run.each) {
    steps += each.result.steps;
    memory += each.result.memory_bytes;
    run_s = std::max(run_s, each.result.run_s);
    verify_s = std::max(verify_s, each.result.verify_s);
    digests.push_back(digest_text(each.result.trace_digest));
  }
  if (!run.failure)
    rows.emplace_back("in turn", fmt::format("{}, {}: {} as long", counted(steps, "step"), seconds_text(in_turn_s),
                                             times_text(in_turn_s, run.model_time_s)));
  rows.emplace_back("shared", shared_text(run));
  if (run.busiest) rows.emplace_back("channels", busiest_text(machine.topology, *run.busiest));
  rows.emplace_back("wall time", fmt::format("run {}, verify {}; {} each, executor {}", seconds_text(run_s), seconds_text(verify_s),
                                             counted(threads, "thread"), name(first.executor)));
  rows.emplace_back("memory", fmt::format("peak {}, estimated {}", bytes_text(peak_memory()), bytes_text(memory)));
  rows.emplace_back("seed, digests", fmt::format("{}, {}", first.seed, fmt::join(digests, " ")));
  std::vector<std::string> traces;
  for (const PartOfRun& part : parts) {
    if (!part.trace.empty() && !run.interrupted) traces.push_back(part.trace);
  }
  if (!traces.empty()) rows.emplace_back("traces", fmt::format("{}", fmt::join(traces, " ")));
  rows.emplace_back("verdict", run.failure      ? "FAILED: " + *run.failure
                               : run.verified() ? "verified: every byte of each at every node"
                                                : "not verified");
  return aligned(rows) + "\n" + aligned(collectives_table(parts, run), {.left_out = {3, 5}, .keys = 2});
}

}  // namespace torus::command
