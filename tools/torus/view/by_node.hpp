/// A trace of mapped ranks as one by nodes, for exports that number blocks by nodes.
#pragma once

#include <cstdint>

#include <torus/trace_reader.hpp>

namespace torus::command {

/// Sources and numbers of blocks go by ranks, and here by the nodes that these are, as where rank r is node r. Any other trace stays as it
/// is.
class ByNode {
 public:
  explicit ByNode(const TraceHeader& header);

  const TraceHeader& header() const noexcept { return header_; }
  void rename(TraceMessage& message) const;

 private:
  std::uint64_t renamed(std::uint64_t block) const noexcept;

  TraceHeader header_;
  std::uint64_t of_rank_ = 0;  // blocks that a rank has numbers for; 0: numbers do not go by ranks
  bool of_pairs_ = false;
};

}  // namespace torus::command
