/// torus run A .. + B ..: several collectives at once on one machine.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <torus/session.hpp>

#include "tools/torus/cli/json.hpp"
#include "tools/torus/run/arguments.hpp"
#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// One of the collectives of a line.
struct PartOfRun {
  RunArguments arguments;
  Setting setting;
  Step offset = 0;
  std::string trace = {};  ///< the file of its own; empty: none
};

/// Runs them, and reports. Returns the exit status. Throws InputError, also where an option is not for several, or stands in the wrong
/// part; RunError where one of them fails.
int run_several(const RunArguments& arguments);

/// "t.2.jsonl" of "t.jsonl", "t.2.jsonl.gz" of "t.jsonl.gz".
std::string numbered(const std::string& file, std::size_t number);

/// The files that the parts after the first name, and the traces of all.
std::vector<NamedFile> files_of_parts(const RunArguments& arguments);

/// One object; see tools/json.md.
Json several_json(const std::deque<PartOfRun>& parts, const SessionRun& run);
std::string several_table(const std::deque<PartOfRun>& parts, const SessionRun& run);

}  // namespace torus::command
