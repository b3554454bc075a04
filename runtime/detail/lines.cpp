// SPDX-License-Identifier: MIT
#include "runtime/detail/lines.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "runtime/error.hpp"

namespace torus::detail {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
constexpr std::size_t longest_line = std::size_t{1} << 30;

}  // namespace

Lines::Lines(const std::string& path) : name_{path == "-" ? "standard input" : path} {
  const int descriptor = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    throw InputError("trace '" + path + "': it cannot be read (" + std::generic_category().message(errno) + "); name a file that `torus run --trace` wrote");
  }
  file_ = gzdopen(descriptor, "rb");
  if (file_ == nullptr) {
    ::close(descriptor);
    throw RunError("trace '" + path + "': no memory to read it");
  }
  gzbuffer(file_, static_cast<unsigned>(chunk_bytes));
}

Lines::~Lines() { gzclose(file_); }

std::optional<std::string_view> Lines::next() {
  std::size_t searched = first_;
  while (true) {
    const std::size_t end = std::string_view(buffer_).find('\n', searched);
    if (end != std::string_view::npos) {
      const std::string_view line = std::string_view(buffer_).substr(first_, end - first_);
      first_ = end + 1;
      ++number_;
      return line;
    }
    searched = buffer_.size();
    if (ended_) break;
    if (searched - first_ > longest_line) {
      ++number_;
      refuse("it is longer than 1 GiB; end each message with a line feed");
    }
    searched -= first_;
    buffer_.erase(0, first_);
    first_ = 0;
    more();
  }
  if (first_ == buffer_.size()) return std::nullopt;
  const std::string_view line = std::string_view(buffer_).substr(first_);
  first_ = buffer_.size();
  ++number_;
  return line;
}

void Lines::refuse(const std::string& why) const {
  throw InputError("trace " + name_ + " line " + std::to_string(std::max<std::uint64_t>(number_, 1)) + ": " + why);
}

void Lines::more() {
  const std::size_t filled = buffer_.size();
  buffer_.resize(filled + chunk_bytes);
  const int read = gzread(file_, buffer_.data() + filled, static_cast<unsigned>(chunk_bytes));
  buffer_.resize(filled + static_cast<std::size_t>(std::max(read, 0)));
  int error = Z_OK;
  const char* const words = gzerror(file_, &error);
  if (read < 0 || error == Z_BUF_ERROR || error == Z_DATA_ERROR) {
    ++number_;
    if (error == Z_BUF_ERROR) refuse("the compressed file ends too early; write it again");
    refuse(error == Z_ERRNO ? std::string("reading failed (") + std::generic_category().message(errno) + "); name a trace file"
                            : std::string("the compressed file is damaged (") + words + "); write it again");
  }
  ended_ = read == 0;
}

}  // namespace torus::detail
