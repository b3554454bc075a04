/// The options that several subcommands share, as typed.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/torus/setting.hpp"

namespace torus::command {

/// --on --ports --switching --contention --routing --ts --tc --th
void add_machine_options(CLI::App& app, SettingOptions& options);
/// --bytes --source --seed --segments --h --prefix --chunk --expect
void add_request_options(CLI::App& app, SettingOptions& options);
/// --executor --threads --memory
void add_host_options(CLI::App& app, SettingOptions& options);

}  // namespace torus::command
