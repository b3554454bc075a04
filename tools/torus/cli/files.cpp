#include <filesystem>
#include <fmt/format.h>
#include <string_view>

#include <torus/error.hpp>

#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// The file in a value of that type: all of it for "FILE" and "PROGRAM", what follows "file:" for "file:FILE".
std::optional<std::string> file_in(std::string_view value, std::string_view type) {
  for (const std::string_view part : split(type, '|')) {
    if (part == "PROGRAM") return std::string(value);
    if (!part.ends_with("FILE")) continue;
    const std::string_view before = part.substr(0, part.size() - 4);
    if (value.starts_with(before)) return std::string(value.substr(before.size()));
  }
  return std::nullopt;
}

bool is_written(const NamedFile& file) { return !file.ending.empty(); }

/// Whether it can be overwritten: a rule such as zipf:1 in place of a file, standard input and a device cannot.
bool is_there(const NamedFile& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file.path, ignored);
}

bool is_one_file(const NamedFile& one, const NamedFile& two) {
  return OutputFile::written_path(one.path) == OutputFile::written_path(two.path);
}

}  // namespace

std::vector<NamedFile> usual_output(bool written, std::string path, std::string ending) {
  if (!written) return {};
  return {{"--output", std::move(path), std::move(ending)}};
}

std::vector<NamedFile> files_named_by(const Command& command) {
  std::vector<NamedFile> files;
  for (const Option& option : command.options) {
    const auto value = value_of(option);
    auto file = value ? file_in(*value, option.type) : std::nullopt;
    if (!file || file->empty()) continue;
    files.push_back({option.is_argument() ? "torus " + command.name : option.names().front(), std::move(*file), option.ending});
  }
  if (command.more_files == nullptr) return files;
  for (NamedFile& file : command.more_files()) files.push_back(std::move(file));
  return files;
}

void refuse_shared_files(const std::vector<NamedFile>& files) {
  const auto refuse = [](const NamedFile& file, const NamedFile& other, std::string_view does) {
    throw InputError(
        fmt::format("{0} '{1}': it is the file that {2} {3}; for instance {0} {1}{4}", file.by, file.path, other.by, does, file.ending));
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!is_written(files[i])) continue;
    for (std::size_t j = 0; j < files.size(); ++j) {
      const NamedFile &one = files[j], &two = files[i];
      if (is_written(one) ? j >= i : !is_there(one)) continue;
      if (is_one_file(one, two)) refuse(two, one, is_written(one) ? "writes" : "reads");
    }
  }
}

}  // namespace torus::command
