/// Whether a line that a report prints repeats what it is printed for, and what a crash leaves behind: the line that repeats it.
#pragma once

#include <string>
#include <string_view>
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

/// From now on a signal for a fault of the process itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) first writes one line to standard
/// error: the command that was running. Where `program` is given, the file of the program that the command starts, it then runs the command
/// again in a process of its own, for a minute at most, and writes a second line: whether that crashes, too. The previous handler (a
/// debugger's, a sanitizer's) runs next.
void tell_what_crashed(const std::string& program = {});

/// The command that repeats what runs from now on; longer ones than 4 KiB are cut. Empty: nothing worth a line.
void now_running(std::string_view command) noexcept;

}  // namespace torus::command
