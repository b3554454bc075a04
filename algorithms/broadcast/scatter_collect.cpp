/// Scatter, then collect: the message is split into one piece a node. Scatter: every axis in turn is halved, and a message carries only the
/// pieces of the half that receives it. Collect: in reverse order of the axes, the nodes of every row pass their pieces round the
/// row's ring until each node has all pieces of the row. The closing route of a ring is the long way back.
/// Choice   `variant`. 1d: one axis, the linear array of all nodes, as rs-bcast has it; 2d: an axis a dimension. Without it the one of
///          least model time, hops aside.
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links) of any extents and any number of dimensions, at most 65535
///          nodes.
/// Steps    sum over the axes of ceil(log2 places) + places - 1. On p nodes, where p divides n, 1d takes the model time
///          (ceil(log2 p) + p - 1) T_s + 2 (p-1)/p n T_c, and 2d, on r x c nodes, (ceil(log2 r) + ceil(log2 c) + r + c - 2) T_s +
///          2 (p-1)/p n T_c. For long messages.
/// Header   none.   Memory  O(1) a node beside the names of its p pieces; one table of p block ids, shared.
/// Source   Barnett, Payne, van de Geijn & Watts, "Scatter-Collect Broadcast", "1-D Scatter-Collect", "2-D Scatter-Collect".

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::broadcast::scatter_collect {

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

/// Passes pieces round the rows of axis a in places - 1 steps. At first every node must have the pieces of its own place of the row.
/// In step t place v sends those of place v - t to place v + 1. The ids of all pieces and the axes must outlive the run.
Program collect(Node& self, const Axes& axes, std::size_t a, std::span<const BlockId> pieces) {
  for (Place back = 0; back + 1 < axes[a].places(); ++back) {
    if (self.rank() == 0) self.phase("collect");
    pass_on(self, axes, a, pieces, back);
    co_await self.step();
  }
}

Program program(Node& self, const Axes& axes, NodeId root, std::span<const BlockId> pieces) {
  co_await halving_program(self, axes, root, pieces);
  for (std::size_t a = axes.size(); a-- > 0;) co_await collect(self, axes, a, pieces);
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

constexpr std::array<std::string_view, 2> variants{"1d", "2d"};
constexpr std::array parameters{parameter::variant(variants)};

Plan plan_as(std::string_view variant, const Machine& machine, const Request& request) {
  const bool one_axis = variant == variants[0];
  Axes axes = one_axis ? Axes::linear_array(machine) : Axes::ascending(machine);
  const NodeId p = machine.topology.nodes();
  const NodeId root = request.sources.front();
  Plan plan;
  plan.segments = p;
  plan.steps = axes.steps();
  for (std::size_t a = 0; a < axes.size(); ++a) plan.steps += axes[a].places() - 1;
  plan.formula = one_axis ? "ceil(log2 N)+N-1" : "sum of (ceil(log2 n_d)+n_d-1)";
  plan.channel_bytes = channel_bytes(machine.topology, axes, root, request.bytes);
  plan.table_bytes = Bytes{p} * sizeof(BlockId);
  const auto shared = std::make_shared<Shared>(Shared{std::move(axes), std::vector<BlockId>(p)});
  std::iota(shared->pieces.begin(), shared->pieces.end(), BlockId{root} * p);
  plan.start = [shared, root](Node& self) { return program(self, shared->axes, root, shared->pieces); };
  std::uint64_t most_pieces = 1;  // of a message of the collecting
  for (std::size_t a = 0; a < shared->axes.size(); ++a) most_pieces = std::max(most_pieces, shared->axes.pieces_of_place(a));
  plan.message_bytes = bytes_of_messages(1, most_pieces);
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
    make(halving_program(self, shared->axes, root, shared->pieces));
    if (shared->axes.size() > 0) make(collect(self, shared->axes, 0, shared->pieces));
  });
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  return plan_of_variant(machine, request, variants, [&](std::string_view variant) { return plan_as(variant, machine, request); });
}

constexpr std::array former_names{FormerName{"scatter-collect-1d", "--variant 1d"}, FormerName{"scatter-collect-2d", "--variant 2d"}};

const Algorithm scatter_collect{
    .name = "scatter-collect",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, 1-D Scatter-Collect, 2-D Scatter-Collect",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "1d: ceil(log2 N)+N-1; 2d: sum of (ceil(log2 n_d)+n_d-1)",
    .idea = {.first = "The root cuts the message into one piece a node and scatters the pieces by halving: each message carries only what "
                      "the half that gets it needs.",
             .then = "The pieces go round rings, of all nodes or of each row and column, until every node has all of them.",
             .good = "The messages shrink as the halves do, so that the fullest channels carry about twice the message in all: good for "
                     "long messages through one port, but the rings take many steps."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .parameters = parameters,
    .also_requires = requires_countable_pieces,
    .plan = plan,
    .former_names = former_names,
};

}  // namespace

extern const Entries entries{scatter_collect};

}  // namespace torus::broadcast::scatter_collect
