// One search, hence one file: colours of squares, and the cycles that they make.
#include "algorithms/reduction/reduce_scatter/hamiltonian_cycles.hpp"

#include <numeric>
#include <random>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/common/shapes.hpp"

namespace torus::reduction {
namespace {

using Colour = std::uint8_t;

class Search {
 public:
  explicit Search(const Topology& topology) : topology_{topology}, linked_{linked_dimensions(topology)} {
    colours_.resize(linked_.size(), std::vector<Colour>(topology.nodes()));
    for (std::size_t d = 0; d < linked_.size(); ++d) colours_[d].assign(topology.nodes(), static_cast<Colour>(d));
    names_.resize(linked_.size(), std::vector<std::uint64_t>(topology.nodes()));
    std::vector<NodeId> all(topology.nodes());
    std::iota(all.begin(), all.end(), NodeId{0});
    for (std::size_t c = 0; c < linked_.size(); ++c) cycles_.push_back(rename(all, static_cast<Colour>(c)));
  }

  bool run() {
    constexpr std::uint64_t tries_a_node = 2000, fewest_tries = 200'000;
    const std::uint64_t most = fewest_tries + tries_a_node * topology_.nodes();
    for (std::uint64_t i = 0; i < most && !done(); ++i) exchange();
    return done();
  }

  HamiltonianCycle cycle(Colour colour) const {
    HamiltonianCycle out;
    out.position.resize(topology_.nodes());
    Way way = leaving(0, colour);
    NodeId at = 0;
    do {
      out.position[at] = static_cast<std::uint32_t>(out.order.size());
      out.order.push_back(at);
      out.dimension.push_back(linked_[way.axis]);
      out.direction.push_back(static_cast<std::int8_t>(way.hops));
      at = next(at, way);
      way = onward(at, way, colour);
    } while (at != 0);
    return out;
  }

 private:
  /// One link, in one direction.
  struct Way {
    std::size_t axis = 0;
    std::int32_t hops = 0;
  };

  bool done() const {
    for (const NodeId count : cycles_) {
      if (count > 1) return false;
    }
    return true;
  }

  NodeId next(NodeId at, Way way) const { return *topology_.neighbour(at, linked_[way.axis], way.hops); }
  /// The colour of a node's link by + or -. A link's colour is kept at its lower end, the one that leaves it by +.
  Colour colour_of(NodeId at, Way way) const { return colours_[way.axis][way.hops > 0 ? at : next(at, way)]; }

  Way leaving(NodeId at, Colour colour) const {
    for (std::size_t axis = 0; axis < linked_.size(); ++axis) {
      if (colours_[axis][at] == colour) return {axis, +1};
    }
    return onward(at, {0, 0}, colour);
  }

  /// The node's link of that colour, other than the one by which it was reached.
  Way onward(NodeId at, Way came, Colour colour) const {
    for (std::size_t axis = 0; axis < linked_.size(); ++axis) {
      for (const std::int32_t hops : {+1, -1}) {
        const bool back = axis == came.axis && hops == -came.hops;
        if (!back && colour_of(at, {axis, hops}) == colour) return {axis, hops};
      }
    }
    throw RunError("a colour of hamiltonian has lost a link");
  }

  /// Names the cycles of a colour through the nodes anew, by a walk round each; how many they are.
  NodeId rename(const std::vector<NodeId>& nodes, Colour colour) {
    const std::uint64_t first = next_name_;
    for (const NodeId start : nodes) {
      if (names_[colour][start] >= first) continue;
      Way way = leaving(start, colour);
      NodeId at = start;
      do {
        names_[colour][at] = next_name_;
        at = next(at, way);
        way = onward(at, way, colour);
      } while (at != start);
      ++next_name_;
    }
    return static_cast<NodeId>(next_name_ - first);
  }

  void exchange() {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random_() % n); };
    const auto v = static_cast<NodeId>(below(topology_.nodes()));
    const std::size_t a = below(linked_.size());
    const std::size_t b = (a + 1 + below(linked_.size() - 1)) % linked_.size();
    const NodeId beside = next(v, {b, +1}), above = next(v, {a, +1}), opposite = next(above, {b, +1});
    Colour &along = colours_[a][v], &along_too = colours_[a][beside], &across = colours_[b][v], &across_too = colours_[b][above];
    if (along != along_too || across != across_too || along == across) return;
    const Colour first = along, second = across;
    const std::vector<NodeId> corners{v, beside, above, opposite};
    // Two cycles become one. One becomes one or two.
    const NodeId before_first = names_[first][v] != names_[first][beside] ? 2 : 1;
    const NodeId before_second = names_[second][v] != names_[second][above] ? 2 : 1;
    constexpr std::size_t seldom = 16;  // joins nothing: only to come to other squares
    if (before_first + before_second == 2 && below(seldom) > 0) return;
    const auto swap_colours = [&] {
      std::swap(along, across);
      std::swap(along_too, across_too);
      return std::pair(rename(corners, first), rename(corners, second));
    };
    const auto [after_first, after_second] = swap_colours();
    if (after_first + after_second > before_first + before_second) {
      swap_colours();
      return;
    }
    cycles_[first] = cycles_[first] - before_first + after_first;
    cycles_[second] = cycles_[second] - before_second + after_second;
  }

  const Topology& topology_;
  std::vector<Dimension> linked_;
  std::vector<std::vector<Colour>> colours_;       // by axis, by rank
  std::vector<NodeId> cycles_;                     // by colour: how many
  std::vector<std::vector<std::uint64_t>> names_;  // by colour, by rank: of the cycle that the node is in
  std::uint64_t next_name_ = 1;
  std::mt19937_64 random_{1};
};

}  // namespace

std::vector<HamiltonianCycle> hamiltonian_cycles(const Topology& topology) {
  Search search(topology);
  if (!search.run())
    throw RunError("hamiltonian found no " + std::to_string(linked_dimensions(topology).size()) + " cycles on " + topology.text() +
                   "; rings would do");
  std::vector<HamiltonianCycle> cycles;
  for (Colour c = 0; c < linked_dimensions(topology).size(); ++c) {
    cycles.push_back(search.cycle(c));
    TORUS_ASSERT(cycles.back().order.size() == topology.nodes());
  }
  return cycles;
}

}  // namespace torus::reduction
