#include "algorithms/session/common_clock.hpp"

#include <algorithm>
#include <utility>

namespace torus::detail {

CommonClock::CommonClock(std::span<const Step> offsets, Close close, std::atomic<bool>& stop, bool in_turns)
    : offsets_(offsets.begin(), offsets.end()),
      close_{std::move(close)},
      stop_{stop},
      in_turns_{in_turns},
      states_(offsets.size(), State::waits),
      sends_(offsets.size()) {
  start_those_due();
  close_if_all_have_arrived();
}

bool CommonClock::begin(std::size_t run) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return states_[run] == State::ended || has_turn(run); });
  return states_[run] == State::runs;
}

void CommonClock::arrive(std::size_t run, const StepSends& sends) {
  std::unique_lock lock(mutex_);
  states_[run] = State::arrived;
  sends_[run] = sends;
  const Step step = now_;
  close_if_all_have_arrived();
  changed_.wait(lock, [&] { return now_ != step && has_turn(run); });
}

void CommonClock::leave(std::size_t run, bool good) noexcept {
  const std::lock_guard lock(mutex_);
  if (states_[run] == State::ended) return;
  states_[run] = State::ended;
  failed_ = failed_ || !good;
  close_if_all_have_arrived();
}

void CommonClock::rethrow() const {
  if (thrown_) std::rethrow_exception(thrown_);
}

bool CommonClock::has_turn(std::size_t run) const noexcept {
  if (states_[run] != State::runs) return false;
  const auto mine = states_.begin() + static_cast<std::ptrdiff_t>(run);
  return !in_turns_ || std::find(states_.begin(), mine, State::runs) == mine;
}

void CommonClock::close_if_all_have_arrived() noexcept {
  const auto any = [this](State state) { return std::find(states_.begin(), states_.end(), state) != states_.end(); };
  if (in_turns_) changed_.notify_all();  // of those that run, the next goes on
  if (any(State::runs)) return;
  if (any(State::arrived)) return close_step();
  if (failed_) return stop_all();
  if (!any(State::waits)) return;
  Step next = Member::max_offset;
  for (std::size_t run = 0; run < states_.size(); ++run) {
    if (states_[run] == State::waits) next = std::min(next, offsets_[run]);
  }
  keep([&] { close_.idle(next - now_); });
  if (failed_) return stop_all();
  now_ = next;
  start_those_due();
}

void CommonClock::close_step() noexcept {
  keep([this] { failed_ = close_.step(now_, sends_) || failed_; });
  std::fill(sends_.begin(), sends_.end(), StepSends{});
  std::replace(states_.begin(), states_.end(), State::arrived, State::runs);
  ++now_;
  if (failed_)
    stop_all();
  else
    start_those_due();
}

void CommonClock::start_those_due() noexcept {
  for (std::size_t run = 0; run < states_.size(); ++run) {
    if (states_[run] == State::waits && offsets_[run] == now_) states_[run] = State::runs;
  }
  changed_.notify_all();
}

void CommonClock::stop_all() noexcept {
  stop_.store(true, std::memory_order_relaxed);  // published by the lock
  std::replace(states_.begin(), states_.end(), State::waits, State::ended);
  changed_.notify_all();
}

template <class F>
void CommonClock::keep(F&& f) noexcept {
  try {
    f();
  } catch (...) {
    if (!thrown_) thrown_ = std::current_exception();
    failed_ = true;
  }
}

}  // namespace torus::detail
