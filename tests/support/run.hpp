/// Running programs in tests: on any executor, with every message written down as a line of text, in the order of a trace.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/engine.hpp>
#include <torus/report.hpp>

namespace torus::support {

struct Workers {
  ExecutorKind executor = ExecutorKind::serial;
  unsigned threads = 1;

  std::string text() const { return std::string(name(executor)) + ":" + std::to_string(threads); }
};

/// Every executor, the threaded ones with 1, 2, 3 and 4 x cores workers. Without oneTBB under ThreadSanitizer, which cannot see into it.
inline std::vector<Workers> every_executor() {
  const unsigned many = std::min(64U, 4 * std::max(1U, std::thread::hardware_concurrency()));
  std::vector<Workers> out{{ExecutorKind::serial, 1}, {ExecutorKind::shuffled, 1}};
  for (const unsigned threads : {1U, 2U, 3U, many}) {
    out.push_back({ExecutorKind::threads, threads});
    if (default_executor == ExecutorKind::tbb) out.push_back({ExecutorKind::tbb, threads});
  }
  return out;
}

/// For messages of a header alone.
inline const std::vector<BlockId> no_blocks;

/// The message of node 0, one block of so many bytes, for every node of a machine.
inline Placement from_zero(const Machine& machine, Bytes bytes = 100, std::uint32_t segments = 1) {
  return Placement::replicated(machine.topology, {0}, bytes, segments);
}

/// Passes the message of node 0 along a line or a ring, one hop a step.
inline Program pass_on(Node& self) {
  if (self.blocks().empty()) co_await self.arrival();
  const std::optional<NodeId> next = self.neighbour({0, +1});
  if (next && *next != 0) self.send({{0, +1}}, self.blocks());
}

struct Outcome {
  RunResult result;
  std::vector<std::string> trace;  ///< one line a message
};

/// "3: 7 [[0,2],[1,-1]] -> 12, 4100 bytes, blocks 0 1, header 5".
inline std::string text_of(const Message& m) {
  std::string out = std::to_string(m.step()) + ": " + std::to_string(m.source()) + " [";
  for (const Leg& leg : m.route()) out += "[" + std::to_string(leg.dimension) + "," + std::to_string(leg.hops) + "]";
  out += "] -> " + std::to_string(m.destination()) + ", " + std::to_string(m.bytes()) + " bytes, blocks";
  for (const BlockId id : m.blocks()) out += " " + std::to_string(id);
  out += ", header";
  for (const Word word : m.header()) out += " " + std::to_string(word);
  return out;
}

/// Runs a program on every node, or in each of some groups, and writes the messages down.
inline Outcome emulate(const Machine& machine, const Placement& placement, const std::function<Program(Node&)>& program,
                       Workers workers = {}, RunOptions options = {}, const Groups* groups = nullptr) {
  using Line = std::tuple<Step, NodeId, std::string>;
  std::vector<Line> lines;
  options.executor = workers.executor;
  options.threads = workers.threads;
  options.on_messages = [&](std::span<const Message* const> messages) {
    for (const Message* m : messages) lines.emplace_back(m->step(), m->source(), text_of(*m));
  };
  Outcome outcome;
  outcome.result = (groups == nullptr ? Engine(machine, placement, options) : Engine(machine, *groups, placement, options)).run(program);
  std::sort(lines.begin(), lines.end());
  for (Line& line : lines) outcome.trace.push_back(std::move(std::get<2>(line)));
  return outcome;
}

inline std::string text_of(const Machine& machine, const RunResult& r) {
  std::string out;
  const auto add = [&out](auto... values) { ((out += std::to_string(values) + " "), ...); };
  add(r.steps, r.busy_steps, r.control_steps, r.messages, r.control_messages, r.hops, r.blocks_delivered, r.duplicates, r.bytes_delivered,
      r.control_bytes, r.bytes_hops, r.max_channel_load, r.channel_bytes_sum, r.channel_time_s * 1e9, r.route_hops_sum, r.combined_bytes,
      r.node_combined_sum, r.model_time_s * 1e9, r.trace_digest, r.violations_found, int{r.verified}, int{r.interrupted});
  if (r.violations.empty()) add(r.channel_bytes_max, r.channel_bytes_mean, r.channel_idle_share);  // else which message won is chance
  for (const PhaseTotals& p : r.phases) {
    out += std::string("; ") + (p.phase == nullptr ? "" : p.phase) + " ";
    add(p.steps, p.control_steps, p.messages, p.bytes, p.channel_bytes, p.model_time_s * 1e9);
  }
  for (const StepRecord& s : r.step_records) {
    out += std::string("; ") + (s.phase == nullptr ? "" : s.phase) + " ";
    add(s.messages, s.control_messages, s.hops, s.bytes, s.payload_bytes, s.most_bytes, s.combined_bytes, s.most_combined,
        s.channel_time_s * 1e9, s.longest_route);
  }
  for (const Violation& v : r.violations) out += "; " + v.text;
  if (r.fault) out += "; " + r.fault->text;
  return out + "; " + failure_of(machine, r).value_or("good");
}

}  // namespace torus::support
