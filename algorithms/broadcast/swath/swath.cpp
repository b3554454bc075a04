/// Swath: scatters h pieces over a swath of rows around the source, spreads each over the rows of its class, and gathers in the end.
///
/// The message is split into k equal parts, one a dimension, which work at the same time in different dimensions, and each part into h
/// pieces. For the part that gathers along dimension a, with b the next dimension (cyclic) and places counted from the source:
///   scatter   along b: piece i goes to a column of its own, one of the h around the source
///   columns   along a: the column of piece i spreads it over the rows of class i (lines/deal.hpp)
///   rows      along all dimensions but a, b first: every node of a row gets the piece of its class
///   gather    along a: every node takes the pieces that it lacks from both sides, a hop a step
/// With more pieces whole dimensions are scattered first: every place of a ring gets a bundle of pieces, all these phases go on for the
/// bundle in the dimensions that are left, and the bundles are gathered in the end. This takes parts with as many bundles: equal extents,
/// or all dimensions.
/// Small h: few steps; large h: few bytes. h = 1 is dimension-wise broadcasting of k parts in rotated orders.
/// Mesh lines: the source is where it is, so a spread may take a step more; the gather does not wrap, and near the ends it goes on to w-1.
/// Complete dimensions, with all ports: a step to scatter, a step to spread, a step to gather; no classes of rows.
/// Machine  wormhole with any routing order, any shape. All routes are straight. p ports: floor(p/2) parts, with all ports k;
///          on a torus with an odd p also a part of half the bytes, which sends forwards only, as strip does.
/// Steps    R = L3(h) + L3(rows of a class, and the source's) + (k-1) L3(n) + floor(w/2), L3(x) = ceil(log_3 x), n the longest extent;
///          w is the longest window of a row's classes, w = h where h divides the extents. A class has about n/h rows. L3(n) + floor(n/2)
///          for each dimension that is scattered whole, and R of the others.
/// Bytes    about (2/h) (ceil((h-1)/2) + the steps of columns and rows + (w-1)/2) m/2k on the fullest channel, for m bytes; the plan's are
///          exact. Near 2 m/2k for large h: the channels of the source carry the message once, and each node's carry it again.
/// Header   none. Nodes know the source, as in any broadcast call.   Memory  O(1) a node beside its blocks.
/// Source   this project.

#include "algorithms/broadcast/swath/swath.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::broadcast::swath {
namespace {

using Stage = SwathSchedule::Stage;
using Part = SwathSchedule::Part;
using Phase = SwathSchedule::Phase;
using View = SwathView;

/// Gives every place of a ring its bundle.
void scatter_bundles(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 1)) return;
  const Part::Level& level = view.part().levels[along];
  const std::uint32_t all = view.bundle(along);
  level.scatter.for_sends(view.place(along), step, [&](const LineSpread::StretchSend& send) {
    const auto first = static_cast<std::uint32_t>(level.gather.class_of(modulo(level.scatter.offset(send.low), view.extent(along))));
    view.send(along, send.hops, all + first * level.stride, static_cast<std::uint32_t>(send.high - send.low + 1) * level.stride);
  });
}

void scatter(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 1) || view.place(along - 1) != 0) return;
  view.part().scatter.for_sends(view.place(along), step, [&](const LineSpread::StretchSend& send) {
    view.send_pieces(along, send.hops, view.schedule.scattered_piece(view.part(), send.low), send.high - send.low + 1);
  });
}

void spread_over_rows(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 2)) return;
  const bool no_columns = along + 1 == view.part().order.size();
  const std::int32_t piece = no_columns ? 0 : view.schedule.piece_of(view.part(), view.place(along + 1), view.extent(along + 1));
  if (piece < 0) return;
  view.part().columns[static_cast<std::size_t>(piece)].for_sends(
      view.place(along), step, [&](const LineSpread::StretchSend& send) { view.send_pieces(along, send.hops, piece, 1); });
}

void spread_along_row(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 1)) return;
  const std::size_t of_class = view.schedule.levels();
  const std::int32_t n = view.extent(along);
  const std::int32_t piece = view.part().classes.class_of(view.place(of_class));
  const std::int32_t holder = along == of_class + 1 ? view.schedule.column_of(view.part(), piece, n) : 0;
  view.part()
      .row(along - of_class - 1, along == of_class + 1 ? piece : 0)
      .for_sends(modulo(view.place(along) - holder, n), step,
                 [&](const LineSpread::StretchSend& send) { view.send_pieces(along, send.hops, piece, 1); });
}

/// Gives the neighbours what they take from here. A piece or bundle has `size` blocks.
void gather(const View& view, std::size_t along, const RowClasses& classes, std::uint32_t size, Step step) {
  using Share = RowClasses::Share;
  const std::uint32_t all = view.bundle(along);
  for (std::int32_t offset = 1; classes.ways() == Ways::complete && step == 0 && offset < view.extent(along); ++offset)
    view.send(along, offset, all + static_cast<std::uint32_t>(view.place(along)) * size, size);
  if (classes.ways() == Ways::complete) return;
  for (const std::int32_t direction : {+1, -1}) {
    const std::int32_t neighbour = modulo(view.place(along) + direction, view.extent(along));
    const auto take = classes.taken(neighbour, -direction, static_cast<std::int32_t>(step) + 1);
    if (!take) continue;
    const std::uint32_t first = all + static_cast<std::uint32_t>(take->piece) * size + (take->share == Share::second_half ? size / 2 : 0);
    view.send(along, direction, first, take->share == Share::whole ? size : size / 2);
  }
}

void send(const View& view, const Phase& phase, Step step) {
  const bool of_level = phase.along < view.schedule.levels();
  switch (phase.stage) {
    case Stage::scatter: return of_level ? scatter_bundles(view, phase.along, step) : scatter(view, phase.along, step);
    case Stage::columns: return spread_over_rows(view, phase.along, step);
    case Stage::rows: return spread_along_row(view, phase.along, step);
    case Stage::gather:
      if (!of_level) return gather(view, phase.along, view.part().classes, view.part().piece_blocks, step);
      const Part::Level& level = view.part().levels[phase.along];
      return gather(view, phase.along, level.gather, level.stride, step);
  }
}

}  // namespace

const char* name_of(SwathSchedule::Stage stage) {
  constexpr std::array names{"scatter", "columns", "rows", "gather"};
  return names[static_cast<std::size_t>(stage)];
}

void swath_step(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks, const SwathSchedule::Phase& phase,
                Step step, SwathOutlet* outlet) {
  for (std::size_t j = 0; j < schedule.parts().size(); ++j) send({self, schedule, j, root, blocks, outlet}, phase, step);
}

Program swath_program(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks) {
  for (const Phase& phase : schedule.phases()) {
    for (Step step = 0; step < phase.end - phase.begin; ++step) {
      if (self.rank() == 0) self.phase(name_of(phase.stage));
      swath_step(self, schedule, root, blocks, phase, step);
      co_await self.step();
    }
  }
}

}  // namespace torus::broadcast::swath

namespace torus::broadcast {

std::vector<std::uint32_t> swath_values(const Machine& machine, Ways ways) {
  std::vector<std::uint32_t> values;
  for (const SwathLayout& layout : swath_layouts(machine, ways)) values.push_back(layout.pieces);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Step least_steps(const Machine& machine, const SwathLayout& layout, Ways ways) {
  const std::vector<Dimension> linked = canonical_dimensions(machine);
  const Topology& topology = machine.topology;
  const auto gather = [&](std::size_t e, std::int32_t pieces) -> Step {
    if (pieces == 1) return 0;
    if (topology.wiring(linked[(layout.first + e) % linked.size()]) == Wiring::complete) return 1;
    return static_cast<Step>(ways == Ways::both ? pieces / 2 : pieces - 1);
  };
  Step steps = gather(layout.levels, layout.h);
  for (std::size_t e = 0; e < layout.levels; ++e) steps += gather(e, topology.extent(linked[(layout.first + e) % linked.size()]));
  return steps;
}

Plan swath_plan(const Machine& machine, const Request& request, Ways ways, std::string_view formula) {
  struct Shared {
    SwathSchedule schedule;
    std::vector<BlockId> blocks;
  };
  const NodeId root = request.sources.front();
  const auto time_s = [&](const SwathSchedule& each, const SwathSchedule::Cost& of_it) {
    return machine.cost.steps(each.steps(), of_it.channel_bytes, static_cast<double>(of_it.route_hops));
  };
  const auto least_s = [&](Step steps) { return machine.cost.steps(steps, 0, 0); };
  constexpr double any_number = std::numeric_limits<double>::infinity();
  const auto shared = std::make_shared<Shared>(Shared{choose_swath(machine, request, ways, root, any_number, time_s, least_s), {}});
  const SwathSchedule& schedule = shared->schedule;
  const SwathSchedule::Cost cost = schedule.cost(request.bytes);
  shared->blocks.resize(schedule.segments());
  std::iota(shared->blocks.begin(), shared->blocks.end(), root * schedule.segments());
  Plan plan;
  plan.start = [shared, root](Node& self) { return swath::swath_program(self, shared->schedule, root, shared->blocks); };
  plan.segments = schedule.segments();
  plan.steps = schedule.steps();
  plan.formula = formula;
  plan.channel_bytes = cost.channel_bytes;
  plan.route_hops = cost.route_hops;
  plan.message_bytes = bytes_of_messages(1, 1, machine.ports == 1 ? 2 : static_cast<std::uint64_t>(machine.topology.dimensions()));
  plan.table_bytes = schedule.table_bytes() + shared->blocks.size() * sizeof(BlockId);
  plan.notes = {{"h", std::to_string(schedule.layout().pieces)}};
  return plan;
}

std::optional<Refusal> swath_also_requires(const Machine& machine, const Request& request, Ways ways, std::string_view algorithm) {
  const Topology& topology = machine.topology;
  if (!is_torus_or_mesh(topology) && machine.ports < static_cast<int>(topology.max_ports())) {
    return Refusal{Refusal::About::ports, std::to_string(machine.ports),
                   std::string(algorithm) + " uses all channels of a complete dimension at once", std::to_string(topology.max_ports())};
  }
  const std::uint32_t h = request.parameters.whole("h");
  if (h == 0) return std::nullopt;
  const std::vector<std::uint32_t> possible = swath_values(machine, ways);
  if (std::find(possible.begin(), possible.end(), h) != possible.end()) return std::nullopt;
  const bool ring = linked_dimensions(machine.topology).size() == 1;
  return Refusal{Refusal::About::parameter, std::to_string(h),
                 ring ? "on a ring " + std::string(algorithm) + " splits the message into 1 piece, or into one a node"
                      : std::string(algorithm) + " on " + machine.topology.text() + " has no schedule for so many pieces",
                 std::to_string(*(std::upper_bound(possible.begin(), possible.end(), h) - 1)), "h"};
}

}  // namespace torus::broadcast

namespace torus::broadcast::swath {
namespace {

constexpr std::string_view swath_steps =
    "L3(h) + L3(rows of a class, and one) + (k-1) L3(max n_d) + floor(w/2), w = max ceil(n_d / floor(n_d/h)), L3 = ceil(log3); "
    "whole dimensions: L3(n_d) + floor(n_d/2) each, and this for the rest; more on lines";

std::vector<std::uint32_t> values(const Machine& machine) { return swath_values(machine, Ways::both); }

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return swath_also_requires(machine, request, Ways::both, "swath");
}

Plan plan(const Machine& machine, const Request& request) { return swath_plan(machine, request, Ways::both, swath_steps); }

constexpr std::array parameters{Parameter{"h", "pieces that each part of the message is split into", {}, values}};

constexpr std::array terms{Term{"h", "pieces that each part of the message is split into"},
                           Term{"w", "rows within which all classes occur, at most"}};

const Algorithm swath{
    .name = "swath",
    .collective = Collective::broadcast,
    .source = "ours: scatter, spread over classes of rows, gather",
    .shapes = "any, any sides; complete dimensions with all ports; h up to the shortest ring, and more by whole dimensions",
    .steps = swath_steps,
    .idea = {.first = "The message is cut into parts that work in different dimensions at the same time, and each part into pieces, which "
                      "the source scatters to columns around it.",
             .then = "Each column spreads its piece over the rows of one class, and these rows spread it along themselves; in the end each "
                     "node takes the pieces that it lacks from its neighbours on both sides.",
             .good = "Few pieces mean few steps and many pieces mean few bytes on the fullest channel, so that one algorithm suits short "
                     "and long messages."},
    .terms = terms,
    .needs = {.switching = Switching::wormhole, .ports = 2},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{swath};

}  // namespace torus::broadcast::swath
