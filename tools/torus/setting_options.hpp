/// The options that several subcommands share, as typed.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/torus/spec.hpp"

namespace torus::command {

/// The collective, as the first argument.
void add_collective(CLI::App& app, std::string& collective);
/// --machine --on --ports --switching --contention --routing --dead-link --dead-links --dead-node --slow-link --ts --tc --th
void add_machine_options(CLI::App& app, TypedOptions& options);
/// --bytes --source --seed --expect, and an option for each parameter of the catalogue's algorithms
void add_request_options(CLI::App& app, TypedOptions& options);
/// --executor --threads --memory
void add_host_options(CLI::App& app, TypedOptions& options);

}  // namespace torus::command
