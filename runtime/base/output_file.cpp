#include "runtime/base/output_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <zlib.h>

#include <torus/error.hpp>

namespace torus {
namespace {

constexpr unsigned buffer_bytes = 1U << 18U;
constexpr int max_links = 40;  // the kernel's own limit

bool is_link(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

/// The folder that holds a path's last name, without links.
std::filesystem::path folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  return std::filesystem::canonical(folder.empty() ? "." : folder, ignored);
}

/// True for a link in /proc. It stands for an open file, which may have no name, or another one by now.
bool names_open_file(const std::string& path) { return is_link(path) && folder_of(path).string().starts_with("/proc/"); }

/// Follows links to the file, which need not exist, or to a link in /proc: /dev/stdout leads to /proc/self/fd/1.
std::string followed(std::string path) {
  for (int links = 0; links < max_links && is_link(path) && !names_open_file(path); ++links) {
    std::error_code error;
    const std::filesystem::path to = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = (std::filesystem::path(path).parent_path() / to).string();
  }
  return path;
}

/// Opens a file for writing in place. Duplicates the descriptor of a file that this process has open: opened again, it would be overwritten
/// from its beginning.
int open_in_place(const std::string& path) {
  if (names_open_file(path) && folder_of(path) == "/proc/" + std::to_string(::getpid()) + "/fd") {
    int number = -1;
    const std::string name = std::filesystem::path(path).filename().string();
    std::from_chars(name.data(), name.data() + name.size(), number);
    return ::fcntl(number, F_DUPFD_CLOEXEC, 0);
  }
  return ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
}

/// The link in /proc by which a file without a name can get one.
std::string own_link(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// A name beside the target's that another process does not take. A long one is cut, and a hash of the whole tells it from others.
std::string temporary_name(const std::string& target) {
  const std::filesystem::path path(target);
  const std::string folder = target.substr(0, target.size() - path.filename().string().size());
  const long limit = ::pathconf(folder.empty() ? "." : folder.c_str(), _PC_NAME_MAX);
  const std::size_t most = limit > 0 ? static_cast<std::size_t>(limit) : NAME_MAX;
  std::string name = path.filename().string();
  std::string end = ".part-" + std::to_string(::getpid());
  if (name.size() + end.size() > most) {
    end = "-" + std::to_string(std::hash<std::string>()(name)) + end;
    name.resize(most - std::min(most, end.size()));
  }
  return folder + name + end;
}

/// The temporary names that exist now. The only state of the process here: a signal handler finds no object.
struct Unfinished {
  std::atomic<bool> taken{false};
  std::atomic<bool> there{false};  // the name is written
  char name[PATH_MAX]{};
};
std::array<Unfinished, 16> all_unfinished;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch what needs no lock");

}  // namespace

OutputFile::OutputFile(std::string path, bool nameless)
    : path_{std::move(path)}, target_{followed(path_)}, temporary_{temporary_name(target_)} {
  if (path_.empty()) throw InputError("file '': it must have a name; for instance out.json");
  if (path_ == "-") throw InputError("file '-': it must be a name; standard output is /dev/stdout, a file that is called so ./-");
  struct stat status {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) refuse(errno);
  if (exists && S_ISDIR(status.st_mode))
    throw InputError("file '" + path_ + "': it is a folder; name a file in it, for instance " + path_ +
                     (path_.ends_with('/') ? "out" : "/out"));
  in_place_ = exists && (!S_ISREG(status.st_mode) || names_open_file(target_));
  if (exists && !in_place_ && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) refuse(errno);
  descriptor_ = in_place_ ? open_in_place(target_) : open_new(nameless);
  if (descriptor_ < 0) refuse(errno);
  if (exists && !in_place_) {
    // The new file has the owner and mode of the one that it replaces, so that rights never widen. Only root can, and must, set the owner.
    [[maybe_unused]] const int ignored = ::fchown(descriptor_, status.st_uid, status.st_gid);
    ::fchmod(descriptor_, status.st_mode & 07777U);
  }
  // T: no compression. 1: the fastest, by which traces shrink some twentyfold already.
  stream_ = gzdopen(descriptor_, path_.ends_with(".gz") ? "w1" : "wT");
  if (stream_ == nullptr) {
    ::close(descriptor_);
    remove_temporary();
    throw RunError("file '" + path_ + "': no memory to write it");
  }
  gzbuffer(stream_, buffer_bytes);
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) gzclose(stream_);
  remove_temporary();
}

/// Before the file gets the temporary name: an interrupt may come at any moment.
void OutputFile::note_temporary() noexcept {
  has_temporary_ = true;
  for (std::size_t i = 0; i < all_unfinished.size() && temporary_.size() < PATH_MAX; ++i) {
    Unfinished& each = all_unfinished[i];
    if (each.taken.exchange(true)) continue;
    std::memcpy(each.name, temporary_.c_str(), temporary_.size() + 1);
    each.there.store(true);
    noted_ = static_cast<int>(i);
    return;
  }
}

void OutputFile::forget_temporary() noexcept {
  has_temporary_ = false;
  if (noted_ < 0) return;
  Unfinished& each = all_unfinished[static_cast<std::size_t>(std::exchange(noted_, -1))];
  each.there.store(false);
  each.taken.store(false);
}

void OutputFile::remove_temporary() noexcept {
  if (!has_temporary_) return;
  ::unlink(temporary_.c_str());
  forget_temporary();
}

void OutputFile::remove_unfinished() noexcept {
  for (const Unfinished& each : all_unfinished) {
    if (each.there.load()) ::unlink(each.name);
  }
}

/// Opens a file without a name, or else with the temporary one.
int OutputFile::open_new(bool may_be_nameless) {
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  const int nameless = !may_be_nameless ? -1 : ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (nameless >= 0 && ::access(own_link(nameless).c_str(), F_OK) == 0) return nameless;
  if (nameless >= 0) ::close(nameless);
  note_temporary();
  const int named = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (named < 0) forget_temporary();
  return named;
}

void OutputFile::write(std::string_view text) {
  if (gzfwrite(text.data(), 1, text.size(), stream_) != text.size()) fail(errno);
}

void OutputFile::commit() {
  if (gzflush(stream_, Z_FINISH) != Z_OK) fail(errno);
  if (!in_place_ && !has_temporary_) {
    // Only a rename can replace an existing file, so the nameless file gets the temporary name first. A killed process may have left it.
    ::unlink(temporary_.c_str());
    note_temporary();
    if (::linkat(AT_FDCWD, own_link(descriptor_).c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      const int error = errno;
      forget_temporary();
      fail(error);
    }
  }
  if (gzclose(std::exchange(stream_, nullptr)) != Z_OK) fail(errno);
  if (in_place_) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  forget_temporary();
}

void OutputFile::refuse(int error) const {
  throw InputError("file '" + path_ + "': it cannot be written (" + std::generic_category().message(error) +
                   "); choose a folder that is there and yours");
}

void OutputFile::fail(int error) const {
  throw RunError("file '" + path_ + "': writing it failed (" + std::generic_category().message(error) + ")" +
                 (in_place_ ? "" : "; nothing is left of it"));
}

std::string OutputFile::written_path(const std::string& path) {
  const std::string target = followed(path);
  std::error_code unknown;
  // absolute(): of a file that is not there, a path without a folder stays relative.
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(target, unknown), unknown);
  return unknown ? target : canonical.string();
}

}  // namespace torus
