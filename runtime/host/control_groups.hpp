/// What the kernel's control groups leave a process of their memory limits.
#pragma once

#include <string>

#include <torus/machine.hpp>

namespace torus::detail {

/// What is left of the limits of a process's groups, each of which lies in the next: the least of them; the greatest number if none has a
/// limit. groups: a file like /proc/self/cgroup; mount: where the kernel shows them, /sys/fs/cgroup. Both versions of control groups, also
/// side by side. A container sees its own group at the top, and may be told the path that the host has for it: folders that are not there
/// limit nothing.
Bytes left_of_control_groups(const std::string& groups, const std::string& mount);

/// The number that a file holds; the greatest number if it does not.
Bytes number_in(const std::string& path);

}  // namespace torus::detail
