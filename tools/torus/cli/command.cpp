/// torus::main(): the command. Exit status: 0 done and verified, 1 a run or a check failed, 2 wrong usage. An error is one line on standard
/// error.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <new>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/main.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/parser.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/cli/version.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/watchdog.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/setting/spec.hpp"

namespace torus::command {
namespace {

constexpr int failed = 1;
constexpr int wrong_usage = 2;

int complain(int status, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::fprintf(stderr, "torus: %s\n", printable(text).c_str());
  return status;
}

/// Takes what stands after each + out of the arguments, the last first, of a subcommand that has parts. A + alone is the value of no
/// option. What to say where a subcommand takes one collective.
std::optional<std::string> take_parts(const Commands& commands, std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  const auto command = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == arguments.back(); });
  if (command == commands.end()) return std::nullopt;
  if (command->parts == nullptr) {
    const bool of_one =
        std::any_of(command->options.begin(), command->options.end(), [](const Option& o) { return o.spelled == "collective"; });
    if (!of_one || std::find(arguments.begin(), arguments.end(), "+") == arguments.end()) return std::nullopt;
    return fmt::format("'+': {0} takes one collective; {1} run takes several, for instance {1} run allreduce + alltoall", command->name,
                       program());
  }
  for (auto plus = std::find(arguments.begin(), arguments.end(), "+"); plus != arguments.end();
       plus = std::find(arguments.begin(), arguments.end(), "+")) {
    const bool helps = std::find(arguments.begin(), plus, "--help") != plus;
    command->parts->emplace(command->parts->begin(), std::reverse_iterator(plus), arguments.rend());
    arguments.erase(arguments.begin(), plus + 1);
    if (helps) arguments.emplace(arguments.begin(), "--help");
  }
  return std::nullopt;
}

/// What to say after a command whose --tc has two values that may have been meant as one number.
std::optional<std::string> decimal_comma_note(const Command& command) {
  const Option* const option = command.find("--tc");
  const auto* const target = option != nullptr ? std::get_if<std::optional<std::string>*>(&option->target) : nullptr;
  if (target == nullptr || !**target || decimal_comma(***target).empty()) return std::nullopt;
  return fmt::format("note: --tc '{}': one value for each of two dimensions{}", ***target, decimal_comma(***target));
}

/// What to say of a first word that is no subcommand.
std::string subcommand_text(const std::string& word, const std::vector<std::string_view>& names) {
  return fmt::format("subcommand '{}': it must be {}{}", word, fmt::join(names, ", "),
                     find_collective(word) ? fmt::format("; did you mean 'run {}'?", word)
                     : word == "version"   ? "; did you mean '--version'?"
                                           : did_you_mean(word, names));
}

/// The arguments, the last first, as CLI11 takes them; -h as --help, since CLI11 knows no -h beside an --h from 2.4 on. `help run` is
/// `run --help`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments(std::reverse_iterator(argv + argc), std::reverse_iterator(argv + std::min(argc, 1)));
  std::replace(arguments.begin(), arguments.end(), std::string("-h"), std::string("--help"));
  if (!arguments.empty() && arguments.back() == "help") {
    arguments.pop_back();
    arguments.insert(arguments.begin(), "--help");
  }
  return arguments;
}

/// Opens those of the three standard descriptors that are closed: a file that is opened gets the lowest free one, and would be taken for
/// standard output. They fail like closed ones: input cannot be read, output cannot be written.
void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// What several subcommands take.
struct CommonOptions {
  std::optional<std::string> config_file;  ///< with_options_of_file() has read it
  std::optional<std::string> json_file;
  bool wide = false;
};

/// A subcommand: its name, and what describes the rest of it.
struct Subcommand {
  std::string_view name;
  Command (*describe)();
};
constexpr std::array subcommands{
    Subcommand{"run", run_command},       Subcommand{"compare", compare_command}, Subcommand{"sweep", sweep_command},
    Subcommand{"bench", bench_command},   Subcommand{"list", list_command},       Subcommand{"paper", paper_command},
    Subcommand{"verify", verify_command}, Subcommand{"import", import_command},   Subcommand{"bounds", bounds_command},
    Subcommand{"stress", stress_command}, Subcommand{"view", view_command},       Subcommand{"plot", plot_command},
    Subcommand{"export", export_command}, Subcommand{"regret", regret_command},   Subcommand{"explain", explain_command},
    Subcommand{"expect", expect_command}, Subcommand{"optimum", optimum_command}, Subcommand{"new", new_command}};

/// The program and its subcommands. To describe all takes longer than a short run: where the first word is the name of one, the others have
/// their names alone, and so have all where it asks for the version. Those that write what all commands take keep a reference to
/// `commands`.
void describe(Commands& commands, CommonOptions& common, std::string_view first_word) {
  commands.push_back({"torus", "Collective algorithms on an emulated torus multicomputer",
                      "Each has a --help of its own. A first look: torus run broadcast"});
  const bool version = first_word == "--version" || first_word == "-V";
  const bool one = std::any_of(subcommands.begin(), subcommands.end(), [&](const Subcommand& s) { return s.name == first_word; });
  for (const Subcommand& subcommand : subcommands) {
    const bool described = one ? subcommand.name == first_word : !version;
    commands.push_back(described ? subcommand.describe() : Command());
    commands.back().name = subcommand.name;
  }
  commands.push_back(completion_command(commands));
  commands.push_back(man_command(commands));
  for (Command& command : commands) {
    if (command.find("--on") != nullptr)
      command.add("--config", "FILE", &common.config_file, "options from a file, a line each: on = 8x8; the command line goes before it");
    if (command.find("--json") != nullptr || command.find("--csv") != nullptr)  // they print tables
      command.add("--wide", "", &common.wide, "lines as long as all columns need; default: what the terminal, or COLUMNS, has room for");
    if (command.find("--json") != nullptr)
      command.add_output("--json-file", ".json", &common.json_file, "write that JSON to this file, too");
    command.options.insert(command.options.begin(), {"--help", "", "Print this help message and exit; -h likewise"});
  }
  commands.front().add("-V,--version", "", {}, "Display program version information and exit");
}

/// With algorithms of the user's all are described: each looks whether a parameter is called like an option.
int run(int argc, char** argv, bool with_own) {
  Commands commands;
  CommonOptions common;
  std::vector<std::string> arguments = arguments_of(argc, argv);
  describe(commands, common, with_own || arguments.empty() ? "" : arguments.back());
  const Command& torus = commands.front();
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < commands.size(); ++i) names.push_back(commands[i].name);
  if (!arguments.empty() && !arguments.back().starts_with('-') && std::find(names.begin(), names.end(), arguments.back()) == names.end())
    return complain(wrong_usage, subcommand_text(arguments.back(), names));
  if (const auto mistake = take_parts(commands, arguments)) return complain(wrong_usage, *mistake);
  const Parsed parsed = parse(commands, with_options_of_file(commands, std::move(arguments)));
  if (parsed.mistake) return complain(wrong_usage, *parsed.mistake);
  if (parsed.help) {
    print(wrapped(*parsed.help));
    return 0;
  }
  if (parsed.called != nullptr) {
    if (!parsed.surplus.empty()) return complain(wrong_usage, surplus_text(*parsed.called, parsed.surplus.front()));
    set_subcommand(parsed.called->name);
    if (common.wide) show_wide();
    refuse_shared_files(files_named_by(*parsed.called));
    if (common.json_file) open_json_file(*common.json_file);
    const int status = parsed.called->body();
    if (const auto note = decimal_comma_note(*parsed.called)) complain(status, *note);
    return status;
  }
  if (parsed.surplus.empty())
    return complain(wrong_usage, "no subcommand: say what to do; for instance torus run broadcast, or torus --help");
  return complain(wrong_usage, surplus_text(torus, parsed.surplus.front()));
}

/// The exit status of what `body` does. What it throws is one line on standard error.
template <class Body>
int status_of(const Body& body) {
  try {
    return body();
  } catch (const InputError& error) {
    return complain(wrong_usage, error.what());
  } catch (const std::bad_alloc&) {
    return complain(failed, "there is not enough memory; choose a smaller shape or fewer bytes");
  } catch (const std::exception& error) {
    return complain(failed, error.what());
  }
}

/// The stack that the command needs, and so does each of its threads, which get as much as the first.
constexpr rlim_t least_stack = rlim_t{256} * 1024;

rlim_t stack_limit() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/// Without the stream of standard error, whose functions take kilobytes of the stack.
int refuse_stack(rlim_t limit) noexcept {
  std::array<char, 160> line{};
  const auto end =
      fmt::format_to_n(line.data(), line.size(), "torus: a stack of {} KiB: it must have {} KiB; for instance ulimit -s 8192\n",
                       limit / 1024, least_stack / 1024);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), std::min(end.size, line.size()));
  return failed;
}

/// What follows the look at the stack, which must do with little of it.
[[gnu::noinline]] int start(int argc, char** argv, std::initializer_list<const Algorithm*> own) {
  keep_standard_descriptors();
  catch_interrupts();
  name_crashes();
  int status = status_of([&] {
    extend_catalogue({own.begin(), own.size()});
    if (own.size() > 0 && argc > 0) set_program(argv[0]);
    set_typed_line(argc, argv);
    join_job(argc, argv);
    return speaks() ? run(argc, argv, own.size() > 0) : follow();
  });
  status = leave_job(status);
  if (planner_given_up()) std::_Exit(status);  // all output is flushed, and what exit() destroys may be in use
  return status;
}

}  // namespace
}  // namespace torus::command

int torus::main(int argc, char** argv, std::initializer_list<const Algorithm*> own) {
  using namespace torus::command;
  if (const rlim_t limit = stack_limit(); limit < least_stack) return refuse_stack(limit);
  return start(argc, argv, own);
}
