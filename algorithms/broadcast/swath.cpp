#include "algorithms/broadcast/swath.hpp"

#include <array>
#include <optional>
#include <vector>

#include "algorithms/broadcast/swath_plan.hpp"
#include "algorithms/broadcast/swath_view.hpp"

namespace torus::broadcast {
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
  level.scatter.for_sends(view.place(along), step, [&](const LineSpread::Send& send) {
    const auto first = static_cast<std::uint32_t>(level.gather.class_of(modulo(level.scatter.offset(send.low), view.extent(along))));
    view.send(along, send.hops, all + first * level.stride, static_cast<std::uint32_t>(send.high - send.low + 1) * level.stride);
  });
}

void scatter(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 1) || view.place(along - 1) != 0) return;
  view.part().scatter.for_sends(view.place(along), step, [&](const LineSpread::Send& send) {
    view.send_pieces(along, send.hops, view.schedule.scattered_piece(view.part(), send.low), send.high - send.low + 1);
  });
}

void spread_over_rows(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 2)) return;
  const bool no_columns = along + 1 == view.part().order.size();
  const std::int32_t piece = no_columns ? 0 : view.schedule.piece_of(view.part(), view.place(along + 1), view.extent(along + 1));
  if (piece < 0) return;
  view.part().columns[static_cast<std::size_t>(piece)].for_sends(
      view.place(along), step, [&](const LineSpread::Send& send) { view.send_pieces(along, send.hops, piece, 1); });
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
                 [&](const LineSpread::Send& send) { view.send_pieces(along, send.hops, piece, 1); });
}

/// Gives the neighbours what they take from here, of pieces or bundles of so many blocks.
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

std::vector<std::uint32_t> values(const Machine& machine) { return swath_values(machine, Ways::both); }

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return swath_also_requires(machine, request, Ways::both, "swath");
}

Plan plan(const Machine& machine, const Request& request) { return swath_plan(machine, request, Ways::both, swath.steps); }

constexpr std::array parameters{Parameter{"h", "pieces that each part of the message is split into", {}, values}};

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

const Algorithm swath{
    .name = "swath",
    .collective = Collective::broadcast,
    .source = "ours: scatter, spread over classes of rows, gather",
    .shapes = "any, any sides; complete dimensions with all ports; h up to the shortest ring, and more by whole dimensions",
    .steps =
        "L3(h) + L3(rows of a class, and one) + (k-1) L3(max n_d) + floor(w/2), w = max ceil(n_d / floor(n_d/h)), L3 = ceil(log3); "
        "whole dimensions: L3(n_d) + floor(n_d/2) each, and this for the rest; more on lines",
    .needs = {.switching = Switching::wormhole, .ports = 2},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace torus::broadcast
