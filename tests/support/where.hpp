/// Where a function was called: std::source_location, and for clang 14, which cannot use that of libstdc++, what it has of it.
#pragma once

#include <source_location>

namespace torus::support {

#ifdef __cpp_lib_source_location
using Where = std::source_location;
#else
class Where {
 public:
  static constexpr Where current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                                 unsigned column = __builtin_COLUMN()) {
    Where where;
    where.file_ = file;
    where.line_ = line;
    where.column_ = column;
    return where;
  }
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr unsigned line() const noexcept { return line_; }
  constexpr unsigned column() const noexcept { return column_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0, column_ = 0;
};
#endif

}  // namespace torus::support
