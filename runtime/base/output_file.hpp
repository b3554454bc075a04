/// A file that appears under its name only when it is complete, by commit(). Until then it has no name, so that nothing is left of it even
/// if the process is killed. On file systems without nameless files it has a temporary name in the same folder; see remove_unfinished().
#pragma once

#include <string>
#include <string_view>
#include <utility>

struct gzFile_s;

namespace torus {

/// Compresses (gzip) if the name ends in .gz. Writes through links and keeps them. A replaced file keeps its owner and mode. Devices and
/// pipes (/dev/full) and files that are open already (/dev/stdout, /dev/fd/3) are written in place. Not thread-safe.
class OutputFile {
 public:
  /// Throws InputError if the file cannot be created, if the path is empty, or if it is `-`.
  explicit OutputFile(std::string path) : OutputFile(std::move(path), true) {}
  /// nameless false: as on a file system without nameless files; for tests.
  OutputFile(std::string path, bool nameless);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Removes what was written, unless commit() was called.
  ~OutputFile();

  /// Throws RunError if the disk is full or fails; so does commit().
  void write(std::string_view text);
  /// Writes the buffered rest and gives the file its name. Nothing may be written afterwards.
  void commit();

  const std::string& path() const noexcept { return path_; }
  /// Whether it writes what is there, a device, a pipe or an open file, and not a file that appears when it is complete.
  bool in_place() const noexcept { return in_place_; }

  /// The file that an OutputFile of this path writes, behind all links. Two paths of one file give the same result.
  static std::string written_path(const std::string& path);

  /// Removes what has a temporary name now, of all OutputFiles of the process. For a signal handler that is about to end it: calls nothing
  /// that a handler must not.
  static void remove_unfinished() noexcept;

 private:
  int open_new(bool nameless);
  void note_temporary() noexcept;
  void forget_temporary() noexcept;
  void remove_temporary() noexcept;
  [[noreturn]] void refuse(int error) const;
  [[noreturn]] void fail(int error) const;

  std::string path_;            // as given
  std::string target_;          // behind the links
  bool in_place_ = false;       // neither created nor renamed
  std::string temporary_;       // the temporary name
  bool has_temporary_ = false;  // the file has the temporary name now
  int noted_ = -1;              // where remove_unfinished() finds it
  int descriptor_ = -1;         // owned by stream_
  gzFile_s* stream_ = nullptr;  // compresses, or only buffers
};

}  // namespace torus
