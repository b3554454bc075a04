/// Whether a line that a report prints repeats what it is printed for.
#pragma once

#include <string>
#include <vector>

namespace torus::command {

/// A command line, and how its run ends where it does what it should.
struct RepeatLine {
  std::string command;
  int status = 1;                 ///< exit status
  std::vector<std::string> says;  ///< texts that stand in its output, or on its standard error
};

/// Runs the line in a process of its own, for at most `seconds`. Empty if it ends as it says; else one line: how it ends instead, or
/// why it was not run.
std::string why_not_repeated(const RepeatLine& line, double seconds);

}  // namespace torus::command
