#include "algorithms/multinode_broadcast/aggregate_distribute/staircase.hpp"

#include <algorithm>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {
namespace {

using Vertex = LineTree::Vertex;

std::int32_t L(std::uint64_t base, std::int32_t n) { return static_cast<std::int32_t>(ceil_log(base, static_cast<std::uint64_t>(n))); }

/// The trees over window(a) in quinary, by position from window_low(a) on; with a ternary last level if the channels along are wanted then.
std::vector<Vertex> window_trees(std::int32_t a, bool ternary_top, std::int32_t levels) {
  std::vector<Vertex> vertices;
  const auto add = [&](const LineTree& tree, std::int32_t shift, std::int32_t slot) {
    for (std::int32_t p = tree.low(); p <= tree.high(); ++p) {
      Vertex v = tree.at(p);
      v.parent += shift;
      if (p == tree.root()) v = {slot == 0 ? levels : levels - 1, 0, slot, 0, 0};
      vertices.push_back(v);
    }
  };
  const std::int32_t low = window_low(a), high = window_high(a);
  const std::int32_t half = ternary_top ? (whole_power(5, levels - 1) - 1) / 2 : a;
  if (low < -half) add(LineTree::line(5, -half - low), low, -1);
  add(LineTree::around(5, std::min(half, -low), std::min(half, high)), 0, 0);
  if (high > half) add(LineTree::line(5, high - half), half + 1, +1);
  return vertices;
}

}  // namespace

std::int32_t Staircase::levels(std::int32_t a, std::int32_t b, std::int32_t windings, Spare spare) noexcept {
  const std::int32_t stations = windings * a;
  return spare == Spare::folded ? 1 + L(5, ceil_div(a, 3)) : L(3, ceil_div(b, stations)) + L(5, a);
}

Staircase::Staircase(const Topology& topology, std::int32_t windings, Spare spare)
    : across_{topology.extent(0) <= topology.extent(1) ? 0 : 1},
      a_{topology.extent(across_)},
      b_{topology.extent(1 - across_)},
      levels_{levels(a_, b_, windings, spare)},
      spare_{spare},
      places_(static_cast<std::size_t>(windings) * static_cast<std::size_t>(a_)),
      numbers_(static_cast<std::size_t>(b_), -1),
      ups_(topology.nodes(), Handover{levels_, Leg{}}) {
  for (std::size_t p = 0; p < places_.size(); ++p) places_[p] = static_cast<std::int32_t>(static_cast<std::int64_t>(p) * b_ / stations());
  if (spare_ == Spare::joined) join_lines();
  for (std::size_t p = 0; p < places_.size(); ++p) numbers_[static_cast<std::size_t>(places_[p])] = static_cast<std::int32_t>(p);
  climb(spare_ == Spare::joined ? levels_ - L(5, a_) : 0);
  if (spare_ == Spare::folded) fold_lines();
  if (sound_) number_children();
}

std::int32_t Staircase::place(std::int32_t station) const noexcept {
  const std::int32_t p = modulo(station, stations());
  return places_[static_cast<std::size_t>(p)] + (station - p) / stations() * b_;
}

Route Staircase::route(std::int32_t station, std::int32_t away) const {
  const Leg across{across_, away % a_}, along{1 - across_, place(station + away) - place(station)};
  return across_ == 0 ? Route{across, along} : Route{along, across};
}

/// Each interval of lines to its middle one, which becomes the station's.
void Staircase::join_lines() {
  const std::int32_t shorter = b_ / stations();
  const LineTree trees[2] = {LineTree::line(3, shorter), LineTree::line(3, shorter + 1)};
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const std::int32_t first = places_[p], end = p + 1 < places_.size() ? places_[p + 1] : b_;
    const LineTree& tree = trees[end - first - shorter];
    for (std::int32_t i = 0; i < end - first; ++i) {
      if (i == tree.root()) continue;
      for (std::int32_t x = 0; x < a_; ++x) ups_[index(x, first + i)] = {tree.at(i).level, {1 - across_, tree.at(i).parent - i}};
    }
    places_[p] += tree.root();
  }
}

void Staircase::climb(std::int32_t first_level) {
  const std::vector<Vertex> vertices = window_trees(a_, spare_ == Spare::folded, levels_ - first_level);
  for (std::int32_t p = 0; p < stations(); ++p) {
    for (std::int32_t c = window_low(a_); c <= window_high(a_); ++c) {
      const Vertex& v = vertices[static_cast<std::size_t>(c - window_low(a_))];
      if (v.slot == 0) continue;
      const bool near = v.slot == 1 || v.slot == -1;
      const std::int32_t line = p + c - v.parent;  // of the parent, if it stands in this node's line along
      const std::int32_t hops = place(line) - places_[static_cast<std::size_t>(p)];
      ups_[index(modulo(p + c, a_), places_[static_cast<std::size_t>(p)])] = {first_level + v.level,
                                                                              near ? Leg{across_, v.parent - c} : Leg{1 - across_, hops}};
    }
  }
}

std::size_t Staircase::parent(std::size_t node) const noexcept {
  const auto x = static_cast<std::int32_t>(node / static_cast<std::size_t>(b_)),
             y = static_cast<std::int32_t>(node % static_cast<std::size_t>(b_));
  const Leg& leg = ups_[node].leg;
  return leg.dimension == across_ ? index(modulo(x + leg.hops, a_), y) : index(x, modulo(y + leg.hops, b_));
}

void Staircase::number_children() {
  firsts_.assign(ups_.size() + 1, 0);
  const auto for_moves = [&](auto&& f) {
    for (std::size_t node = 0; node < ups_.size(); ++node) {
      if (ups_[node].level < levels_) f(node, parent(node));
    }
  };
  for_moves([&](std::size_t, std::size_t to) { ++firsts_[to + 1]; });
  for (std::size_t i = 1; i < firsts_.size(); ++i) firsts_[i] += firsts_[i - 1];
  downs_.assign(firsts_.back(), Handover{0, Leg{}});
  std::vector<std::size_t> next(firsts_.begin(), firsts_.end() - 1);
  for_moves([&](std::size_t node, std::size_t to) {
    const Handover& up = ups_[node];
    downs_[next[to]++] = {up.level, {up.leg.dimension, -up.leg.hops}};
  });
}

Staircase::Loads Staircase::loads() const {
  std::vector<std::int32_t> held(ups_.size(), 1);
  Loads loads{std::vector<std::int32_t>(static_cast<std::size_t>(levels_), 0), {}};
  for (std::int32_t level = 0; level < levels_; ++level) {
    std::int32_t& most = loads.levels[static_cast<std::size_t>(level)];
    for (std::size_t node = 0; node < ups_.size(); ++node) {
      if (ups_[node].level != level) continue;
      most = std::max(most, held[node]);
      held[parent(node)] += held[node];
    }
  }
  for (std::int32_t p = 0; p < stations(); ++p) loads.stations.push_back(held[index(p % a_, places_[static_cast<std::size_t>(p)])]);
  return loads;
}

void Staircase::fold_lines() {
  const std::int32_t run = whole_power(3, levels_ - 1);
  std::vector<std::vector<std::int32_t>> roots(static_cast<std::size_t>(a_));  // by place across: the lines with a run's root there
  std::int32_t shift = 0;
  for (std::int32_t y = 0; y < b_; ++y) {
    if (numbers_[static_cast<std::size_t>(y)] >= 0) continue;
    for (std::int32_t first = 0; first < a_; first += run) {
      const LineTree tree = LineTree::line(3, std::min(run, a_ - first));
      for (std::int32_t i = 0; i < tree.positions(); ++i) {
        const std::int32_t x = modulo(first + i + shift, a_);
        if (i == tree.root())
          roots[static_cast<std::size_t>(x)].push_back(y);
        else
          ups_[index(x, y)] = {tree.at(i).level, {across_, tree.at(i).parent - i}};
      }
    }
    shift = (shift + 1) % run;
  }
  for (std::int32_t x = 0; x < a_; ++x) fold_row(x, roots[static_cast<std::size_t>(x)]);
}

/// Between two stations of a row at most two roots have a way: down to the one before and up to the one after.
void Staircase::fold_row(std::int32_t x, std::span<const std::int32_t> roots) {
  std::vector<std::vector<std::int32_t>> after(static_cast<std::size_t>(stations() / a_));  // by station of the row: places from it
  for (const std::int32_t y : roots) {
    std::int32_t turn = stations() / a_ - 1;
    while (turn >= 0 && places_[static_cast<std::size_t>(x + turn * a_)] > y) --turn;
    const std::int32_t before = turn < 0 ? stations() - a_ + x : x + turn * a_;
    after[static_cast<std::size_t>(modulo(turn, stations() / a_))].push_back(modulo(y - places_[static_cast<std::size_t>(before)], b_));
  }
  for (std::int32_t turn = 0; turn < stations() / a_; ++turn) {
    std::vector<std::int32_t>& away = after[static_cast<std::size_t>(turn)];
    sound_ &= away.size() <= 2;
    if (away.empty() || !sound_) continue;
    std::sort(away.begin(), away.end());
    const std::int32_t p = x + turn * a_, here = places_[static_cast<std::size_t>(p)];
    const std::int32_t gap = place(p + a_) - here;
    const auto go = [&](std::int32_t from, bool back) {
      ups_[index(x, modulo(here + from, b_))] = {levels_ - 1, {1 - across_, back ? -from : gap - from}};
    };
    go(away.front(), away.size() == 2 || 2 * away.front() <= gap);
    if (away.size() == 2) go(away.back(), false);
  }
}

}  // namespace torus::multinode_broadcast::aggregate_distribute
