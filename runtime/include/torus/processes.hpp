/// Several processes that do one run together.
#pragma once

#include <cstddef>
#include <span>

namespace torus {

/// The processes of a job, as one of them sees the others. torus::main makes them of MPI where mpirun has started the program; tests make
/// them of threads. An engine uses them at its barriers (RunOptions::processes).
///
/// The exchanges are collective: every process makes the same calls in the same order. One thread a process at a time.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  /// The number of this process, from 0, and of all.
  virtual unsigned self() const noexcept = 0;
  virtual unsigned count() const noexcept = 0;
  /// Processes that share this host's memory, and processes that share this process's cores; itself included.
  virtual unsigned on_this_host() const noexcept = 0;
  virtual unsigned on_these_cores() const noexcept = 0;

  /// Sends the p-th of count() equal parts of `rows` to process p, itself included. Then the p-th part of `received`, of equal length, is
  /// from process p. A barrier: it returns when all have called it. For a few hundred bytes a part.
  virtual void all_to_all(std::span<const std::byte> rows, std::span<std::byte> received) = 0;
  /// Sends outgoing[p] to process p, and receives incoming[p] from process p; both ends know the length. Nothing is sent where the length
  /// is 0, nor to itself. Any length.
  virtual void exchange(std::span<const std::span<const std::byte>> outgoing, std::span<const std::span<std::byte>> incoming) = 0;
};

}  // namespace torus
