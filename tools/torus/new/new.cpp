/// torus new NAME: a project of the user's own, which builds and whose algorithm passes the stress.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/child.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/new/project.hpp"
#include "tools/torus/setting/spec.hpp"

namespace torus::command {
namespace {

namespace fs = std::filesystem;

struct NewArguments {
  std::string name;
  std::optional<std::string> folder, collective;
};

/// Names that CMake keeps for targets of its own.
constexpr std::array<std::string_view, 9> kept_by_cmake{"all",     "clean", "edit_cache",    "help",          "install",
                                                        "package", "test",  "rebuild_cache", "package_source"};

void check_name(const std::string& name, Collective collective) {
  const auto refuse = [&](const std::string& rule) { throw InputError(fmt::format("name '{}': {}", name, rule)); };
  if (name.size() > 64 || name.empty() || name.front() < 'a' || name.front() > 'z' ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    refuse("it must be small letters, digits and hyphens, at most 64, a letter first; for instance my-broadcast");
  if (std::find(kept_by_cmake.begin(), kept_by_cmake.end(), name) != kept_by_cmake.end())
    refuse(fmt::format("CMake keeps it for itself; for instance my-{}", name));
  if (name == "torus") refuse("it is the command's own; for instance my-torus");
  if (find_collective(name)) refuse(fmt::format("it is a collective; for instance my-{}", name));
  if (find_algorithm(collective, name) != nullptr)
    refuse(fmt::format("there is an algorithm of {} of that name already; for instance my-{}", torus::name(collective), name));
}

/// The template with the name in it.
std::string named(std::string text, const std::string& name) {
  constexpr std::string_view place = "NAME";
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + name.size())) {
    text.replace(at, place.size(), name);
  }
  return text;
}

std::string_view algorithm_for(Collective collective) {
  return std::find_if(std::begin(new_algorithms), std::end(new_algorithms),
                      [&](const auto& each) { return each.first == name(collective); })
      ->second;
}

/// The folder that the command was built in, if it runs there: no project finds its libraries before they are installed.
std::optional<fs::path> own_build() {
  const fs::path folder = fs::path(own_program()).parent_path().parent_path();
  return fs::exists(folder / "TorusEmuConfig.cmake") ? std::optional(folder) : std::nullopt;
}

/// What to do with the project, as lines to copy.
std::string next_steps(const std::string& folder, const std::string& name) {
  constexpr std::string_view prefix = "\"$HOME/torusemu\"";
  const auto build = own_build();
  return (build ? fmt::format("cmake --install {} --prefix {}\n", shell_word(build->string()), prefix) : "") +
         fmt::format("cmake -S {0} -B {0}/build{1} && cmake --build {0}/build\n{0}/build/{2} stress --only {2} --seconds 5\n", folder,
                     build ? fmt::format(" -D CMAKE_PREFIX_PATH={}", prefix) : "", name);
}

int make_project(const NewArguments& arguments) {
  const Collective collective = arguments.collective ? parse_collective(*arguments.collective) : Collective::broadcast;
  check_name(arguments.name, collective);
  const fs::path folder = arguments.folder.value_or(arguments.name);
  std::error_code error;
  // Makes the folder or finds it there, in one go: of two commands at once, one is refused.
  const bool made = fs::create_directory(folder, error);
  if (!made) {
    const std::string_view option = arguments.folder ? "-o" : "folder";
    if (!error)
      throw InputError(fmt::format("{} '{}': it is there already; for instance torus new {} -o {}-2", option, folder.string(),
                                   arguments.name, arguments.name));
    throw InputError(fmt::format("{} '{}': it cannot be made: {}; for instance torus new {} -o /tmp/{}", option, folder.string(),
                                 error.message(), arguments.name, arguments.name));
  }
  try {
    OutputFile cmake((folder / "CMakeLists.txt").string()), algorithm((folder / (arguments.name + ".cpp")).string());
    cmake.write(named(new_cmake, arguments.name));
    algorithm.write(named(std::string(algorithm_for(collective)), arguments.name));
    algorithm.commit();
    cmake.commit();
  } catch (...) {
    fs::remove_all(folder, error);  // this command has made it
    throw;
  }
  const std::string at = folder.string();
  print(fmt::format("{0}/CMakeLists.txt\n{0}/{1}.cpp\n\n{2}", at, arguments.name, next_steps(at, arguments.name)));
  return 0;
}

}  // namespace

Command new_command() {
  const auto arguments = std::make_shared<NewArguments>();
  Command command{.help = "Start an algorithm of your own: writes a project that is this command and your algorithm"};
  command.require("name", "TEXT", &arguments->name, "of the algorithm: small letters, digits and hyphens");
  command.add("--collective", "COLLECTIVE", &arguments->collective, "that it is of: allreduce, alltoall, barrier, ..; default broadcast");
  command.add("-o", "FOLDER", &arguments->folder, "the folder to make; default: the name");
  command.body = [arguments] { return make_project(*arguments); };
  return command;
}

}  // namespace torus::command
