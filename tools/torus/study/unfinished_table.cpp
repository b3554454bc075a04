#include "tools/torus/study/unfinished_table.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <torus/error.hpp>

namespace torus::command {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::string contents(int descriptor, const std::string& path) {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError(fmt::format("file '{}': it cannot be read ({}); remove it, or name another --csv", path, reason(errno)));
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

/// Takes the first line off, with its end.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n') + 1);
  text.remove_prefix(line.size());
  return line;
}

/// What stands before a row: `17 00c0ffee00c0ffee `, with a hash (FNV-1a) of all else that the line holds. Bytes that a disk has lost would
/// else become figures.
std::string mark_of(std::size_t row, std::string_view line) {
  std::string mark = fmt::format("{} ", row);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view part : {std::string_view(mark), line}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return mark + fmt::format("{:016x} ", hash);
}

}  // namespace

UnfinishedTable::UnfinishedTable(const std::string& path, const std::string& origin) : path_{path + ".part"} {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw InputError(fmt::format("file '{}': it cannot be written ({}); choose a folder that is there and yours", path_, reason(errno)));
  try {
    struct stat part {};
    if (::fstat(descriptor_, &part) != 0 || !S_ISREG(part.st_mode))  // reading a pipe or a device might never end
      throw InputError(fmt::format("file '{}': an unfinished table is a regular file; remove it, or name another --csv", path_));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      throw InputError(fmt::format("file '{}': another command is writing it; wait for it, or name another --csv", path_));
    read(origin);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

UnfinishedTable::~UnfinishedTable() { ::close(descriptor_); }

void UnfinishedTable::read(const std::string& origin) {
  const std::string text = contents(descriptor_, path_);
  const std::string first = origin + "\n";
  const std::size_t whole = text.rfind('\n') + 1;  // 0 where there is no whole line
  std::string_view rest = std::string_view(text).substr(0, whole);
  if (whole == 0 && first.starts_with(text)) {  // new, or killed in its first line
    if (::ftruncate(descriptor_, 0) != 0) throw RunError(fmt::format("file '{}': writing it failed ({})", path_, reason(errno)));
    return append(first);
  }
  if (next_line(rest) != first) {
    throw InputError(fmt::format(
        "file '{}': it is no unfinished table of these options; its first line says of which. Give those, remove it, or name another --csv",
        path_));
  }
  while (!rest.empty()) {
    if (!read_row(next_line(rest)))
      throw InputError(fmt::format("file '{}': a line of it is no row; remove it, or name another --csv", path_));
  }
  if (whole < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0)
    throw RunError(fmt::format("file '{}': writing it failed ({})", path_, reason(errno)));
}

/// `17 00c0ffee00c0ffee {"shape":..`
bool UnfinishedTable::read_row(std::string_view line) {
  std::size_t row = 0;
  if (std::from_chars(line.data(), line.data() + line.size(), row).ec != std::errc{}) return false;
  line.remove_suffix(1);
  const std::size_t length = mark_of(row, "").size();
  if (line.size() < length || line.substr(0, length) != mark_of(row, line.substr(length))) return false;
  rows_[row] = line.substr(length);
  return true;
}

void UnfinishedTable::append(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw RunError(fmt::format("file '{}': writing it failed ({}); what is whole in it is kept", path_, reason(errno)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void UnfinishedTable::add(std::size_t row, const std::string& line) {
  append(mark_of(row, line) + line + "\n");
  rows_[row] = line;
}

void UnfinishedTable::drop() { ::unlink(path_.c_str()); }

}  // namespace torus::command
