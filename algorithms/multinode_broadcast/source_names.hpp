/// What all nodes learn of the sources, in control words: their number, or which they are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <torus/machine.hpp>
#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast {

/// Counting over the whole torus: every node ends with the sum of what all nodes brought. Ternary along each dimension and back.
/// Machine  torus of any dimension, wormhole (single legs); with rings up to 3 nodes packet switching does.
/// Steps    2 sum over t of ceil(log3 n_t).   Header  one word.   Source  this project.
///
/// trees[i]: Line_3 along dimension axes[i].
ProgramOf<std::uint32_t> count_everywhere(Node& self, std::span<const Dimension> axes, std::span<const LineTree> trees, std::uint32_t own);

/// All nodes learn which nodes are sources, in control words.
///
/// Either along one dimension after the other: a ring is cut in arcs, the names of an arc gather at its root, the roots pass them on all
/// round the ring, each to the next root both ways, and spread them over their arcs; with one port forwards only. Or, on n x .. x n nodes
/// with all ports, where that takes fewer steps, by way of the plane (hyperplane/scheme.hpp).
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Steps    sum over the dimensions of min over r of 2 ceil(log_3 ceil(n_d / r)) + floor(r / 2), one port: 2 ceil(log_2 ..) + r - 1; or
///          2 ceil(log_{2k+1} n) + ceil(log_{k+1} n^(k-1)).
/// Bytes    at most 4 s a step, a word for each source.   Header  the names.   Source  this project; folklore.

/// What every node knows beforehand. An immutable value.
class SourceNames {
 public:
  explicit SourceNames(const Machine& machine);

  std::uint64_t steps() const noexcept;
  Bytes table_bytes() const noexcept;
  /// The frames of learn_sources() and what it calls.
  Bytes frames(const Machine& machine) const;

 private:
  friend Program learn_sources(Node& self, const SourceNames& scheme, Bundle& names);
  struct Tables;
  std::shared_ptr<const Tables> tables_;
};

/// names: in the end those of all sources, ascending. A source is a node that has blocks.
Program learn_sources(Node& self, const SourceNames& scheme, Bundle& names);

}  // namespace torus::multinode_broadcast
