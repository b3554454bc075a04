#include "algorithms/multinode_broadcast/ring_gather.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

/// What a node passes on of one part: what it got last by each direction of travel.
struct Passing {
  Bundle up, down;
};

std::size_t axis_of(const RingGather& rings, std::int32_t phase, std::size_t part) noexcept {
  return (part + static_cast<std::size_t>(phase)) % rings.axes.size();
}

void send_step(Node& self, const RingGather& rings, std::int32_t phase, std::int32_t step, const std::vector<Passing>& passing) {
  for (std::size_t part = 0; part < passing.size(); ++part) {
    const std::size_t axis = axis_of(rings, phase, part);
    const std::int32_t length = rings.lengths[axis];
    if (step > length / 2) continue;
    std::span<const BlockId> up = passing[part].up, down = passing[part].down;
    if (2 * step == length) {  // both ways lead to the same node: half by each
      up = up.first((up.size() + 1) / 2);
      down = down.subspan((down.size() + 1) / 2);
    }
    send_bundle(self, {{rings.axes[axis], +rings.unit}}, up);
    send_bundle(self, {{rings.axes[axis], -rings.unit}}, down);
  }
}

void take_step(const RingGather& rings, std::int32_t phase, const Arrivals& came, std::vector<Passing>& passing,
               std::vector<Bundle>& bundles) {
  for (Passing& p : passing) {
    p.up.clear();
    p.down.clear();
  }
  for (const Message& m : came) {
    std::size_t part = 0;
    while (rings.axes[axis_of(rings, phase, part)] != m.dimension()) ++part;
    append(m.direction() > 0 ? passing[part].up : passing[part].down, m);
    append(bundles[part], m);
  }
}

}  // namespace

std::int32_t RingGather::steps_a_phase() const noexcept {
  std::int32_t longest = 0;
  for (const std::int32_t length : lengths) longest = std::max(longest, length / 2);
  return longest;
}

double RingGather::channel_bytes(Bytes message, double messages, double share, double members) const noexcept {
  double sum = 0;
  std::vector<double> held(axes.size(), messages);    // by part: a bundle's messages
  std::vector<double> bundles(axes.size(), members);  // how many different bundles there are
  for (std::int32_t phase = 0; phase < phases; ++phase) {
    for (std::int32_t step = 1; step <= steps_a_phase(); ++step) {
      double most = 0;
      for (std::size_t part = 0; part < axes.size(); ++part) {
        const std::int32_t length = lengths[axis_of(*this, phase, part)];
        if (step > length / 2) continue;
        const double full = fullest(held[part] * share, bundles[part], held[part]);
        const Bytes bytes = message / axes.size() + (part < message % axes.size() ? 1 : 0);
        most = std::max(most, (2 * step == length ? std::ceil(full / 2) : full) * static_cast<double>(bytes));
      }
      sum += most;
    }
    for (std::size_t part = 0; part < axes.size(); ++part) {
      held[part] *= lengths[axis_of(*this, phase, part)];
      bundles[part] /= lengths[axis_of(*this, phase, part)];
    }
  }
  return sum;
}

RingGather whole_rings(const Topology& topology, const char* label) {
  RingGather rings{label, {}, {}, 1, 0};
  rings.axes = linked_dimensions(topology);
  for (const Dimension d : rings.axes) rings.lengths.push_back(topology.extent(d));
  rings.phases = rings.parts();
  return rings;
}

std::vector<Bundle> split_parts(std::span<const BlockId> bundle, std::size_t parts) {
  std::vector<Bundle> split(parts);
  for (const BlockId id : bundle) split[id % parts].push_back(id);
  return split;
}

Program ring_gather(Node& self, const RingGather& rings, bool member, std::vector<Bundle>& bundles) {
  std::vector<Passing> passing(rings.axes.size());
  for (std::int32_t phase = 0; phase < rings.phases; ++phase) {
    for (std::size_t part = 0; part < passing.size(); ++part) passing[part].up = passing[part].down = bundles[part];
    for (std::int32_t step = 1; step <= rings.steps_a_phase(); ++step) {
      self.phase(rings.label);
      if (member) send_step(self, rings, phase, step, passing);
      const Arrivals came = co_await self.step();
      take_step(rings, phase, came, passing, bundles);
    }
  }
}

}  // namespace torus::multinode
