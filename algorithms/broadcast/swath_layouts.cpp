#include <algorithm>

#include <torus/block.hpp>

#include "algorithms/broadcast/swath_schedule.hpp"
#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
namespace {

/// The extents of a part's dimensions, in its order.
std::vector<std::int32_t> extents_of(const Topology& topology, const std::vector<Dimension>& linked, std::size_t begin) {
  std::vector<std::int32_t> extents;
  for (std::size_t e = 0; e < linked.size(); ++e) extents.push_back(topology.extent(linked[(begin + e) % linked.size()]));
  return extents;
}

/// The layouts of so many parts.
void add_layouts(const Machine& machine, const std::vector<Dimension>& linked, std::size_t parts, std::size_t forward,
                 std::vector<SwathLayout>& layouts) {
  const std::size_t k = linked.size();
  const std::uint64_t most = std::max<std::uint64_t>(1, most_blocks / (std::uint64_t{machine.topology.nodes()} * 2 * parts));
  const auto complete = [&](std::size_t e) { return machine.topology.wiring(linked[e % k]) == Wiring::complete; };
  for (std::size_t first = 0; first < (parts < k ? k : 1); ++first) {
    std::uint64_t bundles = 1;
    for (std::size_t levels = 0; levels <= k && bundles <= most; ++levels) {
      std::int32_t most_h = levels + 1 < k ? largest_extent(machine.topology) : 1;
      bool equal = true;  // every part has as many bundles
      for (std::size_t j = 0; j < parts; ++j) {
        const std::vector<std::int32_t> extents = extents_of(machine.topology, linked, first + j);
        std::uint64_t own = 1;
        for (std::size_t e = 0; e < levels; ++e) own *= static_cast<std::uint64_t>(extents[e]);
        equal = equal && (j == 0 || own == bundles);
        if (j == 0) bundles = own;
        if (levels + 1 < k) most_h = std::min({most_h, extents[levels], extents[levels + 1]});
        if (levels + 1 < k && (complete(first + j + levels) || complete(first + j + levels + 1))) most_h = 1;  // no classes of rows there
      }
      for (std::int32_t h = 1; equal && h <= most_h && bundles * static_cast<std::uint64_t>(h) <= most; ++h) {
        layouts.push_back({parts, forward, first, levels, h, static_cast<std::uint32_t>(bundles * static_cast<std::uint64_t>(h))});
      }
    }
  }
}

}  // namespace

std::vector<SwathLayout> swath_layouts(const Machine& machine, Ways ways) {
  const std::vector<Dimension> linked = linked_dimensions(machine.topology);
  const std::size_t k = linked.size();
  if (k == 0) return {{.parts = 0, .forward = 0, .first = 0, .levels = 0, .h = 1, .pieces = 1}};
  const bool all = machine.ports >= static_cast<int>(machine.topology.max_ports());  // a line of 2 has one port
  const std::size_t pairs = all ? k : std::clamp<std::size_t>(static_cast<std::size_t>(machine.ports) / 2, 1, k);
  std::vector<SwathLayout> layouts;
  if (ways == Ways::forward) {
    add_layouts(machine, linked, 1, 1, layouts);
  } else {
    if (machine.ports % 2 == 1 && machine.ports > 1 && pairs < k && is_torus(machine.topology))
      add_layouts(machine, linked, pairs + 1, 1, layouts);
    add_layouts(machine, linked, pairs, 0, layouts);
  }
  std::stable_sort(layouts.begin(), layouts.end(), [](const SwathLayout& a, const SwathLayout& b) { return a.levels > b.levels; });
  return layouts;
}

}  // namespace torus::broadcast
