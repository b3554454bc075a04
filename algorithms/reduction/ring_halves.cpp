#include "algorithms/reduction/ring_halves.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::reduction {

RingHalves::RingHalves(const Topology& topology, std::uint32_t parts, std::uint32_t pieces_a_part, Numbering numbering)
    : pieces_a_part_{pieces_a_part} {
  for (const Dimension d : linked_dimensions(topology)) axes_.emplace_back(d, topology.shape()[static_cast<std::size_t>(d)]);
  parts_ = std::max<std::uint32_t>(1, std::min<std::uint32_t>(parts, phases()));
  for (std::uint32_t phase = 0; phase < phases(); ++phase) {
    std::int32_t longest = 0;
    for (std::uint32_t part = 0; part < parts_; ++part) longest = std::max(longest, axis_of(part, phase).reach);
    phase_steps_.push_back(static_cast<std::uint32_t>(longest));
  }
  strides_.resize(parts_ * phases());
  for (std::uint32_t part = 0; part < parts_; ++part) {
    BlockId within = pieces_a_part_;  // blocks of a place of the axes to come
    for (std::uint32_t phase = phases(); phase-- > 0;) {
      const LineStages& axis = axis_of(part, phase);
      strides_[part * phases() + phase] = numbering == Numbering::by_bundle ? within : topology.stride(axis.dimension) * pieces();
      within *= static_cast<BlockId>(axis.line.extent);
    }
    const BlockId first = part * (numbering == Numbering::by_bundle ? within : pieces_a_part_);
    for (std::uint32_t phase = 0; phase < phases(); ++phase) bundles_.push_back(bundle(first, part, phase));
  }
}

std::vector<BlockId> RingHalves::bundle(BlockId first, std::uint32_t part, std::uint32_t phase) const {
  std::vector<BlockId> blocks;
  for (std::uint32_t i = 0; i < pieces_a_part_; ++i) blocks.push_back(first + i);
  for (std::uint32_t later = phases(); --later > phase;) {
    const std::size_t count = blocks.size();
    for (std::int32_t place = 1; place < axis_of(part, later).line.extent; ++place) {
      for (std::size_t i = 0; i < count; ++i) blocks.push_back(blocks[i] + static_cast<BlockId>(place) * stride(part, later));
    }
  }
  return blocks;
}

std::uint64_t RingHalves::steps() const { return std::accumulate(phase_steps_.begin(), phase_steps_.end(), std::uint64_t{0}); }

std::pair<std::uint32_t, std::uint32_t> RingHalves::when(std::uint64_t step) const noexcept {
  std::uint32_t phase = 0;
  for (; step >= phase_steps_[phase]; ++phase) step -= phase_steps_[phase];
  return {phase, static_cast<std::uint32_t>(step)};
}

Bytes RingHalves::table_bytes() const {
  Bytes sum = 0;
  for (const std::vector<BlockId>& each : bundles_) sum += each.size() * sizeof(BlockId);
  return sum;
}

/// The blocks of owners at the place, at this node's coordinates in the axes done before, anywhere in those to come.
void RingHalves::append(const Coordinates& at, std::uint32_t part, std::uint32_t phase, const LineStages::Leaving& leaving,
                        std::vector<BlockId>& blocks) const {
  BlockId first = static_cast<BlockId>(leaving.to) * stride(part, phase);
  for (std::uint32_t done = 0; done < phase; ++done) {
    first += static_cast<BlockId>(at[static_cast<std::size_t>(axis_of(part, done).dimension)]) * stride(part, done);
  }
  const std::vector<BlockId>& bundle = bundle_of(part, phase);
  const auto [from, to] = leaving.range(bundle.size());
  const std::size_t before = blocks.size();
  blocks.resize(before + (to - from));
  for (std::uint64_t i = from; i < to; ++i) blocks[before + (i - from)] = first + bundle[i];
}

void RingHalves::gives(const Node& self, std::uint64_t step, Gifts& gifts) const {
  const auto [phase, number] = when(step);
  const Coordinates at = self.coordinates();
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const LineStages& axis = axis_of(part, phase);
    axis.each_leaving(at[static_cast<std::size_t>(axis.dimension)], phase_steps_[phase], number, [&, phase = phase](const auto& each) {
      append(at, part, phase, each, gifts.of({{axis.dimension, each.hops}}));
    });
  }
}

void RingHalves::returns(const Node& self, std::uint64_t step, Gifts& gifts) const {
  const auto [phase, number] = when(step);
  const Coordinates at = self.coordinates();
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const LineStages& axis = axis_of(part, phase);
    const std::int32_t place = at[static_cast<std::size_t>(axis.dimension)];
    axis.each_sender(place, [&, phase = phase, number = number](std::int32_t sender) {
      axis.each_leaving(sender, phase_steps_[phase], number, [&](const auto& each) {
        if (axis.receiver(sender, each) != place) return;
        append(at, part, phase, each, gifts.of({{axis.dimension, self.topology().reverse(axis.dimension, each.hops)}}));
      });
    });
  }
}

RingHalves::Load RingHalves::load() const {
  Load sum;
  for (std::uint32_t phase = 0; phase < phases(); ++phase) {
    for (std::uint32_t step = 0; step < phase_steps_[phase]; ++step) {
      std::uint64_t channel = 0, combined = 0;
      for (std::uint32_t part = 0; part < parts_; ++part) {
        const LineStages& axis = axis_of(part, phase);
        const std::uint64_t size = bundle_of(part, phase).size();
        std::vector<std::uint64_t> into(static_cast<std::size_t>(axis.line.extent));  // by place
        for (std::int32_t place = 0; place < axis.line.extent; ++place) {
          std::vector<std::pair<std::int32_t, std::uint64_t>> out;  // by hops
          axis.each_leaving(place, phase_steps_[phase], step, [&](const auto& each) {
            const auto [from, to] = each.range(size);
            into[static_cast<std::size_t>(axis.receiver(place, each))] += to - from;
            auto at = std::find_if(out.begin(), out.end(), [&](const auto& o) { return o.first == each.hops; });
            if (at == out.end()) at = out.insert(at, {each.hops, 0});
            channel = std::max(channel, at->second += to - from);
          });
        }
        combined += *std::max_element(into.begin(), into.end());
      }
      sum.channel += channel;
      sum.combined += combined;
    }
  }
  return sum;
}

}  // namespace torus::reduction
