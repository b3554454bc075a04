#include "tools/torus/setting.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <tuple>
#include <utility>

#include <torus/error.hpp>
#include <torus/executor.hpp>
#include <torus/run.hpp>

#include "algorithms/multinode_broadcast/prefix.hpp"
#include "runtime/host/host_memory.hpp"
#include "runtime/model/figures.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/room.hpp"

namespace torus::command {
namespace {

constexpr std::array collectives{Collective::broadcast, Collective::multinode_broadcast, Collective::total_exchange};

/// The plan, and the wall time that it took.
std::pair<Plan, double> timed_plan(const Algorithm& algorithm, const Setting& setting) {
  const auto start = std::chrono::steady_clock::now();
  Plan plan = make_plan(algorithm, setting.machine, setting.request);
  return {std::move(plan), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

/// The option that sets what a refusal is about.
std::string option_of(const Refusal& refusal) {
  return refusal.about == Refusal::About::shape ? "--on" : "--" + std::string(refusal.subject());
}

/// A refusal as a line that names the options.
std::string command_text(const Refusal& refusal) {
  if (refusal.value.empty()) return refusal.rule;
  const std::string option = option_of(refusal);
  std::string text = fmt::format("{} {}: {}", option, refusal.value, refusal.rule);
  if (!refusal.fix.empty()) return text + fmt::format("; {} {} would do", option, refusal.fix);
  return refusal.about == Refusal::About::parameter ? text + fmt::format("; leave out {} {}", option, refusal.value) : text;
}

/// Why the algorithm cannot be planned for this setting, if it cannot.
std::optional<std::string> refusal_of(const Algorithm& algorithm, const Setting& setting) {
  if (const auto refusal = refuses(algorithm, setting.machine, setting.request)) {
    std::string text = command_text(*refusal);
    if (refusal->about != Refusal::About::parameter || algorithm.reads(refusal->parameter)) return text;
    std::string readers;
    for (const Algorithm* other : catalogue()) {
      if (other->collective == algorithm.collective && other->reads(refusal->parameter))
        readers += fmt::format("{}{}", readers.empty() ? "" : ", ", other->name);
    }
    return readers.empty() ? text : text + ", or name one that does: " + readers;
  }
  return why_it_cannot_be_planned(algorithm, setting.machine, setting.memory);
}

/// What a run of the plan needs, by the engine's own reckoning.
Bytes needed_by(const Machine& machine, const Request& request, const Plan& plan, unsigned workers) {
  return estimate_memory(machine, placement_of(machine, request, plan), plan.program_bytes(machine.topology.nodes()), workers).total();
}

/// A plan that may be chosen: what it lacks the memory for, and how long it would take.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  Bytes too_large = 0;  ///< what a run needs if that is more than may be used; 0: it fits
  double time_s = 0;

  /// What fits goes first, the faster the better; of what does not, the least, since its refusal says how much memory would do.
  bool better_than(const Candidate& other) const noexcept {
    if (other.algorithm == nullptr) return true;
    return std::tie(too_large, time_s) < std::tie(other.too_large, other.time_s);
  }
};

/// The applicable algorithm with the least predicted model time of those that fit into the memory; on a tie the first of the catalogue.
/// Where none fits, the one that needs the least: the engine refuses it and says what it needs.
void choose(Setting& setting, std::span<const Algorithm* const> algorithms) {
  // Measured once: plans are held to it, and so is the run, which begins when there is a little less.
  if (setting.memory == 0) setting.memory = usable_memory();
  const unsigned workers = workers_of(setting.executor, setting.threads);
  Candidate best, second;
  std::vector<Candidate> too_large;
  std::string refusal;  // the first
  int applicable = 0;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective != setting.request.collective) continue;
    if (const auto why_not = refusal_of(*algorithm, setting)) {
      refusal = refusal.empty() ? *why_not : refusal;
      continue;
    }
    auto [plan, plan_s] = timed_plan(*algorithm, setting);
    const Bytes needed = needed_by(setting.machine, setting.request, plan, workers);
    const Candidate candidate{algorithm, needed > setting.memory ? needed : 0, plan.model_time_s(setting.machine.cost)};
    ++applicable;
    if (candidate.too_large > 0) too_large.push_back(candidate);
    if (candidate.better_than(best)) {
      second = std::exchange(best, candidate);
      setting.algorithm = algorithm;
      setting.plan = std::move(plan);
      setting.plan_s = plan_s;
    } else if (candidate.better_than(second)) {
      second = candidate;
    }
  }
  if (setting.algorithm == nullptr) {
    throw InputError(fmt::format("{} on {}: no algorithm applies; the first says: {}; see `torus list` for what each needs",
                                 name(setting.request.collective), machine_text(setting.machine), refusal));
  }
  setting.chosen = fmt::format("least predicted model time, {}, of {} that apply here", seconds_text(best.time_s), applicable);
  if (second.algorithm != nullptr && second.too_large == 0)
    setting.chosen += fmt::format("; next {} with {}", second.algorithm->name, seconds_text(second.time_s));
  if (applicable == 1) setting.chosen = "the only one that applies here";
  for (const Candidate& candidate : too_large) {
    if (candidate.time_s < best.time_s) {
      setting.chosen += fmt::format("; {} with {} would need {}, and {} may be used", candidate.algorithm->name,
                                    seconds_text(candidate.time_s), bytes_text(candidate.too_large), bytes_text(setting.memory));
    }
  }
}

/// What --memory allows; 0 if it is left out.
Bytes memory_allowed(const SettingOptions& options) {
  if (!options.memory) return 0;
  const Bytes memory = parse_bytes("--memory", *options.memory);
  if (memory == 0) throw InputError("--memory '0': a run needs some; for instance 4GiB");
  return memory;
}

void refuse_foreign(Collective collective, const char* option, const std::optional<std::string>& value, std::string_view owner) {
  if (value) throw InputError(fmt::format("{} '{}': it is for {}, not for {}; leave it out", option, *value, owner, name(collective)));
}

}  // namespace

std::string machine_text(const Machine& machine) {
  return fmt::format("{} ({}, {} ports, contention {})", machine.topology.text(), name(machine.switching), machine.ports,
                     name(machine.contention));
}

std::vector<std::string_view> algorithm_names(std::span<const Algorithm* const> algorithms, std::optional<Collective> collective) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms) {
    if (!collective || algorithm->collective == *collective) names.push_back(algorithm->name);
  }
  return names;
}

const Algorithm& named_algorithm(std::string_view option, Collective collective, std::string_view wanted,
                                 std::span<const Algorithm* const> algorithms) {
  const Algorithm* elsewhere = nullptr;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->name != wanted) continue;
    if (algorithm->collective == collective) return *algorithm;
    elsewhere = algorithm;
  }
  if (elsewhere != nullptr) {
    throw InputError(fmt::format("{} '{}': it is no {}; for instance torus run {} --algorithm {}", option, wanted, name(collective),
                                 name(elsewhere->collective), wanted));
  }
  const auto names = algorithm_names(algorithms, collective);
  const std::string near = did_you_mean(wanted, names);
  throw InputError(fmt::format(
      "{} '{}': there is no such {}{}", option, wanted, name(collective),
      !near.empty() ? near : fmt::format("; `torus list` shows all, for instance {}", names.empty() ? "flood" : names.front())));
}

std::optional<Collective> find_collective(std::string_view text) noexcept {
  const auto at = std::find_if(collectives.begin(), collectives.end(), [text](Collective collective) { return name(collective) == text; });
  return at == collectives.end() ? std::nullopt : std::optional(*at);
}

Collective parse_collective(std::string_view text) {
  if (const auto found = find_collective(text)) return *found;
  std::vector<std::string_view> names;
  for (const Collective collective : collectives) names.push_back(name(collective));
  throw InputError(
      fmt::format("collective '{}': it must be broadcast, multinode-broadcast or total-exchange{}", text, did_you_mean(text, names)));
}

Bytes default_bytes(Collective collective) noexcept {
  return collective == Collective::broadcast ? 65536 : collective == Collective::total_exchange ? 64 : 4096;
}

std::string_view default_shape(Collective collective) noexcept { return collective == Collective::broadcast ? "16x16x16" : "16x16"; }

Machine make_machine(const SettingOptions& options, std::string_view default_shape, const NativeMachine& native) {
  Topology topology = Topology::parse(options.on ? std::string_view(*options.on) : default_shape);
  // An algorithm that was made for many ports still starts on a shape with few.
  int ports = std::min(native.ports, static_cast<int>(topology.max_ports()));
  if (options.ports && *options.ports != "all") {
    ports = static_cast<int>(parse_whole("--ports", *options.ports, 1, static_cast<std::uint64_t>(topology.max_ports())));
  } else if (options.ports) {
    ports = 0;
  }
  CostModel cost;
  if (options.start_up) cost.start_up_s = parse_seconds("--ts", *options.start_up);
  if (options.byte_time) cost.byte_s = parse_seconds("--tc", *options.byte_time);
  if (options.hop_time) cost.hop_s = parse_seconds("--th", *options.hop_time);
  return Machine(std::move(topology), ports, options.switching ? parse_switching(*options.switching) : native.switching,
                 options.contention ? parse_contention(*options.contention) : native.contention,
                 options.routing ? parse_routing(*options.routing) : std::vector<Dimension>{}, cost);
}

Bytes message_bytes(Collective collective, const SettingOptions& options) {
  if (options.bytes) return parse_bytes("--bytes", *options.bytes);
  return default_bytes(collective);
}

Request make_request(Collective collective, const SettingOptions& options, const Topology& topology) {
  Request request;
  request.collective = collective;
  request.bytes = message_bytes(collective, options);
  const std::uint64_t seed = options.seed ? parse_whole("--seed", *options.seed, 0, std::numeric_limits<std::uint64_t>::max()) : 1;
  if (collective == Collective::total_exchange) {
    if (options.sources && *options.sources != "all") {
      throw InputError(fmt::format("--sources '{}': in a total exchange every node is a source; leave it out", *options.sources));
    }
    request.sources = parse_sources("--sources", "all", topology, seed);
  } else {
    const std::string_view otherwise = collective == Collective::broadcast ? "0" : "all";
    const std::string_view text = options.sources ? std::string_view(*options.sources) : otherwise;
    request.sources = parse_sources(collective == Collective::broadcast ? "--source" : "--sources", text, topology, seed);
    if (collective == Collective::broadcast && request.sources.size() != 1) {
      throw InputError(
          fmt::format("--source '{}': a broadcast has one source, this names {}; for instance --source 0, or torus run multinode-broadcast",
                      text, request.sources.size()));
    }
  }
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (collective != Collective::multinode_broadcast) {
    refuse_foreign(collective, "--h", options.h, "multinode-broadcast");
    refuse_foreign(collective, "--prefix", options.prefix, "multinode-broadcast");
    refuse_foreign(collective, "--chunk", options.chunk, "multinode-broadcast");
    refuse_foreign(collective, "--expect", options.expect, "multinode-broadcast");
  }
  if (collective == Collective::total_exchange) refuse_foreign(collective, "--segments", options.segments, "broadcasts");
  if (options.segments && *options.segments != "auto")
    request.parameters.set("segments", static_cast<std::uint32_t>(parse_whole("--segments", *options.segments, 1, most)));
  if (options.h) request.parameters.set("h", static_cast<std::uint32_t>(parse_whole("--h", *options.h, 1, most)));
  if (options.chunk) request.parameters.set("chunk", static_cast<std::uint32_t>(parse_whole("--chunk", *options.chunk, 1, most)));
  if (options.expect) request.expected_sources = parse_real("--expect", *options.expect, 0, 0x1p31, "1");
  if (options.prefix) {
    if (!multinode::parse_prefix(*options.prefix) || options.prefix->empty()) {
      throw InputError(fmt::format("--prefix '{}': it must be {}{}", *options.prefix, fmt::join(multinode::prefix_names, ", "),
                                   did_you_mean(*options.prefix, multinode::prefix_names)));
    }
    request.parameters.set("prefix", *options.prefix);
  }
  return request;
}

Request make_fitting_request(Collective collective, const SettingOptions& options, const Topology& topology) {
  const Bytes memory = memory_allowed(options);
  const auto refuse_too_large = [&, limit = memory > 0 ? memory : usable_memory()](std::uint64_t sources, std::uint32_t segments) {
    if (const auto why_not = why_it_cannot_fit(collective, topology, message_bytes(collective, options), sources, segments, limit))
      throw InputError(*why_not);
  };
  refuse_too_large(0, 0);  // before the sources are listed: they may be all nodes
  Request request = make_request(collective, options, topology);
  refuse_too_large(request.sources.size(), request.parameters.whole("segments"));
  return request;
}

Setting open_setting(Machine machine, Request request, const SettingOptions& options) {
  Setting setting{std::move(machine), std::move(request), nullptr, {}, 0, "", 1, default_executor, 0, memory_allowed(options)};
  if (options.seed) setting.seed = parse_whole("--seed", *options.seed, 0, std::numeric_limits<std::uint64_t>::max());
  if (options.executor) setting.executor = parse_executor(*options.executor);
  if (options.threads) setting.threads = static_cast<unsigned>(parse_whole("--threads", *options.threads, 1, 1024));
  return setting;
}

std::optional<std::string> settle_on(Setting& setting, const Algorithm& algorithm) {
  if (auto why_not = refusal_of(algorithm, setting)) return why_not;
  setting.algorithm = &algorithm;
  std::tie(setting.plan, setting.plan_s) = timed_plan(algorithm, setting);
  return std::nullopt;
}

Setting make_setting(Collective collective, const SettingOptions& options, std::span<const Algorithm* const> algorithms) {
  const Algorithm* named = options.algorithm ? &named_algorithm("--algorithm", collective, *options.algorithm, algorithms) : nullptr;
  NativeMachine native;
  if (named != nullptr)
    native = named->native;
  else if (collective == Collective::total_exchange)
    native.switching = Switching::packet;
  Machine machine = make_machine(options, default_shape(collective), native);
  Request request = make_fitting_request(collective, options, machine.topology);
  Setting setting = open_setting(std::move(machine), std::move(request), options);
  if (named == nullptr)
    choose(setting, algorithms);
  else if (const auto why_not = settle_on(setting, *named))
    throw InputError(*why_not);
  return setting;
}

std::string command_line(const Setting& setting) {
  const Machine& machine = setting.machine;
  const Request& request = setting.request;
  std::string text =
      fmt::format("torus run {} --on {} --algorithm {} --ports {} --switching {} --contention {}", name(request.collective),
                  machine.topology.text(), setting.algorithm->name, machine.ports, name(machine.switching), name(machine.contention));
  if (!machine.ascending_routing()) text += fmt::format(" --routing {}", fmt::join(machine.routing, ","));
  text += fmt::format(" --bytes {}", bytes_option(request.bytes));
  if (request.collective == Collective::broadcast) text += fmt::format(" --source {}", request.sources.front());
  if (request.collective == Collective::multinode_broadcast) {
    const std::string sources = !setting.sources_text.empty() ? setting.sources_text : sources_option(machine.topology, request.sources);
    text += sources.find(';') == std::string::npos ? fmt::format(" --sources {}", sources) : fmt::format(" --sources '{}'", sources);
  }
  for (const auto& [name, value] : request.parameters) text += fmt::format(" --{} {}", name, value);
  if (request.expected_sources) text += fmt::format(" --expect {}", *request.expected_sources);
  const CostModel standard;
  if (machine.cost.start_up_s != standard.start_up_s) text += fmt::format(" --ts {}", machine.cost.start_up_s);
  if (machine.cost.byte_s != standard.byte_s) text += fmt::format(" --tc {}", machine.cost.byte_s);
  if (machine.cost.hop_s != standard.hop_s) text += fmt::format(" --th {}", machine.cost.hop_s);
  text += fmt::format(" --seed {} --executor {}", setting.seed, name(setting.executor));
  if (setting.threads > 0) text += fmt::format(" --threads {}", setting.threads);
  return text;
}

}  // namespace torus::command
