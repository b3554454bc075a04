#include "tools/torus/view/trace_groups.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "runtime/base/figures.hpp"

namespace torus::command {

TraceGroups::TraceGroups(const TraceHeader& header)
    : topology_{header.machine.topology},
      said_{!header.groups.empty()},
      mapped_{header.mapped()},
      nodes_{header.groups},
      places_(said_ ? topology_.nodes() : 0) {
  for (NodeId group = 0; group < nodes_.size(); ++group) {
    for (NodeId rank = 0; rank < nodes_[group].size(); ++rank) places_[nodes_[group][rank]] = {group, rank};
  }
}

NodeId TraceGroups::most_nodes() const noexcept {
  NodeId most = 0;
  for (NodeId group = 0; group < count(); ++group) most = std::max(most, nodes(group));
  return most;
}

std::vector<NodeId> TraceGroups::nodes_of(const std::vector<NodeId>& ranks) const {
  std::vector<NodeId> found;
  for (NodeId group = 0; group < count(); ++group) {
    for (const NodeId rank : ranks) found.push_back(node(group, rank));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<NodeId> TraceGroups::colour() const {
  std::vector<NodeId> colour;
  for (NodeId group = 0; group < count(); ++group) {
    std::vector<bool> taken(colours);  // by a linked group that has one
    for (NodeId rank = 0; rank < nodes(group) && count() > colours; ++rank) {
      for (Dimension d = 0; d < topology_.dimensions(); ++d) {
        for (const std::int32_t hop : {1, -1}) {
          const auto other = topology_.neighbour(node(group, rank), d, hop);
          if (other && place(*other).group < group) taken[colour[place(*other).group]] = true;
        }
      }
    }
    NodeId chosen = group % colours;
    for (NodeId tries = 0; tries < colours && taken[chosen]; ++tries) chosen = (chosen + 1) % colours;
    colour.push_back(chosen);
  }
  return colour;
}

std::string TraceGroups::name(NodeId node) const {
  const std::string at = node_text(topology_, node);
  return mapped_ ? fmt::format("{}, rank {}", at, place(node).rank) : at;
}

std::string TraceGroups::name(const ChannelName& channel) const {
  return fmt::format("{} {}:{:+}", name(channel.from), channel.dimension, channel.hop);
}

}  // namespace torus::command
