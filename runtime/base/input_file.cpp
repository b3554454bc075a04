#include "runtime/base/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include "runtime/base/figures.hpp"

namespace torus {

std::optional<std::string> why_unreadable(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return "is a folder";
  if (::access(path.c_str(), R_OK) == 0) return std::nullopt;
  return "cannot be read (" + std::generic_category().message(errno) + ")";
}

std::string text_of_file(const std::string& path, std::size_t most, const std::function<void(const std::string& why)>& refuse) {
  constexpr std::size_t chunk = std::size_t{1} << 18U;
  if (const auto why_not = why_unreadable(path)) refuse(*why_not);
  std::ifstream in(path, std::ios::binary);
  std::string text;
  while (in) {
    const std::size_t filled = text.size();
    text.resize(filled + chunk);
    in.read(text.data() + filled, static_cast<std::streamsize>(chunk));
    text.resize(filled + static_cast<std::size_t>(in.gcount()));
    if (text.find('\0', filled) != std::string::npos) refuse(std::string(holds_zero));
    if (text.size() > most) refuse("has more than " + bytes_text(most));
  }
  if (text.starts_with(utf8_mark)) text.erase(0, utf8_mark.size());
  return text;
}

}  // namespace torus
