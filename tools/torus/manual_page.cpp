#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/torus/usage.hpp"
#include "tools/torus/version.hpp"

namespace torus::command {
namespace {

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

std::string entry(const OptionUsage& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + plain(name) + "\\fR");
  if (option.names.empty()) names.push_back("\\fI" + plain(option.argument) + "\\fR");
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  if (!option.names.empty() && !option.type.empty()) head += " \\fI" + plain(option.type) + "\\fR";
  return fmt::format(".TP\n{}\n{}\n", head, plain(option.description) + (option.required ? " (required)" : ""));
}

}  // namespace

std::string manual_page(const std::vector<CommandUsage>& usage) {
  const std::string name = plain(program_word());
  const CommandUsage& torus = usage.front();
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"TorusEmu {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR \\fISUBCOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\nRuns collective communication algorithms on an emulated torus multicomputer, checks every step against its rules,\n"
      "verifies every byte, and compares the steps with the formula and the lower bound.\n{}\n.SH OPTIONS\n",
      plain(capitals(program_word())), version, name, plain(torus.description), name, plain(torus.footer));
  for (const OptionUsage& option : torus.options) text += entry(option);
  text += ".SH SUBCOMMANDS\n";
  for (const CommandUsage& command : usage) {
    if (&command == &torus) continue;
    std::string arguments;
    for (const OptionUsage& option : command.options) {
      if (!option.names.empty()) continue;
      const std::string argument = "\\fI" + plain(option.argument) + "\\fR";
      arguments += option.required ? " " + argument : " [" + argument + "]";
    }
    text += fmt::format(".SS {} {}{} [\\fIOPTIONS\\fR]\n{}.\n", name, plain(command.name), arguments, plain(command.description));
    if (!command.footer.empty()) text += fmt::format(".PP\n{}\n", plain(command.footer));
    for (const OptionUsage& option : command.options) text += entry(option);
  }
  return text +
         ".SH EXIT STATUS\n.TP\n0\ndone and verified\n.TP\n1\na run or a check failed, a file could not be written, or a signal came\n"
         ".TP\n2\nwrong usage, or a file of another program\n.PP\nAn error is one line on standard error.\n";
}

}  // namespace torus::command
