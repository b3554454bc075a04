#include "algorithms/reduction/stars/packing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "runtime/base/words.hpp"

namespace torus::reduction::stars {
namespace {

/// A random order that is the same on every platform, as that of std::shuffle need not be.
template <class T>
void shuffle(std::vector<T>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

constexpr std::uint64_t most_work = 6'000;  // nodes that are looked at in all orders of a step together; fewer with more than 8 ports each
constexpr std::uint64_t most_orders = 24;
constexpr std::size_t most_guides = 200;

struct Near {
  NodeId node;
  std::int32_t distance;
  NodeId displacement;  ///< from the node that it is near to, written as the rank of what is there for node 0
};

/// Some nodes, and of each the nearest others of its class, nearest first.
struct Neighbourhood {
  std::vector<NodeId> nodes;
  std::vector<std::vector<Near>> near;  ///< by position in `nodes`
};

class ClassNeighbours {
 public:
  /// The cosets are the classes. The topology must outlive it.
  ClassNeighbours(const Topology& topology, const Sublattice& classes);

  std::uint32_t class_of(NodeId node) const noexcept { return class_of_[node]; }
  const Coordinates& coordinates(NodeId node) const noexcept { return coordinates_[node]; }
  /// For each active node `enough` others that are active and not kept.
  Neighbourhood around(const std::vector<bool>& active, const std::vector<bool>& kept, std::size_t enough) const;

 private:
  NodeId shifted(NodeId from, NodeId displacement) const noexcept;

  const Topology* topology_;
  std::vector<Near> displacements_;  // nearest first
  std::vector<Coordinates> coordinates_;
  std::vector<std::uint32_t> class_of_;
};

ClassNeighbours::ClassNeighbours(const Topology& topology, const Sublattice& classes) : topology_{&topology} {
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    displacements_.push_back({node, topology.distance(0, node), node});
    coordinates_.push_back(topology.coordinates(node));
    class_of_.push_back(classes.coset(coordinates_.back()));
  }
  std::stable_sort(displacements_.begin(), displacements_.end(), [](const Near& a, const Near& b) { return a.distance < b.distance; });
}

NodeId ClassNeighbours::shifted(NodeId from, NodeId displacement) const noexcept {
  const Coordinates &a = coordinates_[from], &b = coordinates_[displacement];
  NodeId to = 0;
  for (Dimension d = 0; d < topology_->dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int32_t x = a[i] + b[i], n = topology_->extent(d);
    to += static_cast<NodeId>(x < n ? x : x - n) * topology_->stride(d);
  }
  return to;
}

Neighbourhood ClassNeighbours::around(const std::vector<bool>& active, const std::vector<bool>& kept, std::size_t enough) const {
  Neighbourhood out;
  for (NodeId node = 0; node < active.size(); ++node) {
    if (!active[node]) continue;
    out.nodes.push_back(node);
    std::vector<Near>& near = out.near.emplace_back();
    for (std::size_t i = 1; i < displacements_.size() && near.size() < enough; ++i) {
      const NodeId other = shifted(node, displacements_[i].node);
      if (active[other] && !kept[other] && class_of_[other] == class_of_[node])
        near.push_back({other, displacements_[i].distance, displacements_[i].node});
    }
  }
  return out;
}

/// The channels that the paths of one step cross: each at most one.
class ChannelSet {
 public:
  /// The channels of a torus, all free. The machine must outlive it.
  explicit ChannelSet(const Machine& machine);

  /// Whether a shortest route in the order of the machine's routing is free. If so, it is taken.
  bool take(NodeId from, NodeId to, Route& route);
  /// How many have been taken.
  std::size_t taken() const noexcept { return taken_.size(); }
  /// Frees all but the first that were taken.
  void free_after(std::size_t first);

 private:
  bool walk(NodeId from, const Route& route);

  const Machine* machine_;
  std::vector<bool> used_;          // by node and slot
  std::vector<std::size_t> taken_;  // in the order in which they were taken
};

ChannelSet::ChannelSet(const Machine& machine)
    : machine_{&machine},
      used_(std::size_t{machine.topology.nodes()} * static_cast<std::size_t>(machine.topology.channel_slots()), false) {}

void ChannelSet::free_after(std::size_t first) {
  for (; taken_.size() > first; taken_.pop_back()) used_[taken_.back()] = false;
}

bool ChannelSet::walk(NodeId from, const Route& route) {
  const Topology& topology = machine_->topology;
  const std::size_t first = taken_.size();
  for (const auto [d, hops] : route) {
    const std::int32_t hop = hops > 0 ? 1 : -1, end = topology.extent(d) - 1;
    const auto slots = static_cast<std::size_t>(topology.channel_slots()), slot = static_cast<std::size_t>(topology.slot(d, hop));
    const NodeId stride = topology.stride(d), round = stride * static_cast<NodeId>(end);
    std::int32_t x = topology.coordinate(from, d);
    for (std::int32_t done = 0; done != hops; done += hop) {
      const std::size_t channel = from * slots + slot;
      if (used_[channel]) {
        free_after(first);
        return false;
      }
      used_[channel] = true;
      taken_.push_back(channel);
      if (hop > 0) {
        from = x == end ? from - round : from + stride;
        x = x == end ? 0 : x + 1;
      } else {
        from = x == 0 ? from + round : from - stride;
        x = x == 0 ? end : x - 1;
      }
    }
  }
  return true;
}

bool ChannelSet::take(NodeId from, NodeId to, Route& route) {
  const Topology& topology = machine_->topology;
  route.clear();
  std::uint32_t ties = 0, backwards = 0;  // sets of legs: that may go either way round, and that go backwards
  for (const Dimension d : machine_->routing) {
    const std::int32_t hops = topology.offset(d, topology.coordinate(from, d), topology.coordinate(to, d));
    if (hops == 0) continue;
    if (2 * hops == topology.extent(d)) ties |= 1U << route.size();
    route.push_back({d, hops});
  }
  for (;;) {
    if (walk(from, route)) return true;
    backwards = (backwards - ties) & ties;  // the next subset
    if (backwards == 0) return false;
    for (std::size_t i = 0; i < route.size(); ++i) {
      if ((ties >> i & 1U) != 0) route[i].hops = std::abs(route[i].hops) * ((backwards >> i & 1U) != 0 ? -1 : 1);
    }
  }
}

class Packing {
 public:
  /// The cosets are the classes. Nodes that are kept do not send: none, or at least one of each class. The machine must outlive it.
  Packing(const Machine& machine, const Sublattice& classes, std::vector<bool> kept);

  /// Paths from some active nodes to others of their class, which do not send. At least one, unless every active node is kept or the only
  /// one of its class.
  Paths merge(const std::vector<bool>& active);

 private:
  /// Where centres may repeat: a sublattice of the classes, which has `cosets` cosets in them.
  struct Guide {
    Sublattice centres;
    std::uint32_t cosets;
  };
  enum class Role : std::uint8_t { none, centre, sender };

  Paths pack(const Neighbourhood& around, const Guide* guide);
  /// Adds the paths to a centre, if there are `least` or more; `most` at most.
  bool add_star(const Neighbourhood& around, std::size_t centre, int least, int most, std::uint64_t turn, Paths& paths);
  /// Stars with centres in a coset of the guide, for each class the one whose centres find most paths.
  void add_regular(const Neighbourhood& around, const Guide& guide, const std::vector<std::size_t>& order, std::uint64_t turn,
                   Paths& paths);
  std::vector<Guide> guides() const;

  const Machine* machine_;
  int ports_;
  ClassNeighbours neighbours_;
  std::uint32_t classes_;
  std::optional<Sublattice> regular_;  // active nodes of a class are a coset of it
  std::vector<bool> kept_;
  std::vector<Role> roles_;
  ChannelSet channels_;
  std::mt19937_64 random_{1};
};

Packing::Packing(const Machine& machine, const Sublattice& classes, std::vector<bool> kept)
    : machine_{&machine},
      ports_{std::min(machine.ports, machine.topology.max_ports())},
      neighbours_{machine.topology, classes},
      classes_{classes.index()},
      regular_{classes},
      kept_{std::move(kept)},
      channels_{machine} {
  kept_.resize(machine.topology.nodes(), false);
}

bool Packing::add_star(const Neighbourhood& around, std::size_t centre, int least, int most, std::uint64_t turn, Paths& paths) {
  const NodeId node = around.nodes[centre];
  if (roles_[node] != Role::none) return false;
  const std::size_t channels = channels_.taken(), sent = paths.size();
  std::vector<Near> near;
  for (const Near& other : around.near[centre]) {
    if (roles_[other.node] == Role::none) near.push_back(other);
  }
  if (near.size() < static_cast<std::size_t>(least)) return false;
  const auto key = [&](const Near& n) {
    return std::pair(n.distance,
                     detail::mixed((turn ^ (std::uint64_t{n.displacement} << 20U) ^ neighbours_.class_of(node)) + detail::mixed_step));
  };
  std::sort(near.begin(), near.end(), [&](const Near& a, const Near& b) { return key(a) < key(b); });
  for (const Near& other : near) {
    if (paths.size() - sent == static_cast<std::size_t>(most)) break;
    Route route;
    if (channels_.take(other.node, node, route)) paths.push_back({other.node, node, route});
  }
  if (paths.size() - sent < static_cast<std::size_t>(least)) {
    channels_.free_after(channels);
    paths.resize(sent);
    return false;
  }
  roles_[node] = Role::centre;
  for (std::size_t j = sent; j < paths.size(); ++j) roles_[paths[j].from] = Role::sender;
  return true;
}

void Packing::add_regular(const Neighbourhood& around, const Guide& guide, const std::vector<std::size_t>& order, std::uint64_t turn,
                          Paths& paths) {
  std::vector<std::map<std::uint32_t, std::vector<std::size_t>>> by_class(classes_);
  for (const std::size_t i : order)
    by_class[neighbours_.class_of(around.nodes[i])][guide.centres.coset(neighbours_.coordinates(around.nodes[i]))].push_back(i);
  for (const auto& cosets : by_class) {
    const std::vector<std::size_t>* best = nullptr;
    std::size_t most = 0;
    const std::size_t channels = channels_.taken(), sent = paths.size();
    const auto add = [&](const std::vector<std::size_t>& centres) {
      for (const std::size_t i : centres) add_star(around, i, 1, static_cast<int>(guide.cosets) - 1, turn, paths);
    };
    for (const auto& [coset, centres] : cosets) {
      add(centres);
      if (best == nullptr || paths.size() - sent > most) best = &centres;
      most = std::max(most, paths.size() - sent);
      for (std::size_t i = sent; i < paths.size(); ++i) roles_[paths[i].from] = roles_[paths[i].to] = Role::none;
      paths.resize(sent);
      channels_.free_after(channels);
    }
    if (best != nullptr) add(*best);
  }
}

Paths Packing::pack(const Neighbourhood& around, const Guide* guide) {
  roles_.assign(kept_.size(), Role::none);
  std::vector<std::size_t> order(around.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random_);
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return kept_[around.nodes[i]]; });
  channels_.free_after(0);
  Paths paths;
  const std::uint64_t turn = random_();
  if (guide != nullptr) add_regular(around, *guide, order, turn, paths);
  for (int least = ports_; least > 0; --least) {
    for (const std::size_t i : order) add_star(around, i, least, ports_, guide != nullptr ? turn : random_(), paths);
  }
  return paths;
}

std::vector<Packing::Guide> Packing::guides() const {
  std::vector<Guide> guides;
  for (std::uint32_t cosets = static_cast<std::uint32_t>(ports_) + 1; regular_ && cosets > 1; --cosets) {
    regular_->each_within(machine_->topology, cosets, most_guides, [&](const Sublattice& within) {
      guides.push_back({within, cosets});
      return true;
    });
  }
  return guides;
}

Paths Packing::merge(const std::vector<bool>& active) {
  const Neighbourhood around = neighbours_.around(active, kept_, static_cast<std::size_t>(2 * ports_ + 6));
  const std::uint64_t nodes = std::max<std::uint64_t>(1, around.nodes.size());
  const std::uint64_t orders =
      std::clamp<std::uint64_t>(most_work * 8 / static_cast<std::uint64_t>(std::max(8, ports_)) / nodes, 2, most_orders);
  std::vector<std::uint32_t> members(classes_, 0);
  for (const NodeId node : around.nodes) ++members[neighbours_.class_of(node)];
  std::uint64_t fewest = 0;  // that can be left
  for (const std::uint32_t count : members)
    fewest += (count + static_cast<std::uint32_t>(ports_)) / (static_cast<std::uint32_t>(ports_) + 1);
  std::pair<std::uint64_t, std::uint64_t> least{UINT64_MAX, UINT64_MAX};  // left: in the fullest class, in all
  Paths best;
  const std::vector<Guide> all = guides();
  const Guide* chosen = nullptr;
  for (std::uint64_t tried = 0; tried < orders && least.second > fewest; ++tried) {
    const Guide* guide = all.empty() || tried < orders / 4 ? nullptr : &all[random_() % all.size()];
    Paths paths = pack(around, guide);
    std::vector<std::uint32_t> left = members;
    for (const Path& path : paths) --left[neighbours_.class_of(path.from)];
    const std::pair<std::uint64_t, std::uint64_t> rest{*std::max_element(left.begin(), left.end()), nodes - paths.size()};
    if (rest >= least) continue;
    least = rest;
    best = std::move(paths);
    chosen = guide;
  }
  if (chosen != nullptr && least.second == nodes / chosen->cosets)
    regular_ = chosen->centres;
  else
    regular_.reset();
  return best;
}

}  // namespace

Levels pack_levels(const Machine& machine, const Sublattice& classes, std::vector<bool> kept) {
  const auto last = std::max<std::ptrdiff_t>(classes.index(), std::count(kept.begin(), kept.end(), true));
  Packing packing(machine, classes, std::move(kept));
  Levels levels{{}, {std::vector<bool>(machine.topology.nodes(), true)}};
  for (std::ptrdiff_t left = machine.topology.nodes(); left > last; left -= std::ssize(levels.paths.back())) {
    levels.paths.push_back(packing.merge(levels.active.back()));
    levels.active.push_back(levels.active.back());
    for (const Path& path : levels.paths.back()) levels.active.back()[path.from] = false;
  }
  return levels;
}

std::optional<Paths> all_to_all(const Machine& machine, const Sublattice& classes, const std::vector<bool>& givers,
                                const std::vector<bool>& takers) {
  constexpr int tries = 64;
  const Topology& topology = machine.topology;
  const auto class_of = [&](NodeId node) { return classes.coset(topology.coordinates(node)); };
  std::vector<std::vector<NodeId>> to(classes.index());
  for (NodeId node = 0; node < takers.size(); ++node) {
    if (takers[node]) to[class_of(node)].push_back(node);
  }
  std::vector<int> gives(givers.size(), 0), takes(givers.size(), 0);
  struct Ends {
    NodeId from, to;
    std::int32_t distance;
  };
  std::vector<Ends> ends;
  for (NodeId node = 0; node < givers.size(); ++node) {
    if (!givers[node]) continue;
    for (const NodeId taker : to[class_of(node)]) {
      if (node == taker) continue;
      if (++gives[node] > machine.ports || ++takes[taker] > machine.ports) return std::nullopt;
      ends.push_back({node, taker, topology.distance(node, taker)});
    }
  }
  std::mt19937_64 random(1);
  ChannelSet channels(machine);
  for (int tried = 0; tried < tries; ++tried) {
    shuffle(ends, random);
    if (tried % 2 == 1) std::stable_sort(ends.begin(), ends.end(), [](const Ends& a, const Ends& b) { return a.distance > b.distance; });
    channels.free_after(0);
    Paths paths;
    for (const Ends& e : ends) {
      Route route;
      if (!channels.take(e.from, e.to, route)) break;
      paths.push_back({e.from, e.to, route});
    }
    if (paths.size() == ends.size()) return paths;
  }
  return std::nullopt;
}

Bytes levels_bytes(const Topology& topology) noexcept {
  constexpr Bytes near_a_node = 64;
  return Bytes{topology.nodes()} * (sizeof(Coordinates) + near_a_node * sizeof(Near) + 4 * sizeof(Path));
}

}  // namespace torus::reduction::stars
