/// An open shop of unit operations: each job needs so many on each machine, in any order; a job and a machine do one at a time. By edge
/// colouring of the bipartite multigraph of jobs and machines (Koenig: On graphs and their application, 1916) all fit in as many time slots
/// as the busiest job or machine has operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torus::total_exchange {

/// Time slot by time slot, which job is on which machine. Grows operation by operation, moving earlier ones where it must.
class OpenShopTable {
 public:
  using Job = std::uint32_t;
  static constexpr Job none = 0xffffffffU;

  /// `slots`: at least the operations of any machine or job.
  OpenShopTable(std::size_t machines, std::size_t jobs, std::uint32_t slots);

  /// Adds operations of a job on a machine, each in the first slot in which both are free. Where there is none: in the job's first free
  /// slot, after moving operations between that slot and the machine's first free one, along the chain of jobs and machines that they
  /// connect. Cost: O(slots / 64 + operations of the job) an operation; a chain visits each job and machine at most once.
  void add(Job job, std::size_t machine, std::uint32_t operations);

  Job job_at(std::size_t machine, std::uint32_t slot) const noexcept { return jobs_[machine * slots_ + slot]; }

 private:
  struct Operation {
    std::uint32_t slot;
    std::uint32_t machine;
  };

  std::uint32_t first_free_of_job() const noexcept;
  std::uint32_t first_free_of_both(std::size_t machine) const noexcept;
  Operation* operation_at(Job job, std::uint32_t slot) noexcept;
  void put(Job job, std::size_t machine, std::uint32_t slot);
  void exchange_chain(std::size_t machine, std::uint32_t a, std::uint32_t b);

  std::uint32_t slots_;
  std::size_t words_;                               // of 64 slots
  std::vector<Job> jobs_;                           // machine by machine, slot by slot
  std::vector<std::uint64_t> busy_;                 // machine by machine, a bit a slot
  std::vector<std::uint32_t> first_free_;           // by machine
  std::vector<std::vector<Operation>> operations_;  // by job, in no order
  std::vector<std::uint64_t> job_busy_;             // of the job that is being added
};

}  // namespace torus::total_exchange
