/// Message combining on a torus: all blocks that a node passes on over one channel in one step travel as one message.
///
/// On a torus every node can do the same at the same time, so a schedule speaks of *classes*: class delta is, at every node x, the block of
/// x for node x + delta (coordinate-wise). A *convoy* is the classes that leave every node together in one direction. It goes leg by
/// leg, and each leg loses the classes that have come far enough in this direction. Those are the last of the list, so a node passes on a
/// front part of the list that has just arrived: nothing is computed and nothing is kept for it. Only the first leg of a convoy is looked
/// up, class by class, in a table that all nodes share.
///
/// Header   none: who travels with whom follows from the machine's shape.   Memory  nothing a node beside its blocks; the tables: 8 bytes
/// a class and convoy it travels in, and those of offsets.hpp.
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

#include "algorithms/total_exchange/offsets.hpp"

namespace torus::exchange {

struct Convoy {
  Leg leg;                               ///< each move goes along it
  std::vector<RelativeBlock> departing;  ///< what a node puts together for the first move; who moves longest stands first
  std::vector<std::uint32_t> moving;     ///< the first moving[t] of them make move t
};

/// Convoys that start in the same step, and the steps until the next ones do.
struct Stage {
  std::uint32_t moves = 0;
  std::vector<Convoy> convoys;
};

/// What worms of several hops do to each other when every node sends one along the same leg.
enum class Worms : std::uint8_t {
  overlap,  ///< each channel of the direction carries as many as the leg has hops
  tile      ///< only every so many nodes send, and each channel carries one
};

/// The convoys of an algorithm, stage after stage, and where each class is in between.
class Timetable {
 public:
  /// Of a torus; every class is at home. The topology must outlive this, but not what the run keeps of it.
  explicit Timetable(const Topology& topology);

  /// Begins a stage of so many moves, whatever its convoys need. A stage without a move is none.
  void begin_stage(std::uint32_t moves);

  /// Adds a convoy to the stage: each class makes as many moves along the leg as moves(class) says; none if that is not above 0. A class
  /// may be in one convoy of a stage.
  template <class Moves>
  void add_convoy(Leg leg, Moves moves) {
    std::vector<std::int32_t> of_class(where_.size());
    for (NodeId delta = 0; delta < of_class.size(); ++delta) of_class[delta] = moves(delta);
    add(leg, of_class);
  }

  const Topology& topology() const noexcept { return *topology_; }
  std::span<const Stage> stages() const noexcept { return stages_; }
  std::uint64_t steps() const noexcept;
  /// Where the block of a class is seen from its holder once all convoys have arrived; at its destination: {.., 0}.
  const RelativeBlock& where(NodeId delta) const noexcept { return where_[delta]; }
  Bytes table_bytes() const noexcept;

 private:
  void add(Leg leg, std::span<const std::int32_t> moves);

  const Topology* topology_;
  std::vector<RelativeBlock> where_;
  std::vector<Stage> stages_;
};

/// Blocks on the busiest channel, summed over the steps, where nodes keep different timetables of equal stages (or all the same one).
std::uint64_t blocks_on_busiest_channel(std::span<const Timetable> timetables, Worms worms) noexcept;

/// The hops of the longest message of each step, summed, where nodes keep different timetables of equal stages.
std::uint64_t longest_legs(std::span<const Timetable> timetables) noexcept;

/// The program of a node: goes through the timetable. Both tables are of the node's topology and must outlive the run.
Program travel(Node& self, const Timetable& timetable, const Offsets& offsets);

/// The plan of an algorithm whose nodes all keep the same timetable; `steps` is the formula's value, the bytes are counted in the tables.
Plan plan_of(Timetable timetable, std::uint64_t steps, std::string formula, Bytes block_bytes);

}  // namespace torus::exchange
