/// Broadcasts of a whole message with one port and wormhole switching. None shares a channel, except mst-naive.
/// Machine  wormhole, 1 port, meshes and tori (without their wrap-around links), any number of dimensions.
/// Header   none: a node computes its step from the root's rank and its own.   Memory  O(1) a node.
/// Source   Barnett, Payne, van de Geijn & Watts.
///
/// mst, mst-naive       Minimum spanning trees on a mesh that is numbered as a hypercube, extents powers of two: in each step every
///                      informed node j sends to j XOR 2^i. mst takes the most significant bit first: the column of the root, then each
///                      row by itself. The routes of a step are disjoint; packet switching does where all extents are 1 or 2.
///                      mst-naive takes the least significant bit first. In the step of bit i of a dimension, 2^i routes share a channel.
///                      mst-naive --variant linear-array, on any sides: all nodes, by rank, are one linear array, which is halved as evenly
///                      as possible; a holder sends to the place that lies in the other half as its own lies in its half. Of two messages
///                      of a step those that flow away from each other may share channels, which rs-bcast avoids. On powers of two: mst.
///                      mst --variant bine, on tori: ring after ring, and on a ring the same with places counted in base -2. Step i, from
///                      log2(n) - 1 to 0, goes (1 - (-2)^(i+1)) / 3 places from even offsets and back from odd ones: 1, -1, 3, -5, 11. A
///                      third of the hops are saved on long rings.
///   Steps   log2 p on p nodes: the minimum for one port. mst-naive: the busiest channel carries (r-1) + (c-1) messages on an r x c mesh:
///           model time log2(p) T_s + (r+c-2) n T_c.
///   Source  "Conflict-Free Hypercube-Like Mesh Algorithm", "Naive Hypercube-Like Mesh Algorithm", "MST Broadcast on Non-Power-of-Two
///   Meshes"; bine: De Sensi et al., Bine (2025).
/// separate-dimensions  One dimension after the other, last dimension first: the row of the root by recursive halving, then all columns, ..
///                      Every message stays in its line, whatever the extents and the routing order. Packet switching does where all
///                      extents are 1 or 2.
///   Steps   sum over d of ceil(log2 n_d): at most k - 1 more than recursive splitting of the whole machine.
///   Source  "Separating Dimension".
/// rs-bcast             Recursive splitting: the nodes form one linear array. In each step every holder gives half of its part away, to a
///                      place chosen so that no two routes of a step share a channel (axes.hpp).
///   Steps   ceil(log2 p) on p nodes: the minimum for one port.
///   Source  "Avoiding Network Conflicts on General Meshes", "Recursive Splitting Broadcast".

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/axes.hpp"
#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"

namespace torus::broadcast::one_port {
namespace {

void send_over_bit(Node& self, NodeId bit) { self.send({leg_over_bit(self.topology(), self.rank(), bit)}, self.blocks()); }

Program mst_program(Node& self, NodeId root) {
  const NodeId difference = self.rank() ^ root;
  if (difference != 0) co_await self.arrival();
  NodeId bit = difference != 0 ? difference & (~difference + 1) : self.topology().nodes();
  while ((bit >>= 1U) != 0) {
    send_over_bit(self, bit);
    co_await self.step();
  }
}

/// The hops of a step of a Bine tree, from an offset of the root.
std::int32_t bine_hops(std::int32_t step, std::int32_t offset) {
  const std::int32_t hops = negabinary_ones(step + 1);
  return offset % 2 == 0 ? hops : -hops;
}

/// The step in which an offset other than 0 is informed, steps counted down: digits in base -2, from the lowest on, that are equal, less 1.
std::int32_t bine_step(std::int32_t offset, std::int32_t n) {
  const std::uint32_t digits = negabinary(offset), lowest = digits & 1U;
  std::int32_t equal = 1;
  while (1 << equal < n && (digits >> static_cast<std::uint32_t>(equal) & 1U) == lowest) ++equal;
  return equal - 1;
}

Program bine_program(Node& self, NodeId root) {
  if (self.rank() != root) co_await self.arrival();
  Dimension d = self.dimensions() - 1;
  const auto offset = [&](Dimension e) { return modulo(self.coordinate(e) - self.topology().coordinate(root, e), self.extent(e)); };
  while (d > 0 && offset(d) == 0) --d;
  std::int32_t step = offset(d) != 0 ? bine_step(offset(d), self.extent(d)) : std::countr_zero(static_cast<std::uint32_t>(self.extent(d)));
  for (; d < self.dimensions(); ++d) {
    if (offset(d) == 0) step = std::countr_zero(static_cast<std::uint32_t>(self.extent(d)));
    while (step-- > 0) {
      self.send({{d, bine_hops(step, offset(d))}}, self.blocks());
      co_await self.step();
    }
  }
}

Program mst_naive_program(Node& self, NodeId root) {
  const NodeId difference = self.rank() ^ root;
  if (difference != 0) co_await self.arrival();
  NodeId bit = difference != 0 ? std::bit_floor(difference) << 1U : 1;
  while (bit < self.topology().nodes()) {
    send_over_bit(self, bit);
    bit <<= 1U;
    co_await self.step();
  }
}

Plan halving_plan(const Request& request, Axes axes, std::string_view formula) {
  const auto shared = std::make_shared<const Axes>(std::move(axes));
  return whole_message_plan(request, shared->steps(), formula,
                            [shared, root = request.sources.front()](Node& self) { return halving_program(self, *shared, root, {}); });
}

bool bine(const Request& request) { return request.parameters.word("variant") == "bine"; }

Plan plan_mst(const Machine& machine, const Request& request) {
  return whole_message_plan(request, ceil_log(2, machine.topology.nodes()), "log2 N",
                            [root = request.sources.front(), bine = bine(request)](Node& self) {
                              return bine ? bine_program(self, root) : mst_program(self, root);
                            });
}

/// Bine trees go round the rings.
std::optional<Refusal> refuses_bine(const Machine& machine, const Request& request) {
  if (!bine(request) || is_torus(machine.topology)) return std::nullopt;
  return Refusal{Refusal::About::shape, machine.topology.text(), "a Bine tree goes round rings", "8x8"};
}

constexpr std::array<std::string_view, 2> mst_variants{"plain", "bine"};
constexpr std::array mst_parameters{parameter::variant(mst_variants)};

constexpr std::array<std::string_view, 2> naive_variants{"low-bits", "linear-array"};
constexpr std::array naive_parameters{parameter::variant(naive_variants)};

bool powers_of_two(const Topology& topology) {
  const auto shape = topology.shape();
  return std::all_of(shape.begin(), shape.end(),
                     [](const DimensionShape& d) { return std::has_single_bit(static_cast<std::uint32_t>(d.extent)); });
}

std::optional<Refusal> refuses_low_bits(const Machine& machine, const Request& request) {
  if (request.parameters.word("variant") != naive_variants[0] || powers_of_two(machine.topology)) return std::nullopt;
  return Refusal{Refusal::About::shape, machine.topology.text(), "mst-naive as low-bits needs extents that are powers of two", "8x8"};
}

/// Messages on the busiest channel, summed over the steps, where all nodes are halved by rank. A leg is noted where it begins and where it
/// ends, since none crosses a border. O(N) a step and dimension.
std::uint64_t busiest_by_rank(const Machine& machine, NodeId root) {
  const Topology& topology = machine.topology;
  const Axis axis = Axis::by_rank(machine);
  std::vector<Part> parts{whole_row(axis.places(), root)};
  std::uint64_t sum = 0;
  while (parts.size() < axis.places()) {
    std::vector<std::array<std::vector<std::int32_t>, 2>> ends(machine.routing.size());  // by dimension and direction: +1 begins, -1 ends
    for (auto& directions : ends) directions.fill(std::vector<std::int32_t>(topology.nodes(), 0));
    halve_all(parts, axis.target(), [&](const Halves& halves) {
      NodeId at = halves.kept.holder;
      for (const Leg& leg : axis.route(machine, at, halves.given.holder)) {
        std::vector<std::int32_t>& along = ends[static_cast<std::size_t>(leg.dimension)][leg.hops > 0 ? 0 : 1];
        ++along[at];
        at = *topology.neighbour(at, leg.dimension, leg.hops);
        --along[at];
      }
    });
    std::int32_t busiest = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      auto& [up, down] = ends[static_cast<std::size_t>(d)];
      for (NodeId node = 0; node < topology.nodes(); ++node) {
        if (topology.coordinate(node, d) > 0) up[node] += up[node - topology.stride(d)];
        busiest = std::max(busiest, up[node]);
      }
      for (NodeId node = topology.nodes(); node-- > 0;) {
        if (topology.coordinate(node, d) + 1 < topology.extent(d)) down[node] += down[node + topology.stride(d)];
        busiest = std::max(busiest, down[node]);
      }
    }
    sum += static_cast<std::uint64_t>(busiest);
  }
  return sum;
}

/// As one linear array, unless the extents are powers of two or the request says otherwise.
Plan plan_mst_naive(const Machine& machine, const Request& request) {
  const std::string_view named = request.parameters.word("variant");
  const std::string_view variant = !named.empty() ? named : naive_variants[powers_of_two(machine.topology) ? 0 : 1];
  const NodeId root = request.sources.front();
  std::uint64_t messages = 0;  // on the busiest channel, summed over the steps
  Plan plan;
  if (variant == naive_variants[0]) {
    for (const DimensionShape& dimension : machine.topology.shape()) messages += static_cast<std::uint64_t>(dimension.extent) - 1;
    plan = whole_message_plan(request, ceil_log(2, machine.topology.nodes()), "log2 N",
                              [root](Node& self) { return mst_naive_program(self, root); });
  } else {
    messages = busiest_by_rank(machine, root);
    plan = halving_plan(request, Axes::by_rank(machine), "ceil(log2 N)");
  }
  plan.channel_bytes = static_cast<double>(messages) * static_cast<double>(request.bytes);
  plan.notes = {{"variant", std::string(variant)}};
  return plan;
}

const Algorithm mst{
    .name = "mst",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Conflict-Free Hypercube-Like Mesh Algorithm; bine: De Sensi et al., Bine (2025)",
    .shapes = "mesh or torus, extents powers of 2, any k; bine: torus",
    .steps = "log2 N",
    .idea = {.first = "The rank of a node is read as bits, and the root sends to the node whose rank differs in the highest bit: half a "
                      "dimension away.",
             .then = "In each further step every informed node does the same with the next lower bit, so that the informed double and the "
                     "ways become half as long.",
             .good = "The parts of the machine that the informed nodes serve lie apart, so that no two worms meet, and no broadcast with "
                     "one port takes fewer steps."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines,
              .powers_of_two = true,
              .switching = Switching::wormhole,
              .one_dimension_a_route = true},
    .parameters = mst_parameters,
    .also_requires = refuses_bine,
    .plan = plan_mst,
};

const Algorithm mst_naive{
    .name = "mst-naive",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Naive Hypercube-Like Mesh Algorithm; linear-array: Non-Power-of-Two Meshes",
    .shapes = "mesh or torus, any extents, any k; low-bits: powers of 2",
    .steps = "ceil(log2 N)",
    .idea = {.first =
                 "As in mst the rank of a node is read as bits, but the root begins with the lowest bit, which leads to its neighbour.",
             .then =
                 "In each further step every informed node uses the next higher bit, so that the ways become twice as long and overlap. On "
                 "other sides all nodes are one line, halved again and again, each half's holder at the same place of it.",
             .good = "It has as few steps as mst and rs-bcast, but its worms share channels and wait for one another: it is there to show "
                     "what the order of the bits, and the choice of the holders, is worth."},
    .native = {.contention = Contention::share, .ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole, .shared_channels = true},
    .parameters = naive_parameters,
    .also_requires = refuses_low_bits,
    .plan = plan_mst_naive,
};

const Algorithm separate_dimensions{
    .name = "separate-dimensions",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Separating Dimension",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "sum of ceil(log2 n_d)",
    .idea = {.first = "The row of the root is informed by halving: in each step every informed node gives half of its part of the row to "
                      "one node there.",
             .then = "Each node of the row does the same in its column, all columns at once, and so on through the dimensions.",
             .good = "Every message stays in its own line, so that none meet on any shape; that costs at most one step more for each "
                     "further dimension than to halve the whole machine."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole, .one_dimension_a_route = true},
    .plan = [](const Machine& machine,
               const Request& request) { return halving_plan(request, Axes::descending(machine), "sum of ceil(log2 n_d)"); },
};

const Algorithm rs_bcast{
    .name = "rs-bcast",
    .collective = Collective::broadcast,
    .source = "Barnett, Payne, van de Geijn & Watts, Recursive Splitting Broadcast",
    .shapes = "mesh or torus, any extents, any k",
    .steps = "ceil(log2 N)",
    .idea =
        {.first = "All nodes count as one long line, row behind row, and the root gives half of it to a node there.",
         .then = "In each further step every informed node gives half of its part away, to a place chosen so that no two routes share a "
                 "channel.",
         .good =
             "To halve the whole machine, and not each dimension for itself, takes the fewest steps that one port allows, on any shape."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole},
    .plan = [](const Machine& machine,
               const Request& request) { return halving_plan(request, Axes::linear_array(machine), "ceil(log2 N)"); },
};

}  // namespace

extern const Entries entries{mst, mst_naive, separate_dimensions, rs_bcast};

}  // namespace torus::broadcast::one_port
