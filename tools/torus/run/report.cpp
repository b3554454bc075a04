#include "tools/torus/run/report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <span>

#include <torus/bandwidth.hpp>
#include <torus/report.hpp>

#include "algorithms/barrier_witness.hpp"
#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/report_fields.hpp"
#include "tools/torus/setting/map.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// "(3,4)", or "rank 7, node (1,0)" where ranks are no nodes.
std::string place_text(const Setting& setting, NodeId local) {
  if (!setting.groups || setting.grouped()) return node_text(setting.machine.topology, local);
  return fmt::format("rank {}, node {}", local, node_text(setting.whole().topology, setting.groups->member(0, local)));
}

std::string sources_row(const Setting& setting) {
  const Topology& topology = setting.machine.topology;
  const auto& sources = setting.request.sources;
  if (sources.empty()) return "no node";
  if (sources.size() == topology.nodes() && sources.size() > 1) return fmt::format("all {}", grouped(topology.nodes()));
  std::string text = sources.size() == 1 ? "" : fmt::format("{}:", grouped(sources.size()));
  for (std::size_t i = 0; i < std::min<std::size_t>(sources.size(), 8); ++i)
    text += (text.empty() ? "" : " ") + place_text(setting, sources[i]);
  return text + (sources.size() > 8 ? " .." : "");
}

/// "multinode-broadcast (MPI: Allgather) of 4KiB from all 16, 64KiB in all", "allreduce (MPI: Allreduce) of 64KiB, sum of f32".
std::string asked_text(const Setting& setting) {
  const Request& request = setting.request;
  std::string text = fmt::format("{} (MPI: {})", name(request.collective), facts_of(request.collective).mpi);
  if (!facts_of(request.collective).carries_bytes()) return text;
  const bool broadcasts = facts_of(request.collective).replicates();
  const NodeId nodes = setting.machine.topology.nodes();
  const double each = request.sizes ? drawn_sizes(request, nodes).mean : static_cast<double>(request.bytes);
  const double total = asked_messages(request, nodes) * each;
  const bool blocks = !broadcasts && total > each;
  const bool drawn = !request.size_rule().empty();
  text += fmt::format(" of {}", drawn ? bytes_words(static_cast<Bytes>(std::llround(each))) + " on average" : bytes_words(request.bytes));
  if (blocks) text += " a block";
  if (broadcasts || request.exchanges_of_sources()) text += fmt::format(" from {}", sources_row(setting));
  if (total > each && total < 0x1p63) {
    const bool a_node = facts_of(request.collective).of_pairs() || request.collective == Collective::reduce_scatter;
    const char* const where = request.exchanges_of_sources() ? "a source" : a_node ? "a node" : "in all";
    text += fmt::format(", {} {}", bytes_words(static_cast<Bytes>(std::llround(total))), where);
  }
  if (facts_of(request.collective).combines) {
    const Reduction& reduction = request.reduction;
    text += fmt::format(", {} of {}", name(reduction.op), name(reduction.type));
    if (reduction.values != torus::Values::small) text += fmt::format(", values {}", name(reduction.values));
  }
  if (facts_of(request.collective).rooted() && !broadcasts) text += fmt::format(", root {}", place_text(setting, request.sources.front()));
  return text + (setting.plan.segments > 1 ? fmt::format(", cut in {}", setting.plan.segments) : "");
}

/// algbw and busbw of a collective that takes so many seconds. in_a_second: what they would be if it took one second.
std::string bandwidth_text(const Bandwidth& in_a_second, double seconds) {
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  return fmt::format("{}, busbw {}", rate_text(in_a_second.algorithm * per_second, "B"), rate_text(in_a_second.bus * per_second, "B"));
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

/// A row for each class of groups, the slowest first, and of many the first ones.
void add_classes(const Setting& setting, Rows& rows) {
  constexpr std::size_t most_rows = 6;
  const Machine& machine = setting.machine;
  std::vector<const Setting*> classes = setting.classes();
  std::stable_partition(classes.begin(), classes.end(), [&](const Setting* each) { return each == &setting.slowest(); });
  rows.emplace_back("groups",
                    fmt::format("{}: {}, each a machine {} with {}, in {} by what is dead or slow", setting.groups->text(),
                                counted(machine.topology.nodes(), "node"), machine.topology.text(),
                                counted(static_cast<std::uint64_t>(machine.ports), "port"), counted(classes.size(), "class", "classes")));
  for (const Setting* each : std::span(classes).first(std::min(classes.size(), most_rows))) {
    const std::string damage = damage_text(each->machine.topology.faults());
    const std::string predicted = !each->plan.predicts() ? "no formula"
                                                         : fmt::format("formula {}, {}", counted(each->plan.steps, "step"),
                                                                       seconds_text(each->plan.model_time_s(each->machine.cost)));
    rows.emplace_back("", fmt::format("{}{} ({}): {}, {}{}", class_text(*each->groups),
                                      each->groups->count() > 1 ? fmt::format(", {} of them", grouped(each->groups->count())) : "",
                                      damage.empty() ? "whole" : damage, each->algorithm->name, predicted,
                                      each == classes.front() ? "; the slowest: formulas and bounds are of it alone" : ""));
  }
  const Setting& slowest = *classes.front();
  if (const auto all = setting.together_s(); all && *all > (1 + 1e-9) * slowest.plan.model_time_s(slowest.machine.cost))
    rows.emplace_back("", fmt::format("all together about {}: a step ends for all when it ends for the last", seconds_text(*all)));
  if (classes.size() > most_rows)
    rows.emplace_back("", fmt::format("and {} more", counted(classes.size() - most_rows, "class", "classes")));
}

/// Puts more rows behind the row of that name.
void put_after(Rows& rows, std::string_view name, const Rows& more) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == name; });
  rows.insert(at + 1, more.begin(), more.end());
}

Json load_json(const std::vector<std::uint64_t>& loads) {
  const LoadFigures figures = figures_of(loads);
  return {{"max", figures.max}, {"min", figures.min}, {"mean", figures.mean}, {"blocks", loads}};
}

}  // namespace

std::string map_text(const Setting& setting) {
  const Topology& topology = setting.whole().topology;
  const std::vector<NodeId> nodes = read_map(*setting.map, topology);
  std::string text = fmt::format("{}: ranks 0, 1, .. are nodes", *setting.map);
  for (std::size_t rank = 0; rank < std::min<std::size_t>(nodes.size(), 8); ++rank) text += " " + node_text(topology, nodes[rank]);
  if (nodes.size() > 8) text += " ..";
  if (!setting.groups) return text;
  return text +
         (setting.groups->dilated() ? "; messages go the shortest way between their nodes" : "; a hop of ranks is a hop of the machine");
}

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

Json to_json(const Setting& setting, const Run& run, const StruckFault& fault) {
  const Reported reported(setting, run, fault);
  Json json;
  for (const ReportField& field : report_fields()) {
    if (auto value = field.value(reported)) json[field.key] = std::move(*value);
  }
  for (const Observation& found : run.observations) {
    json[found.name + "_before"] = load_json(found.before);
    json[found.name + "_after"] = load_json(found.after);
  }
  return json;
}

std::string to_table(const Setting& all, const Run& run, const StruckFault& fault) {
  const Setting& setting = all.slowest();
  const Machine& whole = setting.whole();
  const Machine& machine = setting.machine;  // of a group, where there are groups
  const RunResult& result = run.result;
  const Plan& plan = setting.plan;
  const Bounds& bounds = setting.bounds;
  const bool exchange = facts_of(setting.request.collective).of_pairs();
  const Repeats repeats = repeats_of(run.run_s);
  RunOptions options;
  options.executor = setting.executor;
  options.seed = setting.seed;
  ReportContext context;
  context.expected = {
      plan.steps, plan.steps_exact, plan.formula, bounds.steps, plan.model_time_s(machine.cost), bounds.model_time_s(machine.cost)};
  context.plan_s = setting.plan_s;
  if (repeats.runs > 1) context.run_s = repeats.median_s;
  context.failure = run.check.failure;
  Rows rows = torus::report(whole, result, options, context);
  if (!facts_of(setting.request.collective).carries_bytes() && result.verified && !run.check.failure)
    rows.back().second = "verified: " + BarrierWitness::proof(machine.topology.nodes());
  if (result.fault && !fault.option.empty()) {
    const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& each) { return each.first == "fault"; });
    row->second += fmt::format(" (--fault {})", fault.option);
    if (!fault.harmless.empty()) rows.insert(row + 1, {"", "harmless: " + fault.harmless});
  }

  Rows asked;
  if (const Preset* preset = setting.preset; preset != nullptr) {
    asked.emplace_back("preset", fmt::format("{}, {}: {} ({})", preset->name, preset->title, speed_text(*preset), text(preset->speed)));
    asked.emplace_back("", fmt::format("T_s {} ({})", seconds_text(preset->start_up_s), text(preset->start_up)));
  }
  if (const Faults& faults = whole.topology.faults(); !faults.empty())
    asked.emplace_back("faults", fmt::format("{}:{}", damage_text(faults), damage_options(faults, whole.topology)));
  if (setting.map) asked.emplace_back("map", map_text(setting));
  if (!all.others.empty())
    add_classes(all, asked);
  else if (const Groups* const groups = setting.groups_or_null(); setting.grouped())
    asked.emplace_back("groups", fmt::format("{}: {} of {}, each a machine {} with {}", groups->text(), grouped(groups->count()),
                                             counted(machine.topology.nodes(), "node"), machine.topology.text(),
                                             counted(static_cast<std::uint64_t>(machine.ports), "port")));
  asked.emplace_back("collective", asked_text(setting));
  if (!setting.request.size_rule().empty()) {
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
  for (const Observation& found : run.observations) {
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
  const Bandwidth in_a_second = bandwidth_of(setting.request, setting.machine.topology.nodes(), 1);  // sizes that differ are summed once
  if (result.model_time_s > 0 && setting.request.bytes > 0)
    put_after(rows, "model time", {{"algbw", bandwidth_text(in_a_second, result.model_time_s) + ", over the model time"}});
  put_after(rows, "wall time", {{"host algbw", bandwidth_text(in_a_second, context.run_s.value_or(result.run_s))}});
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

Json to_row(const Setting& setting, const Run& run) {
  const Reported reported(setting, run);
  Json row;
  for (const ReportField::Runs runs : {ReportField::Runs::all, ReportField::Runs::some}) {
    for (const ReportField& field : report_fields()) {
      if (field.runs != runs || field.kind == ReportField::Kind::nested) continue;
      row[field.key] = field.value(reported).value_or(Json());
    }
  }
  return row;
}

CsvLines to_csv(const Json& row) {
  std::vector<std::string> names, values;
  for (const auto& [name, value] : row.cells()) {
    names.push_back(name);
    values.push_back(value);
  }
  return {csv_line(names), csv_line(values)};
}

}  // namespace torus::command
