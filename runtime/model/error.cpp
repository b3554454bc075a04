#include <cstdio>
#include <cstdlib>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"

namespace torus {

InputError::InputError(std::string text) : std::runtime_error(printable(text)) {}

namespace detail {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "torus: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace detail
}  // namespace torus
