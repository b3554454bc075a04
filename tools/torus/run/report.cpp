#include "tools/torus/run/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include <torus/bandwidth.hpp>
#include <torus/report.hpp>

#include "algorithms/barrier_witness.hpp"
#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// The scalar fields that not every run has.
constexpr std::array<std::string_view, 12> optional_fields{"chosen_because", "choosing_s",  "source",      "bound3_steps",
                                                           "bound4_steps",   "h",           "failure",     "groups",
                                                           "group_count",    "group_shape", "group_nodes", "group_ports"};

std::string sources_row(const Setting& setting) {
  const Topology& topology = setting.machine.topology;
  const auto& sources = setting.request.sources;
  if (sources.empty()) return "no node";
  if (sources.size() == topology.nodes() && sources.size() > 1) return fmt::format("all {}", grouped(topology.nodes()));
  std::string text = sources.size() == 1 ? "" : fmt::format("{}:", grouped(sources.size()));
  for (std::size_t i = 0; i < std::min<std::size_t>(sources.size(), 8); ++i)
    text += (text.empty() ? "" : " ") + node_text(topology, sources[i]);
  return text + (sources.size() > 8 ? " .." : "");
}

/// "multinode-broadcast (MPI: Allgather) of 4KiB from all 16, 64KiB in all", "allreduce (MPI: Allreduce) of 64KiB, sum of f32".
std::string asked_text(const Setting& setting) {
  const Request& request = setting.request;
  std::string text = fmt::format("{} (MPI: {})", name(request.collective), mpi_name(request.collective));
  if (request.collective == Collective::barrier) return text;
  const bool broadcasts = request.collective == Collective::broadcast || request.collective == Collective::multinode_broadcast;
  const NodeId nodes = setting.machine.topology.nodes();
  const double each = request.sizes ? drawn_sizes(request, nodes).mean : static_cast<double>(request.bytes);
  const double total = asked_messages(request, nodes) * each;
  const bool blocks = !broadcasts && total > each;
  text += fmt::format(" of {}",
                      request.sizes ? bytes_words(static_cast<Bytes>(std::llround(each))) + " on average" : bytes_words(request.bytes));
  if (broadcasts) text += fmt::format(" from {}", sources_row(setting));
  if (blocks) text += " a block";
  if (total > each && total < 0x1p63) {
    const bool a_node = request.collective == Collective::total_exchange || request.collective == Collective::reduce_scatter;
    text += fmt::format(", {} {}", bytes_words(static_cast<Bytes>(std::llround(total))), a_node ? "a node" : "in all");
  }
  if (reduces(request.collective)) {
    const Reduction& reduction = request.reduction;
    text += fmt::format(", {} of {}", name(reduction.op), name(reduction.type));
    if (reduction.values != torus::Values::small) text += fmt::format(", values {}", name(reduction.values));
  }
  if (has_root(request.collective) && !broadcasts)
    text += fmt::format(", root {}", node_text(setting.machine.topology, request.sources.front()));
  return text + (setting.plan.segments > 1 ? fmt::format(", cut in {}", setting.plan.segments) : "");
}

/// algbw and busbw, by wall time.
std::string bandwidth_text(const Setting& setting, double run_s) {
  const Bandwidth wall = bandwidth_of(setting.request, setting.machine.topology.nodes(), run_s);
  return fmt::format("{}, busbw {}", rate_text(wall.algorithm, "B"), rate_text(wall.bus, "B"));
}

struct LoadFigures {
  std::uint64_t min = 0, max = 0;
  double mean = 0;
};
LoadFigures figures_of(const std::vector<std::uint64_t>& loads) {
  if (loads.empty()) return {};
  const auto [min, max] = std::minmax_element(loads.begin(), loads.end());
  const auto sum = std::accumulate(loads.begin(), loads.end(), std::uint64_t{0});
  return {*min, *max, static_cast<double>(sum) / static_cast<double>(loads.size())};
}

/// Puts more rows behind the row of that name.
void put_after(Rows& rows, std::string_view name, const Rows& more) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == name; });
  rows.insert(at + 1, more.begin(), more.end());
}

/// A prediction, or null where the plan makes none.
template <class Value>
Json predicted(const Plan& plan, const Value& value) {
  return plan.predicts() ? Json(value) : Json();
}

Json load_json(const std::vector<std::uint64_t>& loads) {
  const LoadFigures figures = figures_of(loads);
  return {{"max", figures.max}, {"min", figures.min}, {"mean", figures.mean}, {"blocks", loads}};
}

}  // namespace

std::vector<PhaseSum> phases_of(const RunResult& result) {
  std::vector<PhaseSum> phases;
  bool named = false;
  for (const PhaseTotals& p : result.phases) {
    named = named || p.phase != nullptr;
    phases.push_back({p.phase != nullptr ? p.phase : "-", p.steps, p.control_steps, p.messages, p.bytes, p.channel_bytes, p.model_time_s});
  }
  return named ? phases : std::vector<PhaseSum>{};
}

Repeats repeats_of(std::vector<double> run_s) {
  if (run_s.empty()) return {};
  std::sort(run_s.begin(), run_s.end());
  const std::size_t middle = run_s.size() / 2;
  const double median = run_s.size() % 2 == 1 ? run_s[middle] : (run_s[middle - 1] + run_s[middle]) / 2;
  return {run_s.size(), median, run_s.front(), run_s.back()};
}

Json to_json(const Setting& setting, const Emulation& emulation) {
  const Machine& whole = setting.whole();
  const Machine& machine = setting.machine;  // of a group, where there are groups
  const RunResult& result = emulation.result;
  const Plan& plan = setting.plan;
  const Bounds bounds = lower_bounds(machine, setting.request);
  const ShapeFacts facts = shape_facts(machine.topology);
  const Repeats repeats = repeats_of(emulation.run_s);
  Json json;
  json["shape"] = whole.topology.text();
  json["nodes"] = whole.topology.nodes();
  json["ports"] = whole.ports;
  json["switching"] = name(machine.switching);
  json["contention"] = name(machine.contention);
  json["routing"] = whole.routing;
  json["ts_s"] = machine.cost.start_up_s;
  json["tc_s"] = whole.cost.byte_s;
  if (!whole.cost.one_speed()) json["tc_by_dimension_s"] = whole.cost.dimension_byte_s;
  json["th_s"] = machine.cost.hop_s;
  json["tg_s"] = machine.cost.combine_s;
  if (setting.preset != nullptr) {
    json["machine"] = {{"name", setting.preset->name},
                       {"title", setting.preset->title},
                       {"shapes_from", text(setting.preset->shapes)},
                       {"speed_from", text(setting.preset->speed)},
                       {"start_up_from", text(setting.preset->start_up)}};
  }
  if (const Faults& faults = whole.topology.faults(); !faults.empty()) {
    json["faults"] = {{"dead_nodes", faults.dead_nodes}, {"options", damage_options(faults, whole.topology)}};
  }
  if (setting.groups) {
    json["groups"] = setting.groups->text();
    json["group_count"] = setting.groups->count();
    json["group_shape"] = machine.topology.text();
    json["group_nodes"] = machine.topology.nodes();
    json["group_ports"] = machine.ports;
  }
  json["collective"] = name(setting.request.collective);
  json["mpi"] = mpi_name(setting.request.collective);
  json["algorithm"] = setting.algorithm->name;
  json["reference"] = setting.algorithm->source;
  if (!setting.chosen.empty()) {
    json["chosen_because"] = setting.chosen;
    json["choosing_s"] = setting.choosing_s;
  }
  if (reduces(setting.request.collective)) {
    json["op"] = name(setting.request.reduction.op);
    json["type"] = name(setting.request.reduction.type);
    json["values"] = name(setting.request.reduction.values);
    if (result.error_ulp) json["error_ulp"] = *result.error_ulp;
    json["combined_bytes"] = result.combined_bytes;
    json["reduce_bytes_most"] = result.node_combined_sum;
    json["reduce_bytes_most_formula"] = plan.combined_bytes;
    json["reduce_bytes_most_lower_bound"] = bounds.combined_bytes;
    json["registers"] = plan.registers;
  }
  if (has_root(setting.request.collective)) json["source"] = setting.request.sources.front();
  json["sources"] = setting.request.sources;
  json["source_count"] = setting.request.sources.size();
  json["bytes"] = setting.request.bytes;
  if (setting.request.sizes) json["sizes"] = setting.request.sizes->text;
  json["segments"] = plan.segments;
  json["seed"] = setting.seed;
  json["threads"] = result.threads;
  if (result.processes > 1) json["processes"] = result.processes;
  json["executor"] = name(setting.executor);
  json["steps"] = result.steps;
  json["busy_steps"] = result.busy_steps;
  json["control_steps"] = result.control_steps;
  json["steps_formula"] = predicted(plan, plan.steps);
  json["steps_formula_text"] = predicted(plan, plan.formula);
  json["steps_formula_exact"] = predicted(plan, plan.steps_exact);
  json["steps_lower_bound"] = bounds.steps;
  json["steps_lower_bound_reason"] = bounds.steps_reason;
  json["steps_lower_bound_single_block"] = bounds.single_block_steps;
  json["messages"] = result.messages;
  json["control_messages"] = result.control_messages;
  json["hops"] = result.hops;
  json["bytes_delivered"] = result.bytes_delivered;
  json["blocks_delivered"] = result.blocks_delivered;
  json["duplicates"] = result.duplicates;
  json["control_bytes"] = result.control_bytes;
  json["data_bytes"] = result.bytes_delivered;
  json["bytes_hops"] = result.bytes_hops;
  json["max_channel_load"] = result.max_channel_load;
  json["channel_bytes_max"] = result.channel_bytes_max;
  json["channel_bytes_mean"] = result.channel_bytes_mean;
  json["channel_idle_share"] = result.channel_idle_share;
  json["channel_bytes_sum"] = result.channel_bytes_sum;
  json["channel_bytes_formula"] = predicted(plan, plan.channel_bytes);
  json["channel_bytes_lower_bound"] = bounds.channel_bytes;
  json["model_time_s"] = result.model_time_s;
  json["model_time_formula_s"] = predicted(plan, plan.model_time_s(machine.cost));
  json["model_time_lower_bound_s"] = bounds.model_time_s(machine.cost);
  json["model_time_simple_bound_s"] = bounds.simple_model_time_s(machine.cost);
  if (setting.request.collective == Collective::total_exchange) {
    json["bound3_steps"] = facts.bound3;
    json["bound4_steps"] = facts.bound4;
  }
  json["diameter"] = facts.diameter;
  json["average_distance"] = facts.average_distance;
  json["average_status"] = facts.average_status;
  json["setup_s"] = result.setup_s + setting.plan_s;
  const double run_s = repeats.runs > 1 ? repeats.median_s : result.run_s;
  json["run_s"] = run_s;
  json["verify_s"] = result.verify_s;
  const Bandwidth wall = bandwidth_of(setting.request, machine.topology.nodes(), run_s);
  const Bandwidth model = bandwidth_of(setting.request, machine.topology.nodes(), result.model_time_s);
  json["asked_bytes"] = asked_bytes(setting.request, machine.topology.nodes());
  json["algbw_bytes_per_s"] = wall.algorithm;
  json["busbw_bytes_per_s"] = wall.bus;
  json["model_algbw_bytes_per_s"] = model.algorithm;
  json["model_busbw_bytes_per_s"] = model.bus;
  json["copied_bytes_per_s"] = per_second(static_cast<double>(result.bytes_delivered), run_s);
  json["hops_per_s"] = per_second(static_cast<double>(result.hops), run_s);
  if (repeats.runs > 1) {
    json["repeat"] = {{"runs", repeats.runs},
                      {"run_s_median", repeats.median_s},
                      {"run_s_min", repeats.min_s},
                      {"run_s_max", repeats.max_s},
                      {"run_s_spread", repeats.max_s / std::max(repeats.min_s, 1e-12)}};
  }
  json["memory_bytes"] = result.memory_bytes;
  json["peak_rss_bytes"] = peak_memory();
  json["verified"] = result.verified && !emulation.failure;
  json["trace_digest"] = digest_text(result.trace_digest);
  if (const auto phases = phases_of(result); !phases.empty()) {
    for (const PhaseSum& p : phases) {
      json["phases"].push_back({{"name", p.name},
                                {"steps", p.steps},
                                {"control_steps", p.control_steps},
                                {"messages", p.messages},
                                {"bytes", p.bytes},
                                {"channel_bytes", p.channel_bytes},
                                {"model_time_s", p.model_time_s}});
    }
  }
  for (const Observation& found : emulation.observations) {
    json["h"] = found.h;
    json[found.name + "_before"] = load_json(found.before);
    json[found.name + "_after"] = load_json(found.after);
  }
  if (!plan.notes.empty()) {
    for (const auto& [key, value] : plan.notes) json["notes"][key] = value;
  }
  if (result.fault) {
    json["fault"] = {{"step", result.fault->step}, {"node", result.fault->node}, {"text", result.fault->text}};
    if (!emulation.fault_option.empty()) json["fault"]["option"] = emulation.fault_option;
    if (!emulation.harmless.empty()) json["fault"]["harmless"] = emulation.harmless;
  }
  if (emulation.failure) json["failure"] = *emulation.failure;
  return json;
}

std::string to_table(const Setting& setting, const Emulation& emulation) {
  const Machine& whole = setting.whole();
  const Machine& machine = setting.machine;  // of a group, where there are groups
  const RunResult& result = emulation.result;
  const Plan& plan = setting.plan;
  const Bounds bounds = lower_bounds(machine, setting.request);
  const bool exchange = setting.request.collective == Collective::total_exchange;
  const Repeats repeats = repeats_of(emulation.run_s);
  RunOptions options;
  options.executor = setting.executor;
  options.seed = setting.seed;
  ReportContext context;
  context.expected = {
      plan.steps, plan.steps_exact, plan.formula, bounds.steps, plan.model_time_s(machine.cost), bounds.model_time_s(machine.cost)};
  context.plan_s = setting.plan_s;
  if (repeats.runs > 1) context.run_s = repeats.median_s;
  context.failure = emulation.failure;
  Rows rows = torus::report(whole, result, options, context);
  if (setting.request.collective == Collective::barrier && result.verified && !emulation.failure)
    rows.back().second = "verified: " + BarrierWitness::proof(machine.topology.nodes());
  if (result.fault && !emulation.fault_option.empty()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& each) { return each.first == "fault"; });
    row->second += fmt::format(" (--fault {})", emulation.fault_option);
    if (!emulation.harmless.empty()) rows.insert(row + 1, {"", "harmless: " + emulation.harmless});
  }

  Rows asked;
  if (const Preset* preset = setting.preset; preset != nullptr) {
    asked.emplace_back("preset", fmt::format("{}, {}: {} ({})", preset->name, preset->title, speed_text(*preset), text(preset->speed)));
    asked.emplace_back("", fmt::format("T_s {} ({})", seconds_text(preset->start_up_s), text(preset->start_up)));
  }
  if (const Faults& faults = whole.topology.faults(); !faults.empty())
    asked.emplace_back("faults", fmt::format("{}:{}", damage_text(faults), damage_options(faults, whole.topology)));
  if (const Groups* const groups = setting.groups_or_null(); groups != nullptr)
    asked.emplace_back("groups", fmt::format("{}: {} of {}, each a machine {} with {}", groups->text(), grouped(groups->count()),
                                             counted(machine.topology.nodes(), "node"), machine.topology.text(),
                                             counted(static_cast<std::uint64_t>(machine.ports), "port")));
  asked.emplace_back("collective", asked_text(setting));
  if (setting.request.sizes) {
    const DrawnSizes drawn = drawn_sizes(setting.request, machine.topology.nodes());
    asked.emplace_back("sizes", fmt::format("{}: the size of each {}, {}{} on average, at most {}", setting.request.sizes->text,
                                            exchange ? "pair's block" : "node's block", drawn.exact ? "" : "about ",
                                            bytes_text(static_cast<Bytes>(std::llround(drawn.mean))), bytes_text(drawn.longest)));
  }
  asked.emplace_back("algorithm", setting.algorithm->source.empty()
                                      ? std::string(setting.algorithm->name)
                                      : fmt::format("{} ({})", setting.algorithm->name, setting.algorithm->source));
  if (!setting.chosen.empty())
    asked.emplace_back("chosen", fmt::format("{}; choosing took {}", setting.chosen, seconds_text(setting.choosing_s)));
  for (const auto& [key, value] : plan.notes) asked.emplace_back(key, value);
  Rows bound;
  if (bounds.single_block_steps > bounds.steps) {
    bound.emplace_back(
        "", fmt::format("one block a message: lower bound {} ({})", grouped(bounds.single_block_steps), bounds.single_block_reason));
  }
  if (exchange) {
    const ShapeFacts facts = shape_facts(machine.topology);
    bound.emplace_back(
        "shape", fmt::format("bound (3) {}, bound (4) {}, diameter {}, average status {:.6g}, average distance {:.4g}",
                             grouped(facts.bound3), grouped(facts.bound4), facts.diameter, facts.average_status, facts.average_distance));
  }
  Rows balance;
  for (const Observation& found : emulation.observations) {
    const LoadFigures before = figures_of(found.before);
    const LoadFigures after = figures_of(found.after);
    balance.emplace_back(found.title, fmt::format("before balancing {} to {}, after {} to {}, mean {:.4g}, h = {}", before.min, before.max,
                                                  after.min, after.max, after.mean, found.h));
  }
  Rows repeated;
  if (repeats.runs > 1) {
    repeated.emplace_back(
        "repeated", fmt::format("{} runs: median {}, min {}, max {}, spread {:.2f}", repeats.runs, seconds_text(repeats.median_s),
                                seconds_text(repeats.min_s), seconds_text(repeats.max_s), repeats.max_s / std::max(repeats.min_s, 1e-12)));
  }
  put_after(rows, "wall time", {{"host algbw", bandwidth_text(setting, context.run_s.value_or(result.run_s))}});
  put_after(rows, "wall time", repeated);
  put_after(rows, "channels", balance);
  put_after(rows, "steps", bound);
  put_after(rows, "machine", asked);

  std::string text = aligned(rows);
  if (const auto phases = phases_of(result); !phases.empty()) {
    Table table{{"phase", "steps", "of control", "messages", "bytes", "bytes on the fullest channels", "model time"}};
    for (const PhaseSum& p : phases) {
      table.push_back({p.name, grouped(p.steps), grouped(p.control_steps), grouped(p.messages), grouped(p.bytes), grouped(p.channel_bytes),
                       seconds_text(p.model_time_s)});
    }
    text += "\n" + aligned(std::move(table), {.left_out = {2, 3}});
  }
  return text;
}

CsvLines to_csv(const Setting& setting, const Emulation& emulation) {
  const Json json = to_json(setting, emulation);
  std::vector<std::string> names, values;
  const auto is_optional = [](std::string_view name) {
    return std::find(optional_fields.begin(), optional_fields.end(), name) != optional_fields.end();
  };
  for (auto& [name, value] : json.cells()) {
    if (is_optional(name)) continue;
    names.push_back(std::move(name));
    values.push_back(std::move(value));
  }
  for (const std::string_view name : optional_fields) {
    names.emplace_back(name);
    values.push_back(json.at(name).cell());
  }
  return {csv_line(names), csv_line(values)};
}

}  // namespace torus::command
