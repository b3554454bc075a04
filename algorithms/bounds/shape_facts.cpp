/// The figures of a shape: by product formulas. Those of twisted tori are counted.

#include <algorithm>

#include <torus/bounds.hpp>

#include "algorithms/bounds/growth.hpp"
#include "algorithms/common/integers.hpp"

namespace torus {
namespace {

/// See ShapeFacts::bisection_links. The cut goes through an odd dimension's middle layer and on in it, until an even one ends it. Of two
/// odd dimensions the one with the smaller cut/(n-1) comes first (exchange the two and compare); an odd one comes before the even one e if
/// its cut/(n-1) is less than cut_e/n_e.
std::uint64_t bisection(std::vector<Factor> dimensions, std::uint64_t nodes) {
  std::stable_sort(dimensions.begin(), dimensions.end(), [](const Factor& a, const Factor& b) {
    const auto span = [](const Factor& f) { return f.n % 2 == 0 ? f.n : f.n - 1; };
    return a.middle_cut() * span(b) < b.middle_cut() * span(a);
  });
  std::uint64_t least = 0;
  for (std::size_t end = 0; end <= dimensions.size(); ++end) {
    if (end < dimensions.size() && dimensions[end].n % 2 != 0) continue;
    std::uint64_t rest = nodes;
    std::uint64_t cut = 0;
    const auto through = [&](const Factor& f) {
      rest /= f.n;
      cut += f.middle_cut() * rest;
    };
    for (std::size_t i = 0; i < end; ++i) {
      if (dimensions[i].n % 2 != 0) through(dimensions[i]);
    }
    if (end < dimensions.size()) {
      through(dimensions[end]);
    } else if (std::any_of(dimensions.begin(), dimensions.end(), [](const Factor& f) { return f.n % 2 == 0; })) {
      continue;  // odd layers alone are no cut where an even dimension is left
    }
    if (least == 0 || cut < least) least = cut;
  }
  return least;
}

/// Cuts into halves: across the middle of a short dimension and over its ends, where the extent is even; and across that of a long one,
/// which every hop over the end of a short dimension crosses too.
void twist_facts(const Topology& topology, ShapeFacts& facts) {
  const std::uint64_t n = topology.nodes(), k = static_cast<std::uint64_t>(topology.circle(0)) / 2;
  std::uint64_t shorts = 0, status = 0;
  for (const DimensionShape& d : topology.shape()) shorts += static_cast<std::uint64_t>(d.extent) == k ? 1 : 0;
  for (NodeId node = 0; node < n; ++node) status += static_cast<std::uint64_t>(topology.distance(0, node));
  facts.least_status = facts.greatest_status = status;
  facts.average_status = static_cast<double>(status);
  facts.average_distance = facts.average_status / static_cast<double>(n - 1);
  facts.bound3 = status;
  facts.bisection_links = n / k * (1 + shorts);
  if (k % 2 == 0) facts.bisection_links = std::min(facts.bisection_links, 2 * (n / k));
  facts.bound4 = ceil_div(n / 2 * (n / 2), facts.bisection_links);
}

}  // namespace

ShapeFacts shape_facts(const Topology& topology) {
  ShapeFacts facts;
  const std::uint64_t n = topology.nodes();
  const std::vector<Factor> dimensions = factors(topology);
  std::uint64_t status_times_3 = 0;
  for (const Factor& f : dimensions) {
    facts.least_status += n / f.n * f.least_status();
    facts.greatest_status += n / f.n * f.greatest_status();
    status_times_3 += n / f.n * f.average_status_times_3();
    facts.bound4 = std::max(facts.bound4, ceil_div(n / f.n * f.ring_status(), f.middle_cut()));
    facts.least_channels_of_a_node += static_cast<std::int32_t>(f.degrees().begin()->first);
    facts.most_channels_of_a_node += static_cast<std::int32_t>(f.degrees().rbegin()->first);
  }
  facts.diameter = topology.diameter();
  facts.channels = topology.channels();
  facts.average_status = static_cast<double>(status_times_3) / 3;
  if (n > 1) facts.average_distance = facts.average_status / static_cast<double>(n - 1);
  facts.bound3 = ceil_div<std::uint64_t>(status_times_3, 3);
  facts.bisection_links = n > 1 ? bisection(dimensions, n) : 0;
  if (topology.twisted()) twist_facts(topology, facts);
  return facts;
}

}  // namespace torus
