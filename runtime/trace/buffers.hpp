/// What waits at the nodes of a run to be sent on in a later step.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <torus/placement.hpp>
#include <torus/trace_reader.hpp>

namespace torus::detail {

/// Takes the messages of a trace, the steps ascending. Memory: O(blocks that have reached nodes).
class Buffers {
 public:
  explicit Buffers(const TraceHeader& header) : header_{header} {}

  void message(const TraceMessage& message);
  /// That have reached nodes; some 60 bytes of memory each.
  std::uint64_t blocks() const noexcept { return blocks_; }
  /// O(blocks that have reached nodes log steps).
  Buffered most() const;

 private:
  struct Wait {
    Step since = 0, until = 0;
    Bytes bytes = 0;
  };

  TraceHeader header_;
  std::uint64_t blocks_ = 0;
  std::unordered_map<NodeId, std::unordered_map<std::uint64_t, Wait>> waits_;
};

}  // namespace torus::detail
