#include "algorithms/broadcast/circuit/expanding_step.hpp"

#include <torus/error.hpp>

namespace torus::broadcast {
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
  std::vector<std::vector<Send>> rows(2 * static_cast<std::size_t>(extent_));
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
  sends_ = RowTable<Send>(rows);
}

void ExpandingStep::routes(const Coordinates& place, const RouteSink& send) const {
  const auto coordinate = [&](Dimension d) { return place[static_cast<std::size_t>(d)]; };
  const std::int32_t index = others_.front().sequence->index_of(coordinate(others_.front().dimension));
  for (const Send& s : sends_.row(static_cast<std::size_t>(index % 2 * extent_ + coordinate(dimension_)))) {
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

GapAxis add_expanding_steps(CircuitSchedule& schedule, const char* phase, GapBase base, std::int32_t ports, std::uint32_t steps,
                            Detour detour, GapAxis axis, const std::vector<GapAxis>& others) {
  for (; steps > 0; --steps) {
    const auto cuts = axis.sequence->cuts(base, ports, steps - 1);
    schedule.add(phase, std::make_unique<ExpandingStep>(axis, cuts, detour, others));
    axis.sequence = std::make_shared<const GapSequence>(axis.sequence->refined(cuts));
  }
  return axis;
}

}  // namespace torus::broadcast
