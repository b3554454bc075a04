/// Errors: a wrong input, a run that cannot continue, and bugs of the library.
/// (A node program that breaks a rule of the machine gives a result, not an exception: see violation.hpp.)
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace torus {

/// A shape, file or option that cannot be used. The text is one line: the value, the rule, a value that works. Where a value has control
/// characters, the text has their codes, as \u001b: they would end it early, or reach the terminal that prints it.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::string text);
};

/// A run that cannot be completed: it lacks memory or threads, for instance.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

}  // namespace torus

/// Checks an invariant of the library; never input. Off where NDEBUG is defined, unless TORUS_ASSERTIONS is defined too.
#if defined(NDEBUG) && !defined(TORUS_ASSERTIONS)
#define TORUS_ASSERT(expression) static_cast<void>(0)
#else
#define TORUS_ASSERT(expression) \
  (static_cast<bool>(expression) ? static_cast<void>(0) : ::torus::detail::assertion_failed(#expression, __FILE__, __LINE__))
#endif
