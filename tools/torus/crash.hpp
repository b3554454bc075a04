/// What a crash leaves behind: the command that repeats it.
#pragma once

#include <string>
#include <string_view>

namespace torus::command {

/// From now on a signal for a fault of the process itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) first writes one line to standard
/// error: the command that was running. Where `program` is given, the file of the program that the command starts, it then runs the command
/// again in a process of its own, for a minute at most, and writes a second line: whether that crashes, too. The previous handler (a
/// debugger's, a sanitizer's) runs next.
void tell_what_crashed(const std::string& program = {});

/// The command that repeats what runs from now on; longer ones than 4 KiB are cut. Empty: nothing worth a line.
void now_running(std::string_view command) noexcept;

}  // namespace torus::command
