/// Says at which node and in which step a run is stuck or has crashed. The command ends then: a program that does not end its step cannot
/// be stopped, and one that has crashed has lost its memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <signal.h>
#include <string>
#include <vector>

#include "runtime/engine/watch.hpp"
#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// Has a run watched until the end of a scope, ten times a second, by a thread of the process that its first run starts. Where the program
/// of a node has not ended its step for step_limit_of() the setting, the process ends with exit status 1 and a line that names algorithm,
/// node and step. After an interrupt it waits for two seconds.
class Watchdog {
 public:
  /// Watches a run of the setting, which must stay. repeat: the command that repeats the run; empty: that of the setting.
  explicit Watchdog(const Setting& setting, std::string repeat = {});
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  detail::Watch& watch() noexcept { return watch_; }
  /// Called by the thread that keeps watch: looks once, and ends the process where it must.
  void look();

 private:
  std::string repeat() const;

  const Setting& setting_;
  const double limit_s_;
  const std::string repeat_;
  detail::Watch watch_;
  // What the thread that keeps watch remembers:
  std::vector<std::optional<detail::Whereabouts>> at_, before_;  // by worker
  std::vector<std::uint64_t> looks_;                             // by worker, in a row that found it at the same node
  std::uint64_t since_interrupt_ = 0;                            // looks
};

/// The signals for a fault of the process itself.
inline constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
/// From now on each of these signals first writes one line to standard
/// error: the algorithm (of several at once, each), the node that ran and the step. Nothing where no node ran. The previous handler (a
/// sanitizer's) runs next.
void name_crashes();
/// Writes that line, once. The handler of a signal may call it.
void name_crash(int signal) noexcept;
/// Lets the handler run on this thread even where the stack is used up. Of the main thread, name_crashes() does it.
void keep_stack_for_handler();

}  // namespace torus::command
