// SPDX-License-Identifier: MIT
/// The lines of a file that may be larger than memory, plain or compressed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct gzFile_s;

namespace torus::detail {

/// Reads plain and gzip files alike; "-" is standard input. Errors are InputErrors that name the file and the line.
class Lines {
 public:
  explicit Lines(const std::string& path);
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines();

  /// The next line without its end; none at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// The number of the line last read, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// Throws InputError for the line last read.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void more();

  std::string name_;
  gzFile_s* file_ = nullptr;
  std::string buffer_;
  std::size_t first_ = 0;
  bool ended_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace torus::detail
