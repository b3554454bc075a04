/// torus completion SHELL and torus man: what shells and man(1) know of the command, written from the table of its options.
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>

#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/version.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// The program's name as a part of a shell function's.
std::string function_word() { return escaped(program_word(), {{'-', "_"}, {'.', "_"}, {'+', "_"}}); }

/// A branch of a case for each collective, with its algorithms: {0} its names,
/// {1} the first of them, {2} the algorithms.
std::string each_collective(std::string_view branch, const char* between_names = "|") {
  std::string text;
  for (const CollectiveWords& collective : collective_words())
    text += fmt::format(fmt::runtime(branch), fmt::format("{}", fmt::join(collective.names, between_names)), collective.names.front(),
                        fmt::format("{}", fmt::join(collective.algorithms, " ")));
  return text;
}

std::string all_algorithms() { return fmt::format("{}", fmt::join(algorithm_words(), " ")); }

// bash

/// What a branch of the script does to offer values.
std::string bash_offer(const Values& values) {
  std::string text;
  if (values.list) text += " list=1";
  if (values.files) text += " files=1";
  if (!values.words.empty()) text += fmt::format(" words='{}'", fmt::join(values.words, " "));
  if (values.algorithms) text += " algorithms=1";
  return text.empty() ? " return" : text;
}

/// Branches of a case of one command each.
std::string branches_by_command(const Commands& commands, const auto& words_of) {
  std::string text;
  for (const Command& command : commands) {
    const bool root = &command == &commands.front();
    text += fmt::format("    {}){} ;;\n", root ? "''" : command.name, words_of(command, root));
  }
  return text;
}

std::string bash_completion(const Commands& commands) {
  std::vector<std::string> words;
  for (std::size_t i = 1; i < commands.size(); ++i) words.push_back(commands[i].name);
  std::map<std::string, std::vector<std::string>> options;  // by what is offered
  for (const Command& command : commands) {
    for (const Option& option : command.options) {
      if (option.type.empty()) continue;
      for (const std::string& name : option.names())
        options[bash_offer(values_of(option))].push_back(fmt::format("'{} {}'", command.name, name));
    }
  }
  std::string values;
  for (const auto& [offered, patterns] : options) values += fmt::format("    {}){} ;;\n", fmt::join(patterns, "|"), offered);
  const std::string names = branches_by_command(commands, [](const Command& command, bool) {
    std::vector<std::string> all;
    for (const Option& option : command.options) {
      for (const std::string& name : option.names()) all.push_back(name);
    }
    return fmt::format(" words='{}'", fmt::join(all, " "));
  });
  const std::string arguments = branches_by_command(commands, [&](const Command& command, bool root) {
    if (root) return fmt::format(" words='{} help'", fmt::join(words, " "));
    for (const Option& option : command.options) {
      if (option.is_argument()) return bash_offer(values_of(option));
    }
    return std::string(" return");
  });
  const std::string program = program_word();
  const std::string function = "_" + function_word();
  return fmt::format(
      R"SCRIPT(# Completion of `{0}` in bash, by `{0} completion bash`.
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
      program, function, fmt::join(words, "|"), each_collective("      {0}) collective={1} ;;\n"), commands.front().name, values, names,
      arguments, each_collective("      {1}) words+=' {2}' ;;\n"), all_algorithms());
}

// zsh

/// Text within single quotes, where _arguments reads a description or a
/// message.
std::string zsh_text(std::string_view text) {
  return escaped(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\\', "\\\\"}, {'\n', " "}});
}

/// What _arguments does for a value: the action, after the message.
std::string zsh_action(const Values& values, const std::string& function) {
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

std::string zsh_completion(const Commands& commands) {
  const std::string program = program_word();
  const std::string function = "_" + program;
  std::string subcommands, branches;
  for (const Command& command : commands) {
    std::string specs;
    int arguments = 0;
    for (const Option& option : command.options) {
      const std::string value =
          option.type.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.type), zsh_action(values_of(option), function));
      for (const std::string& name : option.names()) {
        const char* const sign = option.type.empty() ? "" : name.starts_with("--") ? "=" : "+";
        specs += fmt::format(" \\\n        '{}{}[{}]{}'", name, sign, zsh_text(option.help), value);
      }
      if (option.is_argument())
        specs += fmt::format(" \\\n        '{}:{}:{}'", ++arguments, zsh_text(option.spelled), zsh_action(values_of(option), function));
    }
    if (&command == &commands.front()) {
      branches += fmt::format(
          "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n    "
          "_describe subcommand subcommands\n    return\n  fi\n"
          "  if (( CURRENT == 2 )); then\n    _arguments{}\n    return\n  fi\n",
          specs);
      branches +=
          "  local collective=''\n  local word\n  for word in $words; "
          "do\n    case $word in\n@COLLECTIVES@    esac\n  done\n"
          "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n";
    } else {
      subcommands += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.help));
      branches += fmt::format("    {})\n      _arguments{} ;;\n", command.name, specs);
    }
  }
  branches.replace(branches.find("@COLLECTIVES@"), std::string_view("@COLLECTIVES@").size(),
                   each_collective("      {0}) collective={1} ;;\n"));
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
                     program, function, each_collective("    {1}) compadd \"$@\" - {2} ;;\n"), all_algorithms(), subcommands, branches);
}

// fish

/// A text in single quotes.
std::string fish_text(std::string_view text) { return fmt::format("'{}'", escaped(text, {{'\'', "\\'"}, {'\\', "\\\\"}, {'\n', " "}})); }

/// What is offered for a value. -x: only this; -r -F: files too.
std::string fish_offer(const Values& values, const std::string& function, bool named) {
  std::vector<std::string> offered = values.words;
  if (values.algorithms)
    offered.push_back(values.list ? fmt::format("(__fish_complete_list , {})", function) : fmt::format("({})", function));
  std::string text;
  if (named) text = values.files ? " -r -F" : " -x";
  if (!named && values.files) text = " -F";
  if (!offered.empty()) text += " -a " + fish_text(fmt::format("{}", fmt::join(offered, " ")));
  return text;
}

std::string fish_completion(const Commands& commands) {
  const std::string program = program_word();
  const std::string function = fmt::format("__{}_algorithms", function_word());
  std::string text = fmt::format(
      "# Completion of `{0}` in fish, by `{0} completion fish`.\nfunction {1}\n"
      "  for word in (commandline -opc)\n    switch $word\n",
      program, function);
  text += each_collective("      case {0}\n        printf '%s\\n' {2}\n        return\n", " ");
  text += fmt::format("    end\n  end\n  printf '%s\\n' {}\nend\ncomplete -c {} -f\n", all_algorithms(), program);
  for (const Command& command : commands) {
    const bool root = &command == &commands.front();
    const std::string start = fmt::format("complete -c {} -n {}", program,
                                          root ? "__fish_use_subcommand" : fish_text("__fish_seen_subcommand_from " + command.name));
    if (!root) text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program, command.name, fish_text(command.help));
    for (const Option& option : command.options) {
      text += start;
      for (const std::string& name : option.names()) text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.type.empty()) text += fish_offer(values_of(option), function, !option.is_argument());
      if (!option.is_argument()) text += " -d " + fish_text(option.help);
      text += "\n";
    }
  }
  return text;
}

// man

/// A text as man(7) prints it: no character is an instruction.
std::string plain(std::string_view text) {
  std::string out =
      escaped(text, {{'\\', "\\e"}, {'-', "\\-"}, {'`', "\\(ga"}, {'\'', "\\(aq"}, {'^', "\\(ha"}, {'~', "\\(ti"}, {'"', "\\(dq"}});
  if (out.starts_with('.')) out.insert(0, "\\&");
  return escaped(out, {{'\n', "\n.br\n"}});
}

std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string entry(const Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names()) names.push_back("\\fB" + plain(name) + "\\fR");
  if (option.is_argument()) names.push_back("\\fI" + plain(option.spelled) + "\\fR");
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  // Long lists of words may go on in the next line.
  if (!option.is_argument() && !option.type.empty()) head += " \\fI" + escaped(plain(option.type), {{'|', "|\\:"}}) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, plain(option.help) + (option.required ? " (required)" : ""));
}

std::string manual_page(const Commands& commands) {
  const std::string name = plain(program_word());
  const Command& torus = commands.front();
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"TorusEmu {}\" \"User Commands\"\n.ad l\n.SH NAME\n{} \\- "
      "{}\n.SH SYNOPSIS\n\\fB{}\\fR \\fISUBCOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\nRuns collective communication algorithms on an "
      "emulated torus multicomputer, checks every step against its rules,\n"
      "verifies every byte, and compares the steps with the formula and the "
      "lower bound.\n{}\n.SH OPTIONS\n",
      plain(capitals(program_word())), version, name, plain(torus.help), name, plain(torus.footer));
  for (const Option& option : torus.options) text += entry(option);
  text += ".SH SUBCOMMANDS\n";
  for (const Command& command : commands) {
    if (&command == &torus) continue;
    std::string arguments;
    for (const Option& option : command.options) {
      if (!option.is_argument()) continue;
      const std::string argument = "\\fI" + plain(option.spelled) + "\\fR";
      arguments += option.required ? " " + argument : " [" + argument + "]";
    }
    text += fmt::format(".SS {} {}{} [\\fIOPTIONS\\fR]\n{}.\n", name, plain(command.name), arguments, plain(command.help));
    if (!command.footer.empty()) text += fmt::format(".PP\n{}\n", plain(command.footer));
    for (const Option& option : command.options) text += entry(option);
  }
  return text +
         ".SH EXIT STATUS\n.TP\n0\ndone and verified\n.TP\n1\na run or a check "
         "failed, a file could not be written, or a signal came\n"
         ".TP\n2\nwrong commands, or a file of another program\n.PP\nAn error "
         "is one line on standard error.\n";
}

/// To a file, or to standard output.
void deliver(const std::string& text, const std::optional<std::string>& path) {
  if (!path) return print(text);
  OutputFile file(*path);
  file.write(text);
  file.commit();
}

}  // namespace

Command completion_command(const Commands& commands) {
  struct Arguments {
    std::string shell;
    std::optional<std::string> output;
  };
  const auto arguments = std::make_shared<Arguments>();
  Command command{.name = "completion",
                  .help = "A script that completes this command line with Tab",
                  .footer = "In bash: source <(torus completion bash)"};
  command.require("shell", "bash|zsh|fish", &arguments->shell, "bash, zsh or fish");
  command.add_output("-o,--output", ".txt", &arguments->output, "the file to write; default: standard output");
  command.body = [arguments, &commands] {
    const std::string& shell = arguments->shell;
    if (shell != "bash" && shell != "zsh" && shell != "fish")
      refuse("shell", shell, "it must be bash, zsh or fish; for instance torus completion bash");
    deliver(shell == "bash"  ? bash_completion(commands)
            : shell == "zsh" ? zsh_completion(commands)
                             : fish_completion(commands),
            arguments->output);
    return 0;
  };
  return command;
}

Command man_command(const Commands& commands) {
  const auto output = std::make_shared<std::optional<std::string>>();
  Command command{.name = "man", .help = "The manual page of this command", .footer = "To read it: torus man -o torus.1 && man ./torus.1"};
  command.add_output("-o,--output", ".txt", output.get(), "the file to write; default: standard output");
  command.body = [output, &commands] {
    deliver(manual_page(commands), *output);
    return 0;
  };
  return command;
}

}  // namespace torus::command
