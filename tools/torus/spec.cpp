#include "tools/torus/spec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

#include <torus/error.hpp>

#include "runtime/host/host_memory.hpp"
#include "tools/torus/fault_notation.hpp"
#include "tools/torus/field_names.hpp"
#include "tools/torus/grid.hpp"
#include "tools/torus/job.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/refusals.hpp"
#include "tools/torus/sources.hpp"

namespace torus::command {
namespace {

/// "allgather" of "MPI_Allgather": MPI's names in its own letters.
std::string without_mpi(std::string_view text) {
  std::string plain(text);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return plain.starts_with("mpi_") ? plain.substr(4) : plain;
}

[[noreturn]] void refuse_foreign(Collective collective, std::string_view option, std::string_view value, const std::string& owners) {
  throw InputError(fmt::format("--{} '{}': it is for {}, not for {}; leave it out", option, value, owners, name(collective)));
}

/// The collectives that combine.
std::string reductions_text() {
  std::vector<std::string_view> names;
  for (const Collective collective : collectives()) {
    if (reduces(collective)) names.push_back(name(collective));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The collectives with an algorithm that reads a parameter.
std::string readers_of(std::string_view parameter) {
  std::vector<std::string_view> owners;
  for (const Collective collective : collectives()) {
    const auto reads = [&](const Algorithm* a) { return a->collective == collective && a->reads(parameter); };
    if (std::any_of(catalogue().begin(), catalogue().end(), reads)) owners.push_back(name(collective));
  }
  return fmt::format("{}", fmt::join(owners, " and "));
}

Parameters parse_parameters(Collective collective, const TypedOptions& options) {
  constexpr std::uint64_t max = std::numeric_limits<std::int32_t>::max();
  const std::vector<ParameterOption> declared = parameter_options(catalogue(), collective);
  Parameters parameters;
  for (const auto& [name, value] : options.parameters) {
    if (!value) continue;
    const auto known = [&name = name](const ParameterOption& option) { return option.name == name; };
    const auto option = std::find_if(declared.begin(), declared.end(), known);
    if (option == declared.end()) refuse_foreign(collective, name, *value, readers_of(name));
    if (*value == "auto") continue;
    if (option->words.empty()) {
      parameters.set(name, parse_whole("--" + name, *value, 1, max));
    } else if (std::find(option->words.begin(), option->words.end(), *value) == option->words.end()) {
      throw InputError(
          fmt::format("--{} '{}': it must be {}{}", name, *value, fmt::join(option->words, ", "), did_you_mean(*value, option->words)));
    } else {
      parameters.set(name, *value);
    }
  }
  return parameters;
}

/// One T_c for all, or one a dimension.
void set_speeds(CostModel& cost, std::string_view option, std::string_view text, double (*parse)(std::string_view, std::string_view)) {
  cost.dimension_byte_s.clear();
  for (const std::string_view part : split(text, ',')) cost.dimension_byte_s.push_back(parse(option, part));
  cost.byte_s = cost.dimension_byte_s.front();
  if (cost.dimension_byte_s.size() == 1) cost.dimension_byte_s.clear();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> TypedOptions::typed() const {
  std::vector<std::pair<std::string, std::string>> out;
  const std::pair<const char*, const std::optional<std::string>&> options[]{{"machine", machine},
                                                                            {"on", on},
                                                                            {"ports", ports},
                                                                            {"switching", switching},
                                                                            {"contention", contention},
                                                                            {"routing", routing},
                                                                            {"bytes", bytes},
                                                                            {"sources", sources},
                                                                            {"seed", seed},
                                                                            {"expect", expect},
                                                                            {"dead-link", dead_links},
                                                                            {"dead-links", random_dead_links},
                                                                            {"dead-node", dead_nodes},
                                                                            {"slow-link", slow_links},
                                                                            {"ts", start_up},
                                                                            {"tc", byte_time},
                                                                            {"bandwidth", bandwidth},
                                                                            {"th", hop_time},
                                                                            {"tg", combine_time},
                                                                            {"op", op},
                                                                            {"type", type},
                                                                            {"executor", executor},
                                                                            {"threads", threads}};
  for (const auto& [name, value] : options) {
    if (value) out.emplace_back(name, *value);
  }
  for (const auto& [name, value] : parameters) {
    if (value) out.emplace_back(name, *value);
  }
  return out;
}

std::vector<ParameterOption> parameter_options(std::span<const Algorithm* const> algorithms, std::optional<Collective> collective) {
  std::vector<ParameterOption> options;
  for (const Algorithm* algorithm : algorithms) {
    if (collective && algorithm->collective != *collective) continue;
    for (const Parameter& parameter : algorithm->parameters) {
      auto at = std::find_if(options.begin(), options.end(), [&](const ParameterOption& o) { return o.name == parameter.name; });
      if (at == options.end()) at = options.insert(at, {parameter.name, parameter.meaning, {}, {}});
      const auto add_new = [](std::vector<std::string_view>& known, std::string_view word) {
        if (std::find(known.begin(), known.end(), word) == known.end()) known.push_back(word);
      };
      add_new(at->readers, algorithm->name);  // two collectives may have an algorithm of one name
      for (const std::string_view word : parameter.words) add_new(at->words, word);
    }
  }
  return options;
}

std::optional<Collective> find_collective(std::string_view text) noexcept {
  const std::string plain = without_mpi(text);
  text = plain;
  const auto at = std::find_if(collectives().begin(), collectives().end(), [text](Collective c) { return name(c) == text; });
  if (at != collectives().end()) return *at;
  if (text == "bcast") return Collective::broadcast;
  if (text == "allgather" || text == "all-gather") return Collective::multinode_broadcast;
  if (text == "alltoall" || text == "all-to-all") return Collective::total_exchange;
  if (text == "all-reduce") return Collective::allreduce;
  if (text == "reducescatter") return Collective::reduce_scatter;
  return std::nullopt;
}

std::string_view mpi_name(Collective collective) noexcept {
  switch (collective) {
    case Collective::broadcast: return "Bcast";
    case Collective::multinode_broadcast: return "Allgather";
    case Collective::total_exchange: return "Alltoall";
    case Collective::reduce: return "Reduce";
    case Collective::allreduce: return "Allreduce";
    case Collective::reduce_scatter: return "Reduce_scatter_block";
    case Collective::scan: return "Scan";
    case Collective::scatter: return "Scatter";
    case Collective::gather: return "Gather";
    case Collective::barrier: return "Barrier";
  }
  return "";
}

Collective parse_collective(std::string_view text) {
  if (const auto found = find_collective(text)) return *found;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->name == text)
      throw InputError(fmt::format("collective '{}': it is an algorithm, of {}; for instance torus run {} --algorithm {}", text,
                                   name(algorithm->collective), name(algorithm->collective), text));
  }
  std::vector<std::string_view> names{"bcast", "allgather", "alltoall"};
  for (const Collective collective : collectives()) names.push_back(name(collective));
  throw InputError(fmt::format("collective '{}': it must be {} (in MPI's words also bcast, allgather, alltoall){}", text,
                               fmt::join(std::span(names).subspan(3), ", "), did_you_mean(text, names)));
}

std::string_view default_shape(Collective collective) noexcept { return collective == Collective::broadcast ? "16x16x16" : "16x16"; }

Bytes default_bytes(Collective collective) noexcept {
  switch (collective) {
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::allreduce: return 65536;
    case Collective::total_exchange: return 64;
    case Collective::barrier: return 0;
    default: return 4096;
  }
}

void check_carries(Collective collective, Bytes bytes, std::string_view text) {
  if (collective == Collective::barrier && bytes != 0)
    throw InputError(fmt::format("--bytes '{}': a barrier carries no bytes; leave it out", text));
}

std::vector<Bytes> sizes_of(Collective collective, const std::optional<std::string>& typed, std::string_view otherwise) {
  if (!typed) return collective == Collective::barrier ? std::vector<Bytes>{0} : parse_sizes("--bytes", otherwise);
  std::vector<Bytes> sizes = parse_sizes("--bytes", *typed);
  check_carries(collective, sizes.back(), *typed);
  return sizes;
}

RunSpec parse_spec(Collective collective, const TypedOptions& options) {
  const Preset* const preset = options.machine ? &preset_called(*options.machine) : nullptr;
  const std::string_view usual_shape = preset != nullptr ? preset->shape : default_shape(collective);
  RunSpec spec{.collective = collective,
               .shape = Topology::parse(options.on ? std::string_view(*options.on) : usual_shape),
               .preset = preset,
               .cost = preset != nullptr ? preset->cost() : CostModel{},
               .bytes = options.bytes ? parse_bytes("--bytes", *options.bytes) : default_bytes(collective),
               .sources = options.sources};
  if (options.ports) {
    const auto max_ports = static_cast<std::uint64_t>(spec.shape.max_ports());
    spec.ports = *options.ports == "all" ? 0 : static_cast<int>(parse_whole("--ports", *options.ports, 1, max_ports));
  }
  if (options.start_up) spec.cost.start_up_s = parse_seconds("--ts", *options.start_up);
  if (options.byte_time) set_speeds(spec.cost, "--tc", *options.byte_time, parse_seconds);
  if (options.bandwidth && options.byte_time)
    throw InputError(
        fmt::format("--bandwidth '{}': --tc {} says the same in seconds a byte; leave out one", *options.bandwidth, *options.byte_time));
  if (options.bandwidth) set_speeds(spec.cost, "--bandwidth", *options.bandwidth, parse_byte_time);
  if (options.hop_time) spec.cost.hop_s = parse_seconds("--th", *options.hop_time);
  if (options.combine_time) spec.cost.combine_s = parse_seconds("--tg", *options.combine_time);
  if (options.op && !reduces(collective)) refuse_foreign(collective, "op", *options.op, reductions_text());
  if (options.type && !reduces(collective)) refuse_foreign(collective, "type", *options.type, reductions_text());
  if (options.op) spec.reduction.op = parse_operator(*options.op);
  if (options.type) spec.reduction.type = parse_element_type(*options.type);
  if (reduces(collective)) check_reduction(spec.reduction, spec.shape.nodes(), spec.bytes);
  if (options.bytes) check_carries(collective, spec.bytes, *options.bytes);
  if (options.switching) spec.switching = parse_switching(*options.switching);
  if (options.contention) spec.contention = parse_contention(*options.contention);
  if (options.routing) spec.routing = parse_routing(*options.routing);
  if (options.seed) spec.seed = parse_whole("--seed", *options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  spec.shape = with_faults(spec.shape, options, spec.seed);
  spec.parameters = parse_parameters(collective, options);
  if (options.expect && collective != Collective::multinode_broadcast)
    refuse_foreign(collective, "expect", *options.expect, "multinode-broadcast");
  if (options.expect) spec.expected_sources = parse_real("--expect", *options.expect, 0, 0x1p31, "1");
  if (options.executor) spec.executor = parse_executor(*options.executor);
  if (options.threads) spec.threads = static_cast<unsigned>(parse_whole("--threads", *options.threads, 1, 1024));
  if (options.memory) spec.memory = parse_bytes("--memory", *options.memory);
  if (options.memory && spec.memory == 0) throw InputError("--memory '0': a run needs some; for instance 4GiB");
  if (processes() != nullptr) spec.processes = processes()->count();
  if (options.plan_time) spec.plan_limit_s = parse_real("--plan-time", *options.plan_time, 0.001, 1e6, "60");
  return spec;
}

Topology with_faults(const Topology& shape, const TypedOptions& options, std::uint64_t seed) {
  Faults faults;
  if (options.dead_nodes) {
    for (const std::string_view node : split(*options.dead_nodes, ';')) faults.dead_nodes.push_back(parse_node("--dead-node", node, shape));
  }
  if (options.dead_links) faults.dead_links = parse_links("--dead-link", *options.dead_links, shape);
  if (options.slow_links) faults.slow_links = parse_slow_links("--slow-link", *options.slow_links, shape);
  if (options.random_dead_links) add_random_dead_links("--dead-links", *options.random_dead_links, shape, seed, faults);
  return faults.empty() ? shape : shape.with_faults(std::move(faults));
}

Machine make_machine(const RunSpec& spec, const NativeMachine& native) {
  if (spec.preset != nullptr) check_shape(*spec.preset, spec.shape);
  // An algorithm made for many ports runs on a shape with fewer, too.
  const int usual_ports = spec.preset != nullptr ? spec.preset->ports : native.ports;
  const int native_ports = std::min(usual_ports, static_cast<int>(spec.shape.max_ports()));
  return Machine(spec.shape, spec.ports.value_or(native_ports), spec.switching.value_or(native.switching),
                 spec.contention.value_or(native.contention), spec.routing, spec.cost);
}

Request make_request(const RunSpec& spec) {
  Request request;
  request.collective = spec.collective;
  request.bytes = spec.bytes;
  request.parameters = spec.parameters;
  request.expected_sources = spec.expected_sources;
  request.reduction = spec.reduction;
  const bool rooted = has_root(spec.collective), broadcast = spec.collective == Collective::broadcast;
  const bool named = rooted || spec.collective == Collective::multinode_broadcast;
  if (!named && spec.sources.value_or("all") != "all")
    throw InputError(
        fmt::format("--sources '{}': in a {} every node takes part alike; leave it out", *spec.sources, name(spec.collective)));
  if (!named && spec.collective != Collective::total_exchange) return request;
  const NodeId first = first_living(spec.shape);
  const std::string text = spec.sources.value_or(rooted ? std::to_string(first) : "all");
  const std::string_view option = broadcast ? "--source" : rooted ? "--root" : "--sources";
  request.sources = parse_sources(std::string(option), text, spec.shape, spec.seed);
  const bool listed = text.find_first_of("0123456789") == 0;
  std::erase_if(request.sources, [&](NodeId source) { return !listed && !spec.shape.living(source); });
  for (const NodeId source : request.sources) {
    if (!spec.shape.living(source)) refuse(option, text, fmt::format("node {} is dead; for instance {}", source, first));
  }
  if (broadcast && request.sources.size() != 1) {
    throw InputError(
        fmt::format("--source '{}': a broadcast has one source, this names {}; for instance --source 0, or torus run multinode-broadcast",
                    text, request.sources.size()));
  }
  if (rooted && request.sources.size() != 1) {
    throw InputError(fmt::format("--root '{}': a {} has one root, this names {}; for instance --root 0", text, name(spec.collective),
                                 request.sources.size()));
  }
  if (spec.collective == Collective::multinode_broadcast && spec.sources && !request.expected_sources)
    request.expected_sources = static_cast<double>(request.sources.size());
  return request;
}

Request make_fitting_request(const RunSpec& spec) {
  const Bytes limit = (spec.memory > 0 ? spec.memory : memory_of_a_process()) * spec.processes;
  const auto refuse_too_large = [&](std::uint64_t sources, std::uint32_t segments) {
    if (const auto why_not = why_it_cannot_fit(spec.collective, spec.shape, spec.bytes, sources, segments, limit))
      throw InputError(*why_not);
  };
  refuse_too_large(0, 0);  // before the sources are listed: they may be all nodes
  Request request = make_request(spec);
  refuse_too_large(request.sources.size(), request.parameters.whole("segments"));
  return request;
}

bool same_rules(const Machine& a, const Machine& b) noexcept {
  return a.ports == b.ports && a.switching == b.switching && a.contention == b.contention;
}

std::string rules_text(const Machine& machine) {
  return fmt::format("{}, {} {}, contention {}", name(machine.switching), machine.ports, machine.ports == 1 ? "port" : "ports",
                     name(machine.contention));
}

std::string machine_text(const Machine& machine) {
  return fmt::format("{} ({}, {} ports, contention {})", machine.topology.text(), name(machine.switching), machine.ports,
                     name(machine.contention));
}

const Algorithm& named_algorithm(std::string_view option, Collective collective, std::string_view wanted,
                                 std::span<const Algorithm* const> algorithms) {
  std::vector<std::string_view> names;
  const Algorithm* elsewhere = nullptr;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective == collective) names.push_back(algorithm->name);
    if (algorithm->name != wanted) continue;
    if (algorithm->collective == collective) return *algorithm;
    elsewhere = algorithm;
  }
  if (elsewhere != nullptr) {
    throw InputError(fmt::format("{} '{}': it is no {}; for instance torus run {} --algorithm {}", option, wanted, name(collective),
                                 name(elsewhere->collective), wanted));
  }
  const std::string refused = fmt::format("{} '{}'", option, wanted);
  if (find_collective(wanted)) {
    throw InputError(fmt::format("{}: it is a collective; for instance torus run {}, or {} {}", refused, wanted, option, names.front()));
  }
  if (const std::string_view ours = our_name(collective, wanted); !ours.empty())
    throw InputError(fmt::format("{}: here it is called {}; for instance {} {}", refused, ours, option, ours));
  const std::string near = did_you_mean(wanted, names);
  throw InputError(fmt::format("{}: there is no such {}{}", refused, name(collective),
                               !near.empty() ? near : fmt::format("; `torus list` shows all, for instance {}", names.front())));
}

std::vector<const Algorithm*> parse_algorithms(std::string_view option, std::string_view text, Collective collective,
                                               std::span<const Algorithm* const> algorithms) {
  std::set<const Algorithm*> named;
  if (text != "all") {
    for (const std::string_view part : split(text, ',')) named.insert(&named_algorithm(option, collective, part, algorithms));
  }
  std::vector<const Algorithm*> chosen;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective == collective && (text == "all" || named.contains(algorithm))) chosen.push_back(algorithm);
  }
  return chosen;
}

std::vector<const Algorithm*> algorithms_called(std::string_view option, const std::optional<std::string>& word, std::string_view rule) {
  const std::optional<Collective> collective = word ? find_collective(*word) : std::nullopt;
  std::vector<const Algorithm*> called;
  std::vector<std::string_view> names;
  for (const Collective each : collectives()) names.push_back(name(each));
  for (const Algorithm* algorithm : catalogue()) {
    names.push_back(algorithm->name);
    if (!word || algorithm->collective == collective || algorithm->name == *word) called.push_back(algorithm);
  }
  if (called.empty()) refuse(option, *word, std::string(rule) + did_you_mean(*word, names));
  return called;
}

}  // namespace torus::command
