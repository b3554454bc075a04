/// peers broadcast|alltoall|allreduce BYTES REPEAT TIMES: the collective of MPI, for bench/peers, which compiles it with an MPI's own
/// wrapper. Makes REPEAT runs and prints the seconds of each, one a line. A run does the collective TIMES times without a barrier between,
/// as IMB does. Its time is from when the first rank begins to when the last one ends, divided by TIMES. All ranks are on one host, by one
/// clock. Every byte at every rank is compared after each run, outside the time; a wrong one ends the program with 1. An all-reduce adds
/// floats that are small whole numbers, whose sum is exact in any order.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <string>
#include <vector>

namespace {

/// The host's time in all MPIs: SMPI has its simulated one in MPI_Wtime() and in clock_gettime(), but not in <chrono>.
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

/// A collective of so many bytes, of a block where there are several, with what it sends and what it gets.
class Work {
 public:
  Work(const std::string& collective, std::size_t bytes, int rank, int ranks)
      : collective_{collective}, bytes_{bytes}, rank_{rank}, ranks_{ranks} {
    const std::size_t blocks = collective == "alltoall" ? static_cast<std::size_t>(ranks) : 1;
    out_.resize(blocks * bytes);
    in_.resize(blocks * bytes);
  }

  void begin(int run) {
    std::fill(in_.begin(), in_.end(), static_cast<unsigned char>(0));
    if (collective_ == "broadcast" && rank_ == root) fill(in_.data(), bytes_, root, 0, run);
    for (int to = 0; collective_ == "alltoall" && to < ranks_; ++to) fill(block(out_, to), bytes_, rank_, to, run);
    for (std::size_t i = 0; collective_ == "allreduce" && i < floats(); ++i) put(out_, i, factor(run, i) * static_cast<float>(rank_ + 1));
  }
  void once() {
    const int bytes = static_cast<int>(bytes_);
    if (collective_ == "broadcast") MPI_Bcast(in_.data(), bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    if (collective_ == "alltoall") MPI_Alltoall(out_.data(), bytes, MPI_BYTE, in_.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    if (collective_ == "allreduce") MPI_Allreduce(out_.data(), in_.data(), static_cast<int>(floats()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  }
  bool good(int run) {
    if (collective_ == "broadcast") return right(in_.data(), bytes_, root, 0, run);
    for (int from = 0; collective_ == "alltoall" && from < ranks_; ++from) {
      if (!right(block(in_, from), bytes_, from, rank_, run)) return false;
    }
    for (std::size_t i = 0; collective_ == "allreduce" && i < floats(); ++i) {
      float got = 0;
      std::memcpy(&got, &in_[i * sizeof got], sizeof got);
      if (got != factor(run, i) * static_cast<float>(ranks_ * (ranks_ + 1) / 2)) return false;
    }
    return true;
  }

  static constexpr int root = 0;

 private:
  /// 1 to 8. A rank gives rank + 1 times as much: sums among 2,000 ranks are below 2^24, so exact.
  static float factor(int run, std::size_t i) { return static_cast<float>(1 + byte_of(root, 0, run, i) % 8); }
  static void put(std::vector<unsigned char>& vector, std::size_t i, float value) {
    std::memcpy(&vector[i * sizeof value], &value, sizeof value);
  }
  std::size_t floats() const { return bytes_ / sizeof(float); }
  unsigned char* block(std::vector<unsigned char>& blocks, int nth) const { return &blocks[static_cast<std::size_t>(nth) * bytes_]; }

  std::string collective_;
  std::size_t bytes_;
  int rank_, ranks_;
  std::vector<unsigned char> out_, in_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5) {
    if (rank == 0) std::fprintf(stderr, "peers broadcast|alltoall|allreduce BYTES REPEAT TIMES\n");
    MPI_Finalize();
    return 2;
  }
  const int repeat = std::atoi(argv[3]), times = std::atoi(argv[4]);
  constexpr int root = Work::root;
  Work work(argv[1], static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10)), rank, ranks);
  for (int run = 0; run < repeat; ++run) {
    work.begin(run);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    for (int time = 0; time < times; ++time) work.once();
    double end = now();
    MPI_Barrier(MPI_COMM_WORLD);  // else a rank that is ready would compare while others share its core
    int good = work.good(run) ? 1 : 0;
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
