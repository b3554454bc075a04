#include "algorithms/multinode_broadcast/prefix_sweeps.hpp"

namespace torus::multinode {
namespace {

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

}  // namespace

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

}  // namespace torus::multinode
