#include "tools/torus/usage.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <torus/catalogue.hpp>

#include "tools/torus/console.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/presets.hpp"
#include "tools/torus/spec.hpp"

namespace torus::command {
namespace {

OptionUsage usage_of(const CLI::Option& option) {
  OptionUsage usage;
  for (const std::string& name : option.get_lnames()) usage.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) usage.names.push_back("-" + name);
  if (usage.names.empty()) usage.argument = option.get_name(true);
  if (option.get_type_size() != 0) usage.type = option.get_type_name();
  usage.description = option.get_description();
  usage.required = option.get_required();
  return usage;
}

/// Small letters and digits: a word that stands for itself.
bool is_word(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text.front())) != 0 &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

CommandUsage usage_of_one(const CLI::App& app) {
  CommandUsage usage{app.get_name(), app.get_description(), app.get_footer(), {}};
  if (app.get_parent() != nullptr && usage.footer == app.get_parent()->get_footer()) usage.footer.clear();  // inherited
  for (const CLI::Option* option : app.get_options()) usage.options.push_back(usage_of(*option));
  return usage;
}

}  // namespace

std::vector<CommandUsage> usage_of(const CLI::App& torus) {
  std::vector<CommandUsage> usage{usage_of_one(torus)};
  for (const CLI::App* app : torus.get_subcommands([](const CLI::App*) { return true; })) usage.push_back(usage_of_one(*app));
  return usage;
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Values values_of(const OptionUsage& option) {
  Values values;
  std::string_view type = option.type;
  values.list = type.ends_with(",..");
  if (values.list) type.remove_suffix(3);
  for (const std::string_view part : split(type, '|')) {
    if (part == "COLLECTIVE") {
      for (const CollectiveWords& collective : collective_words())
        values.words.insert(values.words.end(), collective.names.begin(), collective.names.end());
    } else if (part == "MACHINE") {
      for (const Preset& preset : presets()) values.words.emplace_back(preset.name);
    } else if (part == "ALGORITHM") {
      values.algorithms = true;
    } else if (part == "FILE" || part == "FOLDER" || part == "PROGRAM") {
      values.files = true;
    } else if (is_word(part)) {
      values.words.emplace_back(part);
    }
  }
  return values;
}

std::string program_word() { return std::filesystem::path(program()).filename().string(); }

std::vector<CollectiveWords> collective_words() {
  std::vector<CollectiveWords> all;
  for (const Collective collective : collectives()) {
    CollectiveWords words{{std::string(name(collective))}, {}};
    std::string mpi(mpi_name(collective));
    std::transform(mpi.begin(), mpi.end(), mpi.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (mpi != words.names.front() && find_collective(mpi) == collective) words.names.push_back(mpi);
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective == collective) words.algorithms.emplace_back(algorithm->name);
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::vector<std::string> algorithm_words() {
  std::vector<std::string> all;
  for (const Algorithm* algorithm : catalogue()) {
    if (std::find(all.begin(), all.end(), algorithm->name) == all.end()) all.emplace_back(algorithm->name);
  }
  return all;
}

std::string escaped(std::string_view text, const std::vector<std::pair<char, std::string_view>>& replacements) {
  std::string out;
  for (const char c : text) {
    const auto found = std::find_if(replacements.begin(), replacements.end(), [c](const auto& pair) { return pair.first == c; });
    if (found == replacements.end())
      out += c;
    else
      out += found->second;
  }
  return out;
}

}  // namespace torus::command
