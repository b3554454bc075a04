/// Scatters of several sources along the rings of one dimension, where some may share a ring.
///
/// Each source scatters its pieces over its own ring in the tree of LineSpread. Its worms enter one after the other, a parent's before its
/// children's, each in the first step in which all of its way is free. So the scatters of different rings take place at once, and those of
/// one ring as far as their ways allow: they take no more steps than one after the other. All nodes that know the sources find the same.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <torus/route.hpp>
#include <torus/topology.hpp>

#include "algorithms/broadcast/line_spread.hpp"

namespace torus::multinode {

/// Which channels of the rings along a dimension are taken when.
class RingTimetable {
 public:
  explicit RingTimetable(std::int32_t n) noexcept : n_{n} {}
  /// The first step, `ready` or later, in which a worm finds its way free. From then on it is taken.
  Step enter(NodeId ring, std::int32_t from, std::int32_t hops, Step ready);

 private:
  std::int32_t n_;
  std::map<NodeId, std::vector<std::vector<bool>>> taken_;  // by ring, step, and channel
};

/// One message of a scatter.
struct ScatterSend {
  Step step;
  NodeId from;
  Leg leg;
  NodeId source;
  std::uint32_t part;
  std::vector<std::int32_t> pieces;  ///< ascending
};

/// The places along a dimension to which pieces go, by class. A run of h classes serves one source.
struct SharedLines {
  const Topology& topology;
  broadcast::Ways ways;
  Dimension along;
  std::vector<std::vector<std::int32_t>> places;
  std::int32_t h;

  std::int32_t runs() const noexcept { return static_cast<std::int32_t>(places.size()) / h; }
};

/// Pieces of a source that leave a node for the places of as many classes.
struct Leaving {
  NodeId source, from;
  std::uint32_t part;
  std::int32_t first_class, classes;
};

/// Adds the sends of one tree to a timetable and a list.
void add_scatter(const SharedLines& lines, const Leaving& leaving, RingTimetable& timetable, std::vector<ScatterSend>& sends);

inline constexpr NodeId no_source = ~NodeId{0};

/// The scatters of all sources, each from itself to its run. owners: by run, a source or no_source.
std::vector<ScatterSend> shared_scatter(const SharedLines& lines, std::uint32_t part, std::span<const NodeId> owners);

/// A run for each of at most runs() sources: in the order in which they stand along the dimension, so that what shares a ring crosses
/// little. Of so many rotations of that order the one with the shortest scatter.
std::vector<NodeId> deal_runs(const SharedLines& lines, std::uint32_t part, std::span<const NodeId> sources, std::size_t rotations);

}  // namespace torus::multinode
