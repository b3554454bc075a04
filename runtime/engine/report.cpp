#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"

namespace torus {
namespace {

std::string machine_text(const Machine& machine) {
  std::string text =
      fmt::format("{}: {}, {}, {}-port, contention {}", machine.topology.text(), counted(machine.topology.nodes(), "node"),
                  name(machine.switching), machine.all_port() ? fmt::format("all ({})", machine.ports) : std::to_string(machine.ports),
                  machine.contention == Contention::forbid ? "forbidden" : "shared");
  if (!machine.ascending_routing()) text += fmt::format(", routing {}", fmt::join(machine.routing, ","));
  return text;
}

std::string steps_text(const RunResult& result, const std::optional<Expected>& expected) {
  std::string text = fmt::format("{} ({} with traffic)", grouped(result.steps), grouped(result.busy_steps));
  if (!expected) return text;
  if (expected->formula.empty()) return text + fmt::format("; not predicted; lower bound {}", grouped(expected->steps_bound));
  return text + fmt::format("; formula {}{}; lower bound {}", expected->exact ? "" : "at most ", grouped(expected->steps),
                            grouped(expected->steps_bound));
}

std::string model_time_text(const CostModel& cost, const RunResult& result, const std::optional<Expected>& expected) {
  std::string text = seconds_text(result.model_time_s);
  if (expected && !expected->formula.empty())
    text += fmt::format("; formula {}{}", cost.one_speed() ? "" : "at most ", seconds_text(expected->model_time_s));
  if (expected) text += fmt::format("; lower bound {}", seconds_text(expected->model_time_bound_s));
  std::string speeds = seconds_text(cost.byte_s);
  for (std::size_t d = 0; d < cost.dimension_byte_s.size(); ++d)
    speeds = (d == 0 ? "" : speeds + ", ") + seconds_text(cost.dimension_byte_s[d]);
  if (!cost.one_speed() && cost.byte_s > *std::max_element(cost.dimension_byte_s.begin(), cost.dimension_byte_s.end()))
    speeds += ", a slow link " + seconds_text(cost.byte_s);
  return text + fmt::format("  (T_s {}, T_c {} a byte{}{})", seconds_text(cost.start_up_s), speeds,
                            cost.hop_s > 0 ? fmt::format(", T_h {} a hop", seconds_text(cost.hop_s)) : "",
                            cost.combine_s > 0 ? fmt::format(", T_g {} a byte combined", seconds_text(cost.combine_s)) : "");
}

std::string_view waits_for(Wait wait) { return wait == Wait::step ? "the next step" : "a message"; }

std::string hang_text(const Topology& topology, const Hang& hang) {
  std::string text = fmt::format("hang: {}{} for ever", hang.stepping ? "no node sends any more, and " : "",
                                 counted(hang.nodes, "node waits", "nodes wait"));
  for (std::size_t i = 0; i < std::min<std::size_t>(hang.first.size(), 3); ++i) {
    const Hang::Waiting& w = hang.first[i];
    text += fmt::format("{} {} for {}, {}", i == 0 ? ":" : ";", node_text(topology, w.node), waits_for(w.waits_for),
                        w.last_arrival ? fmt::format("last arrival in step {}", *w.last_arrival) : "nothing ever arrived");
  }
  return text + (hang.last_traffic ? fmt::format("; last traffic in step {}", *hang.last_traffic) : "; there was no traffic at all");
}

std::string wrong_text(const Topology& topology, const WrongDelivery& wrong) {
  const std::string node = node_text(topology, wrong.node) + (wrong.group ? fmt::format(", group {}", *wrong.group) : "") +
                           (wrong.rank ? fmt::format(", rank {}", *wrong.rank) : "");
  switch (wrong.kind) {
    case WrongDelivery::Kind::missing: return fmt::format("node {} lacks block {}", node, wrong.block);
    case WrongDelivery::Kind::unasked: return fmt::format("node {} holds block {}, which it does not want", node, wrong.block);
    case WrongDelivery::Kind::damaged:
      return fmt::format("node {}, block {}, offset {}: got {:#04x}, wanted {:#04x}", node, wrong.block, wrong.offset, wrong.got,
                         wrong.wanted);
    case WrongDelivery::Kind::lacks_contributor:
      return fmt::format("node {}, block {}: lacks the contribution of node {}", node, wrong.block, node_text(topology, wrong.contributor));
    case WrongDelivery::Kind::contributor_twice:
      return fmt::format("node {}, block {}: has the contribution of node {} twice", node, wrong.block,
                         node_text(topology, wrong.contributor));
    case WrongDelivery::Kind::contributors:
      return fmt::format("node {}, block {}: has not every node's contribution once", node, wrong.block);
    case WrongDelivery::Kind::not_a_rounding:
      return fmt::format("node {}, block {}, offset {}: got {:.9g}, and without rounding it is {:.9g}: no order of combining leads so far",
                         node, wrong.block, wrong.offset, wrong.got_number, wrong.exact_number);
    case WrongDelivery::Kind::disagrees:
      return fmt::format("node {}, block {}: has other bits than node {}: the nodes combine in different orders", node, wrong.block,
                         node_text(topology, wrong.contributor));
    case WrongDelivery::Kind::not_heard:
      return fmt::format("node {} has not heard of node {}", node, node_text(topology, wrong.contributor));
  }
  return "";
}

}  // namespace

std::string aligned(const Rows& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text;
  for (const auto& [name, value] : rows) text += name + std::string(width - name.size() + 2, ' ') + printable(value) + "\n";
  return text;
}

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

std::string buffered_text(const Buffered& buffered) {
  return fmt::format("at most {}, {}, at a node to be sent on in a later step", counted(buffered.blocks, "block"),
                     counted(buffered.bytes, "byte"));
}

std::optional<std::string> failure_of(const Machine& machine, const RunResult& result) {
  const Topology& topology = machine.topology;
  if (!result.violations.empty()) {
    std::string text = fmt::format("violation, {}: {}", name(result.violations.front().kind), result.violations.front().text);
    if (result.violations_found > 1) text += fmt::format(" (and {} more in that step)", grouped(result.violations_found - 1));
    return text;
  }
  if (result.interrupted) return fmt::format("interrupted after step {}", result.steps);
  if (result.hang) return hang_text(topology, *result.hang);
  if (result.wrong) return fmt::format("wrong delivery after step {}: {}", result.steps, wrong_text(topology, *result.wrong));
  return std::nullopt;
}

Rows report(const Machine& machine, const RunResult& result, const RunOptions& options, const ReportContext& context) {
  const double run_s = context.run_s.value_or(result.run_s);
  const std::optional<std::string> failure = context.failure ? context.failure : failure_of(machine, result);
  Rows rows;
  rows.emplace_back("machine", machine_text(machine));
  rows.emplace_back("steps", steps_text(result, context.expected));
  if (context.expected && !context.expected->formula.empty()) rows.emplace_back("formula", context.expected->formula);
  rows.emplace_back(
      "messages", fmt::format("{} over {}; {} of control alone, in {} of their own", grouped(result.messages), counted(result.hops, "hop"),
                              grouped(result.control_messages), counted(result.control_steps, "step")));
  rows.emplace_back("bytes", fmt::format("{} delivered ({}), {} of control; bytes x hops {}", grouped(result.bytes_delivered),
                                         bytes_text(result.bytes_delivered), grouped(result.control_bytes), grouped(result.bytes_hops)));
  if (result.duplicates > 0) {
    rows.emplace_back("duplicates", fmt::format("{} of {} reached a node that had them already", grouped(result.duplicates),
                                                counted(result.blocks_delivered, "block")));
  }
  rows.emplace_back("channels",
                    fmt::format("busiest {}, mean {:.4g} bytes, idle {:.1f} %; at most {} at a time", grouped(result.channel_bytes_max),
                                result.channel_bytes_mean, 100 * result.channel_idle_share, counted(result.max_channel_load, "message")));
  if (result.combined_bytes > 0) {
    rows.emplace_back("combined",
                      fmt::format("{} ({}); {} at the busiest node, summed over the steps", counted(result.combined_bytes, "byte"),
                                  bytes_text(result.combined_bytes), grouped(result.node_combined_sum)));
  }
  rows.emplace_back("model time", model_time_text(machine.cost, result, context.expected));
  rows.emplace_back(
      "wall time",
      fmt::format("set-up {}, run {}, verify {}; {}{}, executor {}", seconds_text(result.setup_s + context.plan_s), seconds_text(run_s),
                  seconds_text(result.verify_s), counted(result.threads, "thread"),
                  result.threads > usable_cores() ? fmt::format(" on {}", counted(usable_cores(), "core")) : "", name(options.executor)));
  if (result.processes > 1)
    rows.emplace_back("processes", fmt::format("{}, each with {}", result.processes, counted(result.threads, "thread")));
  rows.emplace_back("host speed",
                    fmt::format("{} copied, {}", rate_text(per_second(static_cast<double>(result.bytes_delivered), run_s), "B"),
                                rate_text(per_second(static_cast<double>(result.hops), run_s), "hops")));
  rows.emplace_back("memory",
                    fmt::format("peak {}{}, estimated {}{}", bytes_text(peak_memory()), result.processes > 1 ? " of process 0" : "",
                                bytes_text(result.memory_bytes), result.processes > 1 ? " of all" : ""));
  if (result.buffered) rows.emplace_back("buffered", buffered_text(*result.buffered));
  rows.emplace_back("seed, digest", fmt::format("{}, {}", options.seed, digest_text(result.trace_digest)));
  if (result.error_ulp)
    rows.emplace_back("rounding", fmt::format("largest error {:.4g} ulp of the exact result, or of a sum's smallest contribution if larger",
                                              *result.error_ulp));
  if (result.fault) rows.emplace_back("fault", result.fault->text);
  rows.emplace_back("verdict", failure           ? "FAILED: " + *failure
                               : result.verified ? result.error_ulp
                                                       ? "verified: every contribution once at every node, as near as rounding allows"
                                                       : "verified: every byte at every node"
                                                 : "not verified (verification was turned off)");
  return rows;
}

}  // namespace torus
