/// peers broadcast|alltoall BYTES REPEAT: the collective of MPI, for bench/peers, which compiles it with an MPI's own wrapper.
/// Prints seconds, one a line: a run does the collective some times without a barrier between, as IMB does, and its time is from when the
/// first rank begins to when the last one ends, over the number of times. All ranks are on one host, by one clock. Every byte at every rank
/// is compared after each run, outside the time; a wrong one ends the program with 1.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

constexpr int times = 20;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A byte that says where it comes from, where it goes and in which run.
unsigned char byte_of(int from, int to, int run, std::size_t at) {
  std::uint64_t x = (static_cast<std::uint64_t>(from) * 4099 + static_cast<std::uint64_t>(to)) * 4099 + static_cast<std::uint64_t>(run);
  x = (x + at) * 0x9e3779b97f4a7c15U;
  return static_cast<unsigned char>(x >> 56U);
}

void fill(unsigned char* block, std::size_t bytes, int from, int to, int run) {
  for (std::size_t i = 0; i < bytes; ++i) block[i] = byte_of(from, to, run, i);
}

bool right(const unsigned char* block, std::size_t bytes, int from, int to, int run) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (block[i] != byte_of(from, to, run, i)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) {
    if (rank == 0) std::fprintf(stderr, "peers broadcast|alltoall BYTES REPEAT\n");
    MPI_Finalize();
    return 2;
  }
  const bool broadcast = std::string(argv[1]) == "broadcast";
  const auto bytes = static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10));
  const int repeat = std::atoi(argv[3]);
  const int root = 0;
  const std::size_t blocks = broadcast ? 1 : static_cast<std::size_t>(ranks);
  std::vector<unsigned char> out(blocks * bytes), in(blocks * bytes);
  for (int run = 0; run < repeat; ++run) {
    std::fill(in.begin(), in.end(), static_cast<unsigned char>(0));
    if (broadcast && rank == root) fill(in.data(), bytes, root, 0, run);
    for (int to = 0; !broadcast && to < ranks; ++to) fill(&out[static_cast<std::size_t>(to) * bytes], bytes, rank, to, run);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    for (int time = 0; time < times; ++time) {
      if (broadcast)
        MPI_Bcast(in.data(), static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
      else
        MPI_Alltoall(out.data(), static_cast<int>(bytes), MPI_BYTE, in.data(), static_cast<int>(bytes), MPI_BYTE, MPI_COMM_WORLD);
    }
    double end = now();
    int good = 1;
    if (broadcast) good = right(in.data(), bytes, root, 0, run) ? 1 : 0;
    for (int from = 0; !broadcast && from < ranks; ++from)
      good = good != 0 && right(&in[static_cast<std::size_t>(from) * bytes], bytes, from, rank, run) ? 1 : 0;
    double first = 0, last = 0;
    int all_good = 0;
    MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, root, MPI_COMM_WORLD);
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
    MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all_good == 0) {
      if (rank == root) std::fprintf(stderr, "run %d: a byte is wrong\n", run);
      MPI_Finalize();
      return 1;
    }
    if (rank == root) std::printf("%.9f\n", (last - first) / times);
  }
  MPI_Finalize();
  return 0;
}
