#include "runtime/trace/output_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include <torus/error.hpp>

namespace torus {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr int most_links = 40;  // as many as the kernel follows

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

/// The folder that a path's last name stands in, without links.
std::filesystem::path folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  return std::filesystem::canonical(folder.empty() ? "." : folder, ignored);
}

/// Whether a path is a link of /proc: behind one is an open file, which may have no name or another by now.
bool names_open_file(const std::string& path) { return is_link(path) && folder_of(path).string().starts_with("/proc/"); }

/// The file that a path leads to, which need not be there: a link is written through and stays. /dev/stdout leads to /proc/self/fd/1.
std::string followed(std::string path) {
  for (int links = 0; links < most_links && is_link(path) && !names_open_file(path); ++links) {
    const std::filesystem::path at = path;
    std::error_code error;
    const std::filesystem::path to = std::filesystem::read_symlink(at, error);
    if (error) break;
    path = (at.parent_path() / to).string();
  }
  return path;
}

/// A descriptor of what is at a path, to be written to as it is. Our own descriptors are copied: opened anew, they would start at their
/// file's beginning again.
int open_as_it_is(const std::string& path) {
  if (names_open_file(path) && folder_of(path) == "/proc/" + std::to_string(::getpid()) + "/fd") {
    int number = -1;
    const std::string name = std::filesystem::path(path).filename().string();
    std::from_chars(name.data(), name.data() + name.size(), number);
    return ::fcntl(number, F_DUPFD_CLOEXEC, 0);
  }
  return ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
}

}  // namespace

/// The open file, its buffer and its compressor.
class OutputFile::Sink {
 public:
  explicit Sink(std::string path) : path_{std::move(path)}, target_{followed(path_)} {
    if (path_.empty()) throw InputError("file '': it must have a name; for instance out.json");
    if (path_ == "-") throw InputError("file '-': it must be a name; standard output is /dev/stdout, a file that is called so ./-");
    struct stat status {};
    const bool there = ::stat(target_.c_str(), &status) == 0;
    if (!there && errno != ENOENT) refuse(errno);
    if (there && S_ISDIR(status.st_mode))
      throw InputError("file '" + path_ + "': it is a folder; name a file in it, for instance " + path_ + "/out");
    direct_ = there && (!S_ISREG(status.st_mode) || names_open_file(target_));
    if (!direct_ && there && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) refuse(errno);
    if (direct_) {
      descriptor_ = open_as_it_is(target_);
    } else {
      open_new();
    }
    if (descriptor_ < 0) refuse(errno);
    if (!direct_ && there) keep_rights(status);
    if (path_.ends_with(".gz")) {
      compressing_ = true;
      compressed_.resize(buffer_bytes);
      // 15 + 16: the largest window, gzip format. Level 1: traces shrink some twentyfold already.
      if (deflateInit2(&zlib_, 1, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        discard();
        throw RunError("file '" + path_ + "': no memory to compress it");
      }
    }
    buffer_.reserve(buffer_bytes);
  }

  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  ~Sink() { discard(); }

  void write(std::string_view text) {
    if (buffer_.size() + text.size() > buffer_bytes) flush(Z_NO_FLUSH);
    if (text.size() > buffer_bytes)
      put(text, Z_NO_FLUSH);
    else
      buffer_.append(text);
  }

  void commit() {
    flush(Z_FINISH);
    if (nameless_) give_temporary_name();
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail(errno);
    if (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.clear();
  }

  const std::string& path() const noexcept { return path_; }

 private:
  [[noreturn]] void refuse(int error) {
    temporary_.clear();
    throw InputError("file '" + path_ + "': it cannot be written (" + std::generic_category().message(error) +
                     "); choose a folder that is there and yours");
  }

  std::string temporary_name() const { return target_ + ".part-" + std::to_string(::getpid()); }

  void open_new() {
#ifdef O_TMPFILE
    std::filesystem::path folder = std::filesystem::path(target_).parent_path();
    if (folder.empty()) folder = ".";
    descriptor_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    nameless_ = descriptor_ >= 0 && ::access(own_link().c_str(), F_OK) == 0;
    if (nameless_) return;
    if (descriptor_ >= 0) ::close(descriptor_);
#endif
    temporary_ = temporary_name();
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }

  /// The file takes the place of one that was there: it is nobody's who could not read that one.
  void keep_rights(const struct stat& status) {
    [[maybe_unused]] const int ignored = ::fchown(descriptor_, status.st_uid, status.st_gid);  // only root can, and only root must
    ::fchmod(descriptor_, status.st_mode & 07777U);
  }

  /// By which a file without a name can be given one.
  std::string own_link() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  /// A link cannot take the place of a file that is there already; a rename can.
  void give_temporary_name() {
    const std::string name = temporary_name();
    ::unlink(name.c_str());  // of a process that had our number and was killed
    if (::linkat(AT_FDCWD, own_link().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(errno);
    temporary_ = name;
  }

  [[noreturn]] void fail(int error) {
    throw RunError("file '" + path_ + "': writing it failed (" + std::generic_category().message(error) + ")" +
                   (direct_ ? "" : "; nothing is left of it"));
  }

  void flush(int mode) {
    put(buffer_, mode);
    buffer_.clear();
  }

  void put(std::string_view text, int mode) {
    if (!compressing_) return put_raw(text.data(), text.size());
    // zlib's interface predates const; it does not write to its input.
    zlib_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
    zlib_.avail_in = static_cast<uInt>(text.size());
    do {
      zlib_.next_out = compressed_.data();
      zlib_.avail_out = static_cast<uInt>(compressed_.size());
      deflate(&zlib_, mode);
      put_raw(reinterpret_cast<const char*>(compressed_.data()), compressed_.size() - zlib_.avail_out);
    } while (zlib_.avail_out == 0);
  }

  void put_raw(const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t written = ::write(descriptor_, data, size);
      if (written < 0) {
        if (errno == EINTR) continue;
        fail(errno);
      }
      data += written;
      size -= static_cast<std::size_t>(written);
    }
  }

  void discard() noexcept {
    if (compressing_) deflateEnd(&zlib_);
    compressing_ = false;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
  }

  std::string path_;       // as it was given
  std::string target_;     // where it leads
  bool direct_ = false;    // written to as it is, without a name of its own
  std::string temporary_;  // empty: nothing to rename or to remove
  bool nameless_ = false;  // until commit()
  int descriptor_ = -1;
  std::string buffer_;
  bool compressing_ = false;
  z_stream zlib_{};
  std::vector<Bytef> compressed_;
};

std::string OutputFile::written_path(const std::string& path) {
  const std::string target = followed(path);
  std::error_code unknown;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(target, unknown);
  return unknown ? target : canonical.string();
}

OutputFile::OutputFile(std::string path) : sink_{std::make_unique<Sink>(std::move(path))} {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view text) { sink_->write(text); }
void OutputFile::commit() { sink_->commit(); }
const std::string& OutputFile::path() const noexcept { return sink_->path(); }

}  // namespace torus
