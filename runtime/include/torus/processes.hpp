/// Several processes that do one run together.
#pragma once

#include <cstddef>
#include <span>

namespace torus {

/// The processes of a job, as one of them sees the others. torus::main makes them of MPI where mpirun has started the program; tests make
/// them of threads. An engine speaks through them at its barriers (RunOptions::processes).
///
/// All calls but the first four are collective: every process makes the same ones in the same order. One thread a process at a time.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  /// The number of this process, from 0, and of all.
  virtual unsigned self() const noexcept = 0;
  virtual unsigned count() const noexcept = 0;
  /// How many of them share this host's memory, and how many this process's cores; itself included.
  virtual unsigned on_this_host() const noexcept = 0;
  virtual unsigned on_these_cores() const noexcept = 0;

  /// Sends the p-th of count() equal parts of `rows` to process p, its own included. The p-th part of `received`, which is as long, is then
  /// from process p. A barrier: it returns when all have called it. For a few hundred bytes a part.
  virtual void all_to_all(std::span<const std::byte> rows, std::span<std::byte> received) = 0;
  /// Sends outgoing[p] to process p, and receives incoming[p], as long as what p sends, from process p. Nothing is sent where the length
  /// is 0, nor to itself. Any length.
  virtual void exchange(std::span<const std::span<const std::byte>> outgoing, std::span<const std::span<std::byte>> incoming) = 0;
};

}  // namespace torus
