#include "algorithms/broadcast/circuit/steps.hpp"

#include <algorithm>
#include <numeric>

#include <torus/error.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/lines/segment.hpp"

namespace torus::broadcast {
namespace {

class RingTreeStep : public StepRule {
 public:
  RingTreeStep(std::shared_ptr<const RingTree> tree, std::size_t step, std::shared_ptr<const RingGeometry> geometry)
      : tree_{std::move(tree)}, step_{step}, geometry_{std::move(geometry)} {}

  void routes(const Coordinates& place, const RouteSink& send) const override {
    for (const RingTree::Child& child : tree_->children(step_, geometry_->index(place))) {
      Route route;
      geometry_->route(place, child, route);
      send(route);
    }
  }
  Bytes table_bytes() const override { return tree_->bytes(step_); }

 private:
  std::shared_ptr<const RingTree> tree_;
  std::size_t step_;
  std::shared_ptr<const RingGeometry> geometry_;
};

}  // namespace

RingTree::RingTree(std::int32_t places, std::int32_t ports) {
  std::vector<std::int32_t> length(static_cast<std::size_t>(places), 0);  // of the segment that a place owns; 0: not informed
  length[0] = places;
  const auto owns_more = [](std::int32_t l) { return l > 1; };
  while (std::any_of(length.begin(), length.end(), owns_more)) {
    std::vector<std::vector<Child>> rows(length.size());
    std::vector<std::int32_t> next = length;
    for (std::size_t r = 0; r < length.size(); ++r) {
      if (length[r] < 2) continue;
      next[r] = segment::split(length[r], ports, [&](const segment::Child& child) {
        rows[r].push_back({child.offset, child.track});
        next[static_cast<std::size_t>(modulo(static_cast<std::int32_t>(r) + child.offset, places))] = child.length;
      });
    }
    length = std::move(next);
    steps_.emplace_back(rows);
  }
}

void add_ring_tree(CircuitSchedule& schedule, const char* phase, std::int32_t places, std::int32_t ports, RingGeometry geometry) {
  const auto tree = std::make_shared<const RingTree>(places, ports);
  const auto shared = std::make_shared<const RingGeometry>(std::move(geometry));
  for (std::size_t step = 0; step < tree->steps(); ++step) schedule.add(phase, std::make_unique<RingTreeStep>(tree, step, shared));
}

namespace {

constexpr std::int64_t cap_of(const GapCaps& caps, bool large) noexcept { return large ? caps.large : caps.small; }

/// Cuts a length into parts of alternate kinds in proportion to the caps, each odd as far as the length's parity allows. All begin at 1;
/// then the least full part takes 2 more, until less than 2 are left.
std::vector<std::int32_t> odd_parts(std::int32_t length, std::size_t parts, bool first_large, const GapCaps& caps) {
  std::vector<std::int32_t> sizes(parts, 1);
  const auto cap = [&](std::size_t i) { return cap_of(caps, first_large == (i % 2 == 0)); };
  std::int32_t left = length - static_cast<std::int32_t>(parts);
  while (left > 0) {
    const std::int32_t more = std::min(left, 2);
    std::size_t best = 0;
    for (std::size_t i = 1; i < parts; ++i) {
      if ((sizes[i] + more) * cap(best) < (sizes[best] + more) * cap(i)) best = i;
    }
    sizes[best] += more;
    left -= more;
  }
  return sizes;
}

}  // namespace

GapCaps gap_caps(GapBase base, std::int32_t ports, std::uint32_t steps) noexcept {
  GapCaps caps{1, base == GapBase::full ? 0 : 1};
  const std::int64_t h = ports / 2;
  for (; steps > 0; --steps) {
    const auto [e, o] = caps;
    caps = ports % 2 == 0 ? GapCaps{(h + 1) * e + h * o, h * e + (h + 1) * o} : GapCaps{(h + 2) * e + (h + 1) * o, h * e + (h + 1) * o};
  }
  return caps;
}

std::uint32_t expanding_steps(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports) noexcept {
  const std::int64_t length = base == GapBase::full ? 2 * std::int64_t{extent} : 2 * std::int64_t{extent / 2};
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(ceil_div<std::int64_t>(length, m)));
}

std::vector<std::int32_t> cut_gap(GapBase base, std::int32_t gap, bool large, std::int32_t ports, std::uint32_t steps) {
  const GapCaps caps = gap_caps(base, ports, steps);
  std::int32_t parts = ports % 2 == 0 ? ports + 1 : large ? ports + 2 : ports;
  if (base == GapBase::unit) {
    parts = std::min(parts, gap);
    return odd_parts(gap, static_cast<std::size_t>(parts - (parts % 2 == 0 ? 1 : 0)), large, caps);
  }
  if (gap <= cap_of(caps, large)) return {gap};
  // Each part's share of the gap is its cap's share of all caps: within the cap as long as the gap is within the sum.
  const std::int64_t half = parts / 2;
  const std::int64_t total = cap_of(caps, large) * (half + 1) + cap_of(caps, !large) * half;
  std::vector<std::int32_t> sizes;
  std::int64_t before = 0;
  std::int64_t start = 0;
  for (std::int32_t j = 0; j < parts; ++j) {
    before += cap_of(caps, large == (j % 2 == 0));
    const std::int64_t end = gap * before / total;
    sizes.push_back(static_cast<std::int32_t>(end - start));
    start = end;
  }
  return sizes;
}

GapSequence::GapSequence(std::int32_t extent, std::vector<std::int32_t> positions)
    : extent_{extent}, positions_{std::move(positions)}, index_(static_cast<std::size_t>(extent), -1) {
  TORUS_ASSERT(size() % 2 == 0 && positions_.front() == 0 && positions_.back() <= extent);
  for (std::int32_t i = size() - 1; i >= 0; --i) index_[static_cast<std::size_t>(position(i) % extent)] = i;
}

GapSequence GapSequence::spread(GapBase base, std::int32_t extent, std::int32_t m, std::int32_t ports) {
  const GapCaps caps = gap_caps(base, ports, expanding_steps(base, extent, m, ports));
  std::vector<std::int32_t> positions;
  if (base == GapBase::unit) {
    std::int32_t at = 0;
    for (const std::int32_t size : odd_parts(extent, static_cast<std::size_t>(m), true, caps)) {
      positions.push_back(at);
      at += size;
    }
    return {extent, std::move(positions)};
  }
  const std::int64_t pairs = m / 2;
  for (std::int64_t j = 0; j < pairs; ++j) {
    const std::int64_t start = extent * j / pairs;
    const std::int64_t period = extent * (j + 1) / pairs - start;
    const std::int64_t sum = caps.large + caps.small;
    const std::int64_t large = std::min(period - 1, (period * caps.large + sum - 1) / sum);
    positions.push_back(static_cast<std::int32_t>(start));
    positions.push_back(static_cast<std::int32_t>(start + large));
  }
  return {extent, std::move(positions)};
}

GapSequence GapSequence::consecutive(std::int32_t extent, std::int32_t m) {
  std::vector<std::int32_t> positions(static_cast<std::size_t>(m));
  std::iota(positions.begin(), positions.end(), 0);
  return {extent, std::move(positions)};
}

std::int32_t GapSequence::position(std::int32_t index) const noexcept {
  const std::int32_t m = size();
  const std::int32_t within = index % m < 0 ? index % m + m : index % m;
  return positions_[static_cast<std::size_t>(within)] + (index - within) / m * extent_;
}

std::vector<std::vector<std::int32_t>> GapSequence::cuts(GapBase base, std::int32_t ports, std::uint32_t steps_left) const {
  std::vector<std::vector<std::int32_t>> cuts;
  for (std::int32_t i = 0; i < size(); ++i) cuts.push_back(cut_gap(base, gap(i), i % 2 == 0, ports, steps_left));
  return cuts;
}

GapSequence GapSequence::refined(const std::vector<std::vector<std::int32_t>>& cuts) const {
  std::vector<std::int32_t> positions;
  std::int32_t at = 0;
  for (const std::vector<std::int32_t>& parts : cuts) {
    for (const std::int32_t size : parts) {
      positions.push_back(at);
      at += size;
    }
  }
  TORUS_ASSERT(at == extent_);
  return {extent_, std::move(positions)};
}

namespace {

/// One informed end of a gap and the new points that it serves.
struct Duty {
  std::size_t point;  // 1.. from the lower end
  bool lower;
  int track;  // 0: straight; o: by the o-th detour
};

/// The end that serves each new point of a gap of `parts` parts, nearest first for each end.
std::vector<Duty> duties(std::size_t parts, Detour detour) {
  if (parts < 3) return {};
  if (detour == Detour::cross) {
    if (parts == 3) return {{2, true, 0}, {1, false, 0}};
    TORUS_ASSERT(parts == 5);
    return {{2, true, 0}, {1, true, 1}, {3, false, 0}, {4, false, 1}};
  }
  std::vector<Duty> all;
  for (std::size_t j = 2; j < parts; j += 2) {
    const int track = static_cast<int>(j / 2) - 1;
    all.push_back({j, true, track});
    all.push_back({parts - j, false, track});
  }
  return all;
}

}  // namespace

ExpandingStep::ExpandingStep(const GapAxis& axis, const std::vector<std::vector<std::int32_t>>& cuts, Detour detour,
                             std::vector<GapAxis> others)
    : dimension_{axis.dimension}, extent_{axis.sequence->extent()}, detour_{detour}, others_{std::move(others)} {
  const GapSequence& sequence = *axis.sequence;
  const auto row = [&](std::int32_t parity, std::int32_t position) {
    return static_cast<std::size_t>(parity * extent_ + modulo(position, extent_));
  };
  std::vector<std::vector<GapSend>> rows(2 * static_cast<std::size_t>(extent_));
  std::vector<bool> informed(rows.size(), false);  // gaps of 0 put several new points of a parity in one place
  for (std::int32_t i = 0; i < sequence.size(); ++i) informed[row(i % 2, sequence.position(i))] = true;
  for (std::int32_t i = 0; i < sequence.size(); ++i) {
    const std::vector<std::int32_t>& parts = cuts[static_cast<std::size_t>(i)];
    const std::int32_t lower = sequence.position(i);
    const std::int32_t upper = sequence.position(i + 1);
    std::vector<std::int32_t> at{lower};
    for (const std::int32_t size : parts) at.push_back(at.back() + size);
    for (const Duty& duty : duties(parts.size(), detour)) {
      const std::int32_t target = at[duty.point];
      const std::size_t place = row((i + static_cast<std::int32_t>(duty.point)) % 2, target);
      if (informed[place]) continue;
      informed[place] = true;
      const std::int32_t end = duty.lower ? lower : upper;
      rows[row(duty.lower ? i % 2 : (i + 1) % 2, end)].push_back({target - end, static_cast<std::int16_t>(duty.track - 1), duty.lower});
    }
  }
  sends_ = RowTable<GapSend>(rows);
}

void ExpandingStep::routes(const Coordinates& place, const RouteSink& send) const {
  const auto coordinate = [&](Dimension d) { return place[static_cast<std::size_t>(d)]; };
  const std::int32_t index = others_.front().sequence->index_of(coordinate(others_.front().dimension));
  for (const GapSend& s : sends_.row(static_cast<std::size_t>(index % 2 * extent_ + coordinate(dimension_)))) {
    const Leg along{dimension_, s.hops};
    if (s.detour < 0) {
      send(Route{along});
      continue;
    }
    const GapAxis& other = others_[static_cast<std::size_t>(s.detour)];
    const std::int32_t hops = other.sequence->hops(other.sequence->index_of(coordinate(other.dimension)), s.up ? 1 : -1);
    Route route{{other.dimension, hops}, along};
    if (detour_ == Detour::there_and_back) route.push_back({other.dimension, -hops});
    send(route);
  }
}

Bytes ExpandingStep::table_bytes() const {
  Bytes bytes = sends_.bytes();
  for (const GapAxis& other : others_) bytes += other.sequence->bytes();
  return bytes;
}

GapAxis add_expanding_step(CircuitSchedule& schedule, const char* phase, GapBase base, std::int32_t ports, std::uint32_t steps,
                           Detour detour, const GapAxis& axis, const std::vector<GapAxis>& others) {
  const auto cuts = axis.sequence->cuts(base, ports, steps - 1);
  schedule.add(phase, std::make_unique<ExpandingStep>(axis, cuts, detour, others));
  return {axis.dimension, std::make_shared<const GapSequence>(axis.sequence->refined(cuts))};
}

GapAxis add_expanding_steps(CircuitSchedule& schedule, const char* phase, GapBase base, std::int32_t ports, std::uint32_t steps,
                            Detour detour, GapAxis axis, const std::vector<GapAxis>& others) {
  for (; steps > 0; --steps) axis = add_expanding_step(schedule, phase, base, ports, steps, detour, axis, others);
  return axis;
}

}  // namespace torus::broadcast
