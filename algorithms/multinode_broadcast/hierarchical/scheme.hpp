/// The partition that `hierarchical` works on: its forms, tables and predictions, and which form a request gets.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <torus/algorithm.hpp>

#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/hierarchical/windows.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/multinode_broadcast/ring.hpp"

namespace torus::multinode_broadcast::hierarchical {

/// One way to run `hierarchical` on a machine: a plain value, which a search compares.
struct HierarchyForm {
  /// How a DDN's bundle reaches all nodes of the DCNs: cut over a window, or whole along a line of it.
  enum class Dcn : std::uint8_t { scatter, broadcast };
  /// How messages are shared out to the DDNs: not, whole by a hash, or a piece of each to every DDN.
  enum class Balance : std::uint8_t { none, hash, split };

  std::int32_t h;
  Dcn dcn = Dcn::scatter;
  Balance balance = Balance::none;
  bool together = false;  ///< the rings of the DDNs take whole messages, one dimension after the other

  friend bool operator==(const HierarchyForm&, const HierarchyForm&) = default;
};

/// The words of the parameters, in the order of the enumerators.
inline constexpr std::string_view dcn_meaning = "how bundles reach all nodes of the h x h subnetworks";
inline constexpr std::array<std::string_view, 2> dcn_words{"scatter", "broadcast"};
inline constexpr std::array<std::string_view, 3> balance_words{"none", "hash", "split"};

/// The tables of a partition. All forms with one h share them.
struct HierarchyTables {
  HierarchyTables(const Topology& topology, std::int32_t h);

  LineTree strip;   ///< W_5(h): aggregation in 2-D
  LineTree window;  ///< W_3(h)
  TuneMoves tuning;
  std::optional<ClassWindows> class_windows;  ///< where h leaves a rest of some side: see hierarchical.cpp
};

/// What every node knows beforehand. An immutable value.
struct Hierarchy {
  using Dcn = HierarchyForm::Dcn;
  using Balance = HierarchyForm::Balance;

  Hierarchy(const Topology& topology, const HierarchyForm& form)
      : Hierarchy(topology, form, std::make_shared<const HierarchyTables>(topology, form.h)) {}
  /// With the tables of another form of the same h.
  Hierarchy(const Topology& topology, const HierarchyForm& form, std::shared_ptr<const HierarchyTables> shared);

  std::uint32_t parts() const noexcept { return static_cast<std::uint32_t>(ddn_rings.axes.size()); }
  std::uint32_t pieces() const noexcept { return balance == Balance::split ? static_cast<std::uint32_t>(h) : 1; }
  const LineTree& strip() const noexcept { return tables->strip; }
  const LineTree& window() const noexcept { return tables->window; }
  const TuneMoves& tuning() const noexcept { return tables->tuning; }
  /// Whether h leaves a rest of some side.
  bool uneven() const noexcept { return tables->class_windows.has_value(); }
  /// Where uneven.
  const ClassWindows& class_windows() const noexcept { return *tables->class_windows; }
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

  /// Where uneven: messages on the fullest channels in the phases after the rings, if each DDN has `bundle` of them.
  double messages_over_windows(double bundle) const;

  double nodes;
  Dimension dimensions;
  std::int32_t h;
  Dcn dcn;
  Balance balance;
  std::shared_ptr<const HierarchyTables> tables;
  RingGather ddn_rings;
  RingGather dcn_rings;  ///< where h divides every side
};

/// Where uneven: the sum over the steps of the most bytes on a channel if every node is a source and nothing is balanced. Exact.
double uneven_bytes_of_all(const Hierarchy& scheme, Bytes m);

/// What a request asks for, and the rest by the least model time for s sources. Nothing is balanced if all nodes are sources, or if that is
/// the fastest wherever the sources are; pieces have a byte each, and there is room for their blocks.
Hierarchy choose_hierarchy(const Machine& machine, const Request& request, double s);

/// The program of a node, for its own broadcast and for those who play it through.
Program hierarchical_program(Node& self, const Hierarchy& scheme);

}  // namespace torus::multinode_broadcast::hierarchical
