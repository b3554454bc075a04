#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include <torus/error.hpp>
#include <torus/report.hpp>
#include <torus/run.hpp>

#include "algorithms/barrier_witness.hpp"
#include "algorithms/dry_run.hpp"
#include "runtime/base/figures.hpp"
#include "runtime/engine/idle_steps.hpp"
#include "runtime/model/description.hpp"
#include "runtime/model/frames.hpp"

namespace torus {
namespace {

/// Whether a plan leaves a prediction out: it says 0 where nothing takes less than a bound above that.
bool left_out(ByteSum predicted, double bound) noexcept { return predicted == 0 && bound > 0; }

/// Whether a prediction is for fewer sources than the request has, so that the bounds say nothing of it.
bool for_fewer_sources(const Request& request) noexcept {
  return request.collective == Collective::multinode_broadcast && request.expected_sources &&
         *request.expected_sources < static_cast<double>(request.sources.size());
}

/// Whether channels are slower than their dimension says, and no link is: hops are routes then, which the plan knows nothing of.
bool slower_than_its_dimensions(const Machine& machine) noexcept {
  if (machine.cost.one_speed() || machine.topology.has_slow_links()) return false;
  return *std::max_element(machine.cost.dimension_byte_s.begin(), machine.cost.dimension_byte_s.end()) < machine.cost.byte_s;
}

std::string_view limit_text(bool exact) { return exact ? "" : "at most "; }

std::optional<std::string> failure_in(const Machine& machine, const Plan& plan, const RunResult& result) {
  if (auto failure = failure_of(machine, result)) return failure;
  if (plan.predicts() && !plan.agrees(result.steps, plan.steps)) {
    return fmt::format("{}, where the formula {} says {}{} (Plan::steps)", counted(result.steps, "step"), plan.formula,
                       limit_text(plan.steps_exact), plan.steps);
  }
  return std::nullopt;
}

std::optional<std::string> surprise_in(const Machine& machine, const Request& request, const Plan& plan, const Bounds& bounds,
                                       const RunResult& result, const Groups* groups) {
  const bool dilated = groups != nullptr && groups->dilated();
  const auto bytes = static_cast<double>(result.channel_bytes_sum);
  const bool knows_sources = !facts_of(request.collective).from_sources();
  if (plan.predicts() && knows_sources && !dilated && !plan.bytes_agree(bytes, plan.channel_bytes)) {
    return fmt::format("{} on the fullest channels, summed over the steps, where {}{} were predicted (Plan::channel_bytes)",
                       counted(result.channel_bytes_sum, "byte"), limit_text(plan.steps_exact && plan.bytes_exact), plan.channel_bytes);
  }
  if (plan.predicts() && knows_sources && !dilated && plan.channel_time_s &&
      !plan.byte_terms_agree(result.channel_time_s, *plan.channel_time_s)) {
    return fmt::format("byte terms of {} s, summed over the steps, where {}{} were predicted (Plan::channel_time_s)", result.channel_time_s,
                       limit_text(plan.steps_exact && plan.bytes_exact), *plan.channel_time_s);
  }
  const auto combined = static_cast<double>(result.node_combined_sum);
  const bool says_combined =
      plan.predicts() && facts_of(request.collective).combines && !left_out(plan.combined_bytes, bounds.combined_bytes);
  if (says_combined && !plan.bytes_agree(combined, plan.combined_bytes)) {
    return fmt::format("{} combined at the busiest nodes, summed over the steps, where {}{} were predicted (Plan::combined_bytes)",
                       counted(result.node_combined_sum, "byte"), limit_text(plan.steps_exact && plan.bytes_exact), plan.combined_bytes);
  }
  const std::optional<std::uint64_t> predicted = plan.route_hops;
  const std::uint64_t hops = result.route_hops_sum;
  if (machine.cost.hop_s > 0 && plan.predicts() && plan.steps_exact && predicted && !dilated &&
      (knows_sources ? hops != *predicted : hops > *predicted)) {
    return fmt::format("{} of the longest routes, summed over the steps, where {}{} were predicted (Plan::route_hops)",
                       counted(hops, "hop"), limit_text(knows_sources), *predicted);
  }
  if (result.steps < bounds.steps)
    return fmt::format("{}, fewer than the lower bound {}: {}", counted(result.steps, "step"), bounds.steps, bounds.steps_reason);
  constexpr double rounding = 1 - 1e-12;  // of a bound computed in doubles
  if (combined < bounds.combined_bytes * rounding)
    return fmt::format("{} combined at the busiest nodes, fewer than the lower bound {}", counted(result.node_combined_sum, "byte"),
                       bounds.combined_bytes);
  if (bytes < bounds.channel_bytes * rounding) {
    return fmt::format("{} on the fullest channels, summed over the steps, fewer than the lower bound {}: {}",
                       counted(result.channel_bytes_sum, "byte"), bounds.channel_bytes, bounds.bytes_reason);
  }
  constexpr double rounding_of_sums = 1 - 1e-9;
  if (const double least = bounds.channel_time_s.value_or(0); result.channel_time_s < least * rounding_of_sums) {
    return fmt::format("a byte term of {} s, less than the lower bound {} s of channels that differ in speed", result.channel_time_s,
                       least);
  }
  const double least_s = bounds.model_time_s(groups == nullptr ? machine.cost : groups->machine(machine).cost);
  if (result.model_time_s < least_s * rounding_of_sums)
    return fmt::format("a model time of {} s, less than the lower bound {} s", result.model_time_s, least_s);
  return std::nullopt;
}

/// Request and plan, in lines for RunOptions::programs. What the programs captured shows in the plan's figures and notes alone.
std::string programs_of(const Request& request, const Plan& plan) {
  detail::Description text;
  const auto& [collective, sources, bytes, reduction, parameters, expected_sources, sizes] = request;
  text.add("collective", name(collective));
  text.add("sources", sources);
  text.add("bytes", bytes);
  text.add("reduction", reduction);
  for (const auto& [name, value] : parameters) text.add("parameter." + name, value);
  text.add("expected_sources", expected_sources);
  if (sizes) detail::describe(text, *sizes);
  // Hops may be counted by a dry run, which each process gives time and memory of its own, as what tables and nodes take is its own.
  const auto& [start, segments, registers, copies, steps, steps_exact, bytes_exact, steps_estimate, formula, channel_bytes, combined_bytes,
               channel_time_s, route_hops, table_bytes, node_bytes, message_bytes, notes, observe] = plan;
  text.add("plan.segments", segments);
  text.add("plan.registers", registers);
  text.add("plan.copies", copies);
  text.add("plan.steps", steps);
  text.add("plan.steps_exact", steps_exact);
  text.add("plan.bytes_exact", bytes_exact);
  text.add("plan.steps_estimate", steps_estimate);
  text.add("plan.formula", formula);
  text.add("plan.channel_bytes", static_cast<double>(channel_bytes));
  text.add("plan.combined_bytes", static_cast<double>(combined_bytes));
  if (channel_time_s) text.add("plan.channel_time_s", *channel_time_s);
  for (const auto& [name, value] : notes) text.add("plan." + name, value);
  return text.text();
}

}  // namespace

Check check(const Machine& machine, const Request& request, const Plan& plan, const Bounds& bounds, const RunResult& result,
            const Groups* groups) {
  if (auto failure = failure_in(machine, plan, result)) return {std::move(failure), std::nullopt};
  return {std::nullopt, surprise_in(machine, request, plan, bounds, result, groups)};
}

void set_aside_incomplete(Plan& plan, const Machine& machine, const Request& request, const Bounds& bounds) {
  if (slower_than_its_dimensions(machine)) plan.channel_time_s.reset();
  if (!plan.predicts() || for_fewer_sources(request)) return;
  const auto set_aside = [&](std::string_view field) {
    plan.notes.emplace_back("not predicted", fmt::format("the plan says {} and leaves out {}", plan.formula, field));
    plan.formula.clear();
  };
  if (left_out(plan.channel_bytes, bounds.channel_bytes)) return set_aside("channel_bytes");
  if (machine.cost.combine_s > 0 && left_out(plan.combined_bytes, bounds.combined_bytes)) set_aside("combined_bytes");
}

void check_prediction(const Algorithm& algorithm, const Machine& machine, const Request& request, const Plan& plan, const Bounds& bounds) {
  if (!plan.predicts()) return;
  const auto text_of = [](std::string_view what, double predicted) {
    return fmt::format("{} {}", predicted, fmt::format(fmt::runtime(what), predicted == 1 ? "" : "s"));
  };
  const auto wrong = [&](std::string_view what, double predicted, const std::string& rule) {
    throw PredictionError(fmt::format("{} predicts {}, {}", algorithm.name, text_of(what, predicted), rule));
  };
  const auto number = [&](std::string_view what, double predicted) {
    if (!(predicted >= 0) || !std::isfinite(predicted)) wrong(what, predicted, "where a prediction is a number of 0 or more");
    if (predicted <= most_predicted_bytes) return;
    throw InputError(fmt::format("{} predicts {} for {}, and predictions count up to 2^63; fewer bytes would do", algorithm.name,
                                 text_of(what, predicted), counted(request.bytes, "byte")));
  };
  constexpr std::string_view channel = "byte{} on the fullest channels, summed over the steps (Plan::channel_bytes)",
                             combined = "byte{} combined at the busiest nodes, summed over the steps (Plan::combined_bytes)",
                             steps = "step{} (Plan::steps)";
  number(steps, static_cast<double>(plan.steps));
  number(steps, static_cast<double>(plan.likely_steps()));
  number(channel, plan.channel_bytes);
  number(combined, plan.combined_bytes);
  CostModel cost = machine.cost;
  if (!plan.route_hops) cost.hop_s = 0;  // unknown, and not part of the time
  const double time_s = plan.model_time_s(cost);
  if (!std::isfinite(time_s)) wrong("s of model time", time_s, "where a prediction is a number of 0 or more");

  if (for_fewer_sources(request)) return;
  const auto hold = [&](std::string_view what, double predicted, double bound, const std::string& reason) {
    constexpr double rounding = 1 - 1e-9;  // of sums of doubles
    if (predicted < bound * rounding)
      wrong(what, predicted, fmt::format("less than the lower bound {}{}{}", bound, reason.empty() ? "" : ": ", reason));
  };
  hold(steps, static_cast<double>(std::min(plan.steps, plan.likely_steps())), static_cast<double>(bounds.steps), bounds.steps_reason);
  hold(channel, plan.channel_bytes, bounds.channel_bytes, bounds.bytes_reason);
  if (facts_of(request.collective).combines && !left_out(plan.combined_bytes, bounds.combined_bytes))
    hold(combined, plan.combined_bytes, bounds.combined_bytes, "");
  if (plan.route_hops)
    hold("hop{} of the longest routes, summed over the steps (Plan::route_hops)", static_cast<double>(*plan.route_hops),
         static_cast<double>(bounds.route_hops), "");
  hold("s of model time", time_s, bounds.model_time_s(cost), "");
}

Plan make_plan(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  PlanCache cache;
  return make_plan(algorithm, machine, request, cache);
}

Plan make_plan(const Algorithm& algorithm, const Machine& machine, const Request& request, PlanCache& cache, const Bounds* bounds) {
  Plan plan = algorithm.plan(machine, request, cache);
  predict_sizes(machine, request, plan);
  const Bounds held = bounds != nullptr ? *bounds : lower_bounds(machine, request);
  set_aside_incomplete(plan, machine, request, held);
  if (machine.cost.hop_s > 0 && plan.predicts() && !plan.route_hops) {
    if (const auto hops = count_hops(machine, request, plan)) plan.route_hops = *hops;
  }
  check_prediction(algorithm, machine, request, plan, held);
  return plan;
}

namespace {

/// The frame of a node's program: the largest of the first source's, the first living node's and the last one's.
Bytes frame_of_program(const Machine& machine, const Request& request, const Plan& plan, const Groups* groups) {
  const Machine seen = groups == nullptr ? machine : groups->machine(machine);
  const Topology& topology = seen.topology;
  NodeId first = 0, last = topology.nodes() - 1;
  while (first < last && !topology.living(first)) ++first;
  while (last > first && !topology.living(last)) --last;
  Bytes most = 0;
  for (const NodeId rank : {request.sources.empty() ? first : request.sources.front(), first, last})
    most = std::max(most, detail::frame_bytes(
                              seen, rank, [&](Node& node) { static_cast<void>(plan.start(node)); },
                              groups == nullptr ? rank : groups->member(0, rank)));
  return most;
}

}  // namespace

ProgramMemory memory_beside_engine(const Machine& machine, const Request& request, const Plan& plan, const Groups* groups) {
  const NodeId nodes = machine.topology.nodes(), in_a_group = groups == nullptr ? nodes : groups->topology().nodes();
  const Bytes witness = request.collective == Collective::barrier ? BarrierWitness::bytes(nodes, in_a_group) : 0;
  const auto sum = [](Bytes a, Bytes b) { return a + std::min(b, std::numeric_limits<Bytes>::max() - a); };
  ProgramMemory memory{.tables = sum(plan.table_bytes, witness), .messages = plan.message_bytes};
  try {
    memory.node = frame_of_program(machine, request, plan, groups);
  } catch (const std::exception&) {  // the run itself will report it
  }
  memory.node = sum(memory.node, plan.node_bytes);
  return memory;
}

namespace {

/// At most, of a run of this plan; 0: it says nothing of them. Nobody may send for as long: a schedule pauses, or few nodes are sources.
std::uint64_t steps_said(const Request& request, const Plan& plan) {
  const std::uint64_t limit = plan.predicts() || request.sizes ? plan.steps : 0;
  return std::max(limit, plan.steps_estimate.value_or(0));
}

}  // namespace

Engine make_engine(const Machine& machine, const Request& request, const Plan& plan, const Placement& placement, RunOptions options,
                   const Groups* groups) {
  if (options.processes != nullptr) options.programs += programs_of(request, plan);
  if (options.idle_steps == 0) options.idle_steps = std::max(detail::usual_idle_steps(machine.topology), 64 + steps_said(request, plan));
  if (groups != nullptr) return Engine(machine, *groups, placement, std::move(options));
  return Engine(machine, placement, std::move(options));
}

Engine make_engine(const Machine& machine, const Request& request, const Plan& plan, RunOptions options, const Groups* groups) {
  options.program_memory = memory_beside_engine(machine, request, plan, groups);
  const Placement placement = placement_of(groups == nullptr ? machine : groups->machine(machine), request, plan);
  return make_engine(machine, request, plan, placement, std::move(options), groups);
}

Bounds lower_bounds(const Machine& seen, const Request& request, const Groups* groups) {
  if (groups == nullptr || !groups->carries()) return lower_bounds(seen, request);
  const CollectiveFacts& facts = facts_of(request.collective);
  const auto turns = [](const DimensionShape& side) { return side.wiring != Wiring::line || side.extent <= 2; };
  const bool all = !facts.names_sources() || request.sources.size() == seen.topology.nodes();
  const bool alike = all || (facts.rooted() && std::all_of(seen.topology.shape().begin(), seen.topology.shape().end(), turns));
  if (groups->renames() && alike && !request.sizes && request.collective != Collective::scan) return lower_bounds(seen, request);
  CostModel cost = seen.cost;
  for (const double byte_s : cost.dimension_byte_s) cost.byte_s = std::min(cost.byte_s, byte_s);
  cost.dimension_byte_s.clear();
  const Topology complete({{static_cast<std::int32_t>(seen.topology.nodes()), Wiring::complete}});
  // Where links are double a node may have more ports than other nodes. Then nothing is said of bytes.
  const bool doubled = seen.ports > complete.max_ports();
  const Machine any(complete, doubled ? complete.max_ports() : seen.ports, seen.switching, seen.contention, {}, cost);
  return lower_bounds(any, doubled ? detail::emptied(request) : request);
}

}  // namespace torus
