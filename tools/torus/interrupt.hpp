// SPDX-License-Identifier: MIT
/// Ctrl-C and SIGTERM: a flag that runs look at between steps.
#pragma once

#include <atomic>

namespace torus::command {

/// Catches SIGINT and SIGTERM from now on; the second one ends the process at once, as it would have without us. Ignores SIGPIPE, so that a
/// closed pipe is an error of a write and not the end.
void catch_interrupts();

/// True after the first SIGINT or SIGTERM.
const std::atomic<bool>& interrupted() noexcept;

}  // namespace torus::command
