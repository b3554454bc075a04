/// The lines of a plain or compressed file, which may be larger than memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct z_stream_s;

namespace torus::detail {

/// Reads plain and gzip files; "-" is standard input. Errors are InputErrors that name the file and the line.
class Lines {
 public:
  /// What a file should be, for errors: "trace"; and where one comes from: "a file that `torus run --trace` wrote".
  struct Kind {
    std::string_view name, example;
  };
  static constexpr Kind trace{"trace", "a file that `torus run --trace` wrote"};
  static constexpr Kind table{"table", "a file that torus sweep, compare or bench wrote with --csv"};

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
  /// Appends to the buffer, or sets ended_ at the end of the file.
  void more();
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
  std::size_t max_line_bytes_;
};

}  // namespace torus::detail
