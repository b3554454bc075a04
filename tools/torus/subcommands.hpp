/// The subcommands: each adds its options to the command line and gives back what to do if it is called. A body returns the exit status
/// (0 done and verified, 1 a run or a check failed) or throws: InputError is status 2, anything else status 1.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace torus::command {

struct Subcommand {
  CLI::App* app = nullptr;
  std::function<int()> body;
};

Subcommand add_run(CLI::App& torus);
Subcommand add_list(CLI::App& torus);
Subcommand add_verify(CLI::App& torus);
Subcommand add_bounds(CLI::App& torus);
Subcommand add_compare(CLI::App& torus);
Subcommand add_sweep(CLI::App& torus);
Subcommand add_bench(CLI::App& torus);
Subcommand add_stress(CLI::App& torus);
Subcommand add_view(CLI::App& torus);
Subcommand add_new(CLI::App& torus);
Subcommand add_plot(CLI::App& torus);
Subcommand add_export(CLI::App& torus);
Subcommand add_regret(CLI::App& torus);
Subcommand add_completion(CLI::App& torus);
Subcommand add_man(CLI::App& torus);

}  // namespace torus::command
