/// A session of classes of groups as one run.
#include <algorithm>
#include <tuple>

#include <torus/session.hpp>

namespace torus {
namespace {

/// Adds what adds up of a class, and takes the larger of what the classes have side by side.
void add(RunResult& all, const RunResult& one) {
  all.messages += one.messages;
  all.control_messages += one.control_messages;
  all.hops += one.hops;
  all.blocks_delivered += one.blocks_delivered;
  all.duplicates += one.duplicates;
  all.bytes_delivered += one.bytes_delivered;
  all.control_bytes += one.control_bytes;
  all.bytes_hops += one.bytes_hops;
  all.channel_bytes_max = std::max(all.channel_bytes_max, one.channel_bytes_max);
  all.channel_bytes_mean += one.channel_bytes_mean;
  all.channel_idle_share -= 1 - one.channel_idle_share;
  all.combined_bytes += one.combined_bytes;
  all.trace_digest += one.trace_digest;
  all.setup_s += one.setup_s;
  all.run_s = std::max(all.run_s, one.run_s);
  all.verify_s = std::max(all.verify_s, one.verify_s);
  all.threads += one.threads;
  all.processes = std::max(all.processes, one.processes);
  all.memory_bytes += one.memory_bytes;
  all.used_bytes += one.used_bytes;
  if (one.error_ulp) all.error_ulp = std::max(all.error_ulp.value_or(0), *one.error_ulp);
  if (one.buffered) {
    if (!all.buffered) all.buffered.emplace();
    all.buffered->blocks = std::max(all.buffered->blocks, one.buffered->blocks);
    all.buffered->bytes = std::max(all.buffered->bytes, one.buffered->bytes);
  }
}

/// Adds how a class ended, where it did not end well, and what a fault did in it.
void add_ending(RunResult& all, const RunResult& one) {
  all.violations.insert(all.violations.end(), one.violations.begin(), one.violations.end());
  all.violations_found += one.violations_found;
  if (!all.hang) all.hang = one.hang;
  if (one.wrong && (!all.wrong || std::tie(one.wrong->node, one.wrong->block) < std::tie(all.wrong->node, all.wrong->block)))
    all.wrong = one.wrong;
  if (!all.fault) all.fault = one.fault;
}

/// Sum over the steps of the most bytes that one node of any class combined.
Bytes most_combined(std::span<const Run> classes) {
  std::size_t steps = 0;
  for (const Run& each : classes) steps = std::max(steps, each.result.step_records.size());
  Bytes sum = 0, beyond = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    Bytes most = 0;
    for (const Run& each : classes) {
      if (step < each.result.step_records.size()) most = std::max(most, each.result.step_records[step].most_combined);
    }
    sum += most;
  }
  for (const Run& each : classes) {
    Bytes rest = each.result.node_combined_sum;
    for (const StepRecord& record : each.result.step_records) rest -= record.most_combined;
    beyond = std::max(beyond, rest);
  }
  return sum + beyond;
}

}  // namespace

Run SessionRun::as_one() const {
  const auto slowest =
      std::max_element(each.begin(), each.end(), [](const Run& a, const Run& b) { return a.result.model_time_s < b.result.model_time_s; });
  Run run{.plan = slowest->plan, .bounds = slowest->bounds};
  RunResult& all = run.result;
  all.steps = steps;
  all.busy_steps = busy_steps;
  all.control_steps = control_steps;
  all.max_channel_load = max_channel_load;
  all.channel_idle_share = 1;
  all.channel_bytes_sum = channel_bytes_sum;
  all.channel_time_s = channel_time_s;
  all.route_hops_sum = route_hops_sum;
  all.node_combined_sum = most_combined(each);
  all.model_time_s = model_time_s;
  all.step_records = step_records;
  all.violations = violations;
  all.violations_found = violations_found;
  for (const Run& one : each) {
    add(all, one.result);
    add_ending(all, one.result);
    if (!run.check.surprise) run.check.surprise = one.check.surprise;
  }
  all.verified = verified();
  all.interrupted = run.interrupted = interrupted;
  run.check.failure = failure;
  if (!interrupted) run.run_s.push_back(all.run_s);
  return run;
}

}  // namespace torus
