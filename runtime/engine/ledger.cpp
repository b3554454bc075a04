#include "runtime/engine/ledger.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/engine/rules/auditor.hpp"
#include "runtime/model/channel.hpp"

namespace torus::detail {
namespace {

bool same(const char* a, const char* b) noexcept {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || std::string_view(a) == b;
}

/// Rethrows what a node's program, or the making of it, threw. The text begins with step and node. std::nullopt: before step 0.
/// std::bad_alloc is thrown as it was. All else becomes a RunError, with what was thrown nested in it: what a program asks is not the
/// user's input, also where it is answered with an InputError.
[[noreturn]] void rethrow_naming(const Topology& topology, NodeId node, std::optional<Step> step, const std::exception_ptr& thrown) {
  const std::string where =
      (step ? "step " + std::to_string(*step) : std::string("before step 0")) + ", node " + node_text(topology, node) + ": ";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    std::throw_with_nested(RunError(where + error.what()));
  } catch (...) {
    std::throw_with_nested(RunError(where + "its program threw what is no std::exception"));
  }
}

// ---- the byte term of a step where channels differ in speed ----

double by_legs(const Machine& machine, std::span<const Message* const> messages) {
  double most = 0;
  for (const Message* m : messages) {
    for (const Leg& leg : m->route()) {
      if (leg.hops != 0) most = std::max(most, static_cast<double>(m->bytes()) * machine.cost.byte_s_of(leg.dimension));
    }
  }
  return most;
}

double by_channels(const Machine& machine, const Slab& own, std::span<const Message* const> messages) {
  std::vector<std::pair<ChannelName, Bytes>> crossed;
  double most = 0;
  each_channel_load(machine.topology, messages, crossed, [&](const ChannelName& channel, Bytes bytes) {
    if (own.owns(channel.from))
      most = std::max(most, static_cast<double>(bytes) * machine.byte_s(channel.from, channel.dimension, channel.hop));
  });
  return most;
}

/// The max over the channels of the bytes that a step's messages take over it times its T_c. O(legs of all messages); where channels are
/// shared or links slow, O(hops log hops). One thread: only machines whose channels differ pay for it. messages: all that take channels of
/// the slab.
double byte_term(const Machine& machine, const Slab& own, std::span<const Message* const> messages) {
  return machine.contention == Contention::share || machine.topology.has_slow_links() ? by_channels(machine, own, messages)
                                                                                      : by_legs(machine, messages);
}

}  // namespace

void Ledger::throw_failure(std::optional<Step> step) const {
  const Findings* first = nullptr;
  for (const Worker& w : fabric_.workers_of_step()) {
    const Findings& found = w.findings;
    if (found.failure && (first == nullptr || found.failed_node < first->failed_node)) first = &found;
  }
  if (first != nullptr) rethrow_naming(machine_.topology, first->failed_node, step, first->failure);
  if (fabric_.out_of_memory()) {
    throw RunError("step " + std::to_string(fabric_.now()) +
                   ": a send found no memory, and its program continued; raise the memory limit (RunOptions::memory_limit)");
  }
}

std::uint64_t Ledger::failed_node() const noexcept {
  std::uint64_t lowest = machine_.topology.nodes();
  for (const Worker& w : fabric_.workers_of_step()) {
    if (w.findings.failure) lowest = std::min<std::uint64_t>(lowest, w.findings.failed_node);
  }
  return lowest;
}

NodeId Ledger::overloaded_receiver() const noexcept {
  NodeId overloaded = machine_.topology.nodes();
  for (const Worker& w : fabric_.workers_of_step()) {
    if (w.findings.suspect_receives) overloaded = std::min(overloaded, w.findings.overloaded_receiver);
  }
  return overloaded;
}

Violations Ledger::audit_receives() const { return audit(machine_, members_, fabric_.own(), fabric_.messages_of(fabric_.now() - 1)); }

bool Ledger::gather_receives(RunResult& result) const {
  const NodeId overloaded = overloaded_receiver();
  if (overloaded == machine_.topology.nodes()) return false;
  const Violations found = audit_receives();
  report_violations(found.first(), found.found(), overloaded, result);
  return true;
}

Violations Ledger::audit_step(std::span<const Message* const> messages) const {
  Violations found = audit(machine_, members_, fabric_.own(), messages);
  for (const Worker& w : fabric_.workers_of_step()) found.add(w.findings.violations);
  return found;
}

bool Ledger::gather_violations(RunResult& result) const {
  const std::span<Worker> workers = fabric_.workers_of_step();
  if (std::none_of(workers.begin(), workers.end(), [](const Worker& w) { return w.findings.suspect; })) return false;
  const Violations found = audit_step(fabric_.messages_of(fabric_.now()));
  report_violations(found.first(), found.found(), std::nullopt, result);
  return true;
}

void Ledger::report_violations(std::vector<Violation> first, std::uint64_t found, std::optional<NodeId> overloaded,
                               RunResult& result) const {
  if (found == 0 && overloaded) {
    throw RunError("step " + std::to_string(fabric_.now() - 1) + ": node " + node_text(machine_.topology, *overloaded) +
                   " got messages that together break a rule, though those that were sent to it do not");
  }
  if (found == 0) {
    throw RunError("step " + std::to_string(fabric_.now()) +
                   ": a message was not delivered although it breaks no rule; this is a bug of the engine");
  }
  result.violations = std::move(first);
  result.violations_found = found;
}

/// Charges the step before for the arrivals that nodes combined when they ran.
void Ledger::charge_combining(const StepCounts& counts, RunResult& result) {
  const auto [most, all] = std::pair(counts.most_combined, counts.combined_bytes);
  result.combined_bytes += all;
  result.node_combined_sum += most;
  const double model_time_s = static_cast<double>(most) * machine_.cost.combine_s;
  result.model_time_s += model_time_s;
  result.phases[phase_].model_time_s += model_time_s;
  if (result.step_records.size() != result.steps) return;  // too many steps to keep
  result.step_records.back().combined_bytes = all;
  result.step_records.back().most_combined = most;
}

StepCounts Ledger::count() {
  StepCounts counts;
  StepRecord& record = counts.record;
  NodeId phase_node = 0;
  for (Worker& w : fabric_.workers_of_step()) {
    Tally& tally = w.tally;
    StepRecord part = std::exchange(tally.step, {});
    const std::uint64_t singles = std::exchange(tally.single_blocks, 0);
    part.messages += singles;
    part.bytes += singles * members_.placement().longest();
    if (singles > 0) part.most_bytes = std::max(part.most_bytes, members_.placement().longest());
    counts.blocks += singles + std::exchange(tally.blocks, 0);
    counts.bytes_hops += part.bytes + std::exchange(tally.further_bytes_hops, 0);
    counts.digest += std::exchange(tally.digest, 0);
    counts.combined_bytes += std::exchange(tally.combined_bytes, 0);
    counts.most_combined = std::max(counts.most_combined, std::exchange(tally.most_combined, 0));
    counts.in_flight += std::exchange(tally.activated, 0);
    ended_ += std::exchange(tally.ended, 0);
    record.messages += part.messages;
    record.control_messages += part.control_messages;
    record.hops += part.messages + std::exchange(tally.further_hops, 0);
    record.bytes += part.bytes;
    record.payload_bytes += part.bytes - sizeof(Word) * std::exchange(tally.header_words, 0);
    record.most_bytes = std::max(record.most_bytes, part.most_bytes);
    record.longest_route = std::max(record.longest_route, part.longest_route);
    if (part.phase != nullptr && (record.phase == nullptr || tally.phase_node < phase_node)) {
      record.phase = part.phase;
      phase_node = tally.phase_node;
    }
  }
  counts.ended = ended_;
  return counts;
}

ChannelLoad Ledger::measure(const std::vector<const Message*>& messages) const {
  ChannelLoad load;
  if (fabric_.shares_channels()) {
    const SharedLoad shared = fabric_.share_channels(messages);
    load.messages = shared.messages;
    load.bytes = shared.bytes;
  }
  if (!machine_.cost.one_speed()) load.time_s = byte_term(machine_, fabric_.own(), messages);
  return load;
}

void Ledger::note_channels(const ChannelLoad& load, StepRecord& record, RunResult& result) const {
  record.most_bytes = std::max(record.most_bytes, load.bytes);
  result.max_channel_load = std::max(result.max_channel_load, load.messages);
  record.channel_time_s = machine_.cost.one_speed() ? static_cast<double>(record.most_bytes) * machine_.cost.byte_s : load.time_s;
}

void Ledger::add(const StepRecord& record, RunResult& result) {
  const double model_time_s = machine_.cost.timed_steps(1, record.channel_time_s, record.longest_route);
  const std::uint64_t control = record.control_only() ? 1 : 0;
  ++result.steps;
  result.busy_steps += record.messages > 0 ? 1 : 0;
  result.control_steps += control;
  result.messages += record.messages;
  result.control_messages += record.control_messages;
  result.hops += record.hops;
  result.bytes_delivered += record.payload_bytes;
  result.control_bytes += record.bytes - record.payload_bytes;
  result.channel_bytes_sum += record.most_bytes;
  result.channel_time_s += record.channel_time_s;
  result.route_hops_sum += record.longest_route;
  result.model_time_s += model_time_s;
  PhaseTotals& phase = totals_of(record.phase, result);
  ++phase.steps;
  phase.control_steps += control;
  phase.messages += record.messages;
  phase.bytes += record.bytes;
  phase.channel_bytes += record.most_bytes;
  phase.model_time_s += model_time_s;
  if (result.step_records.size() < RunResult::max_step_records) result.step_records.push_back(record);
}

PhaseTotals& Ledger::totals_of(const char* phase, RunResult& result) {
  std::vector<PhaseTotals>& phases = result.phases;
  if (phase_ < phases.size() && same(phases[phase_].phase, phase)) return phases[phase_];
  phase_ = 0;
  while (phase_ < phases.size() && !same(phases[phase_].phase, phase)) ++phase_;
  if (phase_ == phases.size()) {
    // The last place is kept for the steps without a name.
    if (phase != nullptr && phases.size() + 1 >= RunResult::max_phases) return totals_of(nullptr, result);
    phases.emplace_back().phase = phase;
  }
  return phases[phase_];
}

Ledger::Totals Ledger::totals(Executor& executor) const {
  Totals totals;
  for (const Worker& w : fabric_.workers()) totals.duplicates += w.tally.duplicates;
  std::vector<ChannelUse> uses(executor.workers());
  executor.run(static_cast<double>(machine_.topology.channels()),
               [&](unsigned part) { uses[part] = fabric_.channel_use(part, executor.workers()); });
  for (const ChannelUse& each : uses) totals.use.add(each);
  return totals;
}

void Ledger::close(const Totals& totals, RunResult& result) const {
  const ChannelUse& use = totals.use;
  result.duplicates += totals.duplicates;
  const auto channels = static_cast<double>(std::max<std::uint64_t>(1, machine_.topology.channels()));
  result.channel_bytes_max = use.most_bytes;
  result.channel_bytes_mean = static_cast<double>(use.bytes) / channels;
  result.channel_idle_share = 1 - static_cast<double>(use.used) / channels;
}

}  // namespace torus::detail
