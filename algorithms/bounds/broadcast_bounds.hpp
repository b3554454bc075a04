/// Bounds of a broadcast: how few steps and how few bytes exclude each other, and how many steps worms in dimension order take. Both with
/// proof. Source: this project.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/machine.hpp>

namespace torus {

// Few steps against few bytes: a bound on the bytes for each number of steps.
//
// m bytes go to N nodes with p ports. u = m/p, r = p+1, T a bound on the steps of any broadcast here. Let L_t u be the bytes on the
// fullest channel in step t = 1..R, g(0) = 1, g(i) = min(N, r g(i-1)) (packet switching: at most the nodes within i hops of the source),
// and gamma_i = min(1, g(i)/(N-1)) for i < T, else 1.
//
// Windows.  W_s, for every s: sum_{t<s} L_t + sum_{t>=s} gamma_{t-s} L_t >= 1.
//           FIRST: sum_{t>=T} L_t >= 1.   LAST: sum_{t<=R-T+1} L_t >= 1.
//   Proof. The source sends at most p u L_t bytes in step t. So m (1 - sum_{t<s} L_t) bytes or more leave it first in step s or later.
//   Each needs N-1 deliveries. Before step s+i at most g(i) nodes hold any of them, and each node sends at most p u L bytes; the N-1
//   receivers take at most p u L each. FIRST: some node hears nothing before step T. LAST: a byte that leaves later cannot reach all
//   nodes. Multipliers lambda_s that weigh all steps alike bound the sum of the L_t: linear programming duality.
// Growth (not packet switching, R <= T+3).  H_t = max(1, N / r^(R-t)), L_t = (H_t - H_{t-1}) / r^(t-1):
//   sum L + max(0, 1 - sum_{t<=R-T+1} L_t) (1 - 1/r) is a bound.
//   Proof. After step t every byte is at H_t nodes or more, else it cannot be at all N after step R. Step t makes at most r^(t-1) p u L_t
//   copies. A late step makes most copies a byte of load, so the sum is least where each step does no more than it must. LAST then asks
//   for the rest in an early step, which spares 1/r of it later.

/// The windows W_s, or FIRST in place of W_1, and the multipliers that make a bound of them. The multipliers of the windows do not depend
/// on R, so one object serves every R up to `most_steps`.
class Windows {
 public:
  /// O(most_steps T).
  Windows(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t most_steps, bool first);

  /// What W_s counts of a byte on the fullest channel in step t.
  double weight(std::uint64_t s, std::uint64_t t) const noexcept {
    if (s == 1 && first_) return t >= least_steps_ ? 1 : 0;
    return t < s || t - s >= gamma_.size() ? 1 : gamma_[t - s];
  }
  /// lambda_s.
  double multiplier(std::uint64_t s) const noexcept { return lambda_[s]; }
  /// How many windows bound R steps: R, or R-T+1 with LAST.
  std::uint64_t count(std::uint64_t steps, bool last) const noexcept { return last ? steps - least_steps_ + 1 : steps; }
  /// The multiplier of LAST, where it is used for R steps. O(T).
  double multiplier_of_last(std::uint64_t steps) const noexcept;
  /// The bound on the sum of the L_t, with LAST or without. O(T).
  double load(std::uint64_t steps, bool last) const noexcept;

 private:
  /// By how much the windows 1 .. `before` - 1 weigh step `to` more than step `from`.
  double gain(std::uint64_t from, std::uint64_t to, std::uint64_t before) const noexcept;

  std::uint64_t least_steps_;
  bool first_;
  std::vector<double> gamma_;   // 0 .. T
  std::vector<double> lambda_;  // by s, from 1
  std::vector<double> sum_;     // of lambda_1 .. lambda_s
};

/// c(R): the sum of the L_t, at least; 1 where nothing better is known.
class LeastLoad {
 public:
  /// For R up to `most_steps`. The points must outlive this.
  LeastLoad(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t most_steps);
  /// T <= R. O(T).
  double at(std::uint64_t steps) const;

 private:
  const BroadcastPoints& points_;
  std::uint64_t least_steps_;
  std::vector<Windows> windows_;  // with W_1, with FIRST; none where N <= 2
};

/// The minimum over R of the model time of a broadcast, with `route_hops` as in Bounds. Looks at about 250 numbers of steps up to 1,024; c
/// is at least what it is for more steps, and at least 1.
double broadcast_time_s(const BroadcastPoints& points, std::uint64_t least_steps, std::uint64_t route_hops, const CostModel& cost);

// Worms in dimension order that share no channel: at times more steps than counting ports says.
//
// A *cell* is a line of nodes along the dimension that routes take last. A message to a cell from outside leaves its sender by a channel
// of another dimension. Let s_x(t) be the nodes of cell x that are informed after step t, rows the nodes of a cell, r_x(t) those that step
// t informs from outside, and D the most channels that a node has in the other dimensions. Then
//
//     s_x(t) <= min(rows, 3 s_x(t-1) + r_x(t)),   sum over x of r_x(t) <= D times the sum over x of s_x(t-1).
//
// Take any prices l_t >= 0. In a broadcast of T steps the sum over t of l_t (sum r(t) - D sum s(t-1)) is at most 0. The same sum is a sum
// over cells, and each cell adds at least the least value among all ways to fill it: a small dynamic programme, one for the cell of the
// source and one for all others, which are alike. If these minima add up to more than 0, no broadcast of T steps exists. Prices are whole
// numbers, so that the comparison is exact.
//
// Every collective in which each node hears from one given node has this bound: those with a source, and those that bring data of all to
// all.

/// At least `least`, the bound of the caller. Returns `least` where routes may take any order, channels are shared, or a dimension is
/// complete, and where cells have more than 1,024 nodes. About 12 tries of prices for each step, O(steps rows) each: 0.1 ms on 64x64.
std::uint64_t least_ordered_steps(const Machine& machine, std::uint64_t least);

}  // namespace torus
