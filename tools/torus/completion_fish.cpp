#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/torus/usage.hpp"

namespace torus::command {
namespace {

/// A text in single quotes.
std::string in_quotes(std::string_view text) { return fmt::format("'{}'", escaped(text, {{'\'', "\\'"}, {'\\', "\\\\"}, {'\n', " "}})); }

/// What is offered for a value. -x: only this; -r -F: files too.
std::string offer(const Values& values, const std::string& function, bool named) {
  std::vector<std::string> offered = values.words;
  if (values.algorithms)
    offered.push_back(values.list ? fmt::format("(__fish_complete_list , {})", function) : fmt::format("({})", function));
  std::string text;
  if (named) text = values.files ? " -r -F" : " -x";
  if (!named && values.files) text = " -F";
  if (!offered.empty()) text += " -a " + in_quotes(fmt::format("{}", fmt::join(offered, " ")));
  return text;
}

}  // namespace

std::string fish_completion(const std::vector<CommandUsage>& usage) {
  const std::string program = program_word();
  const std::string function = fmt::format("__{}_algorithms", escaped(program, {{'-', "_"}, {'.', "_"}, {'+', "_"}}));
  std::string text = fmt::format(
      "# Completion of `{0}` in fish, by `{0} completion fish`.\nfunction {1}\n"
      "  for word in (commandline -opc)\n    switch $word\n",
      program, function);
  for (const CollectiveWords& collective : collective_words()) {
    text += fmt::format("      case {}\n        printf '%s\\n' {}\n        return\n", fmt::join(collective.names, " "),
                        fmt::join(collective.algorithms, " "));
  }
  text += fmt::format("    end\n  end\n  printf '%s\\n' {}\nend\ncomplete -c {} -f\n", fmt::join(algorithm_words(), " "), program);
  for (const CommandUsage& command : usage) {
    const bool root = &command == &usage.front();
    const std::string start = fmt::format("complete -c {} -n {}", program,
                                          root ? "__fish_use_subcommand" : in_quotes("__fish_seen_subcommand_from " + command.name));
    if (!root)
      text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program, command.name, in_quotes(command.description));
    for (const OptionUsage& option : command.options) {
      text += start;
      for (const std::string& name : option.names) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.type.empty()) text += offer(values_of(option), function, !option.names.empty());
      if (!option.names.empty()) text += " -d " + in_quotes(option.description);
      text += "\n";
    }
  }
  return text;
}

}  // namespace torus::command
