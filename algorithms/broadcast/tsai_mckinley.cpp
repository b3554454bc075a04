#include "algorithms/broadcast/tsai_mckinley.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/common/hops.hpp"
#include "algorithms/common/refusal.hpp"
#include "algorithms/common/segment.hpp"

namespace torus::broadcast {
namespace {

constexpr std::int32_t column_ports = 6;

/// The machine's dimensions in the paper's order: x, y and, where there is one, z.
Dimension dimension(const Machine& machine, std::size_t turn) { return machine.routing[turn]; }

/// Of the segment that a node is told; in the plane there is none but itself.
std::int32_t length_in(const Arrivals& came) {
  const std::span<const Word> header = came.front().header();
  return header.empty() ? 1 : static_cast<std::int32_t>(header[0]);
}

/// Gives the whole segment away but for the own place.
void tell_column(Node& self, std::int32_t length) {
  const Dimension z = dimension(self.machine(), 2);
  segment::share_out(length, 1, column_ports, [&](const segment::Child& child) {
    Route route;
    // The second and third child of a side by the columns of the x and of the y neighbour.
    if (child.track > 1) route.push_back({dimension(self.machine(), static_cast<std::size_t>(child.track) - 2), child.offset > 0 ? 1 : -1});
    route.push_back({z, child.offset});
    self.send(RouteView(route), self.blocks(), {static_cast<Word>(child.length)});
  });
}

void tell_plane(Node& self, Step step) {
  const Dimension x = dimension(self.machine(), 0);
  const Dimension y = dimension(self.machine(), 1);
  const std::int32_t s = self.extent(x) >> (step + 1);
  const std::span<const BlockId> blocks = self.blocks();
  self.send({{x, s}}, blocks);
  self.send({{y, s}}, blocks);
  self.send({{x, -s}, {y, s}}, blocks);
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const Dimension k = topology.dimensions();
  const auto side = [&](std::size_t turn) { return static_cast<std::uint64_t>(topology.extent(dimension(machine, turn))); };
  bool covered = (k == 2 || k == 3) && topology.is_torus() && side(0) == side(1) && std::has_single_bit(side(0));
  if (covered && k == 3 && side(0) == 1 && side(2) > 1) covered = false;  // the z part needs neighbours in the plane
  if (!covered) {
    const std::uint64_t plane = k == 3 ? side(0) * side(1) : topology.nodes();
    const std::uint64_t wanted = refusal::side_of_cube(2, plane);
    const std::uint64_t nearest = refusal::nearer(wanted, std::max<std::uint64_t>(std::bit_floor(wanted), 2), 2 * std::bit_floor(wanted));
    std::vector<DimensionShape> shape(k == 3 ? 3 : 2, {static_cast<std::int32_t>(nearest), Wiring::ring});
    if (k == 3) shape[static_cast<std::size_t>(dimension(machine, 2))].extent = static_cast<std::int32_t>(side(2));
    return "tsai-mckinley needs a torus 2^p x 2^p, or with a third side that is routed last, not " + topology.text() +
           "; nearest: " + Topology(std::move(shape)).text();
  }
  return refusal::first_of(refusal::of_switching("tsai-mckinley", machine, Switching::wormhole),
                           refusal::of_ports_but_all("tsai-mckinley", machine), refusal::of_segments("tsai-mckinley", request));
}

/// The hops of the longest message of each step, summed.
std::int64_t route_hops(const Machine& machine, const TsaiMcKinleySchedule& schedule) {
  std::int64_t sum = 0;
  std::set<std::int32_t> lengths{schedule.height};
  for (Step step = 0; step < schedule.plane_begins; ++step) {
    std::int32_t longest = 0;
    std::set<std::int32_t> after{1};
    for (const std::int32_t length : lengths) {
      segment::share_out(length, 1, column_ports, [&](const segment::Child& child) {
        longest = std::max(longest, std::abs(child.offset) + (child.track > 1 ? 1 : 0));
        after.insert(child.length);
      });
    }
    sum += longest;
    lengths = std::move(after);
  }
  const std::int32_t side = machine.topology.extent(dimension(machine, 0));
  return sum + 2 * (std::int64_t{side} - 1);  // side/2, side/4, .., 1 places along both dimensions
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  const auto schedule = std::make_shared<const TsaiMcKinleySchedule>(machine);
  plan.start = [schedule](Node& self) { return tsai_mckinley_program(self, *schedule); };
  const Step column = schedule->plane_begins;
  plan.route_hops = static_cast<std::uint64_t>(route_hops(machine, *schedule));
  plan.steps = schedule->end;
  plan.formula = column > 0 ? "p + least t with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1" : "p";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes) + static_cast<double>(column) * sizeof(Word);
  plan.notes.emplace_back("pattern", "step count as claimed, pattern ours");
  return plan;
}

}  // namespace

Step column_steps(std::int32_t z) noexcept {
  Step steps = 0;
  for (std::int64_t capacity = 1; capacity < z; capacity = column_ports * capacity + 1) ++steps;
  return steps;
}

/// The sides of the plane are a power of 2.
TsaiMcKinleySchedule::TsaiMcKinleySchedule(const Machine& machine)
    : height{machine.topology.dimensions() == 3 ? machine.topology.extent(dimension(machine, 2)) : 1},
      plane_begins{column_steps(height)},
      end{plane_begins + static_cast<Step>(std::countr_zero(static_cast<std::uint32_t>(machine.topology.extent(dimension(machine, 0)))))} {}

Program tsai_mckinley_program(Node& self, const TsaiMcKinleySchedule& schedule) {
  std::int32_t length = schedule.height;
  if (self.blocks().empty()) {
    length = length_in(co_await self.arrival());
  }
  while (self.now() < schedule.end) {
    if (self.now() >= schedule.plane_begins) {
      tell_plane(self, self.now() - schedule.plane_begins);
    } else if (length > 1) {
      tell_column(self, length);
      length = 1;
    }
    if (self.now() + 1 == schedule.end) co_return;
    co_await self.step();
  }
}

const Algorithm tsai_mckinley{
    .name = "tsai-mckinley",
    .collective = Collective::broadcast,
    .source = "Tsai & McKinley as quoted by Wang & Tseng; step count as claimed, pattern ours",
    .shapes = "torus 2^p x 2^p; 2^p x 2^p x z, p >= 1, z routed last",
    .ports = "all",
    .steps = "p; with z p + least t with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1",
    .native = {.switching = Switching::wormhole},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
