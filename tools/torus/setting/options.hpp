/// The options of a setting: its machine, what is asked of it, and the host. Each is one entry of a table. The command line, --config, the
/// completions and the manual page, parse_spec() and command_line() go by that entry and nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/torus/cli/options.hpp"
#include "tools/torus/setting/setting.hpp"

namespace torus::command {

enum class OptionGroup { machine, request, host, choice };

struct SettingOption {
  OptionGroup group;
  std::string_view name;     ///< "sources": of its value in TypedOptions
  std::string_view spelled;  ///< "--source,--sources,--root"
  std::string_view type;     ///< of its value: "N|all"
  std::string help;
  /// Reads the value into the spec. Null where parse_spec() needs it before all others, or `damage` reads it.
  void (*read)(RunSpec& spec, std::string_view text) = nullptr;
  /// Prints the value that repeats a setting: " --ports 4"; empty where the option says nothing.
  std::string (*print)(const Setting& setting) = nullptr;
  /// Adds what is broken on a machine. Random damage follows from the seed, and comes last.
  void (*damage)(std::string_view text, const Topology& shape, std::uint64_t seed, Faults& faults) = nullptr;
  bool decides = true;  ///< false: a limit, which decides nothing that a run reports
};

/// Whether each of several collectives that run at once has a value of its own; else all have one.
bool is_of_each_collective(const SettingOption& option) noexcept;

/// All of them, in the order of the help.
const std::vector<SettingOption>& setting_options();

/// A parameter of some algorithms, as the option `--name` of the command.
struct ParameterOption {
  std::string_view name, meaning;
  std::vector<std::string_view> words;    ///< the values that some algorithm reads; empty: whole numbers
  std::vector<std::string_view> readers;  ///< names of the algorithms
};
/// All parameters that these algorithms declare, those of one collective or of all.
std::vector<ParameterOption> parameter_options(std::span<const Algorithm* const> algorithms,
                                               std::optional<Collective> collective = std::nullopt);

/// Adds the options of a group to a subcommand; to those of the request also one for each parameter of the catalogue's algorithms.
void add_options(Command& command, OptionGroup group, TypedOptions& typed);
/// The same for all groups but the choice, which is for those who choose an algorithm.
void add_setting_options(Command& command, TypedOptions& typed);
/// Adds the collective, as the first argument.
void add_collective(Command& command, std::string& collective, std::string_view more = {});

}  // namespace torus::command
