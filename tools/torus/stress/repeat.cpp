#include "tools/torus/stress/repeat.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/torus/cli/child.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/run/watchdog.hpp"

namespace torus::command {
namespace {

/// The words of a line that command_line() wrote: blanks part them, but not between single quotes.
std::vector<std::string> words_of_line(const std::string& line) {
  std::vector<std::string> words{""};
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'')
      quoted = !quoted;
    else if (c == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

// What a signal handler may touch: no allocation, no lock.
std::array<char, 4096> running{};
std::atomic<std::size_t> running_bytes{0};
std::array<struct sigaction, crash_signals.size()> before{};
std::array<char, 4096> again_program{};  // empty: nothing runs again
std::array<char*, 256> line_words{};     // of `running`, for a program; the last one is null
constexpr unsigned most_s = 60;
constexpr int no_program = 127;

void say(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());  // an error cannot be reported any more
}

/// Cuts the command in `running` into words, in place, as a shell does with blanks and single quotes. False if they are too many.
bool cut_into_words(std::size_t bytes) noexcept {
  std::size_t count = 0, to = 0;
  bool quoted = false, in_word = false;
  for (std::size_t at = 0; at < bytes; ++at) {
    const char c = running[at];
    if (c == ' ' && !quoted) {
      if (in_word) running[to++] = '\0';
      in_word = false;
      continue;
    }
    if (!in_word) {
      if (count + 1 == line_words.size()) return false;
      line_words[count++] = &running[to];
      in_word = true;
    }
    if (c == '\'')
      quoted = !quoted;
    else
      running[to++] = c;
  }
  if (to == running.size()) return false;
  running[to] = '\0';
  line_words[count] = nullptr;
  return count > 0;
}

/// Runs the command that crashed in a process of its own, and says how that ends.
void run_again(std::size_t bytes) noexcept {
  if (again_program[0] == '\0' || !cut_into_words(bytes)) return;
  const pid_t child = ::vfork();  // fork() takes locks, which the crash may have left taken
  if (child == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, descriptor);
    ::alarm(most_s);  // whose signal ends it
    ::execv(again_program.data(), line_words.data());
    ::_exit(no_program);
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == no_program))
    say("torus: it could not be run again\n");
  else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    say("torus: run again in a process of its own, it had not ended after a minute\n");
  else if (WIFSIGNALED(status))
    say("torus: run again in a process of its own, it crashes, too\n");
  else
    say("torus: run again in a process of its own, it does not crash: it depends on what ran before it\n");
}

void report_crash(int signal) {
  name_crash(signal);
  const int* const found = std::find(crash_signals.begin(), crash_signals.end(), signal);
  if (const std::size_t bytes = running_bytes.exchange(0); bytes > 0) {  // of several threads that crash, one reports
    say("torus: crashed; repeat it with: ");
    say({running.data(), bytes});
    say("\n");
    run_again(bytes);
  }
  ::sigaction(signal, &before[static_cast<std::size_t>(found - crash_signals.begin())], nullptr);
  ::raise(signal);  // delivered when this handler returns
}

}  // namespace

std::string why_not_repeated(const RepeatLine& line, double seconds) {
  std::vector<std::string> words = words_of_line(line.command);
  if (words.front() != program()) return fmt::format("it was not tried: {} starts it", words.front());
  words.erase(words.begin());
  try {
    const ChildEnd end = run_child(own_program(), words, seconds);
    if (!end.started) return "it could not be started";
    if (!end.in_time) return fmt::format("it had not ended after {} s", seconds);
    if (end.status == -1) return "a signal ended it";
    const std::string last = last_line(end.err);
    if (end.status != line.status) return fmt::format("it ended with exit status {}{}{}", end.status, last.empty() ? "" : ": ", last);
    const auto missing = std::find_if(line.says.begin(), line.says.end(), [&](const std::string& text) {
      return end.out.find(text) == std::string::npos && end.err.find(text) == std::string::npos;
    });
    if (missing == line.says.end()) return "";
    return last.empty() ? fmt::format("it does not say '{}'", *missing) : fmt::format("it says: {}", last);
  } catch (const std::exception& error) {
    return fmt::format("it was not tried: {}", error.what());
  }
}

void tell_what_crashed(const std::string& program) {
  again_program = {};
  if (program.size() < again_program.size()) std::copy(program.begin(), program.end(), again_program.begin());
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = report_crash;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(crash_signals[i], &action, &before[i]);
  }
}

void now_running(std::string_view command) noexcept {
  running_bytes.store(0);
  const std::size_t bytes = std::min(command.size(), running.size());
  std::copy_n(command.data(), bytes, running.data());
  running_bytes.store(bytes);
}

}  // namespace torus::command
