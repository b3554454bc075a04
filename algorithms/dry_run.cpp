#include "algorithms/dry_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>

#include "algorithms/schedule/route_loads.hpp"

namespace torus {

using detail::emptied;

namespace {

/// When a dry run ends before its end.
using Enough = std::function<bool()>;

Enough after(double seconds) {
  using Clock = std::chrono::steady_clock;
  return [seconds, start = Clock::now()] { return std::chrono::duration<double>(Clock::now() - start).count() > seconds; };
}

using OnMessages = std::function<void(std::span<const Message* const>)>;

/// Runs a plan on one thread, without verification, as long as a step does not bring enough. groups: null for none.
RunResult dry_run_to_its_end(const Machine& machine, const Request& request, const Plan& plan, const Enough& enough, const Groups* groups,
                             OnMessages on_messages) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.verify = false;
  options.on_messages = std::move(on_messages);
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.on_step = [&](Step) { stop = enough(); };
  return make_engine(machine, request, plan, options, groups).run(plan.start);
}

/// The same; none if it fails or ends early.
std::optional<RunResult> dry_run(const Machine& machine, const Request& request, const Plan& plan, const Enough& enough,
                                 OnMessages on_messages = {}) {
  try {
    RunResult result = dry_run_to_its_end(machine, request, plan, enough, nullptr, std::move(on_messages));
    if (result.good()) return result;
  } catch (const std::exception&) {  // the run itself will report it
  }
  return std::nullopt;
}

/// Whether a dry run of so much takes seconds.
bool too_large_for_dry_runs(const Machine& machine, const Request& request, const Plan& plan) {
  constexpr NodeId most_nodes = 1U << 16U;
  constexpr std::uint64_t most_copies = 1U << 24U;
  return machine.topology.nodes() > most_nodes || placement_of(machine, request, plan).most_held() > most_copies;
}

/// How many blocks are delivered at least: each node gets what it wants and does not hold, and of a reduction all but one get results.
std::uint64_t fewest_delivered(const Placement& placement) {
  std::uint64_t all = 0, most = 0;
  for (NodeId node = 0; node < placement.nodes(); ++node) {
    const std::uint64_t wanted = placement.wanted_count(node), held = placement.reduces() ? 0 : placement.initial_count(node);
    all += wanted - std::min(wanted, held);
    most = std::max(most, wanted);
  }
  return all - (placement.reduces() ? most : 0);
}

/// What a run consists of, in seconds of the host of bench/results.md.
constexpr struct { double step = 0.4e-6, message = 50e-9, block = 10e-9, byte = 0.05e-9; } weights;

double least_s(const Placement& placement) { return weights.block * static_cast<double>(fewest_delivered(placement)); }

}  // namespace

Request detail::emptied(const Request& full) {
  Request request = full;
  request.bytes = 0;
  request.sizes.reset();
  return request;
}

double detail::least_run_s(const Machine& machine, const Request& request, const Plan& plan) {
  return least_s(placement_of(machine, request, plan));
}

double detail::least_run_s(std::uint64_t steps) { return weights.step * static_cast<double>(steps); }

std::optional<double> detail::estimated_run_s(const Machine& machine, const Request& request, const Plan& plan, double most_s,
                                              double seconds) {
  const Request empty = emptied(request);
  if (too_large_for_dry_runs(machine, empty, plan)) return std::nullopt;
  const Placement placement = placement_of(machine, request, plan);
  if (least_s(placement) > most_s) return std::nullopt;  // without an engine of its size
  double run_s = 0;
  const auto count = [&](std::span<const Message* const> messages) {
    std::uint64_t blocks = 0, bytes = 0;
    for (const Message* m : messages) {
      blocks += m->blocks().size();
      for (const BlockId id : m->blocks()) bytes += placement.bytes(id);
    }
    run_s += weights.step + weights.message * static_cast<double>(messages.size()) + weights.block * static_cast<double>(blocks) +
             weights.byte * static_cast<double>(bytes);
  };
  const auto ended = dry_run(
      machine, empty, plan, [&, late = after(seconds)] { return run_s > most_s || late(); }, count);
  return ended && run_s <= most_s ? std::optional(run_s) : std::nullopt;
}

void predict_sizes(const Machine& machine, const Request& request, Plan& plan, double seconds) {
  if (!request.sizes || !plan.predicts()) return;
  plan.channel_time_s.reset();
  constexpr NodeId most_nodes = 4096;
  constexpr std::uint64_t most_copies = 1U << 24U;
  constexpr double most_bytes = 0x1p28;
  constexpr Bytes most_table_bytes = Bytes{1} << 27U;
  const Placement placement = placement_of(machine, request, plan);
  std::optional<RunResult> result;
  if (machine.topology.nodes() <= most_nodes && placement.most_held() <= most_copies) {
    if (facts_of(request.collective).combines) {
      if (static_cast<double>(placement.most_held()) * static_cast<double>(placement.longest()) <= most_bytes)
        result = dry_run(machine, request, plan, after(seconds));
      if (result) {
        plan.channel_bytes = static_cast<double>(result->channel_bytes_sum);
        plan.combined_bytes = static_cast<double>(result->node_combined_sum);
      }
    } else if (RouteLoads::bytes(machine.topology) <= most_table_bytes) {
      RouteLoads loads(machine.topology);
      plan.channel_bytes = 0;
      result = dry_run(machine, emptied(request), plan, after(seconds), [&](std::span<const Message* const> messages) {
        if (messages.empty()) return;
        for (const Message* m : messages) {
          Bytes bytes = m->bytes();
          for (const BlockId id : m->blocks()) bytes += placement.bytes(id);
          loads.add(m->source(), m->route(), static_cast<double>(bytes));
        }
        plan.channel_bytes += loads.end_step().most;
      });
    }
  }
  if (result)
    plan.route_hops = result->route_hops_sum;
  else
    plan.formula.clear();
}

std::optional<std::uint64_t> count_hops(const Machine& machine, const Request& request, const Plan& plan, double seconds) {
  Request empty = emptied(request);
  if (request.collective == Collective::multinode_broadcast) {
    empty.sources.resize(machine.topology.nodes());
    std::iota(empty.sources.begin(), empty.sources.end(), NodeId{0});
  }
  if (too_large_for_dry_runs(machine, empty, plan)) return std::nullopt;
  const auto result = dry_run(machine, empty, plan, after(seconds));
  return result ? std::optional(result->route_hops_sum) : std::nullopt;
}

std::optional<std::string> violation_in_groups(const Machine& machine, const Groups& groups, const Request& request, const Plan& plan,
                                               double seconds) {
  try {
    const RunResult result = dry_run_to_its_end(machine, emptied(request), plan, after(seconds), &groups, {});
    if (!result.violations.empty()) return result.violations.front().text;
  } catch (const std::exception&) {  // the run itself will report it
  }
  return std::nullopt;
}

}  // namespace torus
