#include "runtime/engine/processes/together.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include <torus/error.hpp>

namespace torus::detail {
namespace {

enum class ErrorKind : std::uint64_t { none, input, memory, other };

/// What a process has thrown, as the others learn of it.
struct Thrown {
  ErrorKind kind = ErrorKind::none;
  std::uint64_t order = 0;
};

ErrorKind kind_and_text(const std::exception_ptr& thrown, std::string& text) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return ErrorKind::memory;
  } catch (const InputError& error) {
    text = error.what();
    return ErrorKind::input;
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "something that is no std::exception";
  }
  return ErrorKind::other;
}

}  // namespace

std::vector<std::vector<std::byte>> gather_bytes(Processes& processes, std::span<const std::byte> mine) {
  const std::vector<std::uint64_t> sizes = exchange_each(processes, std::uint64_t{mine.size()});
  std::vector<std::vector<std::byte>> all(processes.count());
  std::vector<std::span<const std::byte>> out(processes.count());
  std::vector<std::span<std::byte>> in(processes.count());
  for (unsigned p = 0; p < processes.count(); ++p) {
    all[p].resize(sizes[p]);
    if (p == processes.self()) {
      std::copy(mine.begin(), mine.end(), all[p].begin());
    } else {
      out[p] = mine;
      in[p] = all[p];
    }
  }
  processes.exchange(out, in);
  return all;
}

void throw_first(Processes& processes, const std::exception_ptr& mine, std::uint64_t order) {
  std::string text;
  const std::vector<Thrown> all = exchange_each(processes, mine ? Thrown{kind_and_text(mine, text), order} : Thrown{});
  std::optional<unsigned> first;
  for (unsigned p = 0; p < all.size(); ++p) {
    if (all[p].kind != ErrorKind::none && (!first || all[p].order < all[*first].order)) first = p;
  }
  if (!first) return;
  const std::vector<std::vector<std::byte>> texts = gather_bytes(processes, bytes_of(text));
  if (*first == processes.self()) std::rethrow_exception(mine);
  switch (all[*first].kind) {
    case ErrorKind::memory: throw std::bad_alloc();
    case ErrorKind::input: throw InputError(text_of(texts[*first]));
    default: throw RunError(text_of(texts[*first]));
  }
}

void run_on_all(Processes* processes, const std::function<void()>& part) {
  if (processes == nullptr) return part();
  std::exception_ptr mine;
  try {
    part();
  } catch (...) {
    mine = std::current_exception();
  }
  throw_first(*processes, mine, processes->self());
}

}  // namespace torus::detail
