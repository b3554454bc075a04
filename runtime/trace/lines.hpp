/// The lines of a file that may be larger than memory, plain or compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct z_stream_s;

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
  /// Makes the buffer longer, unless the file has ended.
  void more();
  void read();
  void inflate();
  [[noreturn]] void refuse_next(const std::string& why);

  struct EndInflation {
    void operator()(z_stream_s* stream) const noexcept;
  };

  std::string name_;
  int descriptor_ = -1;
  std::string chunk_;      // as it is in the file
  std::string_view left_;  // of the chunk
  bool begun_ = false;
  std::unique_ptr<z_stream_s, EndInflation> zlib_;  // none: the file is plain
  bool in_member_ = false;                          // of the compressed file, which may have several, one behind the other
  std::string buffer_;
  std::size_t first_ = 0;
  bool ended_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace torus::detail
