/// The sources of `joint-swath` that go out at the same time: the rows that each has, and the scatter.
///
/// A source scatters along its own ring, straight to its rows. Where a class has several rows, it may also go by columns: it scatters its
/// pieces along the next dimension, each to a column of its own, and from there each goes out to its rows. So no message carries more
/// pieces than it must, and columns are not shared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/broadcast/row_classes.hpp"
#include "algorithms/multinode_broadcast/joint_frame.hpp"
#include "algorithms/multinode_broadcast/shared_scatter.hpp"

namespace torus::multinode {

struct JointRound {
  std::vector<std::vector<NodeId>> owners;         ///< by part and run of rows: a source, or no_source
  std::vector<std::vector<std::int32_t>> holders;  ///< by part and class: the place along(part, 1) from which its rows are served
  std::vector<ScatterSend> scatter;                ///< in the order of steps, then of senders
  Step scatter_steps = 0;
};

/// How the sources of a round go out.
struct JointWay {
  std::int32_t h;         ///< pieces of a part
  bool by_columns;        ///< not straight to the rows
  std::size_t rotations;  ///< of the runs, that are tried
};

/// classes: by part.
JointRound make_joint_round(const JointFrame& frame, std::span<const broadcast::RowClasses> classes, const JointWay& way,
                            std::span<const NodeId> sources);

}  // namespace torus::multinode
