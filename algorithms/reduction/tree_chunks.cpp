#include "algorithms/reduction/tree_chunks.hpp"

#include <algorithm>
#include <bit>

namespace torus::reduction {

TreeChunks::TreeChunks(const Topology& topology, NodeId root)
    : root_{root}, trees_{topology}, depths_{trees_.of_node_0().depths()}, heights_(trees_.trees(), 0) {
  for (std::size_t i = 0; i < depths_.size(); ++i) heights_[i % trees()] = std::max(heights_[i % trees()], depths_[i]);
}

std::size_t TreeChunks::displacement(const Topology& topology, NodeId node) const noexcept {
  std::size_t place = 0;
  for (const Dimension d : trees_.axes()) {
    const std::int32_t n = topology.extent(d);
    place = place * static_cast<std::size_t>(n) +
            static_cast<std::size_t>(modulo(topology.coordinate(node, d) - topology.coordinate(root_, d), n));
  }
  return place;
}

template <class First>
std::uint64_t TreeChunks::elements_on_channels(std::uint64_t elements, std::uint64_t chunks, First&& first) const {
  const std::uint64_t segments = chunks * trees(), longer = elements % segments;
  std::vector<bool> has_longer(steps(chunks), false);
  for (std::uint32_t r = 0; r < trees(); ++r) {
    const std::uint64_t long_chunks = longer / trees() + (r < longer % trees() ? 1 : 0);
    if (long_chunks == 0) continue;
    const std::uint64_t from = first(heights_[r]), end = from + heights_[r] + long_chunks - 1;
    std::fill(has_longer.begin() + static_cast<std::ptrdiff_t>(from), has_longer.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  return elements / segments * steps(chunks) + static_cast<std::uint64_t>(std::count(has_longer.begin(), has_longer.end(), true));
}

std::uint64_t TreeChunks::up(std::uint64_t elements, std::uint64_t chunks) const {
  if (trees() == 0) return 0;
  return elements_on_channels(elements, chunks, [&](std::uint32_t height_of_tree) { return height() - height_of_tree; });
}
std::uint64_t TreeChunks::down(std::uint64_t elements, std::uint64_t chunks) const {
  if (trees() == 0) return 0;
  return elements_on_channels(elements, chunks, [](std::uint32_t) { return std::uint32_t{0}; });
}

std::uint64_t TreeChunks::combined(const Topology& topology, std::uint64_t elements, std::uint64_t chunks) const {
  std::vector<std::uint64_t> most(steps(chunks), 0), here;
  for (NodeId node = 0; node < topology.nodes() && trees() > 0; ++node) {
    here.assign(most.size(), 0);
    for (std::uint32_t r = 0; r < trees(); ++r) {
      const auto children = static_cast<std::uint64_t>(std::popcount(to_children(topology, node, r)));
      if (children == 0) continue;
      const std::uint64_t segments = chunks * trees(), first = height() - depth(topology, node, r) - 1;
      for (std::uint64_t c = 0; c < chunks; ++c)
        here[first + c] += children * (elements / segments + (c * trees() + r < elements % segments ? 1 : 0));
    }
    for (std::size_t step = 0; step < most.size(); ++step) most[step] = std::max(most[step], here[step]);
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : most) sum += each;
  return sum;
}

}  // namespace torus::reduction
