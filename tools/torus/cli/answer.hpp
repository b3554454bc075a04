/// What a command says in the end: words for people, or one JSON value for programs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/torus/cli/json.hpp"

namespace torus::command {

/// Keeps the command line, as a shell would be given it. Only at the start of the program.
void set_typed_line(int argc, char** argv);

/// That line.
const std::string& typed_line() noexcept;

/// The model of the host's processor; "unknown" where the system does not say.
std::string cpu_text();

/// The subcommand that will answer.
void set_subcommand(std::string_view name);

/// Opens the file of --json-file, so that one that cannot be written is refused before any work is done. Throws InputError.
void open_json_file(const std::string& path);
/// The path of that file; empty: there is none.
std::string json_file_path();

/// Prints the words, wrapped() to the line, or with `json` (--json) the JSON value; writes that to the file of --json-file too. Objects
/// have `format` ("torus-run"), `format_version`, `version`, `commit`, `host` and `command` besides. Throws RunError where it could not be
/// written.
void answer(bool json, const std::function<Json()>& value, const std::function<std::string()>& words);

}  // namespace torus::command
