/// How bounds are raised, one argument after the other, and the arguments that lower_bounds() takes from other sources.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <torus/bounds.hpp>

#include "runtime/base/figures.hpp"

namespace torus {

/// Keeps the largest of several bounds with its reason; the first of equals.
template <class Value>
void raise(Value& bound, std::string& reason, Value candidate, std::string why) {
  if (candidate <= bound && !reason.empty()) return;
  bound = candidate;
  reason = std::move(why);
}

/// For reasons: ` over 3 channels`.
inline std::string over(std::uint64_t channels) { return " over " + counted(channels, "channel"); }

/// reductions.cpp: reductions, scan, scatter, gather and barrier.
void bound_reduction(const Machine& machine, const Request& request, Bounds& bounds);

/// allreduce.cpp: partitions of the nodes and, under packet switching, how long a pipeline takes to fill. After bound_reduction().
void bound_allreduce(const Machine& machine, const Request& request, Bounds& bounds);
/// allreduce.cpp: what filling leaves of `bytes` that each node must bring to each that is later in rank. After the bounds of bytes.
void bound_filling(const Machine& machine, double bytes, Bounds& bounds);
/// reductions.cpp: the bytes of a scan of `bytes`, and after bound_filling() what filling leaves between its columns.
void bound_scan_columns(const Machine& machine, double bytes, Bounds& bounds);
void bound_scan_filling(const Machine& machine, double bytes, Bounds& bounds);
/// The model time that filling leaves; at least one pair of nodes.
double filling_time_s(const Bounds& bounds, const CostModel& cost);

/// uneven.cpp: all bounds of a request with sizes. Two living nodes or more, and a source.
void bound_uneven(const Machine& machine, const Request& request, Bounds& bounds);

/// cuts.cpp: raises the bounds of bytes, of seconds and of single-block steps. Two living nodes or more, and a source.
void bound_cuts(const Machine& machine, const Request& request, Bounds& bounds);

}  // namespace torus
