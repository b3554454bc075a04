/// The command line as data: the subcommands, their options, and where what is
/// typed goes. The parser, --config, the completions, the manual page and hints
/// at slips all read this table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torus::command {

/// An option or an argument of a subcommand.
struct Option {
  using Target = std::variant<std::monostate, bool*, std::string*, std::optional<std::string>*>;

  std::string spelled;  ///< "-o,--output"; an argument has no hyphen: "trace"
  std::string type;     ///< what its value is: "packet|wormhole|circuit",
                        ///< "ALGORITHM,..", "FILE"; empty: a flag
  std::string help;
  Target target = {};  ///< where the text goes; none: the parser handles the option itself
  bool required = false;
  std::string ending = {};  ///< ".csv": the value is a file that is written, mostly with such a name; empty: it is none

  bool is_argument() const noexcept { return !spelled.starts_with('-'); }
  /// "--output", "-o": long names first. Empty for an argument.
  std::vector<std::string> names() const;
};

/// A file that a command line names.
struct NamedFile {
  std::string by;  ///< what names it: "--csv"; of an argument "torus view"
  std::string path;
  std::string ending = {};  ///< as of an option: not empty where the file is written
};

/// A subcommand, or the program itself.
struct Command {
  std::string name = {}, help = {};
  std::string footer = {};
  std::vector<Option> options = {};
  /// Gets what stands after each + of the line, one after the other; null: the subcommand does one thing.
  std::vector<std::vector<std::string>>* parts = nullptr;
  /// Returns the exit status: 0 done and verified, 1 a run or a check failed.
  /// Throws InputError for status 2, anything else for status 1.
  std::function<int()> body = {};
  /// The files beside those that its options name: of parts, and what is written where no option names it. Null: there are none.
  std::function<std::vector<NamedFile>()> more_files = {};

  Option& add(std::string spelled, std::string type, Option::Target target, std::string text);
  Option& require(std::string spelled, std::string type, Option::Target target, std::string text);
  /// An option whose value is a file that is written.
  Option& add_output(std::string spelled, std::string ending, Option::Target target, std::string text);
  /// The option with that name; null if there is none.
  const Option* find(std::string_view option) const;
  /// Changes the words of an option, which must be there; and its type, unless that is empty.
  void describe(std::string_view option, std::string text, std::string type = {});
  /// All long names: "--on".
  std::vector<std::string> long_names() const;
};

/// The program, then its subcommands.
using Commands = std::vector<Command>;

/// The values of an option, as far as its type names them.
struct Values {
  std::vector<std::string> words = {};  ///< the lower-case words of the type; collectives and machines where
                                        ///< it names these
  bool algorithms = false;              ///< those of the collective on the command line, or all
  bool files = false;
  bool list = false;  ///< several with commas between
};
Values values_of(const Option& option);

/// The value of an option as typed; none: it is not given. A flag that is given has an empty one.
std::optional<std::string> value_of(const Option& option);
/// For Command::more_files: what --output writes where it is not given.
std::vector<NamedFile> usual_output(bool written, std::string path, std::string ending);
/// The files that the options of a parsed subcommand name: those that are written, and those that are read.
std::vector<NamedFile> files_named_by(const Command& command);
/// Throws InputError where a file that is written is one that is read, or that another option writes, also under two names.
void refuse_shared_files(const std::vector<NamedFile>& files);

/// The program's name, as shells look it up.
std::string program_word();
/// A collective with all its names, and its algorithms.
struct CollectiveWords {
  std::vector<std::string> names, algorithms;
};
std::vector<CollectiveWords> collective_words();
/// All algorithms, each once.
std::vector<std::string> algorithm_words();

/// A text with each of these characters replaced.
std::string escaped(std::string_view text, const std::vector<std::pair<char, std::string_view>>& replacements);
/// A word as a shell is given it: between single quotes where it needs them.
std::string shell_word(std::string_view word);

/// What a newcomer may have meant by an unknown option: "; did you mean
/// '--bytes'?" for "--size", "--byts" or "--byt". Empty: nothing near.
std::string meant_by_option(std::string_view word, const Command& command);
/// The same for an argument that no option takes: "; a shape is --on 8x8".
std::string meant_by_argument(std::string_view word, const Command& command);
/// What to say of an argument that no option takes.
std::string surplus_text(const Command& command, const std::string& argument);

/// The arguments, last first, followed by the options of the file that --config
/// names. Options of the command line take precedence. The file is TOML or INI:
/// `on = 8x8`, a line each, and `[run]` before those of one subcommand. Throws
/// InputError if the file cannot be read, has more than a mebibyte, or names
/// what the subcommand does not have.
std::vector<std::string> with_options_of_file(const Commands& commands, std::vector<std::string> arguments);

/// The subcommands. The last two write what all commands take.
Command run_command();
Command compare_command();
Command sweep_command();
Command bench_command();
Command list_command();
Command paper_command();
Command verify_command();
Command import_command();
Command bounds_command();
Command stress_command();
Command view_command();
Command plot_command();
Command export_command();
Command regret_command();
Command new_command();
Command explain_command();
Command expect_command();
Command optimum_command();
Command completion_command(const Commands& commands);
Command man_command(const Commands& commands);

}  // namespace torus::command
