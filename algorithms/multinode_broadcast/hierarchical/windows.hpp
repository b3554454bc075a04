/// From the nodes of the DDNs into the windows of h nodes around them, in balanced ternary, part by part along different dimensions.
///
/// The windows are centred on the DDN's nodes and cross the borders of the DCNs: inside an h x h mesh a corner cannot reach its row in
/// ceil(log3 h) steps, but the torus repeats every bundle h places on. Part t of the payload starts at nodes whose coordinates are all
/// congruent modulo h; a node's DDN along the way is given by its coordinate in dimension t.
///   broadcast  part t along one dimension: every node of a window ends with the whole bundle.
///   scatter    part t along dimensions t+1, .., t+k-1 in turn: the bundle is cut in h^(k-1) runs, one for each node of the
///              window. All nodes of a DDN must hold its bundle in one order before: copies are cut alike.
/// Machine  torus of any dimension, h | every extent, wormhole (single legs), all ports.
/// Steps    broadcast ceil(log3 h); scatter (k-1) ceil(log3 h).   Header  none.
/// Source   Chen, Chen & Tseng, section 3.2.2 (row broadcasting); the scatter: this project.
///
/// Where h does not divide a side, the last phases go from the stations to all places, over windows of h places and more.
///
/// spread   (2-D) part t goes whole from every node of the DDNs over its window of the line across dimension t, in ternary: the places
///          nearer to it than to the next station of its class.
/// gather   part t lies, a class a place, on the stations of the lines along dimension t. Each place takes each class from the nearer side,
///          or half of it from either side if both are as near, in the step whose number is the distance, from its neighbour, which took
///          it one step before. Then the same along the next dimension.
/// Machine  2-D torus of any sides, wormhole (single legs), all ports.
/// Steps    spread: ceil(log3(longest window)), at times 1 more; gather: floor(longest gap / 2) a phase.   Header  none.
/// Source   this project; the gather is that of lines/deal.hpp.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"

namespace torus::multinode_broadcast::hierarchical {

/// The other way, for tori of three and more dimensions: all bundles of a window end at its node with congruent coordinates, dimension
/// 1 first. (k-1) ceil(log3 h) steps; others' bundles are empty then.
Program gather_windows(Node& self, const LineTree& window, Bundle& bundle);

/// Part 0 along dimension 1 and part 1 along dimension 0, whole.
Program broadcast_cross(Node& self, const LineTree& window, std::vector<Bundle>& parts);

/// Takes one part for each dimension; each node ends with its run of every part. station: where the node stands on a grid, if the windows
/// are of one.
Program scatter_windows(Node& self, const LineTree& window, std::vector<Bundle>& parts, const Station* station = nullptr);

/// The trees over the windows of all stations.
class ClassWindows {
 public:
  explicit ClassWindows(const Stations& stations);

  /// The tree of the station with a number: from its places on the - side to those on the + side, itself at 0.
  const LineTree& tree(Dimension d, std::int32_t index) const;
  /// The steps of the spread.
  std::int32_t levels() const noexcept { return levels_; }
  /// The steps of a phase of the gather.
  std::int32_t gather_steps() const noexcept { return stations_.longest_gap() / 2; }
  const Stations& stations() const noexcept { return stations_; }

  /// What a place takes in a step, 1 or more, of a gather along dimension d from its neighbour on the - (direction -1) or + side.
  struct Take {
    std::int32_t piece;  ///< the class
    bool half;           ///< the rest comes from the other side
  };
  std::optional<Take> taken(Dimension d, std::int32_t place, std::int32_t direction, std::int32_t step) const noexcept;

 private:
  std::pair<std::int32_t, std::int32_t> reach(Dimension d, std::int32_t index) const noexcept;

  Stations stations_;
  std::map<std::pair<std::int32_t, std::int32_t>, LineTree> trees_;  // by the places on either side
  std::int32_t levels_ = 0;
};

/// Spreads part t from the DDN nodes of the grid over their windows.
Program spread_classes(Node& self, const ClassWindows& windows, const Station& station, std::vector<Bundle>& parts);

/// In `phases` phases: 1, or 2 where the parts are cut along the other dimension too.
Program gather_classes(Node& self, const ClassWindows& windows, const Station& station, std::int32_t phases, std::vector<Bundle>& parts);

}  // namespace torus::multinode_broadcast::hierarchical
