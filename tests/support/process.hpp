/// Starts a program and waits for it: what it printed, how it ended.
#pragma once

#include <chrono>
#include <fcntl.h>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

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
  std::string out{};                                 ///< a file for standard output; empty: it is caught
  bool closed_pipe = false;                          ///< standard output is a pipe that nobody reads
  std::optional<std::chrono::milliseconds> after{};  ///< send `signal` then
  int signal = SIGINT;
  std::string in{};  ///< a file for standard input; empty: /dev/null
};

/// Output goes to files, so that no pipe can fill up and block.
inline Ended run_program(const std::string& program, const Start& start) {
  const Folder folder;
  const std::string out = start.out.empty() ? folder.file("out") : start.out;
  const std::string err = folder.file("err");
  int pipe_ends[2] = {-1, -1};
  if (start.closed_pipe && ::pipe(pipe_ends) != 0) throw std::runtime_error("no pipe");
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
    if (start.closed_pipe) ::close(pipe_ends[0]);
    ::execv(program.c_str(), words.data());
    ::_exit(127);
  }
  if (start.closed_pipe) {
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
  }
  if (start.after) {
    std::this_thread::sleep_for(*start.after);
    ::kill(child, start.signal);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Ended ended;
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (start.out.empty() && !start.closed_pipe) ended.out = text_of_file(out);
  ended.err = text_of_file(err);
  return ended;
}

}  // namespace torus::support
