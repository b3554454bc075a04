/// How far the best algorithm is from the lower bound: over a grid of shapes, ports, switching and sizes, its model time in times the
/// bound. Any collective; a row is a comparison of all algorithms that apply (comparison.hpp), on one machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/torus/comparison.hpp"

namespace torus::command {

/// The best of a machine at one size.
struct RegretCell {
  std::vector<const Algorithm*> algorithms;  ///< those that tie, in the order of the catalogue
  Entry entry;                               ///< of the first of them
  double bound_s = 0;

  /// None where the bound is 0.
  std::optional<double> times_the_bound() const noexcept;
};

struct RegretRow {
  Machine machine;
  std::vector<std::optional<RegretCell>> cells;  ///< by size; none where nothing applies

  bool all_ports() const noexcept { return machine.ports == static_cast<int>(machine.topology.max_ports()); }
};

struct Regret {
  Collective collective = Collective::broadcast;
  std::vector<Bytes> sizes;
  std::size_t run_sizes = 0;
  std::vector<RegretRow> rows;
  std::optional<std::string> failure;  ///< of the first run that failed
  bool interrupted = false;
};

/// The grid: every combination, but for counts of ports that a shape has no room for. Empty lists stand for the defaults of the collective.
struct RegretGrid {
  std::vector<Topology> shapes;
  std::vector<int> ports;  ///< 0: all
  std::vector<std::string> switchings;
};

/// The shapes, the sizes that a table shows by default, as typed.
std::string default_regret_shapes(Collective collective);
std::string default_regret_sizes(Collective collective);

/// `typed` says the rest: costs, sources, contention (forbidden if left out), seed. Throws InputError on wrong options, and where nothing
/// applies anywhere.
Regret regret(Collective collective, const TypedOptions& typed, const RegretGrid& grid, const ComparisonOptions& options);

/// A table for each switching and count of ports; ten sizes fit into 80 columns.
std::string to_table(const Regret& regret);
/// One object, stable names; see tools/measuring.md.
nlohmann::ordered_json to_json(const Regret& regret);
/// One line a machine and size, below a line of names.
std::string to_csv(const Regret& regret);

}  // namespace torus::command
