#include "algorithms/broadcast/scatter_collect.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "algorithms/broadcast/segment_count.hpp"

namespace torus::broadcast {
namespace {

/// What all nodes share: the axes, and the ids of the pieces in their order, so that a run of pieces is a view of them.
struct Shared {
  Axes axes;
  std::vector<BlockId> pieces;
};

/// Sends the pieces of the place `back` places before this one to the next place of the row.
void pass_on(Node& self, const Axes& axes, std::size_t a, std::span<const BlockId> pieces, Place back) {
  const Axis& axis = axes[a];
  const Place place = axis.place(self.topology(), self.rank());
  const Place of = (place + axis.places() - back) % axis.places();
  const std::uint64_t weight = axes.pieces_of_place(a);
  self.send(RouteView(axis.route(self.machine(), self.rank(), (place + 1) % axis.places())),
            pieces.subspan(axes.first_piece_of_row(self.topology(), self.rank(), a) + of * weight, weight));
}

/// The bytes of the longest message of each step, summed. O(nodes).
ByteSum channel_bytes(const Topology& topology, const Axes& axes, NodeId root, Bytes bytes) {
  // The longer pieces are the first ones: of all rows along an axis, the one of piece 0 has the longest messages.
  const NodeId p = topology.nodes();
  ByteSum sum = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::uint64_t weight = axes.pieces_of_place(a);
    const auto weigh = [&](const Part& part) { return bytes_of_segments(bytes, p, part.first * weight, part.end * weight); };
    std::vector<Part> parts{whole_row(axes[a].places(), axes[a].place(topology, root))};
    for (Step t = axes.begin(a); t < axes.begin(a + 1); ++t) {
      Bytes longest = 0;
      halve_all(parts, axes[a].target(), [&](const Halves& halves) { longest = std::max(longest, weigh(halves.given)); });
      sum += times_bytes(1, longest);
    }
    sum += times_bytes(axes[a].places() - 1,
                       bytes_of_segments(bytes, p, 0, weight));  // in every step of the collect the first place's pieces move
  }
  return sum;
}

std::optional<Refusal> requires_countable_pieces(const Machine& machine, const Request&) {
  const NodeId p = machine.topology.nodes();
  if (std::uint64_t{p} * p <= most_blocks) return std::nullopt;
  return Refusal{Refusal::About::shape, machine.topology.text(),
                 "scatter-collect splits the message into one piece a node, and " + std::to_string(p) +
                     " nodes would hold more pieces than " + std::to_string(most_blocks) + ", the blocks that a run holds",
                 "65535"};
}

Plan plan(const Machine& machine, const Request& request, Axes axes, std::string_view formula) {
  const NodeId p = machine.topology.nodes();
  const NodeId root = request.sources.front();
  Plan plan;
  plan.segments = p;
  plan.steps = axes.steps();
  for (std::size_t a = 0; a < axes.size(); ++a) plan.steps += axes[a].places() - 1;
  plan.formula = formula;
  plan.channel_bytes = channel_bytes(machine.topology, axes, root, request.bytes);
  plan.table_bytes = Bytes{p} * sizeof(BlockId);
  const auto shared = std::make_shared<Shared>(Shared{std::move(axes), std::vector<BlockId>(p)});
  std::iota(shared->pieces.begin(), shared->pieces.end(), BlockId{root} * p);
  plan.start = [shared, root](Node& self) { return scatter_collect_program(self, shared->axes, root, shared->pieces); };
  return plan;
}

}  // namespace

Program collect_program(Node& self, const Axes& axes, std::size_t a, std::span<const BlockId> pieces) {
  for (Place back = 0; back + 1 < axes[a].places(); ++back) {
    if (self.rank() == 0) self.phase("collect");
    pass_on(self, axes, a, pieces, back);
    co_await self.step();
  }
}

Program scatter_collect_program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces) {
  co_await halving_program(self, axes, root, pieces);
  for (std::size_t a = axes.size(); a-- > 0;) co_await collect_program(self, axes, a, pieces);
}

const Algorithm scatter_collect_1d{
    .name = "scatter-collect-1d",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, 1-D Scatter-Collect",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "ceil(log2 N)+N-1",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .also_requires = requires_countable_pieces,
    .plan = [](const Machine& machine,
               const Request& request) { return plan(machine, request, Axes::linear_array(machine), scatter_collect_1d.steps); },
};

const Algorithm scatter_collect_2d{
    .name = "scatter-collect-2d",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, 2-D Scatter-Collect",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "sum of (ceil(log2 n_d)+n_d-1)",
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .also_requires = requires_countable_pieces,
    .plan = [](const Machine& machine,
               const Request& request) { return plan(machine, request, Axes::ascending(machine), scatter_collect_2d.steps); },
};

}  // namespace torus::broadcast
