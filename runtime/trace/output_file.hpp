/// A file that is either complete or not there: it gets its name by commit(). Before that it has none, if the file system knows files
/// without names, so that nothing is left of it even when the process is killed; else a temporary one in the same folder.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace torus {

/// Compresses (gzip) where the name ends in .gz. A link is written through and stays; a file that is there already keeps its mode. What is
/// no regular file (/dev/full, a pipe) and what is open already (/dev/stdout, /dev/fd/3) is written to directly. Not for several threads at
/// once.
class OutputFile {
 public:
  /// Throws InputError if the file cannot be made there, if the path is empty, or if it is `-`.
  explicit OutputFile(std::string path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes what was written, unless commit() was called.
  ~OutputFile();

  /// Throws RunError if the disk is full or fails; the same holds for commit().
  void write(std::string_view text);
  /// Writes what is still buffered and gives the file its name. Nothing may be written after it.
  void commit();

  const std::string& path() const noexcept;

  /// The file that one of this path would write to, behind all links; two paths of one file give the same.
  static std::string written_path(const std::string& path);

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace torus
