/// The module torus-mpi.so: processes that speak through MPI. The only file that knows MPI.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <sched.h>
#include <string>
#include <vector>

#include "runtime/engine/processes/job.hpp"
#include "runtime/model/digest.hpp"

namespace torus::detail {
namespace {

/// The most bytes of one message of MPI, whose counts are int.
constexpr std::size_t most_bytes = std::size_t{1} << 30U;
enum Tag : int { of_rows = 1, of_boxes = 2 };

/// Polls, and from some 100 polls on gives the core away between them: MPI's own waiting would spin and keep it from the process waited
/// for.
void complete(std::vector<MPI_Request>& requests) {
  for (unsigned polls = 0;; ++polls) {
    int done = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    if (polls > 100) ::sched_yield();
  }
}

/// A hash of the cores that this process may run on.
std::uint64_t cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  return XXH3_64bits(&mask, sizeof mask);
}

class MpiJob final : public Job {
 public:
  MpiJob() {
    MPI_Comm_rank(MPI_COMM_WORLD, &self_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &on_this_host_);
    const std::uint64_t mine = cores();
    std::vector<std::uint64_t> all(static_cast<std::size_t>(on_this_host_));
    MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, host);
    on_these_cores_ = static_cast<int>(std::count(all.begin(), all.end(), mine));
    MPI_Comm_free(&host);
  }

  unsigned self() const noexcept override { return static_cast<unsigned>(self_); }
  unsigned count() const noexcept override { return static_cast<unsigned>(count_); }
  unsigned on_this_host() const noexcept override { return static_cast<unsigned>(on_this_host_); }
  unsigned on_these_cores() const noexcept override { return static_cast<unsigned>(on_these_cores_); }

  void all_to_all(std::span<const std::byte> rows, std::span<std::byte> received) override {
    const std::size_t part = rows.size() / count();
    requests_.clear();
    for (unsigned p = 0; p < count(); ++p) {
      if (p != self()) receive(received.subspan(p * part, part), p, of_rows);
    }
    for (unsigned p = 0; p < count(); ++p) {
      if (p != self()) send(rows.subspan(p * part, part), p, of_rows);
    }
    std::memcpy(received.data() + self() * part, rows.data() + self() * part, part);
    complete(requests_);
  }

  void exchange(std::span<const std::span<const std::byte>> outgoing, std::span<const std::span<std::byte>> incoming) override {
    requests_.clear();
    for (unsigned p = 0; p < count(); ++p) {
      if (p != self()) receive(incoming[p], p, of_boxes);
    }
    for (unsigned p = 0; p < count(); ++p) {
      if (p != self()) send(outgoing[p], p, of_boxes);
    }
    complete(requests_);
  }

  void end() override {
    std::vector<MPI_Request> barrier(1);
    MPI_Ibarrier(MPI_COMM_WORLD, barrier.data());
    complete(barrier);
    MPI_Finalize();
  }

 private:
  void receive(std::span<std::byte> bytes, unsigned from, int tag) {
    for (std::size_t at = 0; at < bytes.size(); at += most_bytes) {
      MPI_Irecv(bytes.data() + at, static_cast<int>(std::min(most_bytes, bytes.size() - at)), MPI_BYTE, static_cast<int>(from), tag,
                MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }
  void send(std::span<const std::byte> bytes, unsigned to, int tag) {
    for (std::size_t at = 0; at < bytes.size(); at += most_bytes) {
      MPI_Isend(bytes.data() + at, static_cast<int>(std::min(most_bytes, bytes.size() - at)), MPI_BYTE, static_cast<int>(to), tag,
                MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }

  int self_ = 0, count_ = 1, on_this_host_ = 1, on_these_cores_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace
}  // namespace torus::detail

extern "C" torus::detail::Job* torus_open_job(std::string& why_not) {
  // Open MPI would read other processes' memory by system calls: slow where hosts are virtual. Who wants it says so in the environment.
  ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);  // NOLINT(concurrency-mt-unsafe): there are no other threads yet
  ::setenv("OMPI_MCA_btl_sm_single_copy_mechanism", "none", 0);     // NOLINT(concurrency-mt-unsafe)
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS || level < MPI_THREAD_SERIALIZED) {
    why_not = "MPI does not start with threads (MPI_THREAD_SERIALIZED)";
    return nullptr;
  }
  return new torus::detail::MpiJob;  // lives as long as the process
}
