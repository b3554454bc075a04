#include "tools/torus/setting/spec.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

#include <torus/error.hpp>

#include "runtime/base/host.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

/// "allgather" of "MPI_Allgather": MPI's names in its own letters.
std::string without_mpi(std::string_view text) {
  std::string plain(text);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return plain.starts_with("mpi_") ? plain.substr(4) : plain;
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
  for (const auto& [name, value] : options.parameters()) {
    const auto known = [&name = name](const ParameterOption& option) { return option.name == name; };
    const auto option = std::find_if(declared.begin(), declared.end(), known);
    if (option == declared.end()) refuse_foreign(collective, name, value, readers_of(name));
    if (value == "auto") continue;
    if (option->words.empty()) {
      parameters.set(name, parse_whole("--" + name, value, 1, max));
    } else if (std::find(option->words.begin(), option->words.end(), value) == option->words.end()) {
      throw InputError(
          fmt::format("--{} '{}': it must be {}{}", name, value, fmt::join(option->words, ", "), did_you_mean(value, option->words)));
    } else {
      parameters.set(name, value);
    }
  }
  return parameters;
}

/// What the field calls an algorithm, and its name here.
struct FieldName {
  Collective collective;
  std::string_view word, ours;
};

constexpr std::array field_names{
    FieldName{Collective::broadcast, "binomial", "mst"},
    FieldName{Collective::broadcast, "binomial-tree", "mst"},
    FieldName{Collective::broadcast, "binomial_tree", "mst"},
    FieldName{Collective::broadcast, "minimum-spanning-tree", "mst"},
    FieldName{Collective::broadcast, "chain", "pipeline"},
    FieldName{Collective::broadcast, "pipelined", "pipeline"},
    FieldName{Collective::broadcast, "flooding", "flood"},
    FieldName{Collective::broadcast, "recursive-doubling", "dimension-wise"},
    FieldName{Collective::broadcast, "recursive_doubling", "dimension-wise"},
    FieldName{Collective::broadcast, "recursive-splitting", "rs-bcast"},
    FieldName{Collective::broadcast, "scatter-allgather", "scatter-collect"},
    FieldName{Collective::broadcast, "scatter_allgather", "scatter-collect"},
    FieldName{Collective::broadcast, "van-de-geijn", "scatter-collect"},
    FieldName{Collective::multinode_broadcast, "bucket", "ring"},
    FieldName{Collective::multinode_broadcast, "recursive-doubling", "log"},
    FieldName{Collective::multinode_broadcast, "recursive_doubling", "log"},
    FieldName{Collective::total_exchange, "brucks", "bruck"},
    FieldName{Collective::total_exchange, "modified_bruck", "bruck"},
    FieldName{Collective::total_exchange, "pairwise", "direct"},
};

/// Our name of an algorithm that MPI libraries and papers call so: "binomial" is "mst". Empty if there is none.
std::string_view our_name(Collective collective, std::string_view word) noexcept {
  const auto at = std::find_if(field_names.begin(), field_names.end(),
                               [&](const FieldName& name) { return name.collective == collective && name.word == word; });
  return at == field_names.end() ? std::string_view() : at->ours;
}

}  // namespace

const std::optional<std::string>& TypedOptions::operator[](std::string_view name) const {
  static const std::optional<std::string> none;
  const auto at = values_.find(name);
  return at == values_.end() ? none : at->second;
}

std::optional<std::string>& TypedOptions::operator[](std::string_view name) { return values_.try_emplace(std::string(name)).first->second; }

TypedOptions::Pairs TypedOptions::typed(bool with_limits) const {
  Pairs pairs;
  for (const SettingOption& option : setting_options()) {
    if (const auto& value = (*this)[option.name]; value && (option.decides || with_limits)) pairs.emplace_back(option.name, *value);
  }
  const Pairs more = parameters();
  pairs.insert(pairs.end(), more.begin(), more.end());
  return pairs;
}

TypedOptions TypedOptions::without_damage() const {
  TypedOptions whole = *this;
  for (const SettingOption& option : setting_options()) {
    if (option.damage != nullptr) whole[option.name].reset();
  }
  return whole;
}

TypedOptions::Pairs TypedOptions::parameters() const {
  Pairs pairs;
  const auto is_option = [](std::string_view name) {
    return std::any_of(setting_options().begin(), setting_options().end(),
                       [name](const SettingOption& option) { return option.name == name; });
  };
  for (const auto& [name, value] : values_) {
    if (value && !is_option(name)) pairs.emplace_back(name, *value);
  }
  return pairs;
}

namespace {

/// Whether a name is one of MPI's for blocks with sizes: "alltoallv".
bool says_sizes(std::string_view text) noexcept {
  return text.ends_with("allv") || text.ends_with("gatherv") || text.ends_with("scatterv");
}

}  // namespace

void refuse_foreign(Collective collective, std::string_view option, std::string_view value, const std::string& owners) {
  throw InputError(fmt::format("--{} '{}': it is for {}, not for {}; leave it out", option, value, owners, name(collective)));
}

std::optional<Collective> find_collective(std::string_view text) noexcept {
  std::string plain = without_mpi(text);
  std::replace(plain.begin(), plain.end(), '_', '-');
  text = plain;
  if (says_sizes(text)) text.remove_suffix(1);
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

Collective parse_collective(std::string_view text, const TypedOptions& typed) {
  const Collective collective = parse_collective(text);
  if (!says_sizes(without_mpi(text)) || typed["sizes"]) return collective;
  throw InputError(fmt::format(
      "collective '{}': its blocks have sizes; say which, for instance --sizes zipf:1, --sizes zeros:0.5 or --sizes FILE", text));
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

SizeRule parse_size_rule(Collective collective, std::string_view text, const std::optional<std::string>& bytes) {
  if (!takes_sizes(collective)) {
    std::vector<std::string_view> owners;
    for (const Collective each : collectives()) {
      if (takes_sizes(each)) owners.push_back(name(each));
    }
    refuse_foreign(collective, "sizes", text, fmt::format("{}", fmt::join(owners, ", ")));
  }
  SizeRule rule = SizeRule::parse(text);
  if (rule.fixed() && bytes)
    throw InputError(fmt::format("--bytes '{}': --sizes {} says all sizes, and so their mean; leave out one", *bytes, text));
  return rule;
}

Bytes mean_of(Collective collective, const SizeRule& rule) noexcept {
  constexpr Bytes largest_element = 8;
  return reduces(collective) ? (rule.mean() + largest_element - 1) / largest_element * largest_element : rule.mean();
}

std::vector<Bytes> table_sizes(Collective collective, const std::optional<std::string>& typed, std::string_view otherwise,
                               const std::optional<std::string>& sizes_text) {
  if (sizes_text) {
    const SizeRule rule = parse_size_rule(collective, *sizes_text, typed);
    if (rule.fixed()) return {mean_of(collective, rule)};
  }
  if (!typed) return collective == Collective::barrier ? std::vector<Bytes>{0} : parse_sizes("--bytes", otherwise);
  std::vector<Bytes> sizes = parse_sizes("--bytes", *typed);
  check_carries(collective, sizes.back(), *typed);
  return sizes;
}

RunSpec parse_spec(Collective collective, const TypedOptions& typed) {
  const auto &machine = typed["machine"], &on = typed["on"];
  const Preset* const preset = machine ? &preset_called(*machine) : nullptr;
  const std::string_view usual_shape = preset != nullptr ? preset->shape : default_shape(collective);
  RunSpec spec{.collective = collective,
               .shape = Topology::parse(on ? std::string_view(*on) : usual_shape),
               .preset = preset,
               .cost = preset != nullptr ? preset->cost() : CostModel{},
               .bytes = default_bytes(collective)};
  const auto &bandwidth = typed["bandwidth"], &byte_time = typed["tc"];
  if (bandwidth && byte_time)
    throw InputError(fmt::format("--bandwidth '{}': --tc {} says the same in seconds a byte; leave out one", *bandwidth, *byte_time));
  for (const SettingOption& option : setting_options()) {
    if (const auto& value = typed[option.name]; value && option.read != nullptr) option.read(spec, *value);
  }
  if (spec.sizes) {
    spec.sizes->seed = spec.seed;
    if (spec.sizes->fixed()) {
      static_cast<void>(parse_size_rule(collective, spec.sizes->text, typed["bytes"]));
      spec.bytes = mean_of(collective, *spec.sizes);
    }
  }
  if (reduces(collective)) check_reduction(spec.reduction, spec.shape.nodes(), spec.bytes);
  if (const auto& bytes = typed["bytes"]) check_carries(collective, spec.bytes, *bytes);
  spec.shape = with_damage(spec.shape, typed, spec.seed);
  settle_groups(spec);
  spec.parameters = parse_parameters(collective, typed);
  if (processes() != nullptr) spec.processes = processes()->count();
  return spec;
}

void settle_groups(RunSpec& spec) {
  spec.groups.reset();
  if (spec.groups_text) spec.groups = Groups::parse(*spec.groups_text, spec.shape);
}

void refuse_groups(const std::optional<std::string>& groups, std::string_view what) {
  if (groups) throw InputError(fmt::format("--groups '{}': {} does not know groups yet; leave it out", *groups, what));
}

Topology with_damage(const Topology& shape, const TypedOptions& typed, std::uint64_t seed) {
  Faults damage;
  for (const SettingOption& option : setting_options()) {
    if (const auto& value = typed[option.name]; value && option.damage != nullptr) option.damage(*value, shape, seed, damage);
  }
  return damage.empty() ? shape : shape.with_faults(std::move(damage));
}

Machine make_machine(const RunSpec& spec, const NativeMachine& native) {
  if (spec.preset != nullptr) check_shape(*spec.preset, spec.shape);
  // An algorithm made for many ports runs on a shape with fewer, too.
  const int usual_ports = spec.preset != nullptr ? spec.preset->ports : native.ports;
  const int native_ports = std::min(usual_ports, static_cast<int>(spec.shape.max_ports()));
  Machine whole(spec.shape, spec.ports.value_or(native_ports), spec.switching.value_or(native.switching),
                spec.contention.value_or(native.contention), spec.routing, spec.cost);
  return spec.groups ? spec.groups->machine(whole) : whole;
}

Request make_request(const RunSpec& spec) {
  Request request;
  request.collective = spec.collective;
  request.bytes = spec.bytes;
  request.parameters = spec.parameters;
  request.expected_sources = spec.expected_sources;
  request.reduction = spec.reduction;
  request.sizes = spec.sizes;
  const Topology& shape = seen_shape(spec);
  if (spec.sizes) static_cast<void>(sizes_of(shape, request));  // a table must fit
  const bool rooted = has_root(spec.collective), broadcast = spec.collective == Collective::broadcast;
  const bool named = rooted || spec.collective == Collective::multinode_broadcast;
  if (!named && spec.sources.value_or("all") != "all")
    throw InputError(
        fmt::format("--sources '{}': in a {} every node takes part alike; leave it out", *spec.sources, name(spec.collective)));
  if (!named && spec.collective != Collective::total_exchange) return request;
  const NodeId first = first_living(shape);
  const std::string text = spec.sources.value_or(rooted ? std::to_string(first) : "all");
  const std::string_view option = broadcast ? "--source" : rooted ? "--root" : "--sources";
  request.sources = parse_sources(std::string(option), text, shape, spec.seed);
  const bool listed = text.find_first_of("0123456789") == 0;
  std::erase_if(request.sources, [&](NodeId source) { return !listed && !shape.living(source); });
  for (const NodeId source : request.sources) {
    if (!shape.living(source)) refuse(option, text, fmt::format("node {} is dead; for instance {}", source, first));
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
  if (spec.groups) return make_request(spec);  // of a few nodes each; the engine says what all of them need
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
  return fmt::format("{} ({}, {}, contention {})", machine.topology.text(), name(machine.switching),
                     ports_words(static_cast<std::uint64_t>(machine.ports)), name(machine.contention));
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
  if (const std::string now = renamed(collective, wanted); !now.empty())
    throw InputError(fmt::format("{} '{}': it is now {} {}", option, wanted, option, now));
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
