#include "runtime/base/lines.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <zlib.h>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"

namespace torus::detail {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
constexpr std::size_t max_line_bytes = std::size_t{1} << 30;
// Judged, two bytes of a line ("0,") can become 48, beside the line itself, its copy while it grows and the 14 a byte of the parser.
constexpr Bytes memory_per_line_byte = 48;
// What a compressed file may hold: traces shrink some twentyfold. Zeros shrink a thousandfold, and a small file of them would take minutes.
constexpr std::uint64_t max_growth = 200;
constexpr std::uint64_t any_growth = std::uint64_t{64} << 20U;  // bytes inflated before the rule holds
constexpr int gzip_format = 15 + 16;                            // any window, a gzip header
constexpr std::string_view gzip_mark = "\x1f\x8b";

}  // namespace

Lines::Lines(const std::string& path, const Kind& kind)
    : kind_{kind},
      name_{path == "-" ? "standard input" : path},
      max_line_bytes_{static_cast<std::size_t>(std::min<Bytes>(max_line_bytes, usable_memory() / memory_per_line_byte))} {
  descriptor_ = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const std::string cannot = descriptor_ < 0 ? "cannot be read (" + std::generic_category().message(errno) + ")" : "";
  if (const auto why_not = path == "-" ? std::nullopt : why_unreadable(path); why_not || !cannot.empty()) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw InputError(std::string(kind_.name) + " '" + path + "': it " + why_not.value_or(cannot) + "; name " + std::string(kind_.example));
  }
}

Lines::~Lines() { ::close(descriptor_); }

void Lines::EndInflation::operator()(z_stream_s* stream) const noexcept {
  inflateEnd(stream);
  delete stream;
}

std::optional<std::string_view> Lines::next() {
  std::size_t searched = first_;
  while (true) {
    const std::size_t end = std::string_view(buffer_).find('\n', searched);
    if (end != std::string_view::npos) {
      const std::string_view line = take(end);
      first_ = end + 1;
      return line;
    }
    searched = buffer_.size();
    if (ended_) break;
    if (searched - first_ > max_line_bytes_) {
      refuse_next("it is longer than " + bytes_text(max_line_bytes_) +
                  ", and there is no memory to judge more; end each message with a line feed, and send smaller bundles");
    }
    searched -= first_;
    buffer_.erase(0, first_);
    first_ = 0;
    more();
  }
  if (first_ == buffer_.size()) return std::nullopt;
  return take(buffer_.size());
}

std::string_view Lines::take(std::size_t end) {
  std::string_view line = std::string_view(buffer_).substr(first_, end - first_);
  first_ = end;
  if (++number_ == 1 && line.starts_with(utf8_mark)) line.remove_prefix(utf8_mark.size());
  return line;
}

void Lines::refuse(std::uint64_t number, const std::string& why) const {
  throw InputError(std::string(kind_.name) + " " + name_ + " line " + std::to_string(std::max<std::uint64_t>(number, 1)) + ": " + why);
}

void Lines::refuse_next(const std::string& why) {
  ++number_;
  refuse(why);
}

void Lines::read() {
  chunk_.resize(chunk_bytes);
  std::size_t filled = 0;
  while (filled < chunk_bytes) {
    const ssize_t got = ::read(descriptor_, chunk_.data() + filled, chunk_bytes - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      refuse_next(std::string("reading failed (") + std::generic_category().message(errno) + "); name " + std::string(kind_.example));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  left_ = std::string_view(chunk_).substr(0, filled);
  bytes_read_ += filled;
  if (begun_) return;
  begun_ = true;
  if (!left_.starts_with(gzip_mark)) return;
  zlib_.reset(new z_stream{});
  if (inflateInit2(zlib_.get(), gzip_format) != Z_OK) throw RunError(std::string(kind_.name) + " '" + name_ + "': no memory to read it");
  in_member_ = true;
}

/// Decompresses a part of left_.
void Lines::inflate() {
  if (!in_member_) {
    if (left_.front() != gzip_mark.front()) refuse_next("the compressed file is damaged (something else follows its end); write it again");
    inflateReset(zlib_.get());
    in_member_ = true;
  }
  const std::size_t filled = buffer_.size();
  buffer_.resize(filled + chunk_bytes);
  // zlib does not write to its input, though its type is not const.
  zlib_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
  zlib_->avail_in = static_cast<uInt>(left_.size());
  zlib_->next_out = reinterpret_cast<Bytef*>(buffer_.data() + filled);
  zlib_->avail_out = static_cast<uInt>(chunk_bytes);
  const int outcome = ::inflate(zlib_.get(), Z_NO_FLUSH);
  left_.remove_prefix(left_.size() - zlib_->avail_in);
  buffer_.resize(buffer_.size() - zlib_->avail_out);
  bytes_inflated_ += buffer_.size() - filled;
  if (bytes_inflated_ > any_growth + max_growth * bytes_read_) {
    refuse_next("the compressed file holds more than " + std::to_string(max_growth) + " times its size, as no " + std::string(kind_.name) +
                " does; if it is one, decompress it first (gzip -d)");
  }
  if (outcome == Z_STREAM_END) in_member_ = false;
  if (outcome == Z_OK || outcome == Z_STREAM_END || outcome == Z_BUF_ERROR) return;  // Z_BUF_ERROR: needs more input
  refuse_next(std::string("the compressed file is damaged (") + (zlib_->msg != nullptr ? zlib_->msg : "no words for it") +
              "); write it again");
}

void Lines::more() {
  const std::size_t filled = buffer_.size();
  while (buffer_.size() == filled && !ended_) {
    if (left_.empty()) read();
    if (left_.empty()) {
      if (in_member_) refuse_next("the compressed file ends too early; write it again");
      ended_ = true;
    } else if (zlib_) {
      inflate();
    } else {
      buffer_ += left_;
      left_ = {};
    }
  }
  check(filled);
  if (buffer_.capacity() < buffer_.size() + readable_behind) buffer_.reserve(buffer_.size() + buffer_.size() / 2 + readable_behind);
}

void Lines::check(std::size_t filled) {
  bytes_of_text_ += buffer_.size() - filled;
  const std::size_t zero = buffer_.find('\0', filled);
  if (zero == std::string::npos && bytes_of_text_ <= kind_.most) return;
  const auto at = buffer_.begin();
  number_ += static_cast<std::uint64_t>(
      std::count(at + static_cast<std::ptrdiff_t>(first_), at + static_cast<std::ptrdiff_t>(std::min(zero, buffer_.size())), '\n'));
  if (zero != std::string::npos) refuse_next("it " + std::string(holds_zero) + "; name " + std::string(kind_.example));
  refuse_next("the file has more than " + bytes_text(kind_.most) + " of text; choose a smaller " + std::string(kind_.name));
}

}  // namespace torus::detail
