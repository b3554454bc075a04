/// torus completion and torus man: what they say is what the command takes, and shells and man(1) read them.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace torus;
using support::command;
using support::good;

namespace {

using WordList = std::set<std::string>;

WordList words_in(const std::string& text) {
  std::istringstream in(text);
  WordList words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

/// The options that a help text lists, by all their names: "  --ts,--latency TIME", with CLI11 from 2.4 on "  -o,     --output FILE".
WordList options_in(const std::string& help) {
  WordList options;
  std::istringstream in(help);
  for (std::string line; std::getline(in, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || indent == 0 || indent > 10) continue;
    std::istringstream tokens(line);
    for (std::string token; tokens >> token && token.starts_with('-');) {
      std::istringstream names(token);
      for (std::string name; std::getline(names, name, ',');) options.insert(name);
    }
  }
  return options;
}

/// The help texts, by subcommand; that of the command itself is "".
std::map<std::string, std::string> all_help() {
  std::map<std::string, std::string> help{{"", good("--help").out}};
  const std::size_t list = std::min(help[""].find("Subcommands:"), help[""].find("SUBCOMMANDS:"));
  std::istringstream in(help[""].substr(list));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line) && line.starts_with("  ")) {
    if (line[2] == ' ') continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    help[name] = good(name + " --help").out;
  }
  return help;
}

bool has(const std::string& program) { return support::run_program("/bin/sh", {.arguments = {"-c", "command -v " + program}}).status == 0; }

support::Ended shell(const std::string& text, std::vector<std::string> arguments = {}) {
  std::vector<std::string> words{"-c", text, "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return support::run_program("/bin/sh", {.arguments = words});
}

/// What bash offers for the last of the words that are typed.
WordList in_bash(const std::string& script, const std::vector<std::string>& typed) {
  std::vector<std::string> arguments{"bash",
                                     "--norc",
                                     "-c",
                                     "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _torus; "
                                     "((${#COMPREPLY[@]})) && printf '%s\\n' \"${COMPREPLY[@]}\"; exit 0",
                                     "bash",
                                     script};
  arguments.insert(arguments.end(), typed.begin(), typed.end());
  const support::Ended ended = support::run_program("/usr/bin/env", {.arguments = arguments});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  REQUIRE(ended.err.empty());
  return words_in(ended.out);
}

struct Case {
  std::vector<std::string> typed;  ///< the last word is completed
  WordList offered;
};
const std::vector<Case> cases{
    {{"torus", "co"}, {"compare", "completion"}},
    {{"torus", "run", "b"}, {"broadcast", "bcast", "barrier"}},
    {{"torus", "run", "broadcast", "--swi"}, {"--switching"}},
    {{"torus", "run", "broadcast", "--switching", ""}, {"packet", "wormhole", "circuit"}},
    {{"torus", "bench", "broadcast", "--contention", ""}, {"forbid", "share"}},
    {{"torus", "run", "bcast", "--algorithm", "wang"}, {"wang-tseng"}},
    {{"torus", "run", "alltoall", "--algorithm", "s"}, {"sequential", "stride"}},
    {{"torus", "run", "broadcast", "--machine", "trn"}, {"trn2", "trn2-ultra"}},
    {{"torus", "stress", "--only", "trip"}, {"tripling"}},
    {{"torus", "export", "trace", "--to", ""}, {"perfetto", "dot", "goal", "msccl"}},
    {{"torus", "run", "allreduce", "--type", "f"}, {"f32", "f64", "f16"}},
    {{"torus", "run", "broadcast", "--executor", "t"}, {"tbb", "threads"}},
    {{"torus", "completion", ""}, {"bash", "zsh", "fish"}},
};

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

TEST_CASE("bash completes subcommands, options and the values of sets", "[conformance]") {
  const support::Folder folder;
  const std::string script = folder.write("torus.bash", good("completion bash").out);
  for (const Case& each : cases) {
    CAPTURE(joined(each.typed));
    CHECK(in_bash(script, each.typed) == each.offered);
  }
  // --option=value is three words to bash; of a list the last part is completed; a size is anybody's guess.
  CHECK(in_bash(script, {"torus", "run", "broadcast", "--switching", "=", "p"}) == WordList{"packet"});
  CHECK(in_bash(script, {"torus", "run", "broadcast", "--switching", "="}) == WordList{"packet", "wormhole", "circuit"});
  CHECK(in_bash(script, {"torus", "compare", "broadcast", "--algorithms", "flood,tsai"}) == WordList{"flood,tsai-mckinley"});
  CHECK(in_bash(script, {"torus", "run", "broadcast", "--bytes", ""}).empty());
  folder.write("trace.jsonl", "");
  CHECK(in_bash(script, {"torus", "verify", folder.file("trace.j")}) == WordList{folder.file("trace.jsonl")});
  CHECK(in_bash(script, {"torus", "run", "broadcast", "--trace", folder.file("trace.j")}) == WordList{folder.file("trace.jsonl")});
}

TEST_CASE("every option of every help text is in the completions and in the manual page", "[conformance]") {
  const support::Folder folder;
  const std::string bash = folder.write("torus.bash", good("completion bash").out);
  const std::string zsh = good("completion zsh").out, fish = good("completion fish").out, man = good("man").out;
  const auto help = all_help();
  REQUIRE(help.size() >= 14);
  for (const auto& [name, text] : help) {
    CAPTURE(name);
    const WordList options = options_in(text);
    REQUIRE(options.size() >= 1);
    std::vector<std::string> typed{"torus"};
    if (!name.empty()) typed.push_back(name);
    typed.emplace_back("-");
    CHECK(in_bash(bash, typed) == options);
    const std::string in_man = man.substr(man.find(name.empty() ? "\n.SH OPTIONS" : "\n.SS torus " + name));
    const std::string section = in_man.substr(0, in_man.find(name.empty() ? "\n.SH SUB" : "\n.SS", 1));
    const std::string in_zsh = zsh.substr(name.empty() ? zsh.find("_arguments") : zsh.find("\n    " + name + ")\n"));
    const std::string branch = in_zsh.substr(0, in_zsh.find(";;"));
    for (const std::string& option : options) {
      CAPTURE(option);
      std::string escaped;
      for (const char c : option) escaped += c == '-' ? "\\-" : std::string(1, c);
      CHECK(section.find("\\fB" + escaped + "\\fR") != std::string::npos);
      CHECK((branch.find("'" + option + "[") != std::string::npos || branch.find("'" + option + "=[") != std::string::npos ||
             branch.find("'" + option + "+[") != std::string::npos));
      const std::string word = option.starts_with("--") ? " -l " + option.substr(2) : " -s " + option.substr(1);
      std::size_t lines = 0;
      std::istringstream in(fish);
      for (std::string line; std::getline(in, line);) {
        const bool of_command = name.empty() ? line.find("-n __fish_use_subcommand -") != std::string::npos
                                             : line.find("'__fish_seen_subcommand_from " + name + "'") != std::string::npos;
        lines += of_command && (line + " ").find(word + " ") != std::string::npos ? 1U : 0U;
      }
      CHECK(lines == 1);
    }
  }
}

TEST_CASE("every word that is offered for a set is one that the command takes", "[conformance]") {
  const support::Folder folder;
  const std::string bash = folder.write("torus.bash", good("completion bash").out);
  const auto each = [&](const std::string& line, const std::string& option, const std::string& rest) {
    std::vector<std::string> typed = support::words("torus " + line + " " + option);
    typed.emplace_back("");
    const WordList offered = in_bash(bash, typed);
    CHECK(offered.size() >= 2);
    for (const std::string& word : offered) {
      const support::Ended ended = command(line + " " + option + " " + word + " " + rest);
      CAPTURE(line, option, word, ended.err);
      CHECK(ended.err.find("it must be") == std::string::npos);
      CHECK(ended.err.find("there is no such") == std::string::npos);
    }
  };
  for (const char* option : {"--switching", "--contention", "--executor", "--machine"}) each("run broadcast", option, "--bytes 64");
  for (const char* option : {"--op", "--type"}) each("run allreduce", option, "--on 4x4 --bytes 64");
  each("compare broadcast", "--run", "--on 2x2 --bytes 8 --algorithms flood");
  each("regret broadcast", "--run", "--on 2x2 --bytes 8");
  each("list", "", "");
  each("run", "", "--on 4x4");
  each("run multinode-broadcast", "--prefix", "--on 5x5 --bytes 8");
}

/// Whether a program that a test needs is there. Where it is not, CTest calls the test skipped.
bool can_try(const std::string& program) {
  if (has(program)) return true;
  std::cout << "not tried here: " << program << " is not installed\n";
  return false;
}

TEST_CASE("fish completes the same", "[conformance]") {
  if (!can_try("fish")) return;
  const support::Folder folder;
  const std::string script = folder.write("torus.fish", good("completion fish").out);
  for (const Case& each : cases) {
    CAPTURE(joined(each.typed));
    const support::Ended ended = shell("HOME=$1 exec fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \"$2\" \"$3\" | cut -f 1",
                                       {folder.file(""), script, joined(each.typed)});
    CHECK(words_in(ended.out) == each.offered);
  }
}

TEST_CASE("zsh completes the same", "[conformance]") {
  if (!can_try("zsh")) return;
  const support::Folder folder;
  folder.write("_torus", good("completion zsh").out);
  std::vector<std::string> arguments{"zsh", "-f", std::string(TORUS_SOURCE_DIR) + "/tests/support/zsh_offers", folder.file("")};
  for (const Case& each : cases) arguments.push_back(joined(each.typed));
  const support::Ended ended = support::run_program("/usr/bin/env", {.arguments = arguments});
  CAPTURE(ended.out, ended.err);
  for (const Case& each : cases) {
    const std::string head = "== " + joined(each.typed) + "\n";
    CAPTURE(head);
    const std::size_t at = ended.out.find(head);
    REQUIRE(at != std::string::npos);
    const std::size_t from = at + head.size();
    CHECK(words_in(ended.out.substr(from, ended.out.find("==", from) - from)) == each.offered);
  }
}

TEST_CASE("the manual page is written to a file as to the terminal", "[conformance]") {
  const support::Folder folder;
  const std::string page = folder.file("torus.1");
  good("man -o " + page);
  CHECK(support::text_of_file(page) == good("man").out);
}

TEST_CASE("man prints the manual page without a warning", "[conformance]") {
  if (!can_try("man")) return;
  const support::Folder folder;
  const std::string page = folder.file("torus.1");
  good("man -o " + page);
  const support::Ended ended = shell("LC_ALL=C.UTF-8 MANWIDTH=100 MANROFFSEQ= exec man --warnings -l \"$1\"", {page});
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out.find("torus - Collective algorithms on an emulated torus multicomputer") != std::string::npos);
  CHECK(ended.out.find("torus run collective [OPTIONS]") != std::string::npos);
  CHECK(ended.out.find("--switching packet|wormhole|circuit") != std::string::npos);
}

TEST_CASE("groff formats the manual page without a warning", "[conformance]") {
  if (!can_try("groff")) return;
  const support::Folder folder;
  const std::string page = folder.file("torus.1");
  good("man -o " + page);
  const support::Ended ended = shell("exec groff -ww -man -z \"$1\"", {page});
  CHECK(ended.status == 0);
  CHECK(ended.err.empty());
}

TEST_CASE("completion and man refuse what they do not know", "[conformance]") {
  const support::Folder folder;
  for (const std::string& line : {std::string("completion"), std::string("completion csh"), std::string("completion bash zsh"),
                                  std::string("man run"), std::string("man -o ''"), "completion bash -o " + folder.file("none/t")})
    support::check_refused(line);
  CHECK(folder.files() == 0);
}
