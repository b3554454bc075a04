/// What can go wrong: a wrong input, a run that cannot go on, and our own bugs.
/// (What a node program does against the model is a result, not an exception: see violation.hpp.)
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace torus {

/// A shape, file or option that cannot be used. The text is one line: the value, the rule, a value that would do.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that was started and could not be carried through, for want of memory for instance.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

}  // namespace torus

/// For our own invariants, never for input. On in every build but release.
#ifdef TORUS_NO_ASSERT
#define TORUS_ASSERT(expression) static_cast<void>(0)
#else
#define TORUS_ASSERT(expression) \
  (static_cast<bool>(expression) ? static_cast<void>(0) : ::torus::detail::assertion_failed(#expression, __FILE__, __LINE__))
#endif
