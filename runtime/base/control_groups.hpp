/// The limits of the kernel's control groups.
#pragma once

#include <optional>
#include <string>

#include <torus/machine.hpp>

namespace torus::detail {

/// Bytes left of the tightest limit of a process's control groups and the groups around them; the max number if none has a limit.
/// groups: a file like /proc/self/cgroup; mount: where the kernel shows the groups, /sys/fs/cgroup. Reads both versions of control groups,
/// also side by side. In a container, the path may be the host's: folders that do not exist limit nothing.
Bytes left_of_control_groups(const std::string& groups, const std::string& mount);

/// Processors that the tightest quota of these groups allows at a time, rounded up; none: no group has a quota. Arguments as above.
std::optional<unsigned> processors_of_control_groups(const std::string& groups, const std::string& mount);

/// The number that a file holds; the max number if it holds none.
Bytes number_in(const std::string& path);

}  // namespace torus::detail
