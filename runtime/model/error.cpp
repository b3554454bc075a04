#include <cstdio>
#include <cstdlib>

#include <torus/error.hpp>

namespace torus::detail {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "torus: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace torus::detail
