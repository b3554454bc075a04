#include "tools/torus/cli/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "tools/torus/cli/console.hpp"
#include "tools/torus/machines/presets.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/spec.hpp"

namespace torus::command {
namespace {

/// A lower-case word stands for itself.
bool is_word(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text.front())) != 0 &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

/// What other programs, and papers, call our options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> other_names{
    {{"--size", "--bytes"},  {"--count", "--bytes"},     {"--message-size", "--bytes"}, {"-b", "--bytes"},       {"-m", "--bytes"},
     {"-n", "--on"},         {"--nodes", "--on"},        {"--shape", "--on"},           {"--topology", "--on"},  {"--torus", "--on"},
     {"--dims", "--on"},     {"--alpha", "--ts"},        {"--startup", "--ts"},         {"--beta", "--tc"},      {"--iters", "--repeat"},
     {"--runs", "--repeat"}, {"--workers", "--threads"}, {"-j", "--threads"},           {"--output", "--trace"}, {"-o", "--trace"},
     {"--dtype", "--type"}}};

bool is_shape(std::string_view word) {
  try {
    return word.find_first_of("0123456789") != std::string_view::npos && Topology::parse(std::string(word)).dimensions() > 0;
  } catch (const InputError&) {
    return false;
  }
}

bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 18> units{"B",   "K", "M",  "G",  "KB", "MB",   "GB",   "KiB",   "MiB",
                                                   "GiB", "s", "ms", "us", "ns", "Gb/s", "GB/s", "bytes", "kb"};
  return std::find(units.begin(), units.end(), word) != units.end();
}

}  // namespace

std::vector<std::string> Option::names() const {
  std::vector<std::string> names;
  if (is_argument()) return names;
  for (const bool long_ones : {true, false}) {
    for (const std::string_view name : split(spelled, ',')) {
      if (name.starts_with("--") == long_ones) names.emplace_back(name);
    }
  }
  return names;
}

Option& Command::add(std::string spelled, std::string type, Option::Target target, std::string text) {
  return options.emplace_back(Option{std::move(spelled), std::move(type), std::move(text), target});
}

Option& Command::require(std::string spelled, std::string type, Option::Target target, std::string text) {
  Option& option = add(std::move(spelled), std::move(type), target, std::move(text));
  option.required = true;
  return option;
}

Option& Command::add_output(std::string spelled, std::string ending, Option::Target target, std::string text) {
  Option& option = add(std::move(spelled), "FILE", target, std::move(text));
  option.ending = std::move(ending);
  return option;
}

const Option* Command::find(std::string_view option) const {
  // Whether one of the names, between commas, is this one. Every command line asks this for options of all subcommands.
  const auto has = [&](const Option& each) {
    const std::string_view names = each.spelled;
    for (std::size_t at = names.find(option); at != std::string_view::npos && !each.is_argument(); at = names.find(option, at + 1)) {
      const std::size_t end = at + option.size();
      if ((at == 0 || names[at - 1] == ',') && (end == names.size() || names[end] == ',')) return true;
    }
    return false;
  };
  const auto at = std::find_if(options.begin(), options.end(), has);
  return at == options.end() ? nullptr : &*at;
}

void Command::describe(std::string_view option, std::string text, std::string type) {
  Option& described = options.at(static_cast<std::size_t>(find(option) - options.data()));
  described.help = std::move(text);
  if (!type.empty()) described.type = std::move(type);
}

std::vector<std::string> Command::long_names() const {
  std::vector<std::string> all;
  for (const Option& option : options) {
    for (const std::string& each : option.names()) {
      if (each.starts_with("--")) all.push_back(each);
    }
  }
  return all;
}

Values values_of(const Option& option) {
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

std::optional<std::string> value_of(const Option& option) {
  if (const auto* const* flag = std::get_if<bool*>(&option.target)) return **flag ? std::optional(std::string()) : std::nullopt;
  if (const auto* const* text = std::get_if<std::string*>(&option.target)) return **text;
  if (const auto* const* text = std::get_if<std::optional<std::string>*>(&option.target)) return **text;
  return std::nullopt;
}

std::string program_word() { return std::filesystem::path(program()).filename().string(); }

std::vector<CollectiveWords> collective_words() {
  std::vector<CollectiveWords> all;
  for (const CollectiveFacts& each : collectives()) {
    CollectiveWords words{{std::string(each.name)}, {}};
    std::string mpi(each.mpi);
    std::transform(mpi.begin(), mpi.end(), mpi.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (mpi != words.names.front() && find_collective(mpi) == each.collective) words.names.push_back(mpi);
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective == each.collective) words.algorithms.emplace_back(algorithm->name);
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

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  return "'" + escaped(word, {{'\'', "'\\''"}}) + "'";
}

std::string meant_by_option(std::string_view word, const Command& command) {
  for (const auto& [other, ours] : other_names) {
    if (word == other && command.find(ours) != nullptr) return fmt::format("; did you mean '{}'?", ours);
  }
  const std::vector<std::string> options = command.long_names();
  for (const std::string& option : options) {
    if (word.size() > 4 && option.starts_with(word)) return fmt::format("; did you mean '{}'?", option);
  }
  return did_you_mean(word, std::vector<std::string_view>(options.begin(), options.end()));
}

std::string meant_by_argument(std::string_view word, const Command& command) {
  if (is_shape(word) && command.find("--on") != nullptr) return fmt::format("; a shape is --on {}", word);
  if (is_unit(word)) return fmt::format("; a value and its unit are one word, for instance 64{}", word);
  if (word.ends_with(".json") && command.find("--json") != nullptr)
    return fmt::format("; --json goes to standard output, and > {} to that file", word);
  if (find_collective(word) && command.parts != nullptr) return fmt::format("; several at once have a + between, for instance + {}", word);
  return "";
}

std::string surplus_text(const Command& command, const std::string& argument) {
  const std::string_view word = std::string_view(argument).substr(0, argument.find('='));
  const bool option = word.starts_with('-');
  if (option && command.find(word) != nullptr)
    return fmt::format("'{}': it stands before {}, whose option it is; write it behind", argument, command.name);
  return fmt::format("'{}': {} has no such {}{}; see {} --help", argument, command.name, option ? "option" : "argument",
                     option ? meant_by_option(word, command) : meant_by_argument(argument, command),
                     command.name == "torus" ? "torus" : "torus " + command.name);
}

}  // namespace torus::command
