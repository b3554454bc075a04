#include "tools/torus/setting/options.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {
namespace {

using enum OptionGroup;
using Text = std::string_view;

/// One speed for all dimensions, or one for each.
void set_speeds(CostModel& cost, Text option, Text text, double (*parse)(Text, Text)) {
  cost.dimension_byte_s.clear();
  for (const Text part : split(text, ',')) cost.dimension_byte_s.push_back(parse(option, part));
  cost.byte_s = cost.dimension_byte_s.front();
  if (cost.dimension_byte_s.size() == 1) cost.dimension_byte_s.clear();
}

ChooseBy parse_choose_by(Text text) {
  if (text == "model") return ChooseBy::model_time;
  if (text == "wall") return ChooseBy::run_time;
  throw InputError(fmt::format("--choose '{}': it must be model or wall", text));
}

bool combines(const CollectiveFacts& collective) { return collective.combines; }

std::string sources_text(const Setting& setting) {
  const Request& request = setting.request;
  if (request.collective == Collective::broadcast) return fmt::format(" --source {}", request.sources.front());
  if (facts_of(request.collective).rooted()) return fmt::format(" --root {}", request.sources.front());
  if (!request.from_sources()) return "";
  const std::string text = !setting.sources_text.empty() ? setting.sources_text : sources_option(setting.machine.topology, request.sources);
  return " --sources " + shell_word(text);
}

std::string byte_time_text(const Setting& setting) {
  const CostModel& cost = setting.whole().cost;
  if (!cost.one_speed()) return fmt::format(" --tc {}", fmt::join(cost.dimension_byte_s, ","));
  return cost.byte_s != CostModel{}.byte_s ? fmt::format(" --tc {}", cost.byte_s) : "";
}

/// Prints a cost where it is not the usual one.
template <double CostModel::*member>
std::string cost_text(const char* option, const Setting& setting) {
  const double seconds = setting.machine.cost.*member;
  return seconds != CostModel{}.*member ? fmt::format(" {} {}", option, seconds) : "";
}

}  // namespace

const std::vector<SettingOption>& setting_options() {
  using S = const Setting&;
  static const std::vector<SettingOption> options{
      {machine, "machine", "--machine", "MACHINE",
       "defaults of a machine that exists: shape, ports, speeds; `torus list --machines` has all"},
      {machine, "on", "--on,--slice", "SHAPE",
       "shape, or slice of a machine that is rented in slices: 16x16, 8x8x8, 16x16m (m: a line), 4x4c (c: complete), 4x4x8t (t: twisted), "
       "mesh:4x6, 2^10, hypercube:10",
       nullptr,
       [](S s) {
         return fmt::format(" --on {}{}", s.whole().topology.text(), s.of_one_algorithm() ? algorithm_options(*s.algorithm) : "");
       }},
      {machine, "groups", "--groups", "GROUPS|file:FILE",
       "groups of nodes that each run the collective by itself, at once: rows, columns, axis:0,2, slice:4x4, stride:2, file:FILE",
       [](RunSpec& spec, Text text) { spec.groups_text = text; },
       [](S s) { return s.grouped() ? fmt::format(" --groups {}", s.groups->text()) : ""; }},
      {machine, "map", "--map", "MAP|file:FILE",
       "which node each rank is: row-major, snake, axis:2,0,1 (the last fastest), random:7, file:FILE; programs, groups, sources and "
       "--schedule go by ranks",
       [](RunSpec& spec, Text text) {
         if (text != "row-major") spec.map = text;
       },
       [](S s) { return s.map ? fmt::format(" --map {}", shell_word(*s.map)) : ""; }},
      {machine, "ports", "--ports", "N|all", "messages a node may send, and receive, in a step; default: all",
       [](RunSpec& spec, Text text) {
         const auto most = static_cast<std::uint64_t>(spec.shape.max_ports());
         spec.ports = text == "all" ? 0 : static_cast<int>(parse_whole("--ports", text, 1, most));
       },
       [](S s) { return fmt::format(" --ports {}", s.whole().ports); }},
      {machine, "switching", "--switching", "packet|wormhole|circuit",
       "how a message crosses several channels; default: what the algorithm was made for",
       [](RunSpec& spec, Text text) { spec.switching = parse_switching(text); },
       [](S s) { return fmt::format(" --switching {}", name(s.machine.switching)); }},
      {machine, "contention", "--contention", "forbid|share",
       "two messages on a channel in one step; default: what the algorithm was made for",
       [](RunSpec& spec, Text text) { spec.contention = parse_contention(text); },
       [](S s) { return fmt::format(" --contention {}", name(s.machine.contention)); }},
      {machine, "routing", "--routing", "D,D,..", "the order in which wormhole routes take the dimensions; default 0,1,..",
       [](RunSpec& spec, Text text) { spec.routing = parse_routing(text); },
       [](S s) { return s.whole().ascending_routing() ? "" : fmt::format(" --routing {}", fmt::join(s.whole().routing, ",")); }},
      {machine, "dead-link", "--dead-link", "LINKS", "links that carry nothing, either way: 3,4:+0, 7:-1; several with ; between", nullptr,
       [](S s) { return damage_options(s.whole().topology.faults(), s.whole().topology); },  // all damage, random links too
       [](Text text, const Topology& shape, std::uint64_t, Faults& faults) {
         faults.dead_links = parse_links("--dead-link", text, shape);
       }},
      {machine, "dead-node", "--dead-node", "NODES", "nodes that are dead with all their links: 7; several with ; between", nullptr,
       nullptr,
       [](Text text, const Topology& shape, std::uint64_t, Faults& faults) {
         for (const Text node : split(text, ';')) faults.dead_nodes.push_back(parse_node("--dead-node", node, shape));
       }},
      {machine, "slow-link", "--slow-link", "LINKS", "links that take so many times as long for a byte: 3,4:+0:2; several with ; between",
       nullptr, nullptr,
       [](Text text, const Topology& shape, std::uint64_t, Faults& faults) {
         faults.slow_links = parse_slow_links("--slow-link", text, shape);
       }},
      {machine, "dead-links", "--dead-links", "random:N", "random:5: so many dead links, by the seed, that leave the machine in one piece",
       nullptr, nullptr,
       [](Text text, const Topology& shape, std::uint64_t seed, Faults& faults) {
         add_random_dead_links("--dead-links", text, shape, seed, faults);
       }},
      {machine, "ts", "--ts,--latency", "TIME", "T_s, model time a step: 1us, 5e-7; default 1us",
       [](RunSpec& spec, Text text) { spec.cost.start_up_s = parse_seconds("--ts", text); },
       [](S s) { return cost_text<&CostModel::start_up_s>("--ts", s); }},
      {machine, "tc", "--tc", "TIME", "T_c, model time a byte on a channel; one for all, or 1e-10,2e-10: one a dimension; default 0.1ns",
       [](RunSpec& spec, Text text) { set_speeds(spec.cost, "--tc", text, parse_seconds); }, byte_time_text},
      {machine, "bandwidth", "--bandwidth", "RATE", "of a channel, instead of --tc: 100Gb/s, 12.5GB/s; or one a dimension",
       [](RunSpec& spec, Text text) { set_speeds(spec.cost, "--bandwidth", text, parse_byte_time); }},
      {machine, "th", "--th", "TIME", "T_h, model time a hop; default 0",
       [](RunSpec& spec, Text text) { spec.cost.hop_s = parse_seconds("--th", text); },
       [](S s) { return cost_text<&CostModel::hop_s>("--th", s); }},
      {machine, "tg", "--tg", "TIME", "T_g, model time a byte that a node combines; default 0",
       [](RunSpec& spec, Text text) { spec.cost.combine_s = parse_seconds("--tg", text); },
       [](S s) { return cost_text<&CostModel::combine_s>("--tg", s); }},
      {request, "bytes", "--bytes", "SIZE", "what MPI's count says, of a message, a vector or a node's block: 64, 4KiB, 1MiB",
       [](RunSpec& spec, Text text) { spec.bytes = parse_bytes("--bytes", text); },
       [](S s) { return s.request.sizes && s.request.sizes->fixed() ? "" : fmt::format(" --bytes {}", bytes_option(s.request.bytes)); }},
      {request, "sizes", "--sizes", "RULE|FILE",
       "sizes of blocks, one a pair of nodes (total exchange) or one a node: zipf:S, zeros:P (their mean is --bytes), uniform:A:B, or a "
       "file",
       [](RunSpec& spec, Text text) { spec.sizes = parse_size_rule(spec.collective, text, std::nullopt); },
       [](S s) { return s.request.size_rule().empty() ? "" : " --sizes " + shell_word(s.request.sizes->text); }},
      {request, "sources", "--source,--sources,--root", "NODES",
       "nodes: a rank, 3,4 or 0,0;3,4; random, random:S, all, none, row:i, column:i, diagonal, block:AxB, density:0.1",
       [](RunSpec& spec, Text text) { spec.sources = text; }, sources_text},
      {request, "op", "--op", "sum|min|max|xor|prod|and|or|avg", "of reductions; default sum",
       [](RunSpec& spec, Text text) {
         check_owned(spec.collective, "op", text, combines);
         spec.reduction.op = parse_operator(text);
       },
       [](S s) { return facts_of(s.request.collective).combines ? fmt::format(" --op {}", name(s.request.reduction.op)) : ""; }},
      {request, "type", "--type", "u8|u16|u32|u64|i8|i16|i32|i64|f32|f64|bf16|f16", "the elements of a reduction; default f32",
       [](RunSpec& spec, Text text) {
         check_owned(spec.collective, "type", text, combines);
         spec.reduction.type = parse_element_type(text);
       },
       [](S s) { return facts_of(s.request.collective).combines ? fmt::format(" --type {}", name(s.request.reduction.type)) : ""; }},
      {request, "values", "--values", "small|real|special",
       "what a reduction's nodes contribute: exact in any order; mantissas of all bits; NaN, infinities and denormals; default small",
       [](RunSpec& spec, Text text) {
         check_owned(spec.collective, "values", text, combines);
         spec.reduction.values = parse_values(text);
       },
       [](S s) {
         return s.request.reduction.values == torus::Values::small ? "" : fmt::format(" --values {}", name(s.request.reduction.values));
       }},
      {request, "seed", "--seed", "N", "seed of the blocks' bytes and of random sources; default 1",
       [](RunSpec& spec, Text text) { spec.seed = parse_whole("--seed", text, 0, std::numeric_limits<std::uint64_t>::max()); },
       [](S s) { return fmt::format(" --seed {}", s.seed); }},
      {request, "expect", "--expect", "S",
       "sources that predictions expect; default: as many as --sources names, or all; programs never know them",
       [](RunSpec& spec, Text text) {
         check_owned(spec.collective, "expect", text, [](const CollectiveFacts& each) { return each.from_sources(); });
         spec.expected_sources = parse_real("--expect", text, 0, 0x1p31, "1");
       },
       [](S s) { return s.request.expected_sources ? fmt::format(" --expect {}", *s.request.expected_sources) : ""; }},
      {host, "executor", "--executor", "tbb|threads|serial|shuffled",
       fmt::format("what runs the nodes; default {}", name(default_executor)),
       [](RunSpec& spec, Text text) { spec.executor = parse_executor(text); },
       [](S s) { return fmt::format(" --executor {}", name(s.executor)); }},
      {host, "threads", "--threads", "N", "workers; default: the host's cores",
       [](RunSpec& spec, Text text) { spec.threads = static_cast<unsigned>(parse_whole("--threads", text, 1, 1024)); },
       [](S s) { return s.threads > 0 ? fmt::format(" --threads {}", s.threads) : ""; }},
      {.group = host,
       .name = "memory",
       .spelled = "--memory",
       .type = "SIZE",
       .help = "maximum memory to use; default: 80 % of what is available",
       .read =
           [](RunSpec& spec, Text text) {
             spec.memory = parse_bytes("--memory", text);
             if (spec.memory == 0) throw InputError("--memory '0': a run needs some; for instance 4GiB");
           },
       .decides = false},
      {.group = host,
       .name = "plan-time",
       .spelled = "--plan-time",
       .type = "S",
       .help = fmt::format(
           "seconds that planning an algorithm may take, without waits for a core; default {:g}, or {:g} where several are tried",
           plan_s_of_one, plan_s_of_many),
       .read = [](RunSpec& spec, Text text) { spec.plan_limit_s = parse_real("--plan-time", text, 0.001, 1e6, "60"); },
       .decides = false},
      {.group = host,
       .name = "step-time",
       .spelled = "--step-time",
       .type = "S",
       .help = fmt::format("seconds that a node's program may take in a step; default {:g}, and one more for each {} of its blocks", step_s,
                           bytes_text(step_bytes_a_s)),
       .read = [](RunSpec& spec, Text text) { spec.step_limit_s = parse_real("--step-time", text, 0.1, 1e6, "60"); },
       .decides = false},
      {choice, "choose", "--choose", "model|wall",
       "which algorithm is taken where none is named: the one of least model time, or the one that is soonest to run on a host; default "
       "model",
       [](RunSpec& spec, Text text) { spec.choose_by = parse_choose_by(text); }}};
  return options;
}

bool is_of_each_collective(const SettingOption& option) noexcept {
  return option.name == "groups" || (option.group == OptionGroup::request && option.name != "seed");
}

std::vector<ParameterOption> parameter_options(std::span<const Algorithm* const> algorithms, std::optional<Collective> collective) {
  std::vector<ParameterOption> options;
  for (const Algorithm* algorithm : algorithms) {
    if (collective && algorithm->collective != *collective) continue;
    for (const Parameter& parameter : algorithm->parameters) {
      auto at = std::find_if(options.begin(), options.end(), [&](const ParameterOption& o) { return o.name == parameter.name; });
      if (at == options.end()) at = options.insert(at, {parameter.name, parameter.meaning, {}, {}});
      const auto add_new = [](std::vector<Text>& words, Text word) {
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
      };
      add_new(at->readers, algorithm->name);  // two collectives may have an algorithm of one name
      for (const Text word : parameter.words) add_new(at->words, word);
    }
  }
  return options;
}

void add_options(Command& command, OptionGroup group, TypedOptions& typed) {
  for (const SettingOption& option : setting_options()) {
    if (option.group == group) command.add(std::string(option.spelled), std::string(option.type), &typed[option.name], option.help);
  }
  if (group != OptionGroup::request) return;
  for (const ParameterOption& parameter : parameter_options(catalogue())) {
    command.add(fmt::format("--{}", parameter.name),
                parameter.words.empty() ? "N|auto" : fmt::format("{}|auto", fmt::join(parameter.words, "|")), &typed[parameter.name],
                fmt::format("{}, or auto; read by {}", parameter.meaning, fmt::join(parameter.readers, ", ")));
  }
}

void add_setting_options(Command& command, TypedOptions& typed) {
  for (const OptionGroup group : {machine, request, host}) add_options(command, group, typed);
}

void add_collective(Command& command, std::string& collective, std::string_view more) {
  std::vector<Text> names;
  for (const CollectiveFacts& each : collectives()) names.push_back(each.name);
  command.require("collective", "COLLECTIVE", &collective,
                  fmt::format("{}; or as MPI says it: bcast, allgather, alltoall{}", fmt::join(names, ", "), more));
}

}  // namespace torus::command
