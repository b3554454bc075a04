#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "algorithms/common/received.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {
namespace {

constexpr std::size_t slot_index(std::int32_t slot) noexcept { return static_cast<std::size_t>(slot < 0 ? 2 + slot : 1 + slot); }

/// One node's part in a prefix sum over a tree: what it held before each level, and what each child of the level brought.
class TreeSum {
 public:
  TreeSum(const LineTree& tree, std::uint32_t own) : levels_(static_cast<std::size_t>(tree.levels())), held_{own} {}

  std::uint32_t held() const noexcept { return held_; }
  void open(std::int32_t level) noexcept { levels_[static_cast<std::size_t>(level)].inner = held_; }
  void take(std::int32_t level, std::int32_t slot, std::uint32_t sum) {
    checked_at(levels_[static_cast<std::size_t>(level)].child, slot_index(slot)) = sum;
    held_ += sum;
  }
  /// Shares out a base among the slots of a level in the order -2, -1, itself, +1, +2; leaves the node its own.
  std::array<std::uint32_t, 4> share(std::int32_t level, std::uint32_t& base) const noexcept {
    const Level& l = levels_[static_cast<std::size_t>(level)];
    std::array<std::uint32_t, 4> bases{};
    bases[0] = base;
    bases[1] = bases[0] + l.child[0];
    base = bases[1] + l.child[1];
    bases[2] = base + l.inner;
    bases[3] = bases[2] + l.child[2];
    return bases;
  }

 private:
  struct Level {
    std::uint32_t inner = 0;
    std::array<std::uint32_t, 4> child{};
  };
  std::vector<Level> levels_;
  std::uint32_t held_;
};

/// A relay beside the diagonal passes each word on, as far along the other dimension as it came along the first.
void turn(Node& self, const Arrivals& came) {
  for (const Message& m : came) self.send({{1 - m.dimension(), m.route().front().hops}}, {}, m.header());
}

void send_word(Node& self, std::initializer_list<Leg> route, std::uint32_t word) { self.send(route, {}, {Word{word}}); }

// Moves along a diagonal. Quinary: the first of two legs, towards a parent along dimension 1 where the child is near and 0 where it is far,
// and the other way round towards a child. Ternary: one route.
void send_along(Node& self, bool quinary, std::int32_t hops, std::int32_t slot, bool up, std::uint32_t word) {
  if (!quinary) return send_word(self, {{0, hops}, {1, hops}}, word);
  const bool near = slot == 1 || slot == -1;
  send_word(self, {{near == up ? 1 : 0, hops}}, word);
}

void share_across(Node& self, const LineTree& tree, const DiagonalSite& site, std::int32_t level, const TreeSum& sum, std::uint32_t& base) {
  const std::array<std::uint32_t, 4> bases = sum.share(level, base);
  tree.for_children(site.position, level, [&](std::int32_t child, std::int32_t slot) {
    send_word(self, {diagonal_leg(site.position, child, slot, site.unit)}, bases[slot_index(slot)]);
  });
}

void share_along(Node& self, const LineTree& tree, bool quinary, const DiagonalSite& site, std::int32_t level, const TreeSum& sum,
                 std::uint32_t& base) {
  const std::array<std::uint32_t, 4> bases = sum.share(level, base);
  tree.for_children(site.position, level, [&](std::int32_t child, std::int32_t slot) {
    send_along(self, quinary, child - site.position, slot, false, bases[slot_index(slot)]);
  });
}

void take_across(TreeSum& sum, std::int32_t level, const Arrivals& came) {
  for (const Message& m : came) sum.take(level, diagonal_slot(m), m.header().front());
}

// A near child's word arrives along dimension 0, a far one's along 1; a ternary route ends along dimension 1.
void take_along(TreeSum& sum, bool quinary, std::int32_t level, const Arrivals& came) {
  for (const Message& m : came) {
    const std::int32_t distance = quinary && m.dimension() == 1 ? 2 : 1;
    sum.take(level, -sign(m.direction()) * distance, m.header().front());
  }
}

constexpr const char* phase_name = "prefix";

// Partial sums go up a tree, bases come down again, across the diagonals or along one. Quinary moves along a diagonal are two legs in two
// steps, over a relay; ternary ones are single routes.

Program sum_up_across(Node& self, const LineTree& tree, DiagonalSite site, TreeSum& sum) {
  for (std::int32_t level = 0; level < tree.levels(); ++level) {
    self.phase(phase_name);
    sum.open(level);
    const LineTree::Vertex& v = tree.at(site.position);
    if (site.member && v.level == level) send_word(self, {diagonal_leg(site.position, v.parent, v.slot, site.unit)}, sum.held());
    const Arrivals came = co_await self.step();
    take_across(sum, level, came);
  }
}

Program base_down_across(Node& self, const LineTree& tree, DiagonalSite site, const TreeSum& sum, std::uint32_t& base) {
  for (std::int32_t level = tree.levels() - 1; level >= 0; --level) {
    self.phase(phase_name);
    if (site.member && tree.holds_at(site.position, level)) share_across(self, tree, site, level, sum, base);
    for (const Message& m : co_await self.step()) base = m.header().front();
  }
}

Program sum_up_along(Node& self, const LineTree& tree, bool quinary, DiagonalSite site, TreeSum& sum) {
  for (std::int32_t level = 0; level < tree.levels(); ++level) {
    self.phase(phase_name);
    sum.open(level);
    const LineTree::Vertex& v = tree.at(site.position);
    if (site.member && v.level == level) send_along(self, quinary, v.parent - site.position, v.slot, true, sum.held());
    Arrivals came = co_await self.step();
    if (quinary) {
      self.phase(phase_name);
      turn(self, came);
      came = co_await self.step();
    }
    take_along(sum, quinary, level, came);
  }
}

Program base_down_along(Node& self, const LineTree& tree, bool quinary, DiagonalSite site, const TreeSum& sum, std::uint32_t& base) {
  for (std::int32_t level = tree.levels() - 1; level >= 0; --level) {
    self.phase(phase_name);
    if (site.member && tree.holds_at(site.position, level)) share_along(self, tree, quinary, site, level, sum, base);
    Arrivals came = co_await self.step();
    if (quinary) {
      self.phase(phase_name);
      turn(self, came);
      came = co_await self.step();
    }
    for (const Message& m : came) base = m.header().front();
  }
}

/// Where a node stands on one of the lines of a TorusPrefix: `over` are the dimensions in which a place is `unit` hops, ascending.
struct PrefixSite {
  bool member = true;
  std::int32_t position = 0;
  std::int32_t unit = 1;
  std::span<const Dimension> over = {};

  void send(Node& self, std::int32_t to, std::uint32_t word) const {
    Route route;
    for (const Dimension d : over) route.push_back({d, (to - position) * unit});
    const Word words[]{word};
    self.send(RouteView(route), {}, words);
  }
};

PrefixSite site_on(const Node& self, const TorusPrefix& tables, std::size_t line) {
  const std::span<const Dimension> all(tables.dimensions);
  const std::int32_t h = tables.h, place = self.coordinate(0) % h;
  PrefixSite site{.position = place, .over = all};
  for (const Dimension d : all) site.member = site.member && self.coordinate(d) % h == place;
  if (line == 0) return site;
  site.member = site.member && place == tables.lines[0].root();
  for (Dimension d = 0; static_cast<std::size_t>(d) + 1 < line; ++d)
    site.member = site.member && self.coordinate(d) / h == tables.lines[static_cast<std::size_t>(d) + 1].root();
  site.position = self.coordinate(static_cast<Dimension>(line) - 1) / h;
  site.unit = h;
  site.over = all.subspan(line - 1, 1);
  return site;
}

Program sum_up_line(Node& self, const LineTree& tree, PrefixSite site, TreeSum& sum) {
  for (std::int32_t level = 0; level < tree.levels(); ++level) {
    self.phase(phase_name);
    sum.open(level);
    const LineTree::Vertex& v = tree.at(site.position);
    if (site.member && v.level == level) site.send(self, v.parent, sum.held());
    for (const Message& m : co_await self.step()) sum.take(level, -sign(m.direction()), m.header().front());
  }
}

Program base_down_line(Node& self, const LineTree& tree, PrefixSite site, const TreeSum& sum, std::uint32_t& base) {
  for (std::int32_t level = tree.levels() - 1; level >= 0; --level) {
    self.phase(phase_name);
    if (site.member && tree.holds_at(site.position, level)) {
      const std::array<std::uint32_t, 4> bases = sum.share(level, base);
      tree.for_children(site.position, level,
                        [&](std::int32_t child, std::int32_t slot) { site.send(self, child, bases[slot_index(slot)]); });
    }
    for (const Message& m : co_await self.step()) base = m.header().front();
  }
}

/// Places along a diagonal. global: the main one alone. diag: every DCN diagonal, staggered so that no two of them use a channel in the
/// same step.
DiagonalSite site_along(const Node& self, const PrefixTables& tables) {
  const std::int32_t i = self.coordinate(0), j = self.coordinate(1);
  if (tables.global()) return {i == j, i, 1};
  return {i % tables.h == j % tables.h, modulo(std::int64_t{2} * j - i, tables.n), 1};
}

}  // namespace

std::string_view name(Prefix prefix) noexcept { return prefix_names[static_cast<std::size_t>(prefix)]; }

std::optional<Prefix> parse_prefix(std::string_view text) noexcept {
  if (text.empty()) return Prefix::global5;
  const auto at = std::find(prefix_names.begin(), prefix_names.end(), text);
  if (at == prefix_names.end()) return std::nullopt;
  return static_cast<Prefix>(at - prefix_names.begin());
}

PrefixTables::PrefixTables(Prefix kind_of_sum, std::int32_t nodes_a_side, std::int32_t partition)
    : kind{kind_of_sum}, n{nodes_a_side}, h{partition}, across{LineTree::window(5, n / h)}, along{LineTree::line(quinary() ? 5 : 3, n)} {}

std::int32_t PrefixTables::steps() const noexcept {
  if (!exchanges()) return 0;
  return (quinary() ? 4 : 2) * along.levels() + (global() ? 2 * across.levels() : 0);
}

std::uint32_t first_rank_of_diagonal(std::int32_t g, std::int32_t h, std::int32_t q) noexcept {
  return static_cast<std::uint32_t>(q <= h ? g * std::max(1, h / q) : g);
}

Bytes frames_of_prefix(const Machine& machine, const PrefixTables& tables) {
  return frames_of_calls(machine, [&](Node& self) {
    const auto outer = rank_of_first(self, tables, 0);
    if (!tables.exchanges()) return;
    TreeSum sum(tables.along, 0);
    std::uint32_t base = 0;
    make(sum_up_along(self, tables.along, tables.quinary(), {}, sum));
    make(base_down_along(self, tables.along, tables.quinary(), {}, sum, base));
    if (!tables.global()) return;
    make(sum_up_across(self, tables.across, {}, sum));
    make(base_down_across(self, tables.across, {}, sum, base));
  });
}

ProgramOf<std::uint32_t> rank_of_first(Node& self, const PrefixTables& tables, std::uint32_t count) {
  std::uint32_t base = 0;
  if (tables.kind == Prefix::hash) base = hashed_rank(self.coordinates(), tables.h);
  if (!tables.exchanges()) co_return base;
  if (tables.global()) {
    const DiagonalSite across = DiagonalSite::in_ddn(self, tables.h);
    TreeSum windows(tables.across, count);
    co_await sum_up_across(self, tables.across, across, windows);
    const DiagonalSite along = site_along(self, tables);
    TreeSum main(tables.along, windows.held());
    co_await sum_up_along(self, tables.along, tables.quinary(), along, main);
    co_await base_down_along(self, tables.along, tables.quinary(), along, main, base);
    co_await base_down_across(self, tables.across, across, windows, base);
  } else {
    const DiagonalSite along = site_along(self, tables);
    TreeSum diagonal(tables.along, count);
    co_await sum_up_along(self, tables.along, tables.quinary(), along, diagonal);
    base = first_rank_of_diagonal(modulo(self.coordinate(0) - self.coordinate(1), tables.n) / tables.h, tables.h, tables.n / tables.h);
    co_await base_down_along(self, tables.along, tables.quinary(), along, diagonal, base);
  }
  co_return base;
}

TorusPrefix::TorusPrefix(const Topology& topology, std::int32_t partition)
    : h{partition}, dimensions(topology.shape().size()), lines{LineTree::line(3, h)} {
  std::iota(dimensions.begin(), dimensions.end(), 0);
  for (const DimensionShape& dimension : topology.shape()) lines.push_back(LineTree::line(3, dimension.extent / h));
}

std::int32_t TorusPrefix::steps() const noexcept {
  std::int32_t levels = 0;
  for (const LineTree& line : lines) levels += line.levels();
  return 2 * levels;
}

ProgramOf<std::uint32_t> rank_in_torus(Node& self, const TorusPrefix& tables, std::uint32_t count) {
  std::vector<TreeSum> sums;
  for (std::size_t i = 0; i < tables.lines.size(); ++i) {
    sums.emplace_back(tables.lines[i], i == 0 ? count : sums.back().held());
    co_await sum_up_line(self, tables.lines[i], site_on(self, tables, i), sums.back());
  }
  std::uint32_t base = 0;
  for (std::size_t i = tables.lines.size(); i-- > 0;)
    co_await base_down_line(self, tables.lines[i], site_on(self, tables, i), sums[i], base);
  co_return base;
}

Bytes frames_of_prefix(const Machine& machine, const TorusPrefix& tables) {
  return frames_of_calls(machine, [&](Node& self) {
    const auto outer = rank_in_torus(self, tables, 0);
    TreeSum sum(tables.lines.front(), 0);
    std::uint32_t base = 0;
    make(sum_up_line(self, tables.lines.front(), {}, sum));
    make(base_down_line(self, tables.lines.front(), {}, sum, base));
  });
}

}  // namespace torus::multinode_broadcast::aggregate_distribute
