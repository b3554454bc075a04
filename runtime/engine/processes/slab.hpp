/// The nodes of one process: a range of ranks.
#pragma once

#include <cstdint>
#include <string>

#include <torus/error.hpp>
#include <torus/topology.hpp>

#include "runtime/base/figures.hpp"

namespace torus::detail {

/// A *row* is all nodes that agree in the leading dimensions 0..s, where s is the least dimension that gives at least 8 rows a process, or
/// the last one. Process p of P has the rows [R p / P, R (p + 1) / P) of R. Slabs ascend by rank, so that "lowest node" and "ordered by
/// source" are the order of processes.
class Slab {
 public:
  /// Throws InputError if there are fewer nodes than processes.
  explicit Slab(const Topology& topology, std::uint32_t processes = 1, std::uint32_t self = 0) : processes_{processes}, self_{self} {
    const NodeId nodes = topology.nodes();
    if (nodes < processes) {
      throw InputError(std::to_string(processes) + " processes for the " + counted(nodes, "node") + " of " + topology.text() +
                       ": a process needs a node; choose at most " + counted(nodes, "process", "processes"));
    }
    rows_ = 1;
    row_nodes_ = nodes;
    for (Dimension d = 0; processes > 1 && d < topology.dimensions() && rows_ < std::uint64_t{8} * processes; ++d) {
      row_nodes_ /= static_cast<NodeId>(topology.extent(d));
      rows_ = nodes / row_nodes_;
      cut_dimensions_ = d + 1;
    }
    if (processes > 1 && topology.twisted()) cut_dimensions_ = topology.dimensions();  // a hop over an end may lead anywhere
    begin_ = first_of(self);
    end_ = first_of(self + 1);
  }

  NodeId begin() const noexcept { return begin_; }
  NodeId end() const noexcept { return end_; }
  NodeId nodes() const noexcept { return end_ - begin_; }
  /// Where part `part` of `parts` of the nodes begins.
  NodeId part_begin(unsigned part, unsigned parts) const noexcept {
    return begin_ + static_cast<NodeId>(std::uint64_t{nodes()} * part / parts);
  }
  bool owns(NodeId node) const noexcept { return node - begin_ < nodes(); }
  std::uint32_t owner(NodeId node) const noexcept {
    return static_cast<std::uint32_t>(((std::uint64_t{node} / row_nodes_ + 1) * processes_ - 1) / rows_);
  }
  std::uint32_t processes() const noexcept { return processes_; }
  std::uint32_t self() const noexcept { return self_; }
  bool whole() const noexcept { return processes_ == 1; }
  /// Whether hops along a dimension may leave a slab.
  bool cuts(Dimension d) const noexcept { return d < cut_dimensions_; }

 private:
  NodeId first_of(std::uint32_t process) const noexcept { return static_cast<NodeId>(rows_ * process / processes_ * row_nodes_); }

  std::uint32_t processes_;
  std::uint32_t self_;
  std::uint64_t rows_ = 1;
  NodeId row_nodes_ = 1;
  Dimension cut_dimensions_ = 0;
  NodeId begin_ = 0;
  NodeId end_ = 0;
};

}  // namespace torus::detail
