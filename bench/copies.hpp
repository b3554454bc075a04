/// What a broadcast would cost if it were nothing but its copies: the denominator of every throughput.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <torus/executor.hpp>
#include <torus/machine.hpp>

#include "bench/shares.hpp"
#include "runtime/base/region.hpp"

namespace torus::bench {

/// How copies are written: through the cache, or past it (non-temporal stores; plain where the host has none).
enum class Stores : std::uint8_t { plain, streaming };
std::string_view name(Stores stores) noexcept;

/// A copy of the payload, or of a part of it, from one place in memory to another.
struct Copy {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t first = 0;  ///< of the bytes; as the next, a multiple of 64
  std::uint32_t bytes = 0;  ///< 0: all
};
/// Copies round by round, a barrier between two rounds; the sources of a round have been filled before it.
using Rounds = std::vector<std::vector<Copy>>;

/// A tree: in every round those that have the payload copy it to `children` places each, neighbours from the same source, until all have
/// it.
Rounds tree_of_copies(NodeId places, unsigned children);

/// A payload that spreads over places in memory as a broadcast spreads over nodes. All memory is touched beforehand, on huge pages where
/// the host has them.
class Copies {
 public:
  /// bytes: of the payload, a multiple of 64. The executor must outlive this.
  Copies(NodeId places, Bytes bytes, Rounds rounds, Executor& executor);

  /// Makes a new payload at place 0 and brings it to all; gives the seconds that the bringing took.
  double run(Stores stores);

  /// Whether every place has the payload of the last run.
  bool complete() const;

  /// Bytes that a run delivers: the payload, once for each place but the first.
  Bytes delivered() const noexcept { return (places_ - 1) * bytes_; }

 private:
  void round(const std::vector<Copy>& copies, Stores stores);
  std::byte* place(std::uint64_t i) noexcept { return memory_.data() + i * bytes_; }

  std::uint64_t places_;
  std::size_t bytes_;
  Rounds rounds_;
  torus::detail::Region<std::byte> memory_;
  Shares shares_;
  std::uint32_t runs_ = 0;  // each has a payload of its own, so that nothing of the last one counts
};

}  // namespace torus::bench
