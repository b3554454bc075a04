#include "tools/torus/cli/answer.hpp"

#include <fstream>
#include <optional>

#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/cli/version.hpp"

namespace torus::command {
namespace {

std::string& kept_line() {
  static std::string line;
  return line;
}

/// The version of the format of all JSON: tools/json.md says when it changes.
constexpr int format_version = 1;

std::string& subcommand() {
  static std::string name;
  return name;
}

std::optional<OutputFile>& json_file() {
  static std::optional<OutputFile> file;
  return file;
}

std::string line_of(Json value) {
  value.update({{"format", "torus-" + subcommand()},
                {"format_version", format_version},
                {"version", version},
                {"commit", commit},
                {"host", cpu_text()},
                {"command", typed_line()}});
  return value.dump() + "\n";
}

}  // namespace

void set_typed_line(int argc, char** argv) {
  kept_line() = program();
  for (int i = 1; i < argc; ++i) kept_line() += " " + shell_word(argv[i]);
}

const std::string& typed_line() noexcept { return kept_line(); }

void set_subcommand(std::string_view name) { subcommand() = name; }

std::string cpu_text() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return "unknown";
}

void open_json_file(const std::string& path) { json_file().emplace(path); }

std::string json_file_path() { return json_file() ? json_file()->path() : ""; }

void answer(bool json, const std::function<Json()>& value, const std::function<std::string()>& words) {
  const std::string line = json || json_file() ? line_of(value()) : "";
  if (json_file()) {
    json_file()->write(line);
    json_file()->commit();
    json_file().reset();
  }
  print(json ? line : wrapped(words()));
}

}  // namespace torus::command
