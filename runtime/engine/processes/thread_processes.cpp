#include "runtime/engine/processes/thread_processes.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <torus/error.hpp>

namespace torus::detail {
namespace {

/// What all of them see: the bytes that each has put out, between two meetings.
class Hall {
 public:
  explicit Hall(unsigned count) : rows(count), boxes(count), count_{count} {}

  std::vector<std::span<const std::byte>> rows;
  std::vector<std::span<const std::span<const std::byte>>> boxes;

  unsigned count() const noexcept { return count_; }
  /// Returns when all have called it. Throws RunError if one has left.
  void meet() {
    std::unique_lock lock(mutex_);
    const std::uint64_t meeting = meeting_;
    if (++waiting_ == count_) {
      waiting_ = 0;
      ++meeting_;
      met_.notify_all();
      return;
    }
    met_.wait(lock, [&] { return meeting_ != meeting || left_; });
    if (meeting_ == meeting) throw RunError("another process has ended before this one");
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    met_.notify_all();
  }

 private:
  const unsigned count_;
  std::mutex mutex_;
  std::condition_variable met_;
  unsigned waiting_ = 0;
  std::uint64_t meeting_ = 0;
  bool left_ = false;
};

class ThreadProcesses final : public Processes {
 public:
  ThreadProcesses(Hall& hall, unsigned self) : hall_{hall}, self_{self} {}

  unsigned self() const noexcept override { return self_; }
  unsigned count() const noexcept override { return hall_.count(); }
  unsigned on_this_host() const noexcept override { return hall_.count(); }
  unsigned on_these_cores() const noexcept override { return hall_.count(); }

  void all_to_all(std::span<const std::byte> rows, std::span<std::byte> received) override {
    hall_.rows[self_] = rows;
    hall_.meet();
    const std::size_t part = received.size() / count();
    for (unsigned p = 0; p < count(); ++p) {
      const auto row = hall_.rows[p].subspan(self_ * part, part);
      std::copy(row.begin(), row.end(), received.begin() + static_cast<std::ptrdiff_t>(p * part));
    }
    hall_.meet();
  }

  void exchange(std::span<const std::span<const std::byte>> outgoing, std::span<const std::span<std::byte>> incoming) override {
    hall_.boxes[self_] = outgoing;
    hall_.meet();
    for (unsigned p = 0; p < count(); ++p) {
      const std::span<const std::byte> box = p == self_ ? std::span<const std::byte>() : hall_.boxes[p][self_];
      TORUS_ASSERT(p == self_ || box.size() == incoming[p].size());
      std::copy(box.begin(), box.end(), incoming[p].begin());
    }
    hall_.meet();
  }

 private:
  Hall& hall_;
  unsigned self_;
};

}  // namespace

void run_as_processes(unsigned count, const std::function<void(Processes&)>& body) {
  Hall hall(count);
  std::vector<std::exception_ptr> thrown(count);
  {
    std::vector<std::jthread> threads;
    const auto run = [&](unsigned p) {
      ThreadProcesses processes(hall, p);
      try {
        body(processes);
      } catch (...) {
        thrown[p] = std::current_exception();
      }
      hall.leave();
    };
    try {
      for (unsigned p = 0; p < count; ++p) threads.emplace_back(run, p);
    } catch (const std::system_error&) {
      hall.leave();
      throw RunError("processes " + std::to_string(count) + ": the system starts no more than " + std::to_string(threads.size()) +
                     " threads for them; choose fewer");
    }
  }
  for (const std::exception_ptr& each : thrown) {
    if (each) std::rethrow_exception(each);
  }
}

}  // namespace torus::detail
