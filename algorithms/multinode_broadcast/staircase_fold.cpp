#include <algorithm>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/staircase.hpp"

namespace torus::multinode {

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

}  // namespace torus::multinode
