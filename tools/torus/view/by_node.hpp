/// A trace of mapped ranks as one by nodes, for what draws nodes or follows what they hold.
#pragma once

#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/model/channel.hpp"

namespace torus::command {

/// Sources and numbers of blocks go by ranks, and here by the nodes that these are, as where rank r is node r. Any other trace stays as it
/// is.
class ByNode {
 public:
  explicit ByNode(const TraceHeader& header);

  /// With the map, since the order of a scan is the ranks'.
  const TraceHeader& header() const noexcept { return header_; }
  void rename(TraceMessage& message) const;
  /// "(1,3)", or "(1,3), rank 4".
  std::string name(NodeId node) const;
  /// "(1,3) 0:+1": the node, the dimension and the direction.
  std::string name(const ChannelName& channel) const;
  /// By node; empty: there is no map.
  const std::vector<NodeId>& ranks() const noexcept { return ranks_; }

 private:
  std::uint64_t renamed(std::uint64_t block) const noexcept;

  TraceHeader header_;
  std::vector<NodeId> ranks_;
  std::uint64_t of_rank_ = 0;  // blocks that a rank has numbers for; 0: numbers do not go by ranks
  bool of_pairs_ = false;
};

}  // namespace torus::command
