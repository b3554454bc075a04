#include "tools/torus/config_file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <torus/error.hpp>

#include "tools/torus/slips.hpp"
#include "tools/torus/usage.hpp"

namespace torus::command {
namespace {

constexpr const char* option_name = "--config";
constexpr std::size_t most_bytes = 1U << 20U;

std::string text_of(const std::string& file) {
  if (std::filesystem::is_directory(file)) throw InputError(fmt::format("--config '{}': a folder; it must be a file", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("--config '{}': cannot be read; it must be a file of lines such as on = 8x8", file));
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most_bytes) throw InputError(fmt::format("--config '{}': it must be at most 1 MiB", file));
  constexpr std::string_view mark = "\xef\xbb\xbf";  // of UTF-8: some editors write it
  if (text.starts_with(mark)) text.erase(0, mark.size());
  return text;
}

std::vector<CLI::ConfigItem> items_in(const std::string& text) {
  std::istringstream lines(text);
  return CLI::ConfigTOML().from_config(lines);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Throws InputError where the file gives a subcommand one option twice. CLI11 would join both values, as it does those of a list.
void refuse_twice(const std::string& file, const std::string& text, const CLI::App& app) {
  struct Place {
    std::string name;
    std::size_t line;
  };
  std::map<const CLI::Option*, Place> places;
  std::istringstream lines(text);
  std::string whole;
  bool counts = true;  // of the lines of a section: it is this subcommand's
  for (std::size_t number = 1; std::getline(lines, whole); ++number) {
    const std::string_view line = trimmed(whole);
    if (line.starts_with('[')) {
      counts = trimmed(line.substr(1, line.find(']') - 1)) == app.get_name();
      continue;
    }
    const std::string name(trimmed(line.substr(0, line.find('='))));
    const bool is_name = !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    const CLI::Option* const option = counts && is_name ? app.get_option_no_throw("--" + name) : nullptr;
    if (option == nullptr) continue;
    const auto [place, is_new] = places.try_emplace(option, Place{name, number});
    if (is_new) continue;
    throw InputError(fmt::format("--config '{}': '{}' in line {} and '{}' in line {} give one option twice; leave out one", file,
                                 place->second.name, place->second.line, name, number));
  }
}

const CLI::App* subcommand_called(const CLI::App& torus, const std::string& name) {
  const auto found = torus.get_subcommands([&](const CLI::App* app) { return app->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// Whether the command line gives this option, under any of its names.
bool given(const CLI::Option& option, const std::vector<std::string>& arguments) {
  const auto names = [](const std::string& argument, const std::string& name) {
    return argument == name || argument.starts_with(name + "=");
  };
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    const auto& longs = option.get_lnames();
    const auto& shorts = option.get_snames();
    return std::any_of(longs.begin(), longs.end(), [&](const std::string& name) { return names(argument, "--" + name); }) ||
           std::any_of(shorts.begin(), shorts.end(), [&](const std::string& name) { return names(argument, "-" + name); });
  });
}

std::string no_such_option(const std::string& file, const CLI::App& app, const std::string& name) {
  return fmt::format("--config '{}': '{}': {} has no such option{}", file, name, app.get_name(),
                     meant_by_option("--" + name, long_options(app)));
}

/// What the file gives to one subcommand, as arguments, the first first.
std::vector<std::string> arguments_in(const std::string& file, const CLI::App& torus, const CLI::App& app,
                                      const std::vector<std::string>& arguments) {
  std::vector<std::string> found;
  const std::string text = text_of(file);
  refuse_twice(file, text, app);
  for (const CLI::ConfigItem& item : items_in(text)) {
    if (!item.parents.empty()) {
      const std::string section = fmt::format("{}", fmt::join(item.parents, "."));
      if (subcommand_called(torus, section) == nullptr)
        throw InputError(fmt::format("--config '{}': '[{}]': it must be a subcommand: [run]", file, section));
      if (section != app.get_name()) continue;
    }
    if (item.name == "++" || item.name == "--") continue;  // where a section begins and ends
    const CLI::Option* option = app.get_option_no_throw("--" + item.name);
    if (option == nullptr || item.name == "config" || item.name == "help") throw InputError(no_such_option(file, app, item.name));
    if (given(*option, arguments)) continue;
    const std::string value = fmt::format("{}", fmt::join(item.inputs, ","));
    if (option->get_items_expected_max() > 0) {
      found.push_back(fmt::format("--{}={}", item.name, value));
    } else if (value == "true") {
      found.push_back("--" + item.name);
    } else if (value != "false") {
      throw InputError(fmt::format("--config '{}': {} = '{}': it must be true or false", file, item.name, value));
    }
  }
  return found;
}

/// The files that the arguments, the last first, name.
std::vector<std::string> files_in(const std::vector<std::string>& arguments) {
  const std::string with_value = fmt::format("{}=", option_name);
  std::vector<std::string> files;
  for (std::size_t i = arguments.size(); i-- > 0;) {
    if (arguments[i].starts_with(with_value)) files.push_back(arguments[i].substr(with_value.size()));
    if (arguments[i] == option_name && i > 0) files.push_back(arguments[i - 1]);
  }
  return files;
}

}  // namespace

void add_config(CLI::App& app) {
  app.add_option_function<std::string>(
         option_name, [](const std::string&) {}, "options from a file, a line each: on = 8x8; the command line goes before it")
      ->type_name("FILE");
}

std::vector<std::string> with_options_of_files(const CLI::App& torus, std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  const CLI::App* app = subcommand_called(torus, arguments.back());
  if (app == nullptr || app->get_option_no_throw(option_name) == nullptr) return arguments;
  const std::vector<std::string> files = files_in(arguments);
  if (files.size() != 1) return arguments;  // two are refused as any option that stands there twice
  std::vector<std::string> more = arguments_in(files.front(), torus, *app, arguments);
  arguments.insert(arguments.begin(), more.rbegin(), more.rend());
  return arguments;
}

}  // namespace torus::command
