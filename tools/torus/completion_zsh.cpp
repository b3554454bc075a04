#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/torus/usage.hpp"

namespace torus::command {
namespace {

/// Text within single quotes, where _arguments reads a description or a message.
std::string worded(std::string_view text) {
  return escaped(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}, {'\n', " "}});
}

/// What _arguments does for a value: the action, after the message.
std::string action_of(const Values& values, const std::string& function) {
  std::vector<std::string> kinds;
  if (values.algorithms) kinds.push_back(fmt::format("algorithms\\:algorithm\\:{}_algorithms", function));
  if (!values.words.empty()) kinds.push_back(fmt::format("words\\:word\\:\"({})\"", fmt::join(values.words, " ")));
  if (values.files) kinds.emplace_back("files\\:file\\:_files");
  if (kinds.empty()) return " ";
  if (kinds.size() > 1) return fmt::format("_alternative {}", fmt::join(kinds, " "));
  if (values.files) return "_files";
  if (values.algorithms) return fmt::format("{}{}_algorithms", values.list ? "_sequence " : "", function);
  return fmt::format("({})", fmt::join(values.words, " "));
}

}  // namespace

std::string zsh_completion(const std::vector<CommandUsage>& usage) {
  const std::string program = program_word();
  const std::string function = "_" + program;
  std::string commands, collectives, branches;
  for (const CommandUsage& command : usage) {
    std::string specs;
    for (const OptionUsage& option : command.options) {
      const std::string value =
          option.type.empty() ? "" : fmt::format(":{}:{}", worded(option.type), action_of(values_of(option), function));
      for (const std::string& name : option.names) {
        const char* const sign = option.type.empty() ? "" : name.starts_with("--") ? "=" : "+";
        specs += fmt::format(" \\\n        '{}{}[{}]{}'", name, sign, worded(option.description), value);
      }
      if (option.names.empty())
        specs += fmt::format(" \\\n        '1:{}:{}'", worded(option.argument), action_of(values_of(option), function));
    }
    if (&command == &usage.front()) {
      branches += fmt::format(
          "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    _describe subcommand subcommands\n    return\n  fi\n"
          "  if (( CURRENT == 2 )); then\n    _arguments{}\n    return\n  fi\n",
          specs);
      branches +=
          "  local collective=''\n  local word\n  for word in $words; do\n    case $word in\n@COLLECTIVES@    esac\n  done\n"
          "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n";
    } else {
      commands += fmt::format("    '{}:{}'\n", command.name, worded(command.description));
      branches += fmt::format("    {})\n      _arguments{} ;;\n", command.name, specs);
    }
  }
  std::string algorithms;
  for (const CollectiveWords& collective : collective_words()) {
    collectives += fmt::format("      {}) collective={} ;;\n", fmt::join(collective.names, "|"), collective.names.front());
    algorithms += fmt::format("    {}) compadd \"$@\" - {} ;;\n", collective.names.front(), fmt::join(collective.algorithms, " "));
  }
  branches.replace(branches.find("@COLLECTIVES@"), std::string_view("@COLLECTIVES@").size(), collectives);
  return fmt::format(R"SCRIPT(#compdef {0}
# Completion of `{0}` in zsh, by `{0} completion zsh`.
{1}_algorithms() {{
  case $collective in
{2}    *) compadd "$@" - {3} ;;
  esac
}}
{1}() {{
  local -a subcommands=(
{4}  )
{5}  esac
}}
if [[ $funcstack[1] == {1} ]]; then
  {1} "$@"
else
  compdef {1} {0}
fi
)SCRIPT",
                     program, function, algorithms, fmt::join(algorithm_words(), " "), commands, branches);
}

}  // namespace torus::command
