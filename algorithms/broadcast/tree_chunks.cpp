#include "algorithms/broadcast/tree_chunks.hpp"

#include <algorithm>
#include <utility>
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
ByteSum TreeChunks::units_on_channels(std::uint64_t units, std::uint64_t chunks, First&& first) const {
  if (trees_->trees() == 0) return 0;
  const std::uint64_t trees = trees_->trees(), segments = chunks * trees, longer = units % segments;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> has_longer;  // by tree: from step, to before step
  for (std::uint32_t r = 0; r < trees; ++r) {
    const std::uint64_t long_chunks = longer / trees + (r < longer % trees ? 1 : 0);
    if (long_chunks == 0) continue;
    const std::uint64_t from = first(trees_->height(r)), end = from + trees_->height(r) + long_chunks - 1;
    has_longer.emplace_back(from, end);
  }
  std::sort(has_longer.begin(), has_longer.end());
  std::uint64_t longer_steps = 0, counted = 0;  // counted: up to before this step
  for (const auto& [from, end] : has_longer) {
    longer_steps += end - std::clamp(counted, from, end);
    counted = std::max(counted, end);
  }
  return times_bytes(steps(chunks), units / segments) + times_bytes(longer_steps, 1);
}

ByteSum TreeChunks::up(std::uint64_t units, std::uint64_t chunks) const {
  return units_on_channels(units, chunks, [&](std::uint32_t height_of_tree) { return height() - height_of_tree; });
}
ByteSum TreeChunks::down(std::uint64_t units, std::uint64_t chunks) const {
  return units_on_channels(units, chunks, [](std::uint32_t) { return std::uint32_t{0}; });
}

ByteSum TreeChunks::combined(NodeId nodes, std::uint64_t units, std::uint64_t chunks) const {
  if (trees_->trees() == 0) return 0;
  const std::uint64_t trees = trees_->trees(), segments = chunks * trees, longer = units % segments;
  // A child of tree r is heard from `first` on, as long as chunks come, and a unit more while they are the longer ones. Between the steps
  // in which any of these begins or ends, every step is like the one before: what begins late, or ends, does so within `height` steps.
  std::vector<std::uint64_t> bends{0, steps(chunks)};
  for (std::uint64_t late = 0; late < height(); ++late) {
    bends.insert(bends.end(), {late, late + chunks});
    for (const std::uint64_t r : {std::uint64_t{0}, trees - 1}) bends.push_back(late + longer / trees + (r < longer % trees ? 1 : 0));
  }
  std::sort(bends.begin(), bends.end());
  bends.erase(std::unique(bends.begin(), bends.end()), bends.end());
  std::vector<ByteSum> most(bends.size(), 0), here;  // from this bend to the next
  const auto add = [&](std::uint64_t first, std::uint64_t count, Bytes bytes) {
    const auto at = [&](std::uint64_t step) { return std::lower_bound(bends.begin(), bends.end(), step) - bends.begin(); };
    for (auto i = at(first); i < at(first + count); ++i) here[static_cast<std::size_t>(i)] += times_bytes(1, bytes);
  };
  for (NodeId node = 0; node < nodes; ++node) {
    here.assign(most.size(), 0);
    trees_->each_child(node, [&](std::uint32_t r, Leg) {
      const std::uint64_t first = height() - trees_->depth(node, r) - 1;
      add(first, chunks, units / segments);
      add(first, longer / trees + (r < longer % trees ? 1 : 0), 1);
    });
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], here[i]);
  }
  ByteSum sum = 0;
  for (std::size_t i = 0; i + 1 < bends.size(); ++i) sum += most[i] * static_cast<double>(bends[i + 1] - bends[i]);
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
