/// The last phases of `hierarchical` where h does not divide a side: from the stations to all places, over windows of h places and more.
///
/// spread   (2-D) part t goes whole from every node of the DDNs over its window of the line across dimension t, in ternary: the places
///          nearer to it than to the next station of its class.
/// gather   part t lies, a class a place, on the stations of the lines along dimension t. Each place takes each class from the nearer side,
///          or half of it from either side if both are as near, in the step whose number is the distance, from its neighbour, which took
///          it one step before. Then the same along the next dimension.
/// Machine  2-D torus of any sides, wormhole (single legs), all ports.
/// Steps    spread: ceil(log3(longest window)), at times 1 more; gather: floor(longest gap / 2) a phase.   Header  none.
/// Source   this project; the gather is that of broadcast/row_classes.hpp.
#pragma once

#include <map>
#include <utility>

#include <torus/program.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/stations.hpp"

namespace torus::multinode {

/// The trees over the windows of all stations.
class ClassWindows {
 public:
  explicit ClassWindows(const Stations& stations);

  /// Of the station with a number: from its places on the - side to those on the + side, itself at 0.
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

/// Part t from the grid's nodes with equal classes.
Program spread_classes(Node& self, const ClassWindows& windows, const Station& station, std::vector<Bundle>& parts);

/// In `phases` phases: 1, or 2 where the parts are cut along the other dimension too.
Program gather_classes(Node& self, const ClassWindows& windows, const Station& station, std::int32_t phases, std::vector<Bundle>& parts);

}  // namespace torus::multinode
