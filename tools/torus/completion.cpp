/// torus completion SHELL and torus man: what shells and manuals know of the command, written from its own options.
#include <array>
#include <fmt/format.h>
#include <memory>

#include <torus/error.hpp>

#include "runtime/trace/output_file.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/subcommands.hpp"
#include "tools/torus/usage.hpp"

namespace torus::command {
namespace {

/// To a file, or to standard output.
void deliver(const std::string& text, const std::optional<std::string>& path) {
  if (!path) return print(text);
  OutputFile file(*path);
  file.write(text);
  file.commit();
}

struct Script {
  std::string_view shell;
  std::string (*text)(const std::vector<CommandUsage>&);
};
constexpr std::array<Script, 3> scripts{{{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

struct ManualArguments {
  std::string shell;
  std::optional<std::string> output;
};

}  // namespace

Subcommand add_completion(CLI::App& torus) {
  const auto arguments = std::make_shared<ManualArguments>();
  CLI::App* app = torus.add_subcommand("completion", "A script that completes this command line with Tab");
  app->add_option("shell", arguments->shell, "bash, zsh or fish")->type_name("bash|zsh|fish")->required();
  app->add_option("-o,--output", arguments->output, "the file to write; default: standard output")->type_name("FILE");
  app->footer("In bash: source <(torus completion bash)");
  return {app, [arguments, &torus] {
            for (const Script& script : scripts) {
              if (script.shell != arguments->shell) continue;
              deliver(script.text(usage_of(torus)), arguments->output);
              return 0;
            }
            refuse("shell", arguments->shell, "it must be bash, zsh or fish; for instance torus completion bash");
          }};
}

Subcommand add_man(CLI::App& torus) {
  const auto arguments = std::make_shared<ManualArguments>();
  CLI::App* app = torus.add_subcommand("man", "The manual page of this command");
  app->add_option("-o,--output", arguments->output, "the file to write; default: standard output")->type_name("FILE");
  app->footer("To read it: torus man -o torus.1 && man ./torus.1");
  return {app, [arguments, &torus] {
            deliver(manual_page(usage_of(torus)), arguments->output);
            return 0;
          }};
}

}  // namespace torus::command
