#include "tools/torus/run/report_fields.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include <torus/bandwidth.hpp>
#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/setting/nodes.hpp"

namespace torus::command {
namespace {

using Of = const Reported&;
using Value = std::optional<Json>;

Json faults_json(const Topology& topology) {
  return {{"dead_nodes", topology.faults().dead_nodes}, {"options", damage_options(topology.faults(), topology)}};
}

Json preset_json(const Preset& preset) {
  return {{"name", preset.name},
          {"title", preset.title},
          {"shapes_from", text(preset.shapes)},
          {"speed_from", text(preset.speed)},
          {"start_up_from", text(preset.start_up)}};
}

Json repeats_json(const Repeats& repeats) {
  return {{"runs", repeats.runs},
          {"run_s_median", repeats.median_s},
          {"run_s_min", repeats.min_s},
          {"run_s_max", repeats.max_s},
          {"run_s_spread", repeats.max_s / std::max(repeats.min_s, 1e-12)}};
}

Value phases_json(const RunResult& result) {
  auto phases = Json::array();
  for (const PhaseSum& p : phases_of(result)) {
    phases.push_back({{"name", p.name},
                      {"steps", p.steps},
                      {"control_steps", p.control_steps},
                      {"messages", p.messages},
                      {"bytes", p.bytes},
                      {"channel_bytes", p.channel_bytes},
                      {"model_time_s", p.model_time_s}});
  }
  return phases.size() > 0 ? Value(phases) : std::nullopt;
}

NodeId group_count(const Setting& setting) {
  NodeId count = 0;
  for (const Setting* each : setting.classes()) count += each->groups->count();
  return count;
}

Json classes_json(const Setting& setting) {
  auto classes = Json::array();
  for (const Setting* each : setting.classes()) {
    auto groups = Json::array();
    for (NodeId group = 0; group < each->groups->count(); ++group) groups.push_back(each->groups->number_of(group));
    const Faults& faults = each->machine.topology.faults();
    const bool predicts = each->plan.predicts();
    classes.push_back({{"groups", std::move(groups)},
                       {"dead_links", faults.dead_links.size()},
                       {"dead_nodes", faults.dead_nodes.size()},
                       {"slow_links", faults.slow_links.size()},
                       {"algorithm", each->algorithm->name},
                       {"steps_formula", predicts ? Json(each->plan.steps) : Json()},
                       {"steps_lower_bound", each->bounds.steps},
                       {"model_time_formula_s", predicts ? Json(each->plan.model_time_s(each->machine.cost)) : Json()},
                       {"model_time_lower_bound_s", each->bounds.model_time_s(each->machine.cost)},
                       {"slowest", each == &setting.slowest()}});
  }
  return classes;
}

Json notes_json(const Plan& plan) {
  Json notes = Json::object();
  for (const auto& [key, value] : plan.notes) notes[key] = value;
  return notes;
}

Json fault_json(const FaultRecord& fault, const StruckFault& more) {
  Json json{{"step", fault.step}, {"node", fault.node}, {"text", fault.text}};
  if (!more.option.empty()) json["option"] = more.option;
  if (!more.harmless.empty()) json["harmless"] = more.harmless;
  return json;
}

Json buffered_json(const Buffered& buffered) { return {{"blocks", buffered.blocks}, {"bytes", buffered.bytes}}; }

template <class T>
Value only_if(bool present, T&& value) {
  return present ? Value(Json(std::forward<T>(value))) : std::nullopt;
}
/// A prediction, or null where the plan makes none.
template <class T>
Value predicted(Of of, T&& value) {
  return of.plan.predicts() ? Json(std::forward<T>(value)) : Json();
}
Value variant(const Plan& plan) {
  const auto found = std::ranges::find(plan.notes, "variant", [](const auto& note) { return std::string_view(note.first); });
  return found != plan.notes.end() ? Value(found->second) : std::nullopt;
}
bool combines(Of of) { return facts_of(of.request.collective).combines; }
bool exchanges(Of of) { return of.request.collective == Collective::total_exchange; }
Bandwidth bandwidth(Of of, double s) { return bandwidth_of(of.request, of.machine.topology.nodes(), s); }

constexpr auto all = ReportField::Runs::all;
constexpr auto some = ReportField::Runs::some;
constexpr auto scalar = ReportField::Kind::scalar;
constexpr auto nested = ReportField::Kind::nested;

constexpr std::array fields{
    ReportField{"shape", all, scalar, [](Of of) -> Value { return of.setting.whole().topology.text(); }, ""},
    ReportField{"nodes", all, scalar, [](Of of) -> Value { return of.setting.whole().topology.nodes(); }, ""},
    ReportField{"ports", all, scalar, [](Of of) -> Value { return of.setting.whole().ports; }, ""},
    ReportField{"switching", all, scalar, [](Of of) -> Value { return name(of.machine.switching); }, ""},
    ReportField{"contention", all, scalar, [](Of of) -> Value { return name(of.machine.contention); }, ""},
    ReportField{"routing", all, nested, [](Of of) -> Value { return of.setting.whole().routing; }, ""},
    ReportField{"ts_s", all, scalar, [](Of of) -> Value { return of.machine.cost.start_up_s; }, ""},
    ReportField{"tc_s", all, scalar, [](Of of) -> Value { return of.setting.whole().cost.byte_s; }, ""},
    ReportField{"th_s", all, scalar, [](Of of) -> Value { return of.machine.cost.hop_s; }, ""},
    ReportField{"tg_s", all, scalar, [](Of of) -> Value { return of.machine.cost.combine_s; }, "the machine; shape as `--on` reads it"},
    ReportField{"tc_by_dimension_s", some, nested,
                [](Of of) -> Value { return only_if(!of.setting.whole().cost.one_speed(), of.setting.whole().cost.dimension_byte_s); }, ""},
    ReportField{"machine", some, nested,
                [](Of of) -> Value { return of.setting.preset != nullptr ? Value(preset_json(*of.setting.preset)) : std::nullopt; },
                "unequal dimensions (`tc_s` is then the slowest); the preset, with its sources: `name`, `title`, `shapes_from`, "
                "`speed_from`, `start_up_from`"},
    ReportField{"faults", some, nested,
                [](Of of) -> Value {
                  return of.setting.whole().topology.faults().empty() ? std::nullopt : Value(faults_json(of.setting.whole().topology));
                },
                "dead and slow parts: `dead_nodes`, and the `options` that say it"},
    ReportField{"map", some, scalar, [](Of of) -> Value { return only_if(of.setting.map.has_value(), of.setting.map.value_or("")); },
                "with `--map`: sources, roots and blocks then go by ranks"},
    ReportField{"groups", some, scalar,
                [](Of of) -> Value { return of.setting.grouped() ? Value(of.setting.groups->text()) : std::nullopt; }, ""},
    ReportField{"group_count", some, scalar,
                [](Of of) -> Value { return of.setting.grouped() ? Value(group_count(of.asked)) : std::nullopt; }, ""},
    ReportField{"group_shape", some, scalar, [](Of of) -> Value { return only_if(of.setting.grouped(), of.machine.topology.text()); }, ""},
    ReportField{"group_nodes", some, scalar, [](Of of) -> Value { return only_if(of.setting.grouped(), of.machine.topology.nodes()); }, ""},
    ReportField{"group_ports", some, scalar, [](Of of) -> Value { return only_if(of.setting.grouped(), of.machine.ports); },
                "with `--groups`: formulas and bounds are then a group's"},
    ReportField{"group_classes", some, nested,
                [](Of of) -> Value { return of.asked.others.empty() ? std::nullopt : Value(classes_json(of.asked)); },
                "where groups differ in what is dead or slow, each class: `groups` (their numbers), `dead_links`, `dead_nodes`, `slow_links` (of "
                "one group), `algorithm`, `steps_formula`, `steps_lower_bound`, `model_time_formula_s`, `model_time_lower_bound_s`; `slowest`: it "
                "is the class whose formulas, bounds, shape and algorithm the other fields say"},
    ReportField{"collective", all, scalar, [](Of of) -> Value { return name(of.request.collective); }, ""},
    ReportField{"mpi", all, scalar, [](Of of) -> Value { return facts_of(of.request.collective).mpi; }, ""},
    ReportField{"algorithm", all, scalar, [](Of of) -> Value { return of.setting.algorithm->name; }, ""},
    ReportField{"reference", all, scalar, [](Of of) -> Value { return of.setting.algorithm->source; }, ""},
    ReportField{"chosen_because", some, scalar, [](Of of) -> Value { return only_if(!of.setting.chosen.empty(), of.setting.chosen); }, ""},
    ReportField{"choosing_s", some, scalar, [](Of of) -> Value { return only_if(!of.setting.chosen.empty(), of.setting.choosing_s); },
                "what ran, its source, why it was chosen, in how much wall time"},
    ReportField{"op", some, scalar, [](Of of) -> Value { return only_if(combines(of), name(of.request.reduction.op)); }, ""},
    ReportField{"type", some, scalar, [](Of of) -> Value { return only_if(combines(of), name(of.request.reduction.type)); }, ""},
    ReportField{"values", some, scalar, [](Of of) -> Value { return only_if(combines(of), name(of.request.reduction.values)); },
                "reductions: operator, type of an element, kind of values"},
    ReportField{"error_ulp", some, scalar, [](Of of) -> Value { return of.result.error_ulp ? Value(*of.result.error_ulp) : std::nullopt; },
                "under `--values real`: see [values](../runtime/values.md); in `compare`, of each entry that was run"},
    ReportField{"combined_bytes", some, scalar, [](Of of) -> Value { return only_if(combines(of), of.result.combined_bytes); },
                "reductions: bytes of partials that all nodes combined"},
    ReportField{"reduce_bytes_most", some, scalar, [](Of of) -> Value { return only_if(combines(of), of.result.node_combined_sum); }, ""},
    ReportField{"reduce_bytes_most_formula", some, scalar, [](Of of) -> Value { return only_if(combines(of), of.plan.combined_bytes); },
                ""},
    ReportField{"reduce_bytes_most_lower_bound", some, scalar,
                [](Of of) -> Value { return only_if(combines(of), of.bounds.combined_bytes); },
                "the sum over the steps of the most that one node combined"},
    ReportField{"registers", some, scalar, [](Of of) -> Value { return only_if(combines(of), of.plan.registers); },
                "partials of a segment that a node may keep"},
    ReportField{"source", some, scalar,
                [](Of of) -> Value { return facts_of(of.request.collective).rooted() ? Value(of.request.sources.front()) : std::nullopt; },
                ""},
    ReportField{"sources", all, nested, [](Of of) -> Value { return of.request.sources; }, ""},
    ReportField{"source_count", all, scalar, [](Of of) -> Value { return of.request.sources.size(); }, ""},
    ReportField{"bytes", all, scalar, [](Of of) -> Value { return of.request.bytes; }, ""},
    ReportField{"sizes", some, scalar,
                [](Of of) -> Value { return of.request.size_rule().empty() ? std::nullopt : Value(of.request.sizes->text); }, ""},
    ReportField{"segments", all, scalar, [](Of of) -> Value { return of.plan.segments; }, ""},
    ReportField{"seed", all, scalar, [](Of of) -> Value { return of.setting.seed; }, "the request; `source` where there is one root"},
    ReportField{"threads", all, scalar, [](Of of) -> Value { return of.result.threads; }, ""},
    ReportField{"processes", some, scalar, [](Of of) -> Value { return only_if(of.result.processes > 1, of.result.processes); }, ""},
    ReportField{"executor", all, scalar, [](Of of) -> Value { return name(of.setting.executor); },
                "`processes` only if several, with the threads of each"},
    ReportField{"steps", all, scalar, [](Of of) -> Value { return of.result.steps; }, ""},
    ReportField{"busy_steps", all, scalar, [](Of of) -> Value { return of.result.busy_steps; }, ""},
    ReportField{"control_steps", all, scalar, [](Of of) -> Value { return of.result.control_steps; },
                "barriers; with traffic; with control messages alone"},
    ReportField{"steps_formula", all, scalar, [](Of of) -> Value { return predicted(of, of.plan.steps); }, ""},
    ReportField{"steps_formula_text", all, scalar, [](Of of) -> Value { return predicted(of, of.plan.formula); }, ""},
    ReportField{"steps_formula_exact", all, scalar, [](Of of) -> Value { return predicted(of, of.plan.steps_exact); },
                "the prediction; `.._formula` fields are null where there is none"},
    ReportField{"steps_lower_bound", all, scalar, [](Of of) -> Value { return of.bounds.steps; }, ""},
    ReportField{"steps_lower_bound_reason", all, scalar, [](Of of) -> Value { return of.bounds.steps_reason; }, ""},
    ReportField{"steps_lower_bound_single_block", all, scalar, [](Of of) -> Value { return of.bounds.single_block_steps; },
                "the last if no message may carry data of two sources"},
    ReportField{"messages", all, scalar, [](Of of) -> Value { return of.result.messages; }, ""},
    ReportField{"control_messages", all, scalar, [](Of of) -> Value { return of.result.control_messages; }, ""},
    ReportField{"hops", all, scalar, [](Of of) -> Value { return of.result.hops; }, ""},
    ReportField{"bytes_delivered", all, scalar, [](Of of) -> Value { return of.result.bytes_delivered; }, ""},
    ReportField{"blocks_delivered", all, scalar, [](Of of) -> Value { return of.result.blocks_delivered; }, ""},
    ReportField{"duplicates", all, scalar, [](Of of) -> Value { return of.result.duplicates; }, "counts"},
    ReportField{"control_bytes", all, scalar, [](Of of) -> Value { return of.result.control_bytes; }, ""},
    ReportField{"data_bytes", all, scalar, [](Of of) -> Value { return of.result.bytes_delivered; }, ""},
    ReportField{"bytes_hops", all, scalar, [](Of of) -> Value { return of.result.bytes_hops; },
                "bytes of headers; of blocks; message bytes times hops"},
    ReportField{"max_channel_load", all, scalar, [](Of of) -> Value { return of.result.max_channel_load; },
                "max messages on one channel in one step"},
    ReportField{"channel_bytes_max", all, scalar, [](Of of) -> Value { return of.result.channel_bytes_max; }, ""},
    ReportField{"channel_bytes_mean", all, scalar, [](Of of) -> Value { return of.result.channel_bytes_mean; }, ""},
    ReportField{"channel_idle_share", all, scalar, [](Of of) -> Value { return of.result.channel_idle_share; },
                "over the run: busiest channel, mean, unused share"},
    ReportField{"channel_bytes_sum", all, scalar, [](Of of) -> Value { return of.result.channel_bytes_sum; }, ""},
    ReportField{"channel_bytes_formula", all, scalar, [](Of of) -> Value { return predicted(of, of.plan.channel_bytes); }, ""},
    ReportField{"channel_bytes_lower_bound", all, scalar, [](Of of) -> Value { return of.bounds.channel_bytes; },
                "sum over the steps of the max bytes on a channel"},
    ReportField{"model_time_s", all, scalar, [](Of of) -> Value { return of.result.model_time_s; }, ""},
    ReportField{"model_time_formula_s", all, scalar, [](Of of) -> Value { return predicted(of, of.plan.model_time_s(of.machine.cost)); },
                ""},
    ReportField{"model_time_lower_bound_s", all, scalar, [](Of of) -> Value { return of.bounds.model_time_s(of.machine.cost); },
                "steps x T_s + channel_bytes x T_c + hops of each step's longest route x T_h + reduce_bytes_most x T_g"},
    ReportField{"model_time_simple_bound_s", all, scalar, [](Of of) -> Value { return of.bounds.simple_model_time_s(of.machine.cost); },
                "minimum steps with minimum bytes, as if a broadcast could have both"},
    ReportField{"bound3_steps", some, scalar, [](Of of) -> Value { return only_if(exchanges(of), of.facts.bound3); }, ""},
    ReportField{"bound4_steps", some, scalar, [](Of of) -> Value { return only_if(exchanges(of), of.facts.bound4); },
                "figures of the shape for a total exchange"},
    ReportField{"diameter", all, scalar, [](Of of) -> Value { return of.facts.diameter; }, ""},
    ReportField{"average_distance", all, scalar, [](Of of) -> Value { return of.facts.average_distance; }, ""},
    ReportField{"average_status", all, scalar, [](Of of) -> Value { return of.facts.average_status; }, "figures of the shape"},
    ReportField{"setup_s", all, scalar, [](Of of) -> Value { return of.result.setup_s + of.setting.plan_s; }, ""},
    ReportField{"run_s", all, scalar, [](Of of) -> Value { return of.run_s; }, ""},
    ReportField{"verify_s", all, scalar, [](Of of) -> Value { return of.result.verify_s; }, "wall time"},
    ReportField{"asked_bytes", all, scalar, [](Of of) -> Value { return asked_bytes(of.request, of.machine.topology.nodes()); }, ""},
    ReportField{"algbw_bytes_per_s", all, scalar, [](Of of) -> Value { return bandwidth(of, of.run_s).algorithm; }, ""},
    ReportField{"busbw_bytes_per_s", all, scalar, [](Of of) -> Value { return bandwidth(of, of.run_s).bus; },
                "[bandwidth](measuring.md#bandwidth) over `run_s`"},
    ReportField{"model_algbw_bytes_per_s", all, scalar, [](Of of) -> Value { return bandwidth(of, of.result.model_time_s).algorithm; }, ""},
    ReportField{"model_busbw_bytes_per_s", all, scalar, [](Of of) -> Value { return bandwidth(of, of.result.model_time_s).bus; },
                "the same over `model_time_s`"},
    ReportField{"copied_bytes_per_s", all, scalar,
                [](Of of) -> Value { return per_second(static_cast<double>(of.result.bytes_delivered), of.run_s); }, ""},
    ReportField{"hops_per_s", all, scalar, [](Of of) -> Value { return per_second(static_cast<double>(of.result.hops), of.run_s); },
                "bytes really copied, with duplicates and each hop of packet switching, over `run_s`; hops likewise"},
    ReportField{"repeat", some, nested, [](Of of) -> Value { return of.repeats.runs > 1 ? Value(repeats_json(of.repeats)) : std::nullopt; },
                "with `--repeat`: `runs`, `run_s_median`, `run_s_min`, `run_s_max`, `run_s_spread` (max / min)"},
    ReportField{"buffered", some, nested,
                [](Of of) -> Value { return of.result.buffered ? Value(buffered_json(*of.result.buffered)) : std::nullopt; },
                "with `--judge`: the most `blocks`, and `bytes`, that wait at a node to be sent on in a later step; not where more than 4,194,304 blocks "
                "reach nodes"},
    ReportField{"memory_bytes", all, scalar, [](Of of) -> Value { return of.result.memory_bytes; }, ""},
    ReportField{"peak_rss_bytes", all, scalar, [](Of) -> Value {
                  const auto peak = peak_memory();
                  return peak ? Json(*peak) : Json();
                },
                "estimated before the run, of all processes; measured, of the first process, null where the system does not say"},
    ReportField{"verified", all, scalar, [](Of of) -> Value { return of.result.verified && !of.run.check.failure; },
                "whether all is right"},
    ReportField{"trace_digest", all, scalar, [](Of of) -> Value { return digest_text(of.result.trace_digest); },
                "digest of all messages, 16 hexadecimal digits, the same for every executor and number of threads"},
    ReportField{"phases", some, nested, [](Of of) -> Value { return phases_json(of.result); },
                "by phase: `name`, `steps`, `control_steps`, `messages`, `bytes`, `channel_bytes`, `model_time_s`"},
    ReportField{"h", some, scalar,
                [](Of of) -> Value { return of.run.observations.empty() ? std::nullopt : Value(of.run.observations.back().h); },
                "balanced multi-node broadcasts: dilated subnetworks; `blocks_per_ddn_before` and `blocks_per_ddn_after`: blocks in each"},
    ReportField{"notes", some, nested, [](Of of) -> Value { return of.plan.notes.empty() ? std::nullopt : Value(notes_json(of.plan)); },
                "what the algorithm adds"},
    ReportField{"fault", some, nested,
                [](Of of) -> Value { return of.result.fault ? Value(fault_json(*of.result.fault, of.fault)) : std::nullopt; },
                "with `--fault`, where it struck: `step`, `node`, `text`, `option` (repeats it), `harmless` (why)"},
    ReportField{"failure", some, scalar, [](Of of) -> Value { return of.run.check.failure ? Value(*of.run.check.failure) : std::nullopt; },
                "what is not right"},
    ReportField{"variant", some, scalar, [](Of of) -> Value { return variant(of.plan); },
                "which variant of the algorithm ran, where it has several"},
};

}  // namespace

Reported::Reported(const Setting& of, const Run& ran, StruckFault struck)
    : setting{of.slowest()},
      run{ran},
      fault{std::move(struck)},
      machine{setting.machine},
      request{setting.request},
      plan{setting.plan},
      result{ran.result},
      bounds{setting.bounds},
      facts{shape_facts(machine.topology)},
      repeats{repeats_of(ran.run_s)},
      run_s{repeats.runs > 1 ? repeats.median_s : ran.result.run_s},
      asked{of} {}

std::span<const ReportField> report_fields() { return fields; }

std::string report_fields_page() {
  std::string page, keys;
  for (const ReportField& field : fields) {
    keys += fmt::format("{}`{}`", keys.empty() ? "" : " ", field.key);
    if (field.meaning.empty()) continue;
    page += fmt::format("- {}: {}\n", keys, field.meaning);
    keys.clear();
  }
  return page;
}

}  // namespace torus::command
