#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "tools/torus/usage.hpp"

namespace torus::command {
namespace {

/// What a branch of the script does to offer values.
std::string offer(const Values& values) {
  std::string text;
  if (values.list) text += " list=1";
  if (values.files) text += " files=1";
  if (!values.words.empty()) text += fmt::format(" words='{}'", fmt::join(values.words, " "));
  if (values.algorithms) text += " algorithms=1";
  return text.empty() ? " return" : text;
}

/// Branches of a case of one command each.
std::string branches_by_command(const std::vector<CommandUsage>& usage, const auto& words_of) {
  std::string text;
  for (const CommandUsage& command : usage) {
    const bool root = &command == &usage.front();
    text += fmt::format("    {}){} ;;\n", root ? "''" : command.name, words_of(command, root));
  }
  return text;
}

}  // namespace

std::string bash_completion(const std::vector<CommandUsage>& usage) {
  std::vector<std::string> commands;
  for (const CommandUsage& command : usage) {
    if (&command != &usage.front()) commands.push_back(command.name);
  }
  std::string collectives, algorithms;
  for (const CollectiveWords& collective : collective_words()) {
    collectives += fmt::format("      {}) collective={} ;;\n", fmt::join(collective.names, "|"), collective.names.front());
    algorithms += fmt::format("      {}) words+=' {}' ;;\n", collective.names.front(), fmt::join(collective.algorithms, " "));
  }
  std::map<std::string, std::vector<std::string>> options;  // by what is offered
  for (const CommandUsage& command : usage) {
    for (const OptionUsage& option : command.options) {
      if (option.type.empty()) continue;
      for (const std::string& name : option.names) options[offer(values_of(option))].push_back(fmt::format("'{} {}'", command.name, name));
    }
  }
  std::string values;
  for (const auto& [offered, patterns] : options) values += fmt::format("    {}){} ;;\n", fmt::join(patterns, "|"), offered);
  const std::string names = branches_by_command(usage, [](const CommandUsage& command, bool) {
    std::vector<std::string> all;
    for (const OptionUsage& option : command.options) all.insert(all.end(), option.names.begin(), option.names.end());
    return fmt::format(" words='{}'", fmt::join(all, " "));
  });
  const std::string arguments = branches_by_command(usage, [&](const CommandUsage& command, bool root) {
    if (root) return fmt::format(" words='{} help'", fmt::join(commands, " "));
    for (const OptionUsage& option : command.options) {
      if (option.names.empty()) return offer(values_of(option));
    }
    return std::string(" return");
  });
  const std::string program = program_word();
  const std::string function = "_" + escaped(program, {{'-', "_"}, {'.', "_"}, {'+', "_"}});
  return fmt::format(R"SCRIPT(# Completion of `{0}` in bash, by `{0} completion bash`.
{1}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' collective='' words='' files='' list='' algorithms='' before='' i
  COMPREPLY=()
  if [[ $cur == = ]]; then  # --option=
    cur=''
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {2}) command=${{command:-${{COMP_WORDS[i]}}}} ;;
{3}    esac
  done
  case "${{command:-{4}}} $prev" in
{5}    *)
      if [[ $cur == -* ]]; then
        case $command in
{6}        esac
      else
        case $command in
{7}        esac
      fi ;;
  esac
  if [[ $algorithms ]]; then
    case $collective in
{8}      *) words+=' {9}' ;;
    esac
  fi
  if [[ $list && $cur == *,* ]]; then
    before=${{cur%,*}},
    cur=${{cur##*,}}
  fi
  # shellcheck disable=SC2207  # words without blanks
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -f -- "$cur")
  fi
}}
complete -F {1} {0}
)SCRIPT",
                     program, function, fmt::join(commands, "|"), collectives, usage.front().name, values, names, arguments, algorithms,
                     fmt::join(algorithm_words(), " "));
}

}  // namespace torus::command
