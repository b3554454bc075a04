/// Runs a few threads in every order in which their operations on atomics can come. One thread of the host runs them all, in turns.
///
/// A program is run again and again. Before each of its operations a choice is made, whose operation comes next, and in some operations
/// which of several values is seen. All choices are tried, depth first. Of orders that differ only in operations that do not affect each
/// other one is run ("sleep sets": Godefroid, Partial-order methods for the verification of concurrent systems, 1996). Programs too large
/// for that are sampled: choices by a seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <ucontext.h>
#include <utility>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace torus::support {

class Interleaving {
 public:
  static constexpr unsigned max_threads = 3;

  /// What a thread does next, as far as it concerns others.
  struct Operation {
    enum class Kind : std::uint8_t { read, write, fence, wait, notify } kind = Kind::read;
    std::size_t location = 0;

    bool affects(const Operation& other) const noexcept {
      if (kind == Kind::fence || other.kind == Kind::fence) return kind == other.kind;
      if (location != other.location) return false;
      if (kind == Kind::notify || other.kind == Kind::notify) return kind != Kind::read && other.kind != Kind::read;
      return kind == Kind::write || other.kind == Kind::write;
    }
  };

  struct Findings {
    std::uint64_t executions = 0;  ///< that came to an end, each another one
    std::string violation;         ///< what was wrong in the last one; empty: nothing in all of them
    bool complete = false;         ///< all there are, or up to the violation; false: as many as were asked for
  };

  /// Threads that share what `make` makes for each execution, and what must hold when they have ended.
  struct Program {
    std::vector<std::function<void()>> threads;
    std::function<void()> at_end = [] {};
  };

  /// reset: called before each execution, before `make`.
  /// Tries all choices, or with a seed some: as many executions as `most`.
  Findings explore(const std::function<Program()>& make, const std::function<void()>& reset, std::uint64_t most,
                   std::optional<std::uint64_t> seed = std::nullopt) {
    Findings findings;
    choices_.clear();
    random_.seed(seed.value_or(0));
    sampling_ = seed.has_value();
    for (bool more = true; more; more = next()) {
      if (findings.executions == most) return findings;
      reset();
      const Program program = make();
      run(program);
      if (pruned_) continue;
      ++findings.executions;
      if (violation_.empty()) program.at_end();
      if (violation_.empty()) continue;
      findings.violation = violation_;
      break;
    }
    findings.complete = true;
    return findings;
  }

  // ---- what operations call ----

  bool running() const noexcept { return running_ != nobody; }
  unsigned thread() const noexcept { return running_; }
  /// Before an operation: others may come first.
  void before(Operation operation) {
    threads_[running_].next = operation;
    threads_[running_].able_since = turns_;
    turn();
  }
  /// Counts the operations of the execution; and how many there had been when the running thread could first do its present one.
  std::uint64_t now() const noexcept { return turns_; }
  std::uint64_t able_since() const noexcept { return threads_[running_].able_since; }
  /// One of 0..options-1; each in some execution.
  std::size_t choose(std::size_t options) {
    if (options == 1) return 0;
    if (sampling_) return random_() % options;
    if (depth_ == choices_.size()) choices_.push_back({.options = options});
    return choices_[depth_++].taken;
  }
  /// Sleeps until notify() of a location.
  void sleep() {
    threads_[running_].asleep = true;
    turn();
  }
  void notify(std::size_t location, bool all) {
    std::vector<unsigned> sleepers;
    for (unsigned i = 0; i < count_; ++i) {
      if (threads_[i].asleep && threads_[i].next.location == location) sleepers.push_back(i);
    }
    if (sleepers.empty()) return;
    const std::size_t one = all ? 0 : choose(sleepers.size());
    for (std::size_t i = 0; i < sleepers.size(); ++i) {
      if (!all && i != one) continue;
      threads_[sleepers[i]].asleep = false;
      threads_[sleepers[i]].able_since = turns_;
    }
  }
  /// Ends the execution.
  void fail(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
    if (running()) switch_to(nobody);
  }

 private:
  static constexpr unsigned nobody = max_threads;
  static constexpr std::size_t stack_bytes = std::size_t{1} << 17U;
  static constexpr std::uint64_t most_turns = 10'000;

  struct Thread {
    ucontext_t context{};
    std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
    const std::function<void()>* body = nullptr;
    Operation next;
    std::uint64_t able_since = 0;
    bool asleep = false;
    bool ended = false;
  };
  /// Whose turn it is, or which value is seen.
  struct Choice {
    std::size_t options = 0;  // of values; 0: of threads, as sets of bits:
    unsigned ready = 0;       // that could come
    unsigned done = 0;        // that were tried, or need not be
    std::size_t taken = 0;
  };

  /// Goes to the last choice that has another option, and takes it. False if all are tried.
  bool next() {
    if (sampling_) return true;
    for (; !choices_.empty(); choices_.pop_back()) {
      Choice& last = choices_.back();
      if (last.options > 0) {
        if (++last.taken < last.options) return true;
        continue;
      }
      last.done |= 1U << last.taken;
      if (const unsigned left = last.ready & ~last.done; left != 0) {
        last.taken = static_cast<std::size_t>(__builtin_ctz(left));
        return true;
      }
    }
    return false;
  }

  void run(const Program& program) {
    count_ = static_cast<unsigned>(program.threads.size());
    depth_ = 0;
    turns_ = 0;
    sleep_set_ = 0;
    std::string().swap(violation_);  // no buffer, so that fail() leaves none to a stack that is never unwound
    pruned_ = false;
    // Each to its first operation.
    starting_ = true;
    for (unsigned i = 0; i < count_; ++i) {
      Thread& thread = threads_[i];
      thread.body = &program.threads[i];
      thread.asleep = thread.ended = false;
      prepare(thread);
      switch_to(i);
      if (!violation_.empty()) return;
    }
    starting_ = false;
    turn();
  }
  /// Apart: getcontext() could return twice, for all that the compiler knows.
  void prepare(Thread& thread) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = stack_bytes;
    thread.context.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&thread.context, reinterpret_cast<void (*)()>(&Interleaving::begin), 2, static_cast<unsigned>(self >> 32U),
                static_cast<unsigned>(self));
  }
  static void begin(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<Interleaving*>(std::uintptr_t{high} << 32U | low);
    self->arrived(nullptr);
    (*self->threads_[self->running_].body)();
    self->threads_[self->running_].ended = true;
    self->turn();
  }

  /// Lets the thread run whose turn it is. Returns when it is the calling one's.
  void turn() {
    if (starting_) return switch_to(nobody);
    unsigned ready = 0, alive = 0;
    for (unsigned i = 0; i < count_; ++i) {
      if (threads_[i].ended) continue;
      alive |= 1U << i;
      if (!threads_[i].asleep) ready |= 1U << i;
    }
    if (alive == 0) return switch_to(nobody);
    if (ready == 0) return fail_here("hang: every thread that has not ended sleeps");
    if (++turns_ > most_turns) return fail_here("no end after " + std::to_string(most_turns) + " operations");
    if (sampling_) {
      unsigned taken = static_cast<unsigned>(random_() % count_);
      while ((ready >> taken & 1U) == 0) taken = (taken + 1) % count_;
      return switch_to(taken);
    }
    if (depth_ == choices_.size()) {
      const unsigned fresh = ready & ~sleep_set_;
      if (fresh == 0) {
        pruned_ = true;
        return switch_to(nobody);
      }
      // The same thread goes on, if it can: fewer switches.
      const bool same = running_ != nobody && (fresh >> running_ & 1U) != 0;
      choices_.push_back({0, ready, sleep_set_, same ? running_ : static_cast<unsigned>(__builtin_ctz(fresh))});
    }
    const Choice& choice = choices_[depth_++];
    const auto taken = static_cast<unsigned>(choice.taken);
    // What was tried before need not come after what does not affect it.
    sleep_set_ = 0;
    for (unsigned i = 0; i < count_; ++i) {
      if ((choice.done >> i & 1U) != 0 && i != taken && !threads_[i].next.affects(threads_[taken].next)) sleep_set_ |= 1U << i;
    }
    switch_to(taken);
  }
  void fail_here(std::string what) {
    violation_ = std::move(what);
    switch_to(nobody);
  }

  ucontext_t& context(unsigned thread) noexcept { return thread == nobody ? main_ : threads_[thread].context; }
  /// nobody: the caller of explore(). Threads that are left so are never gone on with.
  void switch_to(unsigned thread) {
    if (thread == running_) return;
    const unsigned from = std::exchange(running_, thread);
    void* fake_stack = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    const void* const bottom = thread == nobody ? main_bottom_ : threads_[thread].stack.get();
    __sanitizer_start_switch_fiber(&fake_stack, bottom, thread == nobody ? main_size_ : stack_bytes);
#endif
    swapcontext(&context(from), &context(thread));
    arrived(fake_stack);
  }
  /// On the other side of a switch.
  void arrived([[maybe_unused]] void* fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
    if (main_bottom_ != nullptr) return;
    main_bottom_ = bottom;
    main_size_ = size;
#endif
  }

  std::array<Thread, max_threads> threads_;
  unsigned count_ = 0;
  unsigned running_ = nobody;
  bool starting_ = false;
  ucontext_t main_{};
  [[maybe_unused]] const void* main_bottom_ = nullptr;
  [[maybe_unused]] std::size_t main_size_ = 0;
  bool sampling_ = false;
  std::mt19937_64 random_;
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::uint64_t turns_ = 0;
  unsigned sleep_set_ = 0;
  std::string violation_;
  bool pruned_ = false;
};

}  // namespace torus::support
