#include "algorithms/reduction/ring_halves.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/reduction/reach.hpp"

namespace torus::reduction {

RingHalves::RingHalves(const Topology& topology, std::uint32_t parts) {
  for (const Dimension d : linked_dimensions(topology)) {
    const DimensionShape& line = topology.shape()[static_cast<std::size_t>(d)];
    axes_.push_back({d, line, reach(line)});
  }
  parts_ = std::max<std::uint32_t>(1, std::min<std::uint32_t>(parts, phases()));
}

std::uint32_t RingHalves::phase_steps(std::uint32_t phase) const noexcept {
  std::int32_t longest = 0;
  for (std::uint32_t part = 0; part < parts_; ++part) longest = std::max(longest, axis_of(part, phase).reach);
  return static_cast<std::uint32_t>(longest);
}

std::uint64_t RingHalves::steps() const {
  std::uint64_t sum = 0;
  for (std::uint32_t phase = 0; phase < phases(); ++phase) sum += phase_steps(phase);
  return sum;
}

std::pair<std::uint32_t, std::uint32_t> RingHalves::when(std::uint64_t step) const noexcept {
  std::uint32_t phase = 0;
  for (; step >= phase_steps(phase); ++phase) step -= phase_steps(phase);
  return {phase, static_cast<std::uint32_t>(step)};
}

/// A shorter axis cuts each bundle in c = L / gcd(L, r) chunks and does q = r / gcd(L, r) of its r c pairs (stage, chunk) a step, in order.
/// Chunk j of stage s and of stage s + 1 are c >= q pairs apart, so never in one step: what is passed on has arrived.
std::vector<RingHalves::Leaving> RingHalves::leaving(const Axis& axis, std::int32_t place, std::uint32_t phase, std::uint32_t step) const {
  const std::int32_t n = axis.line.extent, reach = axis.reach;
  const auto all = static_cast<std::int32_t>(phase_steps(phase));
  const std::int32_t common = std::gcd(all, reach), chunks = all / common, pairs = reach / common;
  std::vector<Leaving> out;
  for (std::int32_t pair = pairs * static_cast<std::int32_t>(step); pair < pairs * static_cast<std::int32_t>(step + 1); ++pair) {
    const std::int32_t distance = reach - pair / chunks, chunk = pair % chunks;
    switch (axis.line.wiring) {
      case Wiring::complete:
        for (std::int32_t to = 0; to < n; ++to) {
          if (to != place) out.push_back({modulo(to - place, n), to, chunk, chunks, 0});
        }
        break;
      case Wiring::line:
        if (place + distance < n) out.push_back({+1, place + distance, chunk, chunks, 0});
        if (place - distance >= 0) out.push_back({-1, place - distance, chunk, chunks, 0});
        break;
      case Wiring::ring: {
        const bool antipode = 2 * distance == n;  // half by each way
        out.push_back({-1, modulo(place - distance, n), chunk, chunks, antipode ? 1 : 0});
        out.push_back({+1, modulo(place + distance, n), chunk, chunks, antipode ? 2 : 0});
        break;
      }
    }
  }
  return out;
}

std::uint64_t RingHalves::bundle_size(std::uint32_t part, std::uint32_t phase) const noexcept {
  std::uint64_t size = pieces_a_part;
  for (std::uint32_t later = phase + 1; later < phases(); ++later) size *= static_cast<std::uint64_t>(axis_of(part, later).line.extent);
  return size;
}

/// Positions of a bundle: first the chunk, then its half.
std::pair<std::uint64_t, std::uint64_t> RingHalves::range(const Leaving& leaving, std::uint64_t size) noexcept {
  const auto chunk = static_cast<std::uint64_t>(leaving.chunk), chunks = static_cast<std::uint64_t>(leaving.chunks);
  const std::uint64_t from = chunk * size / chunks, to = (chunk + 1) * size / chunks;
  const std::uint64_t middle = from + (to - from + 1) / 2;
  return {leaving.half == 2 ? middle : from, leaving.half == 1 ? middle : to};
}

/// The blocks of owners at the place, at this node's coordinates in the axes done before, anywhere in those to come.
void RingHalves::append(const Topology& topology, const Coordinates& at, std::uint32_t part, std::uint32_t phase, const Leaving& leaving,
                        std::vector<BlockId>& blocks) const {
  Coordinates owner = at;
  owner[static_cast<std::size_t>(axis_of(part, phase).dimension)] = leaving.to;
  const auto [from, to] = range(leaving, bundle_size(part, phase));
  for (std::uint64_t position = from; position < to; ++position) {
    std::uint64_t rest = position / pieces_a_part;
    for (std::uint32_t later = phase + 1; later < phases(); ++later) {
      const Axis& axis = axis_of(part, later);
      owner[static_cast<std::size_t>(axis.dimension)] = static_cast<std::int32_t>(rest % static_cast<std::uint64_t>(axis.line.extent));
      rest /= static_cast<std::uint64_t>(axis.line.extent);
    }
    blocks.push_back(topology.rank(owner) * pieces() + part * pieces_a_part + static_cast<BlockId>(position % pieces_a_part));
  }
}

std::int32_t RingHalves::receiver(const Axis& axis, std::int32_t place, const Leaving& leaving) const noexcept {
  return axis.line.wiring == Wiring::complete ? leaving.to : modulo(place + leaving.hops, axis.line.extent);
}

std::vector<Gift> RingHalves::gives(const Node& self, std::uint64_t step) const {
  std::vector<Gift> gifts;
  const auto [phase, number] = when(step);
  const Coordinates at = self.coordinates();
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const Axis& axis = axis_of(part, phase);
    for (const Leaving& each : leaving(axis, at[static_cast<std::size_t>(axis.dimension)], phase, number))
      append(self.topology(), at, part, phase, each, blocks_for(gifts, {{axis.dimension, each.hops}}));
  }
  return gifts;
}

std::vector<Gift> RingHalves::returns(const Node& self, std::uint64_t step) const {
  std::vector<Gift> gifts;
  const auto [phase, number] = when(step);
  const Coordinates at = self.coordinates();
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const Axis& axis = axis_of(part, phase);
    for (std::int32_t sender = 0; sender < axis.line.extent; ++sender) {
      for (const Leaving& each : leaving(axis, sender, phase, number)) {
        if (receiver(axis, sender, each) != at[static_cast<std::size_t>(axis.dimension)]) continue;
        const std::int32_t back = self.topology().reverse(axis.dimension, each.hops);
        append(self.topology(), at, part, phase, each, blocks_for(gifts, {{axis.dimension, back}}));
      }
    }
  }
  return gifts;
}

RingHalves::Load RingHalves::load() const {
  Load sum;
  for (std::uint32_t phase = 0; phase < phases(); ++phase) {
    for (std::uint32_t step = 0; step < phase_steps(phase); ++step) {
      std::uint64_t channel = 0, combined = 0;
      for (std::uint32_t part = 0; part < parts_; ++part) {
        const Axis& axis = axis_of(part, phase);
        const std::uint64_t size = bundle_size(part, phase);
        std::vector<std::uint64_t> into(static_cast<std::size_t>(axis.line.extent));  // by place
        for (std::int32_t place = 0; place < axis.line.extent; ++place) {
          std::vector<std::pair<std::int32_t, std::uint64_t>> out;  // by hops
          for (const Leaving& each : leaving(axis, place, phase, step)) {
            const auto [from, to] = range(each, size);
            into[static_cast<std::size_t>(receiver(axis, place, each))] += to - from;
            auto at = std::find_if(out.begin(), out.end(), [&](const auto& o) { return o.first == each.hops; });
            if (at == out.end()) at = out.insert(at, {each.hops, 0});
            channel = std::max(channel, at->second += to - from);
          }
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
