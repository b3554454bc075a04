#include "algorithms/broadcast/tsai_mckinley.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/common/segment.hpp"

namespace torus::broadcast {
namespace {

constexpr std::int32_t column_ports = 6;

/// The machine's dimensions in the paper's order: x, y and, where there is one, z.
Dimension dimension(const Machine& machine, std::size_t i) { return machine.routing[i]; }

/// The length of the segment that a node receives. In the plane it is the node alone.
std::int32_t length_in(const Arrivals& came, std::int32_t height) {
  const WordsView header = came.front().header();
  return header.empty() ? 1 : bounded(header[0], 1, height, "length");
}

/// Gives the whole segment away but for the own place.
void send_in_column(Node& self, std::int32_t length) {
  const Dimension z = dimension(self.machine(), 2);
  segment::share_out(length, 1, column_ports, [&](const segment::Child& child) {
    Route route;
    // The second and third child of a side by the columns of the x and of the y neighbour.
    if (child.track > 1) route.push_back({dimension(self.machine(), static_cast<std::size_t>(child.track) - 2), child.offset > 0 ? 1 : -1});
    route.push_back({z, child.offset});
    self.send(RouteView(route), self.blocks(), {static_cast<Word>(child.length)});
  });
}

void send_in_plane(Node& self, Step step) {
  const Dimension x = dimension(self.machine(), 0);
  const Dimension y = dimension(self.machine(), 1);
  const std::int32_t s = self.extent(x) >> (step + 1);
  const BlocksView blocks = self.blocks();
  self.send({{x, s}}, blocks);
  self.send({{y, s}}, blocks);
  self.send({{x, -s}, {y, s}}, blocks);
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const Dimension k = topology.dimensions();
  const auto side = [&](std::size_t i) { return static_cast<std::uint64_t>(topology.extent(dimension(machine, i))); };
  const bool plane = (k == 2 || k == 3) && side(0) == side(1) && std::has_single_bit(side(0));
  if (plane && (k == 2 || side(0) > 1 || side(2) == 1)) return std::nullopt;  // the z part needs neighbours in the plane
  const std::uint64_t wanted = root_below(2, k == 3 ? side(0) * side(1) : topology.nodes());
  std::vector<DimensionShape> shape(k == 3 ? 3 : 2,
                                    {static_cast<std::int32_t>(std::max<std::uint64_t>(std::bit_floor(wanted), 2)), Wiring::ring});
  if (k == 3) shape[static_cast<std::size_t>(dimension(machine, 2))].extent = static_cast<std::int32_t>(side(2));
  return Refusal{Refusal::About::shape, topology.text(), "tsai-mckinley needs sides 2^p and 2^p, and perhaps a third that is routed last",
                 Topology(std::move(shape)).text()};
}

Plan plan(const Machine& machine, const Request& request) {
  const auto schedule = std::make_shared<const TsaiMcKinleySchedule>(machine);
  const Step column = schedule->plane_begins;
  Plan plan = whole_message_plan(request, schedule->end, column > 0 ? "p + least t with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1" : "p",
                                 [schedule](Node& self) { return tsai_mckinley_program(self, *schedule); });
  plan.channel_bytes += static_cast<double>(column) * sizeof(Word);
  plan.notes.emplace_back("pattern", "step count as claimed, pattern ours");
  return plan;
}

}  // namespace

/// The sides of the plane are a power of 2.
TsaiMcKinleySchedule::TsaiMcKinleySchedule(const Machine& machine)
    : height{machine.topology.dimensions() == 3 ? machine.topology.extent(dimension(machine, 2)) : 1}, plane_begins{0} {
  for (std::int64_t capacity = 1; capacity < height; capacity = column_ports * capacity + 1) ++plane_begins;
  end = plane_begins + static_cast<Step>(std::countr_zero(static_cast<std::uint32_t>(machine.topology.extent(dimension(machine, 0)))));
}

Program tsai_mckinley_program(Node& self, const TsaiMcKinleySchedule& schedule) {
  std::int32_t length = schedule.height;
  if (self.blocks().empty()) {
    length = length_in(co_await self.arrival(), schedule.height);
  }
  while (self.now() < schedule.end) {
    if (self.now() >= schedule.plane_begins) {
      send_in_plane(self, self.now() - schedule.plane_begins);
    } else if (length > 1) {
      send_in_column(self, length);
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
    .steps = "p; with z p + least t with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1",
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
