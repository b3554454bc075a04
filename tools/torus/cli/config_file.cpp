#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <sstream>

#include <torus/error.hpp>

#include "runtime/base/input_file.hpp"
#include "tools/torus/cli/parser.hpp"

namespace torus::command {
namespace {

constexpr std::string_view config = "--config";

std::string text_of(const std::string& file) {
  return text_of_file(file, std::size_t{1} << 20U, [&](const std::string& why) {
    throw InputError(fmt::format("--config '{}': it {}; it must be a file of lines such as on = 8x8", file, why));
  });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Throws InputError where the file gives a subcommand one option twice, whose values CLI11 would join as it does those of a list, and
/// where a line is so short that CLI11 would pass over it.
void refuse_lines(const std::string& file, const std::string& text, const Command& command) {
  struct Place {
    std::string name;
    std::size_t line;
  };
  std::map<const Option*, Place> places;
  std::istringstream lines(text);
  std::string whole;
  bool counts = true;  // the lines belong to this subcommand
  for (std::size_t number = 1; std::getline(lines, whole); ++number) {
    const std::string_view line = trimmed(whole);
    if (line.starts_with('[')) {
      counts = trimmed(line.substr(1, line.find(']') - 1)) == command.name;
      continue;
    }
    if (!line.empty() && line.size() < 3 && line.front() != '#' && line.front() != ';')
      throw InputError(fmt::format("--config '{}': '{}' in line {} is no option and value; for instance on = 8x8", file, line, number));
    const std::string name(trimmed(line.substr(0, line.find('='))));
    const Option* const option = counts ? command.find("--" + name) : nullptr;
    if (option == nullptr) continue;
    const auto [place, is_new] = places.try_emplace(option, Place{name, number});
    if (is_new) continue;
    throw InputError(
        fmt::format("--config '{}': '{}' in line {} and '{}' in "
                    "line {} give one option twice; leave out one",
                    file, place->second.name, place->second.line, name, number));
  }
}

const Command* subcommand_called(const Commands& commands, const std::string& name) {
  const auto at = std::find_if(commands.begin() + 1, commands.end(), [&](const Command& command) { return command.name == name; });
  return at == commands.end() ? nullptr : &*at;
}

/// Whether the command line gives this option, under any of its names.
bool given(const Option& option, const std::vector<std::string>& arguments) {
  const std::vector<std::string> names = option.names();
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return std::find(names.begin(), names.end(), argument.substr(0, argument.find('='))) != names.end();
  });
}

/// What the file gives to one subcommand, as arguments, first to last.
std::vector<std::string> arguments_in(const std::string& file, const Commands& commands, const Command& command,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> found;
  const std::string text = text_of(file);
  refuse_lines(file, text, command);
  for (const ConfigItem& item : config_items(text)) {
    if (!item.section.empty()) {
      if (subcommand_called(commands, item.section) == nullptr)
        throw InputError(fmt::format("--config '{}': '[{}]': it must be a subcommand: [run]", file, item.section));
      if (item.section != command.name) continue;
    }
    if (item.name.empty()) continue;
    const Option* const option = command.find("--" + item.name);
    if (item.name == "config" || item.name == "help")
      throw InputError(fmt::format("--config '{}': '{}': it is for the command line alone; leave it out", file, item.name));
    if (option == nullptr) {
      const std::string meant = meant_by_option("--" + item.name, command);
      throw InputError(fmt::format("--config '{}': '{}': {} has no such option{}", file, item.name.substr(0, 40), command.name,
                                   meant.empty() ? fmt::format("; see torus {} --help", command.name) : meant));
    }
    if (given(*option, arguments)) continue;
    const std::string value = fmt::format("{}", fmt::join(item.values, ","));
    if (!option->type.empty() && value.empty())
      throw InputError(fmt::format("--config '{}': '{}' has no value; for instance on = 8x8", file, item.name));
    if (!option->type.empty()) {
      found.push_back(fmt::format("--{}={}", item.name, value));
    } else if (value == "true") {
      found.push_back("--" + item.name);
    } else if (value != "false") {
      throw InputError(fmt::format("--config '{}': {} = '{}': it must be true or false", file, item.name, value));
    }
  }
  return found;
}

/// The files that the arguments, last first, name.
std::vector<std::string> files_in(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (std::size_t i = arguments.size(); i-- > 0;) {
    if (arguments[i].starts_with(std::string(config) + "=")) files.push_back(arguments[i].substr(config.size() + 1));
    if (arguments[i] == config && i > 0) files.push_back(arguments[i - 1]);
  }
  return files;
}

}  // namespace

std::vector<std::string> with_options_of_file(const Commands& commands, std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const Command* const command = subcommand_called(commands, arguments.back());
  if (command == nullptr || command->find(config) == nullptr) return arguments;
  const std::vector<std::string> files = files_in(arguments);
  if (files.size() != 1) return arguments;  // two are refused as any option that stands there twice
  const std::vector<std::string> more = arguments_in(files.front(), commands, *command, arguments);
  arguments.insert(arguments.begin(), more.rbegin(), more.rend());
  return arguments;
}

}  // namespace torus::command
