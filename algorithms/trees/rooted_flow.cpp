#include "algorithms/trees/rooted_flow.hpp"

namespace torus {
namespace {

/// What a node sends in a step, by channel.
class Bundles {
 public:
  explicit Bundles(const ArcTrees& trees) : trees_{trees}, by_slot_(trees.copies() > 1 ? trees.slots() : 0) {}

  /// At once, where no other tree has the channel.
  template <class Send>
  void add(std::uint32_t slot, BlockId segment, Send&& send) {
    if (by_slot_.empty()) return send(trees_.leg(slot), std::span<const BlockId>(&segment, 1));
    by_slot_[slot].push_back(segment);
  }
  template <class Send>
  void flush(Send&& send) {
    for (std::uint32_t slot = 0; slot < by_slot_.size(); ++slot) {
      if (by_slot_[slot].empty()) continue;
      send(trees_.leg(slot), std::span<const BlockId>(by_slot_[slot]));
      by_slot_[slot].clear();
    }
  }

 private:
  const ArcTrees& trees_;
  std::vector<std::vector<BlockId>> by_slot_;
};

}  // namespace

Program send_down_trees(Node& self, const ArcTrees& trees, NodeId root, BlockId first, std::uint32_t segments, const char* phase) {
  if (trees.trees() == 0) co_return;
  const NodeId place = trees.place(self.topology(), self.rank(), root);
  Bundles bundles(trees);
  const auto send = [&](Leg leg, std::span<const BlockId> blocks) { self.send({leg}, blocks); };
  const auto pass_on = [&](BlockId segment) {
    if (phase != nullptr) self.phase(phase);
    trees.each_child(place, static_cast<std::uint32_t>(segment % trees.trees()),
                     [&](std::uint32_t slot) { bundles.add(slot, segment, send); });
  };
  if (self.rank() == root) {
    for (std::uint32_t next = 0;;) {
      for (std::uint32_t r = 0; r < trees.trees(); ++r) pass_on(first + next++);
      bundles.flush(send);
      if (next == segments) co_return;
      co_await self.step();
    }
  }
  for (std::uint32_t held = 0; held < segments;) {
    for (const Message& m : co_await self.arrival()) {
      const auto segments_in = m.blocks();
      std::size_t i = 0;
      do {  // asks for a first one, too, which a wrong message lacks
        pass_on(segments_in[i]);
        ++held;
      } while (++i < segments_in.size());
    }
    bundles.flush(send);
  }
}

Program send_up_trees(Node& self, const RootedFlow& flow, const WayUp& way_up, std::uint32_t chunks, const char* phase) {
  const ArcTrees& trees = flow.trees();
  const NodeId place = trees.place(self.topology(), self.rank(), flow.root());
  const auto steps = static_cast<Step>(flow.steps(chunks));
  Bundles bundles(trees);
  const auto send = [&](Leg leg, std::span<const BlockId> blocks) { self.forward(combine, {leg}, blocks); };
  for (Step step = 0; step < steps; ++step) {
    self.phase(phase);
    for (std::uint32_t r = 0; r < trees.trees(); ++r) {
      const std::uint8_t parent = way_up.parent(place, r);
      const std::int64_t c = std::int64_t{step} - trees.height() + way_up.depth(place, r);
      if (parent == WayUp::no_slot || c < 0 || c >= std::int64_t{chunks}) continue;
      bundles.add(parent, static_cast<BlockId>(c) * trees.trees() + r, send);
    }
    bundles.flush(send);
    co_await self.step();
  }
}

RootedFlow::RootedFlow(std::shared_ptr<const ArcTrees> trees, const Machine& machine, NodeId root)
    : trees_{std::move(trees)}, nodes_{machine.topology.nodes()}, root_{root}, fullest_byte_s_{machine.cost.byte_s} {
  if (machine.cost.one_speed() || trees_->trees() == 0) return;
  std::vector<Used> of_slot(std::size_t{nodes_} * trees_->slots());
  for (std::uint32_t r = 0; r < trees_->trees(); ++r) {
    trees_->each_arc(machine.topology, r, [&](NodeId from, std::uint32_t slot, NodeId, std::uint32_t depth) {
      const auto [dimension, hops] = trees_->leg(slot);
      Used& used = of_slot[std::size_t{from} * trees_->slots() + slot];
      used.byte_s = machine.byte_s(trees_->node_at(machine.topology, from, root), dimension, hops);
      used.by.push_back({r, depth});
    });
  }
  fullest_byte_s_ = 0;
  for (Used& used : of_slot) {
    if (used.by.empty()) continue;
    fullest_byte_s_ = std::max(fullest_byte_s_, used.byte_s * static_cast<double>(used.by.size()));
    used_.push_back(std::move(used));
  }
}

std::vector<std::uint64_t> RootedFlow::bends(std::uint64_t chunks, std::uint64_t longer) const {
  // An arc is in use from some step `late` on while there are chunks, and its segments are a unit longer while these are the first ones.
  // Between the steps in which one of these begins or ends, every step is like the one before: all begin, and all end, within `height`
  // steps.
  const std::uint64_t trees = trees_->trees();
  std::vector<std::uint64_t> bends{0, steps(chunks)};
  for (std::uint64_t late = 0; late < trees_->height(); ++late) {
    bends.insert(bends.end(), {late, late + chunks});
    for (const std::uint64_t r : {std::uint64_t{0}, trees - 1}) bends.push_back(late + longer / trees + (r < longer % trees ? 1 : 0));
  }
  std::sort(bends.begin(), bends.end());
  bends.erase(std::unique(bends.begin(), bends.end()), bends.end());
  return bends;
}

template <class First>
RootedFlow::Terms RootedFlow::terms(std::uint64_t units, std::uint64_t chunks, First&& first) const {
  if (trees_->trees() == 0) return {};
  const std::uint64_t trees = trees_->trees(), segments = chunks * trees, longer = units % segments;
  const std::vector<std::uint64_t> steps = bends(chunks, longer);
  struct Change {
    std::int64_t segments = 0, longer = 0;
  };
  std::vector<ByteSum> most(steps.size(), 0);
  std::vector<double> most_s(steps.size(), 0);
  std::vector<Change> changes;  // from a bend on
  const auto at = [&](std::uint64_t step) {
    return static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), step) - steps.begin());
  };
  for (const Used& used : used_) {
    changes.assign(steps.size(), {});
    for (const auto& [tree, depth] : used.by) {
      const std::uint64_t from = first(depth), long_chunks = longer / trees + (tree < longer % trees ? 1 : 0);
      const std::size_t begin = at(from);
      ++changes[begin].segments;
      --changes[at(from + chunks)].segments;
      ++changes[begin].longer;
      --changes[at(from + long_chunks)].longer;
    }
    Change now;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      now.segments += changes[i].segments;
      now.longer += changes[i].longer;
      const ByteSum here = times_bytes(static_cast<std::uint64_t>(now.segments), units / segments) + static_cast<double>(now.longer);
      most[i] = std::max(most[i], here);
      most_s[i] = std::max(most_s[i], here * used.byte_s);
    }
  }
  Terms sum;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const auto count = static_cast<double>(steps[i + 1] - steps[i]);
    sum.units += most[i] * count;
    sum.byte_s += most_s[i] * count;
  }
  return sum;
}

template <class First>
ByteSum RootedFlow::units_on_channels(std::uint64_t units, std::uint64_t chunks, First&& first) const {
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

ByteSum RootedFlow::up(std::uint64_t units, std::uint64_t chunks) const {
  if (!used_.empty()) return terms(units, chunks, [&](std::uint32_t depth) { return trees_->height() - depth; }).units;
  return units_on_channels(units, chunks, [&](std::uint32_t height_of_tree) { return trees_->height() - height_of_tree; });
}
ByteSum RootedFlow::down(std::uint64_t units, std::uint64_t chunks) const {
  if (!used_.empty()) return terms(units, chunks, [&](std::uint32_t depth) { return depth - 1; }).units;
  return units_on_channels(units, chunks, [](std::uint32_t) { return std::uint32_t{0}; });
}
double RootedFlow::up_s(std::uint64_t units, std::uint64_t chunks, Bytes unit) const {
  return terms(units, chunks, [&](std::uint32_t depth) { return trees_->height() - depth; }).byte_s * static_cast<double>(unit);
}
double RootedFlow::down_s(std::uint64_t units, std::uint64_t chunks, Bytes unit) const {
  return terms(units, chunks, [&](std::uint32_t depth) { return depth - 1; }).byte_s * static_cast<double>(unit);
}
ByteSum RootedFlow::combined(const WayUp& way_up, std::uint64_t units, std::uint64_t chunks) const {
  if (trees_->trees() == 0) return 0;
  const std::uint64_t trees = trees_->trees(), segments = chunks * trees, longer = units % segments;
  const std::vector<std::uint64_t> bends = this->bends(chunks, longer);
  std::vector<ByteSum> most(bends.size(), 0), here;  // from this bend to the next
  const auto add = [&](std::uint64_t first, std::uint64_t count, Bytes bytes) {
    const auto at = [&](std::uint64_t step) { return std::lower_bound(bends.begin(), bends.end(), step) - bends.begin(); };
    for (auto i = at(first); i < at(first + count); ++i) here[static_cast<std::size_t>(i)] += times_bytes(1, bytes);
  };
  for (NodeId place = 0; place < nodes_; ++place) {
    here.assign(most.size(), 0);
    for (std::uint32_t r = 0; r < trees; ++r) {
      trees_->each_child(place, r, [&](std::uint32_t) {
        const std::uint64_t first = trees_->height() - way_up.depth(place, r) - 1;
        add(first, chunks, units / segments);
        add(first, longer / trees + (r < longer % trees ? 1 : 0), 1);
      });
    }
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], here[i]);
  }
  ByteSum sum = 0;
  for (std::size_t i = 0; i + 1 < bends.size(); ++i) sum += most[i] * static_cast<double>(bends[i + 1] - bends[i]);
  return sum;
}

std::vector<std::pair<std::string, std::string>> RootedFlow::notes(std::uint32_t chunks) const {
  return {{"trees", std::to_string(trees_->trees())},
          {"height of the trees", std::to_string(trees_->height())},
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

}  // namespace torus
