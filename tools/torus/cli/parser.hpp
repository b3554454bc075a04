/// The one door to CLI11: it reads a command line by the table of options, and
/// a file in its notation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/torus/cli/options.hpp"

namespace torus::command {

/// What became of a command line.
struct Parsed {
  const Command* called = nullptr;          ///< the subcommand; null: none
  std::vector<std::string> surplus = {};    ///< arguments that no option takes
  std::optional<std::string> help = {};     ///< what --help or --version asks to print
  std::optional<std::string> mistake = {};  ///< one line
};

/// Reads the arguments, last first, into the targets of the options. Throws
/// InputError if two options of a subcommand have one name.
Parsed parse(const Commands& commands, std::vector<std::string> arguments);

/// Reads a line into the options of one command. Throws CLI11's own error if it
/// does not fit: for lines that this program wrote.
void parse_line(const Command& command, const std::string& line);

/// An option in a file of TOML or INI; or, without a name, the begin or end of
/// a section.
struct ConfigItem {
  std::string section, name;
  std::vector<std::string> values;
};
std::vector<ConfigItem> config_items(const std::string& text);

}  // namespace torus::command
