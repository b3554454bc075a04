/// The partition that `hierarchical` and `hierarchical-log` work on: tables and predictions. See hierarchical.hpp.
#pragma once

#include <optional>
#include <string>

#include <torus/topology.hpp>

#include "algorithms/multinode_broadcast/class_windows.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/ring_gather.hpp"
#include "algorithms/multinode_broadcast/tune.hpp"

namespace torus::multinode {

/// What every node knows beforehand.
struct Hierarchy {
  enum class Dcn : std::uint8_t { scatter, log };

  /// How messages are shared out to the DDNs: not, whole by a hash, or a piece of each to every DDN.
  enum class Balance : std::uint8_t { none, hash, split };

  Hierarchy(const Topology& topology, std::int32_t partition, Dcn dcn_kind, Balance balanced);

  std::uint32_t parts() const noexcept { return static_cast<std::uint32_t>(ddn_rings.axes.size()); }
  std::uint32_t pieces() const noexcept { return balance == Balance::split ? static_cast<std::uint32_t>(h) : 1; }
  /// Whether h leaves a rest of some side: see uneven.hpp.
  bool uneven() const noexcept { return class_windows.has_value(); }
  bool tunes() const noexcept { return balance != Balance::none; }
  std::int32_t aggregation_steps() const noexcept;
  std::int32_t balancing_steps() const noexcept;
  std::int32_t steps() const noexcept;
  /// The steps, for people.
  std::string formula() const;
  /// Hops that grow with h, about: for the choice of h.
  double hops_for_h() const noexcept { return h == 1 ? 0 : 2.5 * dimensions * h; }
  /// Sum over the steps of the most bytes on a channel, for s sources of m bytes: exact for s = all (if split, where the
  /// blocks are equal; not if uneven), else for random ones, about.
  double channel_bytes(double s, Bytes m) const { return gathering_bytes(s, m) + spreading_bytes(s, m); }
  /// No less for any s sources: as if all were in one DDN, and as if every step carried all.
  double channel_bytes_at_worst(double s, Bytes m) const noexcept {
    const double before = aggregation_steps() + balancing_steps() + (ddn_rings.together ? ddn_rings.steps() : 0);
    return s * static_cast<double>(m) * (before + (steps() - before) / parts());
  }
  /// The two halves of it: aggregation and tuning, and what follows.
  double gathering_bytes(double s, Bytes m) const;
  double spreading_bytes(double s, Bytes m) const;

  /// Where uneven: messages on the fullest channels of what follows the rings, for DDNs of so many.
  double messages_over_windows(double bundle) const;

  double nodes;
  Dimension dimensions;
  std::int32_t h;
  Dcn dcn;
  Balance balance;
  LineTree strip;   ///< W_5(h): aggregation in 2-D
  LineTree window;  ///< W_3(h)
  TuneMoves tuning;
  RingGather ddn_rings;
  RingGather dcn_rings;                       ///< where h divides every side
  std::optional<ClassWindows> class_windows;  ///< where not
};

}  // namespace torus::multinode
