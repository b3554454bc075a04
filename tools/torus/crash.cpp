#include "tools/torus/crash.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <signal.h>
#include <unistd.h>

namespace torus::command {
namespace {

constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// What a signal handler may touch: no allocation, no lock.
std::array<char, 4096> running{};
std::atomic<std::size_t> running_bytes{0};
std::array<struct sigaction, signals.size()> before{};

void say(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());  // an error cannot be reported any more
}

void report_crash(int signal) {
  const int* const known = std::find(signals.begin(), signals.end(), signal);
  if (const std::size_t bytes = running_bytes.exchange(0); bytes > 0) {  // of several threads that crash, one reports
    say("torus: crashed; repeat it with: ");
    say({running.data(), bytes});
    say("\n");
  }
  ::sigaction(signal, &before[static_cast<std::size_t>(known - signals.begin())], nullptr);
  ::raise(signal);  // delivered when this handler returns
}

}  // namespace

void tell_what_crashed() {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = report_crash;
    ::sigaction(signals[i], &action, &before[i]);
  }
}

void now_running(std::string_view command) noexcept {
  running_bytes.store(0);
  const std::size_t bytes = std::min(command.size(), running.size());
  std::copy_n(command.data(), bytes, running.data());
  running_bytes.store(bytes);
}

}  // namespace torus::command
