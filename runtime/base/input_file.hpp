/// Why a file cannot be read, for errors.
#pragma once

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>

namespace torus {

/// "is a folder", "cannot be read (No such file or directory)"; none if it can be read. A stream reads a folder as an empty file.
inline std::optional<std::string> why_unreadable(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return "is a folder";
  if (::access(path.c_str(), R_OK) == 0) return std::nullopt;
  return "cannot be read (" + std::generic_category().message(errno) + ")";
}

}  // namespace torus
