#include "algorithms/broadcast/scatter_collect.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "algorithms/broadcast/one_port_mesh.hpp"
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

/// The hops of the longest message of each step of collecting along an axis, summed: in all of them every place sends to the next.
std::uint64_t collect_hops(const Topology& topology, const Axis& axis) {
  std::int64_t longest = 0;
  for (Place p = 0; p < axis.places(); ++p) longest = std::max(longest, axis.hops(topology, p, (p + 1) % axis.places()));
  return (axis.places() - 1) * static_cast<std::uint64_t>(longest);
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

refusal::Refusal refuses_scatter_collect(std::string_view algorithm, const Machine& machine, const Request& request) {
  const NodeId p = machine.topology.nodes();
  if (std::uint64_t{p} * p > most_blocks) {
    return std::string(algorithm) + " cuts the message in one piece a node: the " + std::to_string(p) + " nodes of " +
           machine.topology.text() + " would hold more pieces than the " + std::to_string(most_blocks) +
           " blocks that a run holds; 65535 nodes would do";
  }
  if (request.parameters.whole("segments") != 0 && request.parameters.whole("segments") != p) {
    return std::string(algorithm) + " cuts the message in one piece a node: --segments " +
           std::to_string(request.parameters.whole("segments")) + " should be left out or be " + std::to_string(p);
  }
  return refusal::first_of(refuses_wiring(algorithm, machine), refusal::of_switching(algorithm, machine, Switching::wormhole));
}

Bytes scatter_collect_channel_bytes(const Topology& topology, const Axes& axes, NodeId root, Bytes bytes) {
  // The longer pieces are the first ones: of all rows along an axis none has longer messages than the one of piece 0.
  const NodeId p = topology.nodes();
  Bytes sum = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::uint64_t weight = axes.pieces_of_place(a);
    const auto weigh = [&](const Part& part) { return bytes_of_segments(bytes, p, part.first * weight, part.end * weight); };
    std::vector<Part> parts{whole_row(axes[a].places(), axes[a].place(topology, root))};
    for (Step t = axes.begin(a); t < axes.begin(a + 1); ++t) {
      Bytes longest = 0;
      halve_all(parts, axes[a].target(), [&](const Halves& halves) { longest = std::max(longest, weigh(halves.given)); });
      sum += longest;
    }
    sum += (axes[a].places() - 1) * bytes_of_segments(bytes, p, 0, weight);  // in every step of the collect the first place's pieces move
  }
  return sum;
}

Plan scatter_collect_plan(const Machine& machine, const Request& request, Axes axes, std::string formula) {
  const NodeId p = machine.topology.nodes();
  const NodeId root = request.sources.front();
  Plan plan;
  plan.segments = p;
  plan.steps = axes.steps();
  for (std::size_t a = 0; a < axes.size(); ++a) plan.steps += axes[a].places() - 1;
  if (machine.cost.hop_s > 0) {
    plan.route_hops = halving_hops(machine.topology, axes, root);
    for (std::size_t a = 0; a < axes.size(); ++a) *plan.route_hops += collect_hops(machine.topology, axes[a]);
  }
  plan.formula = std::move(formula);
  plan.channel_bytes = static_cast<double>(scatter_collect_channel_bytes(machine.topology, axes, root, request.bytes));
  plan.table_bytes = Bytes{p} * sizeof(BlockId);
  const auto shared = std::make_shared<Shared>(Shared{std::move(axes), std::vector<BlockId>(p)});
  std::iota(shared->pieces.begin(), shared->pieces.end(), BlockId{root} * p);
  plan.start = [shared, root](Node& self) { return scatter_collect_program(self, shared->axes, root, shared->pieces); };
  return plan;
}

}  // namespace torus::broadcast
