#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <torus/error.hpp>

namespace torus {
namespace {

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

}  // namespace

InputError::InputError(std::string text) : std::runtime_error(printable(std::move(text))) {}

namespace detail {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "torus: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace detail
}  // namespace torus
