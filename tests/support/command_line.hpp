/// The command from outside, as a user or a script meets it. For tests that TORUS_PROGRAM is defined for.
#pragma once

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

namespace torus::support {

struct Ended {
  int status = -1;  ///< the exit status; -1 if a signal ended it
  int signal = 0;   ///< that signal
  std::string out;
  std::string err;
};

struct Start {
  std::vector<std::string> arguments;
  std::string out{};                  ///< a file for standard output; empty: it is caught
  bool closed_pipe = false;           ///< standard output is a pipe that nobody reads
  std::function<bool(pid_t)> when{};  ///< send `signal` as soon as this holds of the program
  int signal = SIGINT;
  std::string in{};  ///< a file for standard input; empty: /dev/null
};

/// Whether a program has used so much processor time. On a busy host that takes longer by the clock.
inline std::function<bool(pid_t)> has_worked(double seconds) {
  return [seconds](pid_t child) {
    clockid_t clock;
    timespec used{};
    if (::clock_getcpuclockid(child, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return false;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec) >= seconds;
  };
}
/// Whether it has opened this file.
inline std::function<bool(pid_t)> has_opened(std::string file) {
  return [file = std::move(file)](pid_t child) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(child) + "/fd", ignored)) {
      if (std::filesystem::read_symlink(entry.path(), ignored) == file) return true;
    }
    return false;
  };
}

/// Whether a file has so many lines.
inline std::function<bool(pid_t)> has_lines(std::string file, std::size_t least) {
  return [file = std::move(file), least](pid_t) {
    const std::string text = std::filesystem::exists(file) ? text_of_file(file) : "";
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= least;
  };
}

/// Whether a child runs a program of its own, and no longer this one.
inline bool has_begun(pid_t child) {
  std::error_code ignored;
  const auto running = std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe", ignored);
  return !running.empty() && running != std::filesystem::read_symlink("/proc/self/exe", ignored);
}

/// Sends a program a signal when it is time; not if it has ended before.
inline void send_signal(pid_t child, const Start& start) {
  siginfo_t ended{};
  while (!has_begun(child) || !start.when(child)) {
    if (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == child) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ::kill(child, start.signal);
}

/// Output goes to files, so that no pipe can fill up and block.
inline Ended run_program(const std::string& program, const Start& start) {
  const Folder folder;
  const std::string out = start.out.empty() ? folder.file("out") : start.out;
  const std::string err = folder.file("err");
  int pipe_ends[2] = {-1, -1};
  if (start.closed_pipe && ::pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
  if (start.closed_pipe) ::close(pipe_ends[0]);  // before anybody can write
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : start.arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int in = ::open(start.in.empty() ? "/dev/null" : start.in.c_str(), O_RDONLY);
    const int to = start.closed_pipe ? pipe_ends[1] : ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int errors = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(in, 0);
    ::dup2(to, 1);
    ::dup2(errors, 2);
    ::execv(program.c_str(), words.data());
    ::_exit(127);
  }
  if (start.closed_pipe) ::close(pipe_ends[1]);
  if (start.when) send_signal(child, start);
  int status = 0;
  ::waitpid(child, &status, 0);
  Ended ended;
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (start.out.empty() && !start.closed_pipe) ended.out = text_of_file(out);
  ended.err = text_of_file(err);
  return ended;
}

/// "run broadcast --on 4x4" in words; a word in single quotes may hold spaces or be empty.
inline std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> out;
  std::string word;
  bool quoted = false;
  bool any = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) out.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  return out;
}

inline Ended command(const std::string& line) { return run_program(TORUS_PROGRAM, {.arguments = words(line)}); }

/// The same under a limit of the shell's: "-v 1500000" is so many KiB of address space, "-f 1" a block of 512 bytes in a file.
inline Ended command_under(const std::string& ulimit, const std::string& line) {
  Start start{.arguments = {"-c", "ulimit " + ulimit + "; exec \"$0\" \"$@\"", TORUS_PROGRAM}};
  for (const std::string& word : words(line)) start.arguments.push_back(word);
  return run_program("/bin/sh", start);
}

/// The same, for a command that must do.
inline Ended good(const std::string& line) {
  Ended ended = command(line);
  CAPTURE(line, ended.err);
  REQUIRE(ended.status == 0);
  return ended;
}
/// A command that is refused in one line with these words, and leaves no such file.
inline void check_refused_without(const std::string& file, const std::string& line, const std::string& words) {
  const Ended ended = command(line);
  CAPTURE(line, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.err.find(words) != std::string::npos);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(file));
}

/// The trace of a run, t.jsonl in a folder.
inline std::string traced(const Folder& folder, const std::string& line) {
  good("run " + line + " --trace " + folder.file("t.jsonl"));
  return folder.file("t.jsonl");
}

inline std::vector<TraceMessage> messages_of(const std::string& trace) {
  TraceReader reader(trace);
  std::vector<TraceMessage> messages;
  TraceMessage message;
  while (reader.next(message)) messages.push_back(message);
  return messages;
}

/// How often a word stands in a text.
inline std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}
inline std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

/// What a command that is refused says, in one line.
inline std::string refusal(const std::string& line) {
  const Ended ended = command(line);
  CAPTURE(line);
  CHECK(ended.status == 2);
  CHECK(lines(ended.err) == 1);
  return ended.err;
}

/// Nothing but one line on standard error that says more than "no", and status 2.
inline void check_refused(const std::string& line) {
  const Ended ended = command(line);
  CAPTURE(line, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK(lines(ended.err) == 1);
  CHECK(ended.err.starts_with("torus: "));
  CHECK(ended.err.size() > 30);
  CHECK(ended.err.size() < 600);
}

}  // namespace torus::support
