/// Ctrl-C and SIGTERM: a flag for work that looks at it; they end all other work at once.
#pragma once

#include <atomic>

namespace torus::command {

/// Handles SIGINT and SIGTERM from now on: while an InterruptsAwaited lives, the first one raises interrupted(); any other ends the process
/// at once, with one line and exit status 1. Ignores SIGPIPE and SIGXFSZ, so that a closed pipe or a file that may not grow any more is an
/// error of a write and not the end.
void catch_interrupts();

/// True after a SIGINT or SIGTERM that was awaited.
const std::atomic<bool>& interrupted() noexcept;

/// While one lives, interrupted() is read every few moments. Make none before work that cannot be stopped, and let
/// none outlive the looking: a signal would go unheard.
class InterruptsAwaited {
 public:
  InterruptsAwaited() noexcept;
  ~InterruptsAwaited();
  InterruptsAwaited(const InterruptsAwaited&) = delete;
  InterruptsAwaited& operator=(const InterruptsAwaited&) = delete;
};

}  // namespace torus::command
