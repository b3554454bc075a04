/// Standard output, the progress line; Ctrl-C and SIGTERM: a flag for work that looks at it; they end all other work at once.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace torus::command {

/// How the command was started, for commands that repeat a run: "torus", or the program that has algorithms of its own.
const std::string& program() noexcept;
/// Only at the start of the program.
void set_program(std::string started_as);

/// Writes to standard output and makes sure that it got there. Control characters other than line feeds and tabs are written as their
/// codes: a name from a file may hold any. Names in a table, where a line feed would end the row, go through aligned() of table.hpp. Throws
/// RunError if it did not: a closed pipe, a full disk.
void print(std::string_view text);

/// A line on standard error with the progress of a long piece of work: on a terminal, after a second, at most ten times a second, and it
/// leaves nothing behind. Elsewhere only if `lines` asks for it: a line each half minute, for the log of a job.
class Progress {
 public:
  explicit Progress(bool lines = false);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether a line would be shown now; asks the clock only every so often, so that it may be called in every step.
  bool due();
  void show(std::string_view line);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_, lines_;
  bool shown_ = false;
  Clock::time_point next_;
};

/// A line of comma-separated values; what holds a comma, a quote or a line's end is quoted.
std::string csv_line(const std::vector<std::string>& values);
/// The values of such a line. Throws InputError where a quote is not closed.
std::vector<std::string> csv_cells(std::string_view line);

/// Handles SIGINT and SIGTERM from now on: while an InterruptsAwaited lives, the first one raises interrupted(), and ends the process
/// where one still lives five seconds later; any other ends it at once, with one line and exit status 1. Ignores SIGPIPE and SIGXFSZ, so
/// that a closed pipe or a file that may not grow any more is an error of a write and not the end.
void catch_interrupts();

/// Words for the line that ends an interrupted process, behind "torus: interrupted"; empty: none.
void say_when_interrupted(std::string_view words);

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
