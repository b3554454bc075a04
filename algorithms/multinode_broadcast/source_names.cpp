#include "algorithms/multinode_broadcast/source_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/multinode_broadcast/hyperplane/scheme.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast {
namespace {

/// Whether a node takes part along an axis: in all earlier ones it stands where their sums went.
bool takes_part(const Node& self, std::span<const Dimension> axes, std::span<const LineTree> trees, std::size_t axis) {
  for (std::size_t earlier = 0; earlier < axis; ++earlier) {
    if (self.coordinate(axes[earlier]) != trees[earlier].root()) return false;
  }
  return true;
}

void hand_up(Node& self, Dimension d, const LineTree& tree, std::int32_t level, std::uint32_t sum) {
  const std::int32_t position = self.coordinate(d);
  if (tree.at(position).level == level) self.send({{d, tree.at(position).parent - position}}, {}, {Word{sum}});
}

void hand_down(Node& self, Dimension d, const LineTree& tree, std::int32_t level, std::uint32_t sum) {
  const std::int32_t position = self.coordinate(d);
  if (!tree.holds_at(position, level)) return;
  tree.for_children(position, level, [&](std::int32_t child, std::int32_t) { self.send({{d, child - position}}, {}, {Word{sum}}); });
}

}  // namespace

ProgramOf<std::uint32_t> count_everywhere(Node& self, std::span<const Dimension> axes, std::span<const LineTree> trees, std::uint32_t own) {
  std::uint32_t sum = own;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const bool member = takes_part(self, axes, trees, axis);
    for (std::int32_t level = 0; level < trees[axis].levels(); ++level) {
      self.phase("count");
      if (member) hand_up(self, axes[axis], trees[axis], level, sum);
      for (const Message& m : co_await self.step()) sum += m.header().front();
    }
  }
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const bool member = takes_part(self, axes, trees, axis);
    for (std::int32_t level = trees[axis].levels() - 1; level >= 0; --level) {
      self.phase("count");
      if (member) hand_down(self, axes[axis], trees[axis], level, sum);
      for (const Message& m : co_await self.step()) sum = m.header().front();
    }
  }
  co_return sum;
}

namespace {

/// The arcs that take the fewest steps.
std::int32_t best_arcs(std::int32_t n, bool one_port) {
  const auto steps = [&](std::int32_t arcs) {
    const auto longest = static_cast<std::uint64_t>(ceil_div(n, arcs));
    return 2 * static_cast<std::int32_t>(ceil_log(one_port ? 2 : 3, longest)) + (one_port ? arcs - 1 : arcs / 2);
  };
  std::int32_t best = 1;
  for (std::int32_t arcs = 2; arcs <= n; ++arcs) {
    if (steps(arcs) < steps(best)) best = arcs;
  }
  return best;
}

LineTree tree_over(std::int32_t n, bool one_port) { return one_port ? LineTree::halving(n) : LineTree::line(3, n); }

/// A ring of n cut in arcs, as equal as whole numbers allow.
class RingArcs {
 public:
  RingArcs(Dimension along, std::int32_t n, bool one_port);

  Dimension along() const noexcept { return along_; }
  std::int32_t levels() const noexcept { return longer_.levels(); }
  std::int32_t rounds() const noexcept { return one_port_ ? arcs_.parts - 1 : arcs_.parts / 2; }
  std::int32_t steps() const noexcept { return 2 * levels() + rounds(); }
  bool one_port() const noexcept { return one_port_; }

  /// The start of the arc that a place lies in.
  std::int32_t start_of(std::int32_t place) const noexcept { return arcs_.start(arcs_.part_of(place)); }
  const LineTree& tree_of(std::int32_t place) const noexcept {
    return arcs_.length(arcs_.part_of(place)) == longer_.positions() ? longer_ : shorter_;
  }
  bool is_root(std::int32_t place) const noexcept { return root(arcs_.part_of(place)) == place; }
  /// From a root to the next in a direction, in signed hops. There are two or more.
  std::int32_t hops_to_next(std::int32_t place, std::int32_t direction) const noexcept;

 private:
  std::int32_t root(std::int32_t arc) const noexcept { return arcs_.start(arc) + tree_of(arcs_.start(arc)).root(); }

  Dimension along_;
  bool one_port_;
  EqualParts arcs_;
  LineTree shorter_, longer_;
};

RingArcs::RingArcs(Dimension along, std::int32_t n, bool one_port)
    : along_{along},
      one_port_{one_port},
      arcs_{n, best_arcs(n, one_port)},
      shorter_{tree_over(n / arcs_.parts, one_port)},
      longer_{tree_over((n + arcs_.parts - 1) / arcs_.parts, one_port)} {}

std::int32_t RingArcs::hops_to_next(std::int32_t place, std::int32_t direction) const noexcept {
  const std::int32_t next = root(modulo(arcs_.part_of(place) + direction, arcs_.parts));
  return direction > 0 ? modulo(next - place, arcs_.n) : -modulo(place - next, arcs_.n);
}

/// Names that go on forwards and backwards.
using PassedNames = std::array<Bundle, 2>;

void pass_on(Node& self, const RingArcs& ring, const PassedNames& passing) {
  const std::int32_t place = self.coordinate(ring.along());
  if (!ring.is_root(place)) return;
  for (const std::int32_t direction : {+1, -1}) {
    if (direction < 0 && ring.one_port()) continue;
    send_bundle(self, {{ring.along(), ring.hops_to_next(place, direction)}}, passing[direction > 0 ? 0 : 1], Cargo::words);
  }
}

void take(const Arrivals& came, Bundle& names, PassedNames& passing) {
  for (Bundle& bundle : passing) bundle.clear();
  for (const Message& m : came) {
    append(names, m, Cargo::words);
    append(passing[m.direction() > 0 ? 0 : 1], m, Cargo::words);
  }
}

void sort_and_unite(Bundle& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

Program round_ring(Node& self, const RingArcs& ring, Bundle& names) {
  const std::int32_t place = self.coordinate(ring.along()), position = place - ring.start_of(place);
  const LineTree& tree = ring.tree_of(place);
  for (std::int32_t level = 0; level < ring.levels(); ++level) {
    self.phase("names to the roots");
    hand_up(self, ring.along(), tree, position, level, names, Cargo::words);
    for (const Message& m : co_await self.step()) append(names, m, Cargo::words);
  }
  PassedNames passing{names, names};
  for (std::int32_t round = 0; round < ring.rounds(); ++round) {
    self.phase("names between roots");
    pass_on(self, ring, passing);
    take(co_await self.step(), names, passing);
  }
  sort_and_unite(names);
  for (std::int32_t level = ring.levels(); level-- > 0;) {
    self.phase("names from the roots");
    hand_down(self, ring.along(), tree, position, level, names, Cargo::words);
    for (const Message& m : co_await self.step()) append(names, m, Cargo::words);
  }
}

}  // namespace

struct SourceNames::Tables {
  std::vector<RingArcs> rings;
  std::optional<hyperplane::HyperplaneScheme> plane;

  explicit Tables(const Machine& machine) {
    const Topology& topology = machine.topology;
    for (const Dimension d : linked_dimensions(topology)) rings.emplace_back(d, topology.extent(d), machine.ports == 1);
    const std::int32_t n = largest_extent(topology);
    const bool equal = std::all_of(rings.begin(), rings.end(), [&](const RingArcs& ring) { return topology.extent(ring.along()) == n; });
    if (!equal || rings.size() < 2 || machine.ports < static_cast<int>(topology.max_ports())) return;
    const std::uint64_t by_rings = steps();
    plane.emplace(topology, hyperplane::HyperplaneScheme::Trees::diagonals);
    if (plane->steps() >= by_rings) plane.reset();
  }

  std::uint64_t steps() const noexcept {
    if (plane) return plane->steps();
    std::uint64_t sum = 0;
    for (const RingArcs& ring : rings) sum += static_cast<std::uint64_t>(ring.steps());
    return sum;
  }
};

SourceNames::SourceNames(const Machine& machine) : tables_{std::make_shared<const Tables>(machine)} {}
std::uint64_t SourceNames::steps() const noexcept { return tables_->steps(); }
Bytes SourceNames::table_bytes() const noexcept { return tables_->plane ? tables_->plane->table_bytes() : 0; }

Bytes SourceNames::frames(const Machine& machine) const {
  return frames_of_calls(machine, [this](Node& self) {
    Bundle none;
    const Program outer = learn_sources(self, *this, none);
    if (tables_->plane)
      make(hyperplane::hyperplane_program(self, *tables_->plane, Cargo::words, none));
    else if (!tables_->rings.empty())
      make(round_ring(self, tables_->rings.front(), none));
  });
}

Program learn_sources(Node& self, const SourceNames& scheme, Bundle& names) {
  if (!self.blocks().empty()) names.push_back(self.rank());
  if (const auto& plane = scheme.tables_->plane) {
    co_await hyperplane::hyperplane_program(self, *plane, Cargo::words, names);
  } else {
    for (const RingArcs& ring : scheme.tables_->rings) co_await round_ring(self, ring, names);
  }
  sort_and_unite(names);
  if (!names.empty()) bounded(names.back(), NodeId{0}, self.topology().nodes() - 1, "name of a source");
}

}  // namespace torus::multinode_broadcast
