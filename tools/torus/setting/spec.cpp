#include "tools/torus/setting/spec.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/setting/map.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

constexpr std::size_t most_classes = 64;  // of groups: as many as a session has members

/// The collectives with an algorithm that reads a parameter.
std::string readers_of(std::string_view parameter) {
  std::vector<std::string_view> owners;
  for (const CollectiveFacts& each : collectives()) {
    const auto reads = [&](const Algorithm* a) { return a->collective == each.collective && a->reads(parameter); };
    if (std::any_of(catalogue().begin(), catalogue().end(), reads)) owners.push_back(each.name);
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

/// The shape with the dead and slow links that the options name. Random ones follow from the seed. Throws InputError.
Topology with_damage(const Topology& shape, const TypedOptions& typed, std::uint64_t seed) {
  Faults damage;
  for (const SettingOption& option : setting_options()) {
    if (const auto& value = typed[option.name]; value && option.damage != nullptr) option.damage(*value, shape, seed, damage);
  }
  return damage.empty() ? shape : shape.with_faults(std::move(damage));
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

void refuse_foreign(Collective collective, std::string_view option, std::string_view value, const std::string& owners) {
  throw InputError(fmt::format("--{} '{}': it is for {}, not for {}; leave it out", option, value, owners, name(collective)));
}

void check_owned(Collective collective, std::string_view option, std::string_view value, bool (*owns)(const CollectiveFacts&)) {
  if (owns(facts_of(collective))) return;
  std::vector<std::string_view> owners;
  for (const CollectiveFacts& each : collectives()) {
    if (owns(each)) owners.push_back(each.name);
  }
  refuse_foreign(collective, option, value, fmt::format("{}", fmt::join(owners, ", ")));
}

void check_carries(Collective collective, Bytes bytes, std::string_view text) {
  if (!facts_of(collective).carries_bytes() && bytes != 0)
    throw InputError(fmt::format("--bytes '{}': a barrier carries no bytes; leave it out", text));
}

SizeRule parse_size_rule(Collective collective, std::string_view text, const std::optional<std::string>& bytes) {
  check_owned(collective, "sizes", text, [](const CollectiveFacts& each) { return each.takes_sizes(); });
  SizeRule rule = SizeRule::parse(text);
  if (rule.fixed() && bytes)
    throw InputError(fmt::format("--bytes '{}': --sizes {} says all sizes, and so their mean; leave out one", *bytes, text));
  return rule;
}

std::vector<Bytes> table_sizes(Collective collective, const std::optional<std::string>& typed, std::string_view otherwise,
                               const TypedOptions& options) {
  if (const auto& text = options["sizes"]) {
    const SizeRule rule = parse_size_rule(collective, *text, typed);
    Reduction reduction;
    if (const auto& type = options["type"]) reduction.type = parse_element_type(*type);
    if (rule.fixed()) return {rule.mean(unit_of(collective, reduction))};
  }
  if (!typed) return facts_of(collective).carries_bytes() ? parse_sizes("--bytes", otherwise) : std::vector<Bytes>{0};
  std::vector<Bytes> sizes = parse_sizes("--bytes", *typed);
  check_carries(collective, sizes.back(), *typed);
  return sizes;
}

RunSpec parse_spec(Collective collective, const TypedOptions& typed) {
  const auto &machine = typed["machine"], &on = typed["on"];
  const Preset* const preset = machine ? &preset_called(*machine) : nullptr;
  const std::string_view usual_shape = preset != nullptr ? preset->shape : facts_of(collective).usual_shape;
  RunSpec spec{.collective = collective,
               .shape = parse_shape(on ? std::string_view(*on) : usual_shape),
               .preset = preset,
               .cost = preset != nullptr ? preset->cost() : CostModel{},
               .bytes = facts_of(collective).usual_bytes};
  if (preset != nullptr) spec.shape = as_rented(*preset, spec.shape);
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
      spec.bytes = spec.sizes->mean(unit_of(collective, spec.reduction));
    }
  }
  if (facts_of(collective).combines) check_reduction(spec.reduction, spec.shape.nodes(), spec.bytes);
  if (const auto& bytes = typed["bytes"]) check_carries(collective, spec.bytes, *bytes);
  spec.shape = with_damage(spec.shape, typed, spec.seed);
  place_groups(spec);
  spec.parameters = parse_parameters(collective, typed);
  if (processes() != nullptr) spec.processes = processes()->count();
  return spec;
}

void refuse_groups(const std::optional<std::string>& groups, std::string_view what) {
  if (groups) throw InputError(fmt::format("--groups '{}': {} does not know groups yet; leave it out", *groups, what));
}

void place_groups(RunSpec& spec) {
  if (!spec.map && !spec.groups_text) return;
  std::vector<Groups> classes = spec.map
                                    ? Groups::mapped_classes(spec.groups_text.value_or(""), spec.shape, read_map(*spec.map, spec.shape))
                                    : Groups::classes(*spec.groups_text, spec.shape);
  if (classes.size() > most_classes)
    throw InputError(
        fmt::format("--groups '{}': what is dead or slow makes {} classes of them, and at most {} run at once; fewer dead or "
                    "slow links and nodes would do",
                    *spec.groups_text, classes.size(), most_classes));
  spec.groups = std::move(classes.front());
  classes.erase(classes.begin());
  spec.other_classes = std::move(classes);
}

std::string class_text(const Groups& groups) {
  return fmt::format("{} {}", groups.count() == 1 ? "group" : "groups like", groups.number_of(0));
}

NodeId group_count(const RunSpec& spec) {
  NodeId count = spec.groups->count();
  for (const Groups& other : spec.other_classes) count += other.count();
  return count;
}

RunSpec spec_of_class(const RunSpec& spec, const Groups& groups) {
  RunSpec own = spec;
  own.groups = groups;
  own.other_classes.clear();
  return own;
}

void play(RunSpec& spec, const std::optional<std::string>& schedule) {
  spec.schedule = schedule;
  if (schedule && !spec.groups_text) spec.groups.reset();
}

Machine make_machine(const RunSpec& spec, const NativeMachine& native) {
  if (spec.preset != nullptr) check_shape(*spec.preset, spec.shape);
  // An algorithm made for many ports runs on a shape with fewer, too.
  const int usual_ports = spec.preset != nullptr ? spec.preset->ports : native.ports;
  const int native_ports = std::min(usual_ports, static_cast<int>(spec.shape.max_ports()));
  // Hops of some groups are several of the machine: packets cannot make them, and groups may meet on a channel.
  const bool dilated = spec.groups && spec.groups->dilated();
  const Switching usual_switching = dilated && native.switching == Switching::packet ? Switching::wormhole : native.switching;
  Machine whole(spec.shape, spec.ports.value_or(native_ports), spec.switching.value_or(usual_switching),
                spec.contention.value_or(dilated ? Contention::share : native.contention), spec.routing, spec.cost);
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
  if (spec.sizes) static_cast<void>(sizes_of(shape.nodes(), request));  // a table must fit
  const bool rooted = facts_of(spec.collective).rooted(), broadcast = spec.collective == Collective::broadcast;
  const bool named = facts_of(spec.collective).names_sources();
  const bool pairs = facts_of(spec.collective).of_pairs();
  if (!named && !pairs && spec.sources.value_or("all") != "all")
    throw InputError(
        fmt::format("--sources or --root '{}': in {} every node takes part alike; leave it out", *spec.sources, name(spec.collective)));
  if (!named && !pairs) return request;
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
  if (pairs && request.sources.size() < shape.living_nodes()) {
    if (!request.sizes) request.sizes = SizeRule::even_of_sources();
    request.sizes->of_sources = true;
  }
  if (facts_of(spec.collective).from_sources() && spec.sources && !request.expected_sources)
    request.expected_sources = static_cast<double>(request.sources.size());
  return request;
}

Request make_fitting_request(const RunSpec& spec) {
  if (spec.groups && !spec.groups->renames()) return make_request(spec);  // of a few nodes each; the engine says what all of them need
  const Bytes limit = (spec.memory > 0 ? spec.memory : memory_of_a_process()) * spec.processes;
  const auto refuse_too_large = [&](std::uint64_t sources, std::uint32_t segments) {
    if (const auto why_not = why_it_cannot_fit(spec, sources, segments, limit)) throw InputError(*why_not);
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
  return fmt::format("{}, {}, contention {}", name(machine.switching), counted(static_cast<std::uint64_t>(machine.ports), "port"),
                     name(machine.contention));
}

std::string machine_text(const Machine& machine) {
  return fmt::format("{} ({}, {}, contention {})", machine.topology.text(), name(machine.switching),
                     counted(static_cast<std::uint64_t>(machine.ports), "port"), name(machine.contention));
}

}  // namespace torus::command
