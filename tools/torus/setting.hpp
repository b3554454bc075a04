/// A setting: everything that decides what a run does. Made from the options as typed; written back as the command line that repeats it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <torus/catalogue.hpp>
#include <torus/engine.hpp>

namespace torus::command {

/// The options of a run as typed; those that were not, are empty.
struct SettingOptions {
  std::optional<std::string> on, ports, switching, contention, routing, algorithm, bytes, sources, seed;
  std::optional<std::string> segments, h, prefix, chunk, expect;
  std::optional<std::string> start_up, byte_time, hop_time;
  std::optional<std::string> executor, threads, memory;
};

struct Setting {
  Machine machine;
  Request request;
  const Algorithm* algorithm = nullptr;
  Plan plan;
  double plan_s = 0;   ///< wall time that plan() took: set-up
  std::string chosen;  ///< why this algorithm, where none was named
  std::uint64_t seed = 1;
  ExecutorKind executor = default_executor;
  unsigned threads = 0;        ///< 0: the host's cores
  Bytes memory = 0;            ///< 0: what the engine takes by itself
  std::string sources_text{};  ///< how the sources were asked for, where that with the seed gives them again
};

/// "wang-tseng", .. of a collective, or all names if none is given.
std::vector<std::string_view> algorithm_names(std::span<const Algorithm* const> algorithms,
                                              std::optional<Collective> collective = std::nullopt);

/// The algorithm of that name. Throws InputError that says what may have been meant.
const Algorithm& named_algorithm(std::string_view option, Collective collective, std::string_view wanted,
                                 std::span<const Algorithm* const> algorithms);

/// "16x16 (wormhole, 4 ports, contention forbid)".
std::string machine_text(const Machine& machine);

/// The collective of that name.
std::optional<Collective> find_collective(std::string_view text) noexcept;
/// The same. Throws InputError if there is none.
Collective parse_collective(std::string_view text);

/// The machine that options describe, apart from any algorithm; `native` fills what they leave open.
Machine make_machine(const SettingOptions& options, std::string_view default_shape, const NativeMachine& native);

/// The bytes of a message that options ask for, or else those of the collective.
Bytes message_bytes(Collective collective, const SettingOptions& options);

/// What is asked for: sources, bytes and the algorithms' own options.
Request make_request(Collective collective, const SettingOptions& options, const Topology& topology);

/// The same. Throws InputError, before anything large is made, if no algorithm can have the memory for it.
Request make_fitting_request(Collective collective, const SettingOptions& options, const Topology& topology);

/// The shape and bytes that a collective is run with where the options do not say.
std::string_view default_shape(Collective collective) noexcept;
Bytes default_bytes(Collective collective) noexcept;

/// A machine and a request, with the seed and the host's options as typed, but without an algorithm yet. Throws InputError.
Setting open_setting(Machine machine, Request request, const SettingOptions& options);

/// Gives a setting the algorithm and its plan, or says why the algorithm refuses it, and changes nothing then.
std::optional<std::string> settle_on(Setting& setting, const Algorithm& algorithm);

/// Reads all options and settles the algorithm: the one that is named, or, of the applicable ones that fit into the memory, the one with
/// the least predicted model time. Where no machine is described, a named algorithm gets the machine that it was made for. Throws
/// InputError.
Setting make_setting(Collective collective, const SettingOptions& options, std::span<const Algorithm* const> algorithms);

/// `torus run ...`: the one command that runs this setting.
std::string command_line(const Setting& setting);

}  // namespace torus::command
