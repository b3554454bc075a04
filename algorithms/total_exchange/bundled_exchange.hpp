/// Message combining on a torus: all blocks that a node passes on over one channel in one step travel as one message.
///
/// All nodes of a torus can do the same at the same time, so a schedule speaks of *classes*: class delta is, at every node x, the block of
/// x for node x + delta (coordinate-wise). A *class bundle* is the classes that leave every node together in one direction. It moves leg by
/// leg, and each leg drops the classes that have come far enough in this direction. Those are last in the list, so a node passes on a
/// front part of the list that has just arrived: it computes nothing and keeps nothing. Only for the first leg of a bundle a node looks the
/// classes up, in a table that all nodes share. The table is a cache: every node can compute its row from the machine's shape.
///
/// Header   none: which blocks travel together follows from the shape.
/// Memory   nothing a node beside its blocks; tables of 8 bytes a class and bundle that it travels in, and those of classes.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>
#include <torus/node.hpp>
#include <torus/program.hpp>
#include <torus/topology.hpp>

#include "algorithms/total_exchange/classes.hpp"

namespace torus::total_exchange {

struct ClassBundle {
  Leg leg = {};                          ///< of each move
  std::vector<RelativeBlock> departing;  ///< what a node sends in the first move, those with the most moves first
  std::vector<std::uint32_t> moving;     ///< the first moving[t] of them make move t
};

/// Bundles that start in the same step, and the steps until the next ones do.
struct Stage {
  std::uint32_t moves = 0;
  std::vector<ClassBundle> bundles;
};

/// How messages of several hops share a channel when every node sends one along the same leg.
enum class LongLegs : std::uint8_t {
  overlap,  ///< each channel of the direction carries as many as the leg has hops
  tile      ///< only one node in so many sends, and each channel carries one
};

/// The bundles of an algorithm, stage after stage, and where each class is in between.
class Timetable {
 public:
  /// Begins on a torus, every class at home. The topology must outlive this, but not what the run keeps of it.
  explicit Timetable(const Topology& topology);

  /// Begins a stage of so many moves, whatever its bundles need. A stage of no moves is left out.
  void begin_stage(std::uint32_t moves);

  /// Adds a bundle to the stage: each class makes as many moves along the leg as moves(class) says, none if that is not above 0. A class
  /// may be in one bundle of a stage.
  template <class Moves>
  void add_bundle(Leg leg, Moves moves) {
    std::vector<std::int32_t> of_class(where_.size());
    for (NodeId delta = 0; delta < of_class.size(); ++delta) of_class[delta] = moves(delta);
    add(leg, of_class);
  }

  const Topology& topology() const noexcept { return *topology_; }
  std::span<const Stage> stages() const noexcept { return stages_; }
  std::uint64_t steps() const noexcept;
  /// The block of a class as its holder sees it after all bundles so far; at its destination: {.., 0}.
  const RelativeBlock& where(NodeId delta) const noexcept { return where_[delta]; }
  Bytes table_bytes() const noexcept;

 private:
  void add(Leg leg, std::span<const std::int32_t> moves);

  const Topology* topology_;
  std::vector<RelativeBlock> where_;
  std::vector<Stage> stages_;
};

/// Blocks on the busiest channel, summed over the steps, where nodes follow different timetables of equal stages (or all the same one).
std::uint64_t blocks_on_busiest_channel(std::span<const Timetable> timetables, LongLegs legs) noexcept;

/// The program of a node that follows the timetable. Both tables are of the node's topology and must outlive the run.
Program travel(Node& self, const Timetable& timetable, const Offsets& offsets);

/// The plan of an algorithm whose nodes all follow the same timetable; `steps` is the formula's value, the bytes are counted in the tables.
Plan plan_of(Timetable timetable, std::uint64_t steps, std::string formula, Bytes block_bytes);

}  // namespace torus::total_exchange
