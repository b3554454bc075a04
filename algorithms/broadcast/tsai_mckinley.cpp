/// Broadcast by dimension-ordered wormhole messages on 2^p x 2^p and 2^p x 2^p x z tori. In the plane, for s = 2^{p-1}, .., 1, the holders
/// go from the lattice 2s Z^2 to s Z^2, four times as many. The line of z nodes in a third dimension comes first: a holder gives all of
/// its segment except its own place to six children, two by its own column and four by those of its neighbours.
/// Machine  wormhole, dimension-ordered (z routed last), all ports, no channel shared, torus.
/// Memory   O(1) a node.
/// Steps    p; with z p + t, t the minimum with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1. The claim is p + 1 for z = 2..7 and p + m + 2 for
///          7*6^m < z <= 7*6^{m+1}; that is the same except for z = 43, 253..259, .., where ours takes one step less.
/// Header   in the z part the length of the child's segment; in the plane none.
/// Source   Tsai & McKinley, extended dominating nodes, as quoted by Wang & Tseng: step count as claimed, pattern ours.

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/lines/segment.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::broadcast::tsai_mckinley {
namespace {

constexpr std::int32_t column_ports = 6;

/// The machine's dimensions in the paper's order: x, y and, where there is one, z.
Dimension dimension(const Machine& machine, std::size_t i) { return machine.routing[i]; }

/// What all nodes know: the nodes of the z line, the first step in the plane, and the number of steps.
struct TsaiMcKinleySchedule {
  std::int32_t height;
  Step plane_begins;
  Step end;

  explicit TsaiMcKinleySchedule(const Machine& machine);
};

/// The length of the segment that a node receives. In the plane it is the node alone.
std::int32_t length_in(const Arrivals& came, std::int32_t height) {
  const WordsView header = came.front().header();
  return header.empty() ? 1 : bounded(header[0], 1, height, "length");
}

/// Gives the whole segment away, except its own place.
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

/// The sides of the plane are a power of 2.
TsaiMcKinleySchedule::TsaiMcKinleySchedule(const Machine& machine)
    : height{machine.topology.dimensions() == 3 ? machine.topology.extent(dimension(machine, 2)) : 1}, plane_begins{0} {
  for (std::int64_t capacity = 1; capacity < height; capacity = column_ports * capacity + 1) ++plane_begins;
  end = plane_begins + static_cast<Step>(std::countr_zero(static_cast<std::uint32_t>(machine.topology.extent(dimension(machine, 0)))));
}

Program program(Node& self, const TsaiMcKinleySchedule& schedule) {
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
                                 [schedule](Node& self) { return program(self, *schedule); });
  plan.channel_bytes += static_cast<double>(column) * sizeof(Word);
  // Each node is told once, by a message of one cache line, and in the column of two.
  const Bytes nodes = machine.topology.nodes(), lines = nodes + static_cast<Bytes>(schedule->height) - 1;
  plan.message_bytes = (bytes_of_messages(1) / 2 * lines + nodes - 1) / nodes;
  return plan;
}

constexpr std::array terms{Term{"p", "power of 2 that is the side of the square"}, Term{"z", "nodes along the third dimension"},
                           Term{"t", "steps that inform the third dimension"}, Term{"c_t", "nodes of a line that t steps inform at most"}};

const Algorithm tsai_mckinley{
    .name = "tsai-mckinley",
    .collective = Collective::broadcast,
    .source = "Tsai & McKinley as quoted by Wang & Tseng; step count as claimed, pattern ours",
    .shapes = "torus 2^p x 2^p; 2^p x 2^p x z, p >= 1, z routed last",
    .steps = "p; with z p + least t with c_t >= z, c_0 = 1, c_{t+1} = 6 c_t + 1",
    .idea = {.first = "If there is a third dimension, the line of the source there is informed first: each informed node hands parts of "
                      "its line to six others, by its own column and by those of its neighbours.",
             .then = "In each plane the informed nodes then stand on a lattice, and in each step every one of them informs three more, so "
                     "that the lattice becomes twice as fine both ways.",
             .good = "The informed nodes of a plane become four times as many in every step and their routes never meet, so that squares "
                     "of a power of two take very few steps."},
    .terms = terms,
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{tsai_mckinley};

}  // namespace torus::broadcast::tsai_mckinley
