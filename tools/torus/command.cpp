/// torus::main(): the command. Exit status: 0 done and verified, 1 a run or a check failed, 2 wrong usage. An error is one line on standard
/// error.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <new>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/main.hpp>

#include "runtime/model/figures.hpp"
#include "tools/torus/config_file.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/follow.hpp"
#include "tools/torus/interrupt.hpp"
#include "tools/torus/job.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/planning.hpp"
#include "tools/torus/slips.hpp"
#include "tools/torus/spec.hpp"
#include "tools/torus/subcommands.hpp"
#include "tools/torus/usage.hpp"
#include "tools/torus/version.hpp"

namespace torus::command {
namespace {

constexpr int failed = 1;
constexpr int wrong_usage = 2;

int complain(int status, std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::fprintf(stderr, "torus: %s\n", printable(text).c_str());
  return status;
}

/// What to say of arguments that do not parse. CLI11's own words start with the option's name, if there is one.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  const auto called = app.get_subcommands();
  const std::string help = called.empty() ? "torus --help" : fmt::format("torus {} --help", called.front()->get_name());
  const std::string words = error.what();
  if (error.get_name() == "ArgumentMismatch" && words.starts_with("--")) {
    return fmt::format("{}: it takes one value, and stands there once; see {}", words.substr(0, words.find(':')), help);
  }
  if (error.get_name() == "RequiredError" && !called.empty()) {
    // What is missing, in the words of its help.
    const CLI::Option* missing = called.front()->get_option_no_throw(words.substr(0, words.find(' ')));
    if (missing != nullptr) {
      const std::string& type = missing->get_type_name();
      return fmt::format("{}: {}; see {}", words, type.find('|') == std::string::npos ? missing->get_description() : type, help);
    }
  }
  return fmt::format("{}; see {}", words, help);
}

/// What to say of an argument that no option takes.
std::string surplus_text(const CLI::App& app, const std::string& argument) {
  const std::vector<std::string> names = long_options(app);
  const std::string_view word = std::string_view(argument).substr(0, argument.find('='));
  const bool option = word.starts_with('-');
  return fmt::format("'{}': {} has no such {}{}; see {} --help", argument, app.get_name(), option ? "option" : "argument",
                     option ? meant_by_option(word, names) : meant_by_argument(argument, names),
                     app.get_name() == "torus" ? "torus" : "torus " + app.get_name());
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

/// Throws InputError where a parameter of an own algorithm is called like an option of the command.
std::vector<Subcommand> all_subcommands(CLI::App& app) {
  try {
    return {add_run(app),    add_compare(app), add_sweep(app),  add_bench(app),      add_list(app),
            add_verify(app), add_bounds(app),  add_stress(app), add_view(app),       add_plot(app),
            add_export(app), add_regret(app),  add_new(app),    add_completion(app), add_man(app)};
  } catch (const CLI::OptionAlreadyAdded& error) {
    throw InputError(fmt::format("a parameter of an algorithm: {}; the command has that option: call it another name", error.what()));
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Collective algorithms on an emulated torus multicomputer", "torus"};
  app.set_help_flag("--help", "Print this help message and exit; -h likewise");
  app.set_version_flag("-V,--version", std::string("torus ") + version);
  app.footer("Each has a --help of its own. A first look: torus run broadcast");
  const std::vector<Subcommand> subcommands = all_subcommands(app);
  std::vector<std::string_view> names;
  for (const Subcommand& subcommand : subcommands) {
    subcommand.app->allow_extras();
    if (subcommand.app->get_option_no_throw("--on") != nullptr) add_config(*subcommand.app);
    names.push_back(subcommand.app->get_name());
  }
  app.allow_extras();
  app.require_subcommand(0, 1);  // what follows the first is its arguments
  try {
    app.parse(with_options_of_files(app, arguments_of(argc, argv)));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream help;
      app.exit(error, help, help);
      print(help.str());
      return 0;
    }
    return complain(wrong_usage, usage_text(app, error));
  }
  for (const Subcommand& subcommand : subcommands) {
    if (!subcommand.app->parsed()) continue;
    const auto surplus = app.remaining(true);
    if (!surplus.empty()) return complain(wrong_usage, surplus_text(*subcommand.app, surplus.front()));
    return subcommand.body();
  }
  if (const auto surplus = app.remaining(true); !surplus.empty()) {
    if (surplus.front().starts_with('-')) return complain(wrong_usage, surplus_text(app, surplus.front()));
    const std::string& word = surplus.front();
    return complain(wrong_usage, fmt::format("subcommand '{}': it must be {}{}", word, fmt::join(names, ", "),
                                             find_collective(word) ? fmt::format("; did you mean 'run {}'?", word)
                                             : word == "version"   ? "; did you mean '--version'?"
                                                                   : did_you_mean(word, names)));
  }
  return complain(wrong_usage, "no subcommand: say what to do; for instance torus run broadcast, or torus --help");
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

}  // namespace
}  // namespace torus::command

int torus::main(int argc, char** argv, std::initializer_list<const Algorithm*> own) {
  using namespace torus::command;
  keep_standard_descriptors();
  catch_interrupts();
  int status = status_of([&] {
    extend_catalogue({own.begin(), own.size()});
    if (own.size() > 0 && argc > 0) set_program(argv[0]);
    join_job(argc, argv);
    return speaks() ? run(argc, argv) : follow();
  });
  status = leave_job(status);
  if (planner_given_up()) std::_Exit(status);  // all output is flushed, and what exit() destroys may be in use
  return status;
}
