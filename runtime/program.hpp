// SPDX-License-Identifier: MIT
/// The coroutine type of a node program, and of the sub-programs it is made of.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "runtime/node.hpp"

namespace torus {

template <class Result>
class ProgramOf;

/// A node program: a coroutine whose first parameter is the node it runs on.
///
///     Program ring_broadcast(Node& self, NodeId root) {
///       if (self.rank() != root) co_await self.arrival();
///       if (self.neighbour({0, +1}) != root) self.send({{0, +1}}, self.blocks());
///     }
///
/// It may wait for `self.step()`, `self.arrival()` and other programs of the same node (`co_await phase(self, ..)`); a ProgramOf<T>
/// returns a T to its caller. Arguments taken by reference must outlive the run. Nothing of the thread (a lock, a thread_local) may be held across a wait.
using Program = ProgramOf<void>;

namespace detail {

/// The node among a coroutine's parameters: the first, or the second where the first is a lambda or an object.
template <class First, class... Rest>
Node& node_among(First& first, Rest&... rest) noexcept {
  if constexpr (std::is_same_v<std::remove_cvref_t<First>, Node>) {
    return const_cast<Node&>(first);
  } else {
    static_assert(sizeof...(Rest) > 0, "a Program's first parameter must be the Node& that it runs on");
    return node_among(rest...);
  }
}

class ProgramPromise {
 public:
  template <class... Args>
  explicit ProgramPromise(Args&... args) noexcept : node_{&node_among(args...)} {}

  /// Frames come from the engine's pool; the node that a frame belongs to is kept behind it, for the way back. (In front of it, it would cost 16 bytes,
  /// and the frame its place at the start of a cache line.)
  template <class... Args>
  static void* operator new(std::size_t bytes, Args&... args) {
    Node& node = node_among(args...);
    void* frame = NodeDoor::network(node).allocate_frame(node, bytes + sizeof(Node*));
    Node* const owner = &node;
    std::memcpy(static_cast<std::byte*>(frame) + bytes, &owner, sizeof owner);
    return frame;
  }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    Node* owner = nullptr;
    std::memcpy(&owner, static_cast<std::byte*>(frame) + bytes, sizeof owner);
    NodeDoor::network(*owner).free_frame(*owner, frame, bytes + sizeof owner);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  /// Gives control back to the engine, which goes on with the caller (symmetric transfer is not sure to be a tail call in g++). A node's program is
  /// destroyed at once, without coming back to it, unless there is an error to be fetched.
  struct Return {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      ProgramPromise& promise = self.promise();
      Node& node = *promise.node_;
      NodeDoor::innermost(node) = promise.caller_;
      NodeDoor::wait(node) = promise.caller_ ? Wait::call : Wait::ended;
      if (promise.caller_ || promise.error_) return true;
      NodeDoor::program(node) = nullptr;
      return false;
    }
    void await_resume() const noexcept {}
  };
  Return final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  void called_by(std::coroutine_handle<> caller, std::coroutine_handle<> self) noexcept {
    caller_ = caller;
    NodeDoor::innermost(*node_) = self;
    NodeDoor::wait(*node_) = Wait::call;
  }
  std::exception_ptr& error() noexcept { return error_; }

 private:
  Node* node_;
  std::coroutine_handle<> caller_;
  std::exception_ptr error_;
};

template <class Result>
struct PromiseOf : ProgramPromise {
  using ProgramPromise::ProgramPromise;
  ProgramOf<Result> get_return_object() noexcept;
  void return_value(Result result) { result_ = std::move(result); }
  Result result_{};
};

template <>
struct PromiseOf<void> : ProgramPromise {
  using ProgramPromise::ProgramPromise;
  ProgramOf<void> get_return_object() noexcept;
  void return_void() const noexcept {}
};

}  // namespace detail

/// Owns a coroutine that has not been started. Either the engine takes it as a node's program or another program awaits it.
template <class Result>
class [[nodiscard]] ProgramOf {
 public:
  using promise_type = detail::PromiseOf<Result>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit ProgramOf(Handle handle) noexcept : handle_{handle} {}
  ProgramOf(ProgramOf&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  ProgramOf& operator=(ProgramOf&&) = delete;
  ~ProgramOf() {
    if (handle_) handle_.destroy();
  }

  /// Gives the coroutine away (to the engine).
  Handle take() noexcept { return std::exchange(handle_, nullptr); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) noexcept { handle_.promise().called_by(caller, handle_); }
  Result await_resume() {
    if (handle_.promise().error()) std::rethrow_exception(handle_.promise().error());
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
