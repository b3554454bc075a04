/// The lines of a plain or compressed file, which may be larger than memory.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/input_file.hpp"

struct z_stream_s;

namespace torus::detail {

/// Reads plain and gzip files; "-" is standard input. Errors are InputErrors that name the file and the line. utf8_mark is passed over, and
/// a byte 0 refused: see input_file.hpp.
class Lines {
 public:
  /// What a file should be, for errors: "trace"; and where one comes from: "a file that `torus run --trace` wrote".
  struct Kind {
    std::string_view name, example;
    std::size_t most;  ///< bytes of text, uncompressed
  };
  static constexpr Kind trace{"trace", "a file that `torus run --trace` wrote", std::numeric_limits<std::size_t>::max()};
  static constexpr Kind table{"table", "a file that torus sweep, compare or bench wrote with --csv", most_text};

  Lines(const std::string& path, const Kind& kind);
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines();

  /// Bytes behind a line that may be read, whatever they are: parsers read ahead.
  static constexpr std::size_t readable_behind = 64;

  /// The next line without its line feed; none at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Bytes of the file read so far, compressed as they are.
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  /// The number of the last line read, from 1.
  std::uint64_t number() const noexcept { return number_; }
  /// Throws InputError for the last line read.
  [[noreturn]] void refuse(const std::string& why) const { refuse(number_, why); }
  /// For an earlier one.
  [[noreturn]] void refuse(std::uint64_t number, const std::string& why) const;

 private:
  /// The bytes of the buffer up to `end` as the next line.
  std::string_view take(std::size_t end);
  /// Appends to the buffer, or sets ended_ at the end of the file.
  void more();
  /// Refuses what the buffer has from `filled` on, where it is no text or too much of it.
  void check(std::size_t filled);
  void read();
  void inflate();
  [[noreturn]] void refuse_next(const std::string& why);

  struct EndInflation {
    void operator()(z_stream_s* stream) const noexcept;
  };

  Kind kind_;
  std::string name_;
  int descriptor_ = -1;
  std::string chunk_;      // raw bytes of the file
  std::string_view left_;  // the rest of the chunk
  bool begun_ = false;
  std::unique_ptr<z_stream_s, EndInflation> zlib_;  // null: the file is plain
  bool in_member_ = false;                          // of a gzip file, which is a sequence of members
  std::string buffer_;
  std::size_t first_ = 0;  // where the next line begins
  bool ended_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_inflated_ = 0;
  std::uint64_t bytes_of_text_ = 0;
  std::size_t max_line_bytes_;
};

}  // namespace torus::detail
