// One search that shares its state throughout, hence one file: the candidates of a step, and what to try when a flow falls short.
#include "algorithms/broadcast/synthesis/synthesizer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <torus/error.hpp>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"
#include "algorithms/common/integers.hpp"

namespace torus::broadcast {
namespace {

constexpr std::uint32_t most_dead_ends = 12;  // a step, before the search goes back to the later one
constexpr std::uint64_t resort_rounds = 12;
constexpr std::uint64_t most_rows_less = 7;
constexpr std::size_t lattices_to_stretch = 30;

/// Flows that a round of last resorts may spend, fewer on large tori: some seconds at most in all.
std::uint64_t lattice_scans(const Topology& topology) { return std::clamp<std::uint64_t>(400'000 / topology.nodes(), 1, 200); }
std::uint64_t flow_repairs(const Topology& topology) { return std::clamp<std::uint64_t>(800'000 / topology.nodes(), 2, 400); }

/// A line without a hole.
bool is_plain_line(const Topology& topology) { return is_line(topology) && topology.whole(); }

}  // namespace

Synthesizer::Synthesizer(const Topology& topology, std::int32_t ports, NodeId root)
    : topology_{topology},
      ports_{ports},
      root_{root},
      torus_{is_torus(topology) && topology.whole()},
      living_{topology.living_nodes()},
      flow_{topology, ports},
      origin_{root} {
  TORUS_ASSERT(is_torus_or_mesh(topology));
  Senders nodes;
  const auto messages = [&](NodeId node) { return std::min(static_cast<std::uint64_t>(ports), channels_of(topology, node)); };
  for (const NodeId node : living_ranks(topology)) ++nodes[messages(node)];
  reach_ = growth(std::move(nodes), messages(root));
  if (is_plain_line(topology)) reach_.resize(line_broadcast(topology, ports, root).size() + 1, topology.nodes());
}

std::optional<std::vector<std::vector<Circuit>>> Synthesizer::broadcast_in(std::uint32_t steps) {
  if (is_plain_line(topology_)) {
    circuits_ = line_broadcast(topology_, ports_, root_);
    if (circuits_.size() > steps) return std::nullopt;
  } else {
    circuits_.assign(steps, {});
    dead_ends_.assign(steps, 0);
    last_look_ = looks() + most_looks(topology_);
    if (steps == 0) return living_ == 1 ? std::optional{std::move(circuits_)} : std::nullopt;
    if (!choose(steps - 1, living_ranks(topology_))) return std::nullopt;
  }
  move_to_node_0(topology_, origin_, circuits_);
  return std::move(circuits_);
}

std::vector<std::vector<Circuit>> Synthesizer::greedy_broadcast() {
  std::vector<std::vector<Circuit>> steps;
  Nodes informed{root_};
  const Nodes all = living_ranks(topology_);
  while (informed.size() < all.size()) {
    static_cast<void>(unserved(informed, all));
    steps.push_back(flow_.circuits());
    TORUS_ASSERT(!steps.back().empty() && "a machine that is cut apart");
    for (const Circuit& circuit : steps.back()) informed.push_back(circuit.to);
    std::sort(informed.begin(), informed.end());
  }
  move_to_node_0(topology_, root_, steps);
  return steps;
}

/// 2x4x300 with 6 ports, the hardest torus known, takes 180 million. A search that succeeds looks at some hundred channels a node.
std::uint64_t Synthesizer::most_looks(const Topology& topology) { return 500'000'000 + 4000 * std::uint64_t{topology.nodes()}; }

/// Whether a step, or all steps, have had enough tries. Dead ends alone bound nothing: those of each step multiply.
bool Synthesizer::gives_up(std::uint32_t step) const { return dead_ends_[step] >= most_dead_ends || looks() >= last_look_; }

bool Synthesizer::choose(std::uint32_t step, const Nodes& after) {
  if (step == 0) return find_origin(after);
  NearMiss best{{}, after.size()};
  const std::vector<std::size_t> all_sizes = sizes(step, after.size());
  for (const std::size_t size : all_sizes) {
    if (attempt_spreads(step, size, size == all_sizes.back(), after, best)) return true;
    if (gives_up(step)) return false;
  }
  return last_resorts(step, all_sizes.back(), after, std::move(best));
}

/// Rounds of more random choices of the largest size; the nearest miss of each round is repaired.
bool Synthesizer::last_resorts(std::uint32_t step, std::size_t size, const Nodes& after, NearMiss best) {
  const bool dense = after.size() == living_;
  for (std::uint64_t round = 0; round < resort_rounds; ++round) {
    for (std::uint64_t i = 0; i < (dense ? lattice_scans(topology_) : 2); ++i) {
      const Nodes before = !dense       ? balanced_partition(topology_, after, size, random_shift(topology_, random_))
                           : i % 2 == 0 ? stretched_lattice(size)
                                        : quasi_lattice(topology_, random_multipliers(topology_, random_), size, root_);
      if (attempt(step, with_root(before), after, best)) return true;
      if (gives_up(step)) return false;
    }
    if (repair(step, after, best)) return true;
    if (gives_up(step)) return false;
    best = {{}, after.size()};
  }
  return false;
}

/// The sizes to try, in this order. A little more than the minimum is likely to succeed and leaves slack to the earlier steps. The minimum
/// itself leaves most slack but is hard to reach.
std::vector<std::size_t> Synthesizer::sizes(std::uint32_t step, std::size_t after) const {
  const auto base = static_cast<std::uint64_t>(ports_) + 1;
  const std::uint64_t cap = std::min<std::uint64_t>(reach_[std::min<std::size_t>(step, reach_.size() - 1)], after - 1);
  const std::uint64_t least = ceil_div<std::uint64_t>(after, base);
  const double slack = static_cast<double>(cap) / static_cast<double>(least);
  std::vector<std::size_t> all;
  for (const double factor : {std::min(1.15, std::pow(slack, 0.5)), std::min(1.35, std::pow(slack, 0.7)), 1.0, 1.6, 2.0, 3.0, 5.0}) {
    const auto size = static_cast<std::uint64_t>(static_cast<double>(least) * factor);
    if (size < cap && std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
  }
  all.push_back(cap);
  return all;
}

bool Synthesizer::attempt_spreads(std::uint32_t step, std::size_t size, bool last, const Nodes& after, NearMiss& best) {
  const auto go_on = [&] { return !gives_up(step); };
  const bool dense = after.size() == living_;
  if (dense) {
    for (const Multipliers& p : promising_multipliers(topology_, ports_, last ? 60 : 5, random_)) {
      if (attempt(step, with_root(quasi_lattice(topology_, p, size, root_)), after, best)) return true;
      if (!go_on()) return false;
    }
  }
  const int tries = dense && !last ? 2 : 7;
  for (int i = 0; i < tries && go_on(); ++i) {
    const Coordinates shift = i == 0 ? Coordinates(static_cast<std::size_t>(topology_.dimensions()), 0) : random_shift(topology_, random_);
    if (attempt(step, with_root(balanced_partition(topology_, after, size, shift)), after, best)) return true;
  }
  return false;
}

bool Synthesizer::attempt(std::uint32_t step, const Nodes& chosen, const Nodes& after, NearMiss& best) {
  Nodes before = chosen;
  if (living_ < topology_.nodes())
    before.erase(std::remove_if(before.begin(), before.end(), [&](NodeId node) { return !topology_.living(node); }), before.end());
  const std::size_t left = unserved(before, after);
  if (left > 0) {
    if (left < best.unserved) best = {before, left};
    return false;
  }
  circuits_[step] = flow_.circuits();
  if (choose(step - 1, before)) return true;
  dead_ends_[step - 1] = 0;
  ++dead_ends_[step];
  return false;
}

bool Synthesizer::find_origin(const Nodes& after) {
  for (const NodeId origin : after) {
    if (!torus_ && origin != root_) continue;
    if (unserved({origin}, after) > 0) continue;
    circuits_[0] = flow_.circuits();
    origin_ = origin;
    return true;
  }
  return false;
}

/// Simulated annealing on the number of unserved nodes: a member with free ports moves near an unserved node, or by one hop.
bool Synthesizer::repair(std::uint32_t step, const Nodes& after, const NearMiss& best) {
  if (best.before.empty() || best.unserved == 0) return false;
  std::vector<std::uint8_t> free(topology_.nodes(), 0);  // may become a member
  for (const NodeId node : after) free[node] = 1;
  for (const NodeId node : best.before) free[node] = 0;
  Nodes before = best.before;
  std::size_t left = unserved(before, after);
  Nodes missing = flow_.unserved();
  Nodes spare;
  const auto note_spare = [&] {
    spare.clear();
    std::copy_if(before.begin(), before.end(), std::back_inserter(spare), [&](NodeId node) { return flow_.sends(node) < ports_; });
  };
  note_spare();
  for (std::uint64_t i = 0; i < flow_repairs(topology_) && !gives_up(step); ++i) {
    const NodeId leaves = !spare.empty() && below(10) < 8 ? spare[below(spare.size())] : before[below(before.size())];
    if (!torus_ && leaves == root_) continue;
    const bool far = below(10) < 8;
    const std::optional<NodeId> comes = far ? near(missing[below(missing.size())], 3, free) : near(leaves, 1, free);
    if (!comes) continue;
    Nodes changed = before;
    *std::find(changed.begin(), changed.end(), leaves) = *comes;
    std::sort(changed.begin(), changed.end());
    const std::size_t now = unserved(changed, after);
    if (now == 0) {
      NearMiss no_miss{{}, 0};
      return attempt(step, changed, after, no_miss);
    }
    if (!anneal(left, now, random_)) continue;
    free[leaves] = 1;
    free[*comes] = 0;
    before = std::move(changed);
    left = now;
    missing = flow_.unserved();
    note_spare();
  }
  return false;
}

std::size_t Synthesizer::unserved(const Nodes& before, const Nodes& after) {
  Nodes targets;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(targets));
  ++flows_;
  return targets.size() - flow_.solve(before, targets);
}

/// On a mesh the root must be in every set.
Synthesizer::Nodes Synthesizer::with_root(Nodes nodes) const { return torus_ ? nodes : with_node(topology_, std::move(nodes), root_); }

/// The lattice of a torus with a few rows fewer; the remaining members lie in those rows, which circuits can cross undisturbed.
/// For thin tori that are almost full, whose extents allow no perfect lattice.
Synthesizer::Nodes Synthesizer::stretched_lattice(std::size_t count) {
  std::vector<DimensionShape> shape(topology_.shape().begin(), topology_.shape().end());
  const auto d = static_cast<std::size_t>(below(shape.size()));
  const std::uint64_t rows_less = 1 + below(most_rows_less);
  shape[d].extent = std::max(1, shape[d].extent - static_cast<std::int32_t>(rows_less));
  const Topology smaller(shape);
  const std::size_t base = static_cast<std::size_t>(ports_) + 1;
  const std::size_t members = std::min(count, (smaller.nodes() + base - 1) / base);
  std::vector<Multipliers>& nearest = stretched_[{d, rows_less}];
  if (nearest.empty()) nearest = nearest_multipliers(smaller, ports_, lattices_to_stretch);
  const std::size_t drawn = below(lattices_to_stretch);
  const Multipliers p = drawn < nearest.size() ? nearest[drawn] : random_multipliers(smaller, random_);
  Nodes nodes;
  for (const NodeId node : quasi_lattice(smaller, p, members)) nodes.push_back(topology_.rank(smaller.coordinates(node)));
  Nodes rows;
  for (NodeId node = 0; node < topology_.nodes(); ++node) {
    if (topology_.coordinate(node, static_cast<Dimension>(d)) >= shape[d].extent) rows.push_back(node);
  }
  if (count - members > rows.size()) return quasi_lattice(topology_, random_multipliers(topology_, random_), count);
  if (count > members) {
    const Nodes more = balanced_partition(topology_, rows, count - members, random_shift(topology_, random_));
    nodes.insert(nodes.end(), more.begin(), more.end());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// A free node at most `hops` hops away, by random walks.
std::optional<NodeId> Synthesizer::near(NodeId node, std::uint64_t hops, const std::vector<std::uint8_t>& free) {
  for (int walk = 0; walk < 10; ++walk) {
    NodeId at = node;
    if (hops > 1 && free[at] != 0 && below(4) == 0) return at;
    for (std::uint64_t h = 1 + below(hops); h > 0; --h) {
      const auto d = static_cast<Dimension>(below(static_cast<std::uint64_t>(topology_.dimensions())));
      if (topology_.extent(d) > 1) at = topology_.neighbour(at, d, below(2) == 0 ? 1 : -1).value_or(at);
    }
    if (free[at] != 0) return at;
  }
  return std::nullopt;
}

}  // namespace torus::broadcast
