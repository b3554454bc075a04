#include "tools/torus/cli/parser.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "tools/torus/cli/version.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

void add_option(CLI::App& app, const Option& option) {
  CLI::Option* added = nullptr;
  if (auto* const* flag = std::get_if<bool*>(&option.target)) added = app.add_flag(option.spelled, **flag, option.help);
  if (auto* const* text = std::get_if<std::string*>(&option.target)) added = app.add_option(option.spelled, **text, option.help);
  if (auto* const* text = std::get_if<std::optional<std::string>*>(&option.target))
    added = app.add_option(option.spelled, **text, option.help);
  if (added == nullptr) return;
  if (!option.type.empty()) added->type_name(option.type);
  added->required(option.required);
}

/// Throws InputError where two options of a command have one name: a parameter of a user's algorithm may have that of an option.
void refuse_twice(const Command& command) {
  std::vector<std::string_view> names;
  for (const Option& option : command.options) {
    if (option.is_argument()) continue;
    for (const std::string_view name : split(option.spelled, ',')) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw InputError(fmt::format("a parameter of an algorithm: {}: {} has that option; call it another name", *twice, command.name));
}

/// Whether a line has to do with an option: CLI11 compares each that it is told of with all before. Help names all.
bool concerns(const std::vector<std::string>& line, const Option& option) {
  if (option.is_argument() || option.required) return true;
  const std::vector<std::string_view> names = split(option.spelled, ',');
  return std::any_of(line.begin(), line.end(), [&](const std::string& word) {
    return word == "--help" || std::any_of(names.begin(), names.end(), [&](std::string_view name) {
             return !name.starts_with("--") || word.starts_with(name);  // a short name may stand among others: -abc
           });
  });
}

/// With its options, where the line names it.
void add_subcommand(CLI::App& torus, const Command& command, const std::vector<std::string>& line) {
  CLI::App* const app = torus.add_subcommand(command.name, command.help);
  app->allow_extras();
  app->footer(command.footer);
  if (std::find(line.begin(), line.end(), command.name) == line.end()) return;
  for (const Option& option : command.options) {
    if (concerns(line, option)) add_option(*app, option);
  }
}

/// What to say of arguments that do not parse. CLI11's own words start with the
/// option's name, if there is one.
std::string mistake_text(const CLI::App& app, const CLI::ParseError& error) {
  const auto called = app.get_subcommands();
  const std::string help = called.empty() ? "torus --help" : fmt::format("torus {} --help", called.front()->get_name());
  const std::string words = error.what();
  if (error.get_name() == "ArgumentMismatch" && words.starts_with('-'))
    return fmt::format("{}: it takes one value, and stands there once; see {}", words.substr(0, words.find(':')), help);
  if (error.get_name() == "RequiredError" && !called.empty()) {
    // What is missing, in the words of its help.
    const CLI::Option* missing = called.front()->get_option_no_throw(words.substr(0, words.find(' ')));
    if (missing != nullptr) {
      const std::string& type = missing->get_type_name();
      const bool lists_words = type.find('|') != std::string::npos && std::islower(static_cast<unsigned char>(type.front())) != 0;
      return fmt::format("{}: {}; see {}", words, lists_words ? type : missing->get_description(), help);
    }
  }
  return fmt::format("{}; see {}", words, help);
}

}  // namespace

Parsed parse(const Commands& commands, std::vector<std::string> arguments) {
  const Command& torus = commands.front();
  CLI::App app{torus.help, torus.name};
  app.set_help_flag("--help", torus.find("--help")->help);
  app.set_version_flag("-V,--version", fmt::format("torus {}, commit {}", version, commit), torus.find("--version")->help);
  app.footer(torus.footer);
  // CLI11 asks only for the options of a subcommand that an argument names, and for no other subcommand where the first argument names one.
  const auto first = [&](const Command& command) { return !arguments.empty() && command.name == arguments.back(); };
  const bool one = std::any_of(commands.begin() + 1, commands.end(), first);
  for (std::size_t i = 1; i < commands.size(); ++i) {
    refuse_twice(commands[i]);
    if (!one || first(commands[i])) add_subcommand(app, commands[i], arguments);
  }
  app.allow_extras();
  app.require_subcommand(0, 1);  // what follows the first is its arguments
  Parsed parsed;
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream help;
      app.exit(error, help, help);
      parsed.help = help.str();
    } else {
      parsed.mistake = mistake_text(app, error);
    }
    return parsed;
  }
  for (const CLI::App* const called : app.get_subcommands())
    parsed.called = &*std::find_if(commands.begin() + 1, commands.end(), [&](const Command& c) { return c.name == called->get_name(); });
  parsed.surplus = app.remaining(true);
  return parsed;
}

void parse_line(const Command& command, const std::string& line) {
  CLI::App app;
  for (const Option& option : command.options) add_option(app, option);
  app.parse(line);
}

std::vector<ConfigItem> config_items(const std::string& text) {
  std::istringstream lines(text);
  std::vector<ConfigItem> items;
  for (CLI::ConfigItem& item : CLI::ConfigTOML().from_config(lines)) {
    const bool ends = item.name == "++" || item.name == "--";  // where a section begins and ends
    items.push_back({fmt::format("{}", fmt::join(item.parents, ".")), ends ? "" : std::move(item.name), std::move(item.inputs)});
  }
  return items;
}

}  // namespace torus::command
