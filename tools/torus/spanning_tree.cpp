#include "tools/torus/spanning_tree.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"

namespace torus::command {

SpanningTree::SpanningTree(const TraceHeader& header, std::optional<NodeId> origin)
    : nodes_{header.machine.topology.nodes()}, knows_(nodes_), edge_of_(nodes_) {
  const std::string& collective = header.collective;
  const bool one_root = collective == "broadcast" || collective == "scatter" || collective == "reduce" || collective == "gather";
  if (collective == "multinode-broadcast" && header.sources.empty())
    throw InputError("the run has no source, and a tree begins at one; choose a run with a source, for instance --sources 0");
  root_ = origin.value_or(header.sources.empty() ? 0 : header.sources.front());
  if (one_root && origin)
    throw InputError(fmt::format("--origin {}: a {} has one root, ({}); leave the option out", *origin, collective,
                                 node_text(header.machine.topology, header.sources.front())));
  if (collective == "multinode-broadcast" && std::find(header.sources.begin(), header.sources.end(), root_) == header.sources.end())
    throw InputError(fmt::format("--origin {}: the node is no source; for instance --origin {}", root_, header.sources.front()));
  knows_[root_] = true;
  const std::string name = node_text(header.machine.topology, root_);
  if (collective == "reduce" || collective == "gather") {
    follows_ = Follows::last_data;
    meaning_ = "the last data that each node sent";
  } else if (one_root) {
    meaning_ = "the first data of each node";
  } else if (collective == "barrier") {
    follows_ = Follows::hearing;
    meaning_ = "how each node first heard of " + name;
  } else if (collective == "multinode-broadcast" || collective == "allgather" || collective == "total-exchange") {
    follows_ = Follows::blocks;
    blocks_of_origin_ = collective == "total-exchange" ? nodes_ : header.segments;
    meaning_ = "how each node first got a block of " + name;
  } else {
    follows_ = Follows::partials;
    segments_ = std::uint64_t{header.segments} * (collective == "reduce-scatter" ? nodes_ : 1);
    blocks_ = segments_ * header.registers;
    if (static_cast<double>(nodes_) * static_cast<double>(blocks_) > static_cast<double>(max_partials))
      throw InputError(
          fmt::format("each of {} nodes may hold {} partials, and at most {} in all are followed; choose a smaller run, or a --step",
                      grouped(nodes_), grouped(blocks_), grouped(max_partials)));
    partial_.resize(nodes_ * blocks_);
    std::fill_n(partial_.begin() + static_cast<std::ptrdiff_t>(root_ * blocks_), segments_, true);
    meaning_ = "how each node first got a partial with the contribution of " + name;
  }
}

bool SpanningTree::tells(const TraceMessage& m) const {
  switch (follows_) {
    case Follows::first_data: return !m.blocks.empty() && knows_[m.source];
    case Follows::last_data: return !m.blocks.empty();
    case Follows::hearing: return knows_[m.source];
    case Follows::blocks:
      return knows_[m.source] &&
             std::any_of(m.blocks.begin(), m.blocks.end(), [&](std::uint64_t block) { return block / blocks_of_origin_ == root_; });
    case Follows::partials:
      return std::any_of(m.blocks.begin(), m.blocks.end(),
                         [&](std::uint64_t block) { return block < blocks_ && partial_[m.source * blocks_ + block]; });
  }
  return false;
}

/// Senders have what they had when the step began; what they give away is gone before anything arrives.
void SpanningTree::move_partials(const std::vector<TraceMessage>& messages) {
  std::vector<std::pair<std::uint64_t, bool>> arrivals;  // where, and whether the origin has contributed to what comes
  std::vector<std::uint64_t> given, replaced;
  for (const TraceMessage& m : messages) {
    for (const std::uint64_t block : m.blocks) {
      if (block >= blocks_) continue;
      const std::uint64_t from = m.source * blocks_ + block, to = m.destination * blocks_;
      if (m.releases) given.push_back(from);
      if (m.registers == 0) {
        arrivals.emplace_back(to + block, partial_[from]);
        replaced.push_back(to + block);
      }
      for (std::uint32_t r = 0; r * segments_ < blocks_; ++r) {
        if ((unsigned{m.registers} >> r & 1U) != 0) arrivals.emplace_back(to + r * segments_ + block % segments_, partial_[from]);
      }
    }
  }
  for (const std::uint64_t at : given) partial_[at] = false;
  for (const std::uint64_t at : replaced) partial_[at] = false;
  for (const auto& [at, has] : arrivals) {
    if (has) partial_[at] = true;
  }
}

void SpanningTree::step(const std::vector<TraceMessage>& messages) {
  std::vector<NodeId> informed;
  for (const TraceMessage& m : messages) {
    if (!tells(m)) continue;
    const Edge edge{m.source, m.destination, m.step, !m.blocks.empty()};
    if (follows_ == Follows::last_data) {
      if (m.source == root_) continue;
      std::optional<Edge>& last = edge_of_[m.source];
      if (!last || last->step < m.step) last = edge;
    } else if (m.destination != root_ && !edge_of_[m.destination]) {
      edge_of_[m.destination] = edge;
      informed.push_back(m.destination);
    }
  }
  for (const NodeId node : informed) knows_[node] = true;
  if (follows_ == Follows::partials) move_partials(messages);
}

std::vector<SpanningTree::Edge> SpanningTree::edges() const {
  std::vector<Edge> edges;
  for (const std::optional<Edge>& edge : edge_of_) {
    if (edge) edges.push_back(*edge);
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.step < b.step; });
  return edges;
}

}  // namespace torus::command
