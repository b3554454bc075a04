#include "algorithms/broadcast/tree_chunks.hpp"

#include <algorithm>
#include <vector>

namespace torus::broadcast {
namespace {

/// Whether the chunk is due `late` steps after the first: none is before the first and after the last.
bool due(std::int64_t late, std::uint32_t chunks) { return late >= 0 && late < std::int64_t{chunks}; }

}  // namespace

void TreeChunks::send_up(Node& self, std::uint32_t chunks, Step step) const {
  for (std::uint32_t r = 0; r < trees_->trees(); ++r) {
    const auto parent = trees_->to_parent(self.rank(), r);
    const std::int64_t c = std::int64_t{step} - height() + trees_->depth(self.rank(), r);
    if (parent && due(c, chunks)) self.forward(combine, {*parent}, {{static_cast<BlockId>(c) * trees_->trees() + r}});
  }
}

void TreeChunks::send_down(Node& self, std::uint32_t chunks, Step step, BlockId first) const {
  trees_->each_child(self.rank(), [&](std::uint32_t r, Leg leg) {
    const std::int64_t c = std::int64_t{step} - trees_->depth(self.rank(), r);
    if (due(c, chunks)) self.send({leg}, {{first + static_cast<BlockId>(c) * trees_->trees() + r}});
  });
}

template <class First>
std::uint64_t TreeChunks::units_on_channels(std::uint64_t units, std::uint64_t chunks, First&& first) const {
  if (trees_->trees() == 0) return 0;
  const std::uint64_t trees = trees_->trees(), segments = chunks * trees, longer = units % segments;
  std::vector<bool> has_longer(steps(chunks), false);
  for (std::uint32_t r = 0; r < trees; ++r) {
    const std::uint64_t long_chunks = longer / trees + (r < longer % trees ? 1 : 0);
    if (long_chunks == 0) continue;
    const std::uint64_t from = first(trees_->height(r)), end = from + trees_->height(r) + long_chunks - 1;
    std::fill(has_longer.begin() + static_cast<std::ptrdiff_t>(from), has_longer.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  return units / segments * steps(chunks) + static_cast<std::uint64_t>(std::count(has_longer.begin(), has_longer.end(), true));
}

std::uint64_t TreeChunks::up(std::uint64_t units, std::uint64_t chunks) const {
  return units_on_channels(units, chunks, [&](std::uint32_t height_of_tree) { return height() - height_of_tree; });
}
std::uint64_t TreeChunks::down(std::uint64_t units, std::uint64_t chunks) const {
  return units_on_channels(units, chunks, [](std::uint32_t) { return std::uint32_t{0}; });
}

std::uint64_t TreeChunks::combined(NodeId nodes, std::uint64_t units, std::uint64_t chunks) const {
  if (trees_->trees() == 0) return 0;
  const std::uint64_t segments = chunks * trees_->trees();
  std::vector<std::uint64_t> most(steps(chunks), 0), here;
  for (NodeId node = 0; node < nodes; ++node) {
    here.assign(most.size(), 0);
    trees_->each_child(node, [&](std::uint32_t r, Leg) {
      const std::uint64_t first = height() - trees_->depth(node, r) - 1;
      for (std::uint64_t c = 0; c < chunks; ++c) here[first + c] += units / segments + (c * trees_->trees() + r < units % segments ? 1 : 0);
    });
    for (std::size_t step = 0; step < most.size(); ++step) most[step] = std::max(most[step], here[step]);
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : most) sum += each;
  return sum;
}

std::vector<std::pair<std::string, std::string>> TreeChunks::notes(std::uint32_t chunks) const {
  return {{"trees", std::to_string(trees_->trees())},
          {"height of the trees", std::to_string(height())},
          {"segments a tree", std::to_string(chunks)}};
}

std::optional<Refusal> too_many_chunks(std::string_view algorithm, const Topology& topology, const Request& request, std::uint32_t trees) {
  const std::uint32_t chunks = request.parameters.whole("segments");
  const std::uint64_t most = std::max<std::uint64_t>(1, most_blocks / (std::uint64_t{topology.nodes()} * trees));
  if (chunks <= most) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(chunks),
                 std::string(algorithm) + " on " + topology.text() + " would hold more than " + std::to_string(most_blocks) + " segments",
                 std::to_string(most), "segments"};
}

}  // namespace torus::broadcast
