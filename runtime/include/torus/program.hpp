/// The coroutine type of a node program, and of the sub-programs it is made of.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include <torus/error.hpp>
#include <torus/node.hpp>

namespace torus {

template <class Result>
class ProgramOf;

/// A node program: a coroutine, given the node that it runs on.
///
///     Program ring_broadcast(Node& self, NodeId root) {
///       if (self.rank() != root) co_await self.arrival();
///       if (self.neighbour({0, +1}) != root) self.send({{0, +1}}, self.blocks());
///     }
///
/// It may wait for `self.step()`, `self.arrival()` and other programs of the same node (`co_await phase(self, ..)`). A ProgramOf<T> returns
/// a T (default-constructible, movable, aligned to no more than a pointer) to its caller. Arguments taken by reference must outlive the
/// run. A program may resume on another thread: it must not hold a lock or a reference to a thread_local across a wait.
using Program = ProgramOf<void>;

namespace detail {

/// What every frame carries. The thread knows the node that it runs, so the frame need not: most frames fit in one cache line.
class ProgramPromise {
 public:
  /// Frames come from the engine's pool: programs can be made only while an engine starts or runs a node.
  static void* operator new(std::size_t bytes) {
    if (running.node == nullptr) [[unlikely]]
      outside_a_run();
    return NodeAccess::network(*running.node).allocate_frame(*running.node, bytes);
  }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    NodeAccess::network(*running.node).free_frame(*running.node, frame, bytes);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  /// Returns control to the engine, which resumes the caller (g++ does not guarantee that symmetric transfer is a tail call). A node's
  /// program is destroyed at once.
  struct Return {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      Node& node = *running.node;
      if (NodeAccess::wait(node) == Wait::none) self.promise().give_back(node);  // else it has thrown
      return NodeAccess::wait(node) == Wait::call;
    }
    void await_resume() const noexcept {}
  };
  Return final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept {
    Node& node = *running.node;
    give_back(node);
    caller_ = nullptr;
    NodeAccess::network(node).keep_error(node, std::current_exception());
  }

  void called_by(std::coroutine_handle<> caller, std::coroutine_handle<> self) noexcept {
    caller_ = caller;
    NodeAccess::innermost(*running.node) = self;
    NodeAccess::wait(*running.node) = Wait::call;
  }
  /// For the caller: throws what the program has thrown.
  void rethrow() const {
    if (!caller_) std::rethrow_exception(NodeAccess::network(*running.node).take_error(*running.node));
  }
  /// Destroys the programs of the running node, from the innermost: from the outermost, each would destroy the next from within, and as
  /// deep as programs may call one another no stack is. There must be one. The frames' memory must not be used again meanwhile.
  static void destroy() noexcept {
    using Handle = std::coroutine_handle<ProgramPromise>;
    TORUS_ASSERT(NodeAccess::innermost(*running.node));
    std::coroutine_handle<> next = std::exchange(NodeAccess::innermost(*running.node), nullptr);
    while (next) {
      const Handle program = Handle::from_address(next.address());
      next = program.promise().caller_;
      program.destroy();
      running.destroyed = program.address();  // its caller's ProgramOf must leave it alone
    }
    running.destroyed = nullptr;
  }

 private:
  [[noreturn, gnu::cold, gnu::noinline]] static void outside_a_run() {
    throw RunError("a node program was called outside a run: pass it to Engine::run(), or call it from another node program");
  }
  void give_back(Node& node) const noexcept {
    NodeAccess::innermost(node) = caller_;
    NodeAccess::wait(node) = caller_ ? Wait::call : Wait::ended;
  }

  std::coroutine_handle<> caller_;  // none if it is a node's program, or has thrown
};

template <class Result>
struct PromiseOf : ProgramPromise {
  ProgramOf<Result> get_return_object() noexcept;
  void return_value(Result result) { result_ = std::move(result); }
  Result result_{};
};

template <>
struct PromiseOf<void> : ProgramPromise {
  ProgramOf<void> get_return_object() noexcept;
  void return_void() const noexcept {}
};

}  // namespace detail

/// Owns a coroutine that has not been started. Either the engine takes it as a node's program, or another program awaits it.
template <class Result>
class [[nodiscard]] ProgramOf {
 public:
  using promise_type = detail::PromiseOf<Result>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit ProgramOf(Handle handle) noexcept : handle_{handle} {
    static_assert(alignof(promise_type) == alignof(detail::ProgramPromise),
                  "a Program's result must not be aligned to more than a pointer");
  }
  ProgramOf(ProgramOf&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  ProgramOf& operator=(ProgramOf&&) = delete;
  ~ProgramOf() {
    if (handle_ && handle_.address() != detail::running.destroyed) handle_.destroy();
  }

  /// Gives the coroutine away, to the engine.
  Handle take() noexcept { return std::exchange(handle_, nullptr); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) noexcept { handle_.promise().called_by(caller, handle_); }
  Result await_resume() {
    handle_.promise().rethrow();
    if constexpr (!std::is_void_v<Result>) return std::move(handle_.promise().result_);
  }

 private:
  Handle handle_;
};

namespace detail {
template <class Result>
ProgramOf<Result> PromiseOf<Result>::get_return_object() noexcept {
  return ProgramOf<Result>{std::coroutine_handle<PromiseOf<Result>>::from_promise(*this)};
}
inline ProgramOf<void> PromiseOf<void>::get_return_object() noexcept {
  return ProgramOf<void>{std::coroutine_handle<PromiseOf<void>>::from_promise(*this)};
}
}  // namespace detail

}  // namespace torus
