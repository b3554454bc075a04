#include "tools/torus/interrupt.hpp"

#include <csignal>
#include <string_view>
#include <unistd.h>

#include "runtime/trace/output_file.hpp"

namespace torus::command {
namespace {

std::atomic<bool> flag{false}, ending{false};
std::atomic<int> awaiting{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch what needs no lock");

void interrupt(int) {
  if (awaiting.load() > 0 && !flag.exchange(true)) return;
  while (ending.exchange(true)) ::pause();  // another thread is about to end the process: some senders send twice
  // Most files have no name before they are complete; nothing is left of the others.
  OutputFile::remove_unfinished();
  constexpr std::string_view line = "torus: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());  // an error cannot be reported any more
  ::_exit(1);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

const std::atomic<bool>& interrupted() noexcept { return flag; }

InterruptsAwaited::InterruptsAwaited() noexcept { awaiting.fetch_add(1); }
InterruptsAwaited::~InterruptsAwaited() { awaiting.fetch_sub(1); }

}  // namespace torus::command
