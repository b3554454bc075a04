/// What a crash leaves behind: the command that repeats it.
#pragma once

#include <string_view>

namespace torus::command {

/// From now on a signal for a fault of the process itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) first writes one line to standard
/// error: the command that was running. The previous handler (a debugger's, a sanitizer's) runs next.
void tell_what_crashed();

/// The command that repeats what runs from now on; longer ones than 4 KiB are cut. Empty: nothing worth a line.
void now_running(std::string_view command) noexcept;

}  // namespace torus::command
