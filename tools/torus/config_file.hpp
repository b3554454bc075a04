/// --config FILE: options that a file gives, in the notation of TOML and INI: `on = 8x8`, a line each, and `[run]` before those of one
/// subcommand. What the command line gives goes before what the file gives.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace torus::command {

/// Adds --config to a subcommand.
void add_config(CLI::App& app);

/// The arguments, the last first, with the options of the files that --config names behind them. Throws InputError where a file cannot be
/// read, has more than a mebibyte, or names what the subcommand does not have.
std::vector<std::string> with_options_of_files(const CLI::App& torus, std::vector<std::string> arguments);

}  // namespace torus::command
