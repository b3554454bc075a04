/// Another program, started and waited for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace torus::command {

/// How a program ended, and what it left.
struct ChildEnd {
  int status = -1;  ///< the exit status; -1 if a signal ended it
  bool started = true, in_time = true;
  std::string out, err;  ///< standard output and standard error
  std::string file;      ///< what it wrote to the file child_file
};

/// The file of a child that is handed back, under the child's own name for it. It is on no disk, and gone with the child.
inline constexpr const char* child_file = "/dev/fd/3";

/// Runs a program to its end, or kills it after `seconds`. It ends with this process, and may write 64 MiB to each file.
/// Throws RunError if the system has no process or no memory left.
ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments, std::optional<double> seconds = std::nullopt);

/// The file of the running program.
std::string own_program();

}  // namespace torus::command
