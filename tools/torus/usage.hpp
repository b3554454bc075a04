/// What the command line takes, read from the parser's own description: what completions and the manual page are made of.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace torus::command {

/// What may stand for a value, as far as words can say it. An option's type says so: "packet|wormhole|circuit", "ALGORITHM,..", "FILE".
struct Values {
  std::vector<std::string> words = {};  ///< in lower case in the type; also the collectives and the machines, where it has those
  bool algorithms = false;              ///< those of the collective of the command line, or all
  bool files = false;
  bool list = false;  ///< several with commas between

  bool known() const noexcept { return files || algorithms || !words.empty(); }
};

struct OptionUsage {
  std::vector<std::string> names = {};  ///< "--output", "-o"; empty for an argument without a name
  std::string argument = {};            ///< such a one's: "collective"
  std::string type = {};                ///< of its value; empty for a flag
  std::string description = {};
  bool required = false;
};
Values values_of(const OptionUsage& option);

struct CommandUsage {
  std::string name, description, footer;
  std::vector<OptionUsage> options;
};

/// The command itself, then each of its subcommands.
std::vector<CommandUsage> usage_of(const CLI::App& torus);

/// The long options of a subcommand, each name: "--on".
std::vector<std::string> long_options(const CLI::App& app);

/// The program's name, as a word that shells find it by.
std::string program_word();
/// Each collective with the names that it is called by, and its algorithms.
struct CollectiveWords {
  std::vector<std::string> names, algorithms;
};
std::vector<CollectiveWords> collective_words();
/// All algorithms, each once.
std::vector<std::string> algorithm_words();

/// A script that completes the command line, for the shell of that name.
std::string bash_completion(const std::vector<CommandUsage>& usage);
std::string zsh_completion(const std::vector<CommandUsage>& usage);
std::string fish_completion(const std::vector<CommandUsage>& usage);
/// A manual page, for man(7).
std::string manual_page(const std::vector<CommandUsage>& usage);

/// A text with each of these characters replaced.
std::string escaped(std::string_view text, const std::vector<std::pair<char, std::string_view>>& replacements);

}  // namespace torus::command
