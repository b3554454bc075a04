// SPDX-License-Identifier: MIT
/// torus: the command. Exit status: 0 done and verified, 1 a run or a check failed, 2 wrong usage. An error is one line on standard error.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/interrupt.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/subcommands.hpp"
#include "tools/torus/version.hpp"

namespace torus::command {
namespace {

constexpr int failed = 1;
constexpr int wrong_usage = 2;

int complain(int status, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::fprintf(stderr, "torus: %s\n", text.c_str());
  return status;
}

/// What to say of arguments that do not parse.
std::string usage_text(CLI::App& app, const CLI::ParseError& error) {
  const auto called = app.get_subcommands();
  const CLI::App* at = called.empty() ? &app : called.front();
  const std::string help = called.empty() ? "torus --help" : fmt::format("torus {} --help", at->get_name());
  if (const auto extras = app.remaining(true); error.get_name() == "ExtrasError" && !extras.empty()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view word = std::string_view(extras.front()).substr(0, extras.front().find('='));
    return fmt::format("'{}': there is no such {}{}; see {}", extras.front(), word.starts_with('-') ? "option" : "argument", did_you_mean(word, views), help);
  }
  return fmt::format("{}; see {}", error.what(), help);
}

int run(int argc, char** argv) {
  CLI::App app{"Collective algorithms on an emulated torus multicomputer", "torus"};
  app.set_version_flag("--version", std::string("torus ") + version);
  app.footer("Each has a --help of its own. A first look: torus run broadcast");
  const std::vector<Subcommand> subcommands{add_run(app), add_list(app), add_verify(app), add_bounds(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream help;
      app.exit(error, help, help);
      print(help.str());
      return 0;
    }
    std::vector<std::string_view> names;
    for (const Subcommand& subcommand : subcommands) names.push_back(subcommand.app->get_name());
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      return complain(wrong_usage, fmt::format("subcommand '{}': it must be {}{}", argv[1], fmt::join(names, ", "), did_you_mean(argv[1], names)));
    }
    return complain(wrong_usage, usage_text(app, error));
  }
  for (const Subcommand& subcommand : subcommands) {
    if (subcommand.app->parsed()) return subcommand.body();
  }
  return complain(wrong_usage, "no subcommand: say what to do; for instance torus run broadcast, or torus --help");
}

}  // namespace
}  // namespace torus::command

int main(int argc, char** argv) {
  using namespace torus::command;
  catch_interrupts();
  try {
    return run(argc, argv);
  } catch (const torus::InputError& error) {
    return complain(wrong_usage, error.what());
  } catch (const std::bad_alloc&) {
    return complain(failed, "there is not enough memory; choose a smaller shape or fewer bytes");
  } catch (const std::exception& error) {
    return complain(failed, error.what());
  }
}
