#include "tools/torus/run/watchdog.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <signal.h>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"

namespace torus::command {
namespace {

constexpr std::chrono::milliseconds look_period{100};
constexpr std::uint64_t looks_a_second = 10, looks_after_interrupt = 20;

void write_out(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t written = ::write(complaints(), text.data(), text.size());  // an error cannot be reported any more
}

/// The thread that keeps watch, and what it watches.
class Post {
 public:
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;
  ~Post() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  static Post& only() {
    static Post post;
    return post;
  }
  void add(Watchdog& dog) {
    const std::lock_guard lock(mutex_);
    dogs_.push_back(&dog);
    if (thread_.joinable()) return;
    try {
      thread_ = std::thread([this] { keep_watch(); });
    } catch (const std::system_error&) {  // no room for a thread: then nobody watches
    }
  }
  void remove(Watchdog& dog) {
    const std::lock_guard lock(mutex_);
    dogs_.erase(std::find(dogs_.begin(), dogs_.end(), &dog));
  }

 private:
  Post() = default;

  void keep_watch() {
    sigset_t all;  // signals are for the threads that work
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, look_period, [this] { return ends_; })) {
      for (Watchdog* dog : dogs_) dog->look();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watchdog*> dogs_;
  bool ends_ = false;
  std::thread thread_;
};

[[noreturn]] void end_process(const std::string& text, const std::string& repeat) {
  OutputFile::remove_unfinished();
  if (::isatty(complaints()) == 1) write_out("\r\033[K");  // a line of progress
  write_out(fmt::format("torus: {}\ntorus: repeat it with: {}\n", printable(text), printable(repeat)));
  std::_Exit(1);
}

// What the handler of a signal may touch: no allocation, no lock.

/// The settings of the runs that go on; null: free. Runs of several at once have one machine.
std::array<std::atomic<const Setting*>, 64> running_settings{};
std::atomic<bool> crash_named{false};

/// Text in a fixed room.
class FixedLine {
 public:
  void add(std::string_view text) noexcept {
    const std::size_t count = std::min(text.size(), room_.size() - size_);
    std::copy_n(text.data(), count, room_.data() + size_);
    size_ += count;
  }
  void add(std::uint64_t number) noexcept {
    std::array<char, 20> digits{};
    std::size_t at = digits.size();
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    add(std::string_view(digits.data() + at, digits.size() - at));
  }
  std::string_view text() const noexcept { return {room_.data(), size_}; }

 private:
  std::array<char, 512> room_{};
  std::size_t size_ = 0;
};

std::array<struct sigaction, crash_signals.size()> before_crash{};

std::string_view words_of_signal(int signal) noexcept {
  switch (signal) {
    case SIGSEGV: return "segmentation fault: a null pointer, an index out of range, or recursion without end";
    case SIGBUS: return "bus error";
    case SIGFPE: return "a division by zero, or one that overflows";
    case SIGILL: return "illegal instruction";
    default: return "aborted";
  }
}

void report_node(int signal, siginfo_t* info, void*) {
  name_crash(signal);
  const int* const found = std::find(crash_signals.begin(), crash_signals.end(), signal);
  ::sigaction(signal, &before_crash[static_cast<std::size_t>(found - crash_signals.begin())], nullptr);
  if (info->si_code <= 0) ::raise(signal);  // sent by a call; the instruction that faults will do it again
}

/// The stack of a thread's handlers.
class AlternateStack {
 public:
  AlternateStack() {
    stack_t old{};
    if (::sigaltstack(nullptr, &old) != 0 || (old.ss_flags & SS_DISABLE) == 0) return;  // a sanitizer has made one
    // Not zeroed: no page is touched that no signal needs.
    room_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    const stack_t stack{.ss_sp = room_.get(), .ss_flags = 0, .ss_size = bytes};
    ::sigaltstack(&stack, nullptr);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;
  ~AlternateStack() {
    if (!room_) return;
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ::sigaltstack(&none, nullptr);
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} * 1024;
  std::unique_ptr<std::byte[]> room_;
};

}  // namespace

Watchdog::Watchdog(const Setting& setting, std::string repeat)
    : setting_{setting}, limit_s_{step_limit_of(setting)}, repeat_{std::move(repeat)} {
  for (std::atomic<const Setting*>& place : running_settings) {
    const Setting* free = nullptr;
    if (place.compare_exchange_strong(free, &setting)) break;
  }
  Post::only().add(*this);
}

Watchdog::~Watchdog() {
  Post::only().remove(*this);
  for (std::atomic<const Setting*>& place : running_settings) {
    const Setting* own = &setting_;
    if (place.compare_exchange_strong(own, nullptr)) break;
  }
}

std::string Watchdog::repeat() const { return repeat_.empty() ? command_line(setting_) : repeat_; }

void Watchdog::look() {
  watch_.look(at_);
  before_.resize(at_.size());
  looks_.resize(at_.size());
  std::size_t longest = 0;
  for (std::size_t i = 0; i < at_.size(); ++i) {
    looks_[i] = at_[i] && at_[i] == before_[i] ? looks_[i] + 1 : 0;
    if (looks_[i] > looks_[longest]) longest = i;
  }
  before_ = at_;
  const std::uint64_t stuck = at_.empty() ? 0 : looks_[longest];
  const auto where = [&] {
    return fmt::format("{}: node {} has not ended step {}", setting_.algorithm->name,
                       node_text(setting_.whole().topology, at_[longest]->node), at_[longest]->step);
  };
  if (static_cast<double>(stuck) >= limit_s_ * looks_a_second)
    end_process(fmt::format("{} after {:g} s: a loop without end, or a lock? (--step-time S waits for S seconds)", where(), limit_s_),
                repeat());
  since_interrupt_ = interrupted() ? since_interrupt_ + 1 : 0;
  if (std::min(stuck, since_interrupt_) >= looks_after_interrupt) end_process(fmt::format("interrupted; {}", where()), repeat());
}

void name_crash(int signal) noexcept {
  const auto at = detail::whereabouts();
  const Setting* first = nullptr;
  FixedLine line;
  for (const std::atomic<const Setting*>& place : running_settings) {
    const Setting* const setting = place;
    if (setting == nullptr) continue;
    line.add(first == nullptr ? "torus: " : " + ");
    line.add(setting->algorithm->name);
    if (first == nullptr) first = setting;
  }
  if (!at || first == nullptr || crash_named.exchange(true)) return;
  const Topology& topology = first->whole().topology;
  line.add(": crashed while node (");
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (d > 0) line.add(",");
    line.add(static_cast<std::uint64_t>(topology.coordinate(at->node, d)));
  }
  line.add(") ran step ");
  line.add(at->step);
  line.add(": ");
  line.add(words_of_signal(signal));
  line.add("\n");
  write_out(line.text());
}

void name_crashes() {
  keep_stack_for_handler();
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    struct sigaction action {};
    action.sa_sigaction = report_node;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(crash_signals[i], &action, &before_crash[i]);
  }
}

void keep_stack_for_handler() { static thread_local AlternateStack stack; }

}  // namespace torus::command
