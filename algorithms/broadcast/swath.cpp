#include "algorithms/broadcast/swath.hpp"

#include <array>

#include "algorithms/broadcast/swath_plan.hpp"

namespace torus::broadcast {
namespace {

using Stage = SwathSchedule::Stage;
using Part = SwathSchedule::Part;
using Phase = SwathSchedule::Phase;

/// One part of the message, as one node sees it.
struct View {
  Node& self;
  const SwathSchedule& schedule;
  std::size_t number;
  NodeId root;
  std::span<const BlockId> blocks;

  const Part& part() const { return schedule.parts()[number]; }
  std::int32_t extent(std::size_t e) const { return self.extent(part().order[e]); }
  /// The node's place in dimension order[e], counted from the source.
  std::int32_t place(std::size_t e) const {
    const Dimension d = part().order[e];
    return modulo(self.coordinate(d) - self.topology().coordinate(root, d), self.extent(d));
  }
  /// Whether the node lies as the source does in the dimensions order[from], ..
  bool level_from(std::size_t from) const {
    for (std::size_t e = from; e < part().order.size(); ++e) {
      if (place(e) != 0) return false;
    }
    return true;
  }
  void send(std::size_t along, std::int32_t hops, std::int32_t first, std::int32_t pieces) const {
    const std::uint32_t count = schedule.blocks_of_piece();
    self.send({{part().order[along], hops}}, blocks.subspan(schedule.first_block(number, first), static_cast<std::size_t>(pieces) * count));
  }
};

void scatter(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 1) || (along == 1 && view.place(0) != 0)) return;
  view.part().scatter.for_sends(view.place(along), step, [&](const LineSpread::Send& send) {
    view.send(along, send.hops, view.schedule.scattered_piece(view.part(), send.low), send.high - send.low + 1);
  });
}

void spread_over_rows(const View& view, Step step) {
  const bool ring = view.part().order.size() == 1;
  if (view.schedule.direct() || !view.level_from(2)) return;
  const std::int32_t piece = ring ? 0 : view.schedule.piece_of(view.place(1), view.extent(1));
  if (piece < 0) return;
  view.part().columns[static_cast<std::size_t>(piece)].for_sends(view.place(0), step,
                                                                 [&](const LineSpread::Send& send) { view.send(0, send.hops, piece, 1); });
}

void spread_along_row(const View& view, std::size_t along, Step step) {
  if (!view.level_from(along + 1)) return;
  const std::int32_t n = view.extent(along);
  const std::int32_t piece = view.part().classes.class_of(view.place(0));
  const std::int32_t holder = along == 1 && !view.schedule.direct() ? view.schedule.column_of(piece, n) : 0;
  view.part().rows[along - 1].for_sends(modulo(view.place(along) - holder, n), step,
                                        [&](const LineSpread::Send& send) { view.send(along, send.hops, piece, 1); });
}

/// Gives both neighbours what they take from here.
void gather(const View& view, Step step) {
  using Share = RowClasses::Share;
  for (const std::int32_t direction : {+1, -1}) {
    const std::int32_t neighbour = modulo(view.place(0) + direction, view.extent(0));
    const auto take = view.part().classes.taken(neighbour, -direction, static_cast<std::int32_t>(step) + 1);
    if (!take) continue;
    const std::uint32_t first = view.schedule.first_block(view.number, take->piece) + (take->share == Share::second_half ? 1 : 0);
    const std::uint32_t count = take->share == Share::whole ? view.schedule.blocks_of_piece() : 1;
    view.self.send({{view.part().order[0], direction}}, view.blocks.subspan(first, count));
  }
}

void send(const View& view, const Phase& phase, Step step) {
  switch (phase.stage) {
    case Stage::scatter: return scatter(view, phase.along, step);
    case Stage::columns: return spread_over_rows(view, step);
    case Stage::rows: return spread_along_row(view, phase.along, step);
    case Stage::gather: return gather(view, step);
  }
}

constexpr const char* name_of(Stage stage) {
  constexpr std::array names{"scatter", "columns", "rows", "gather"};
  return names[static_cast<std::size_t>(stage)];
}

constexpr std::array parameters{Parameter{"h", "pieces that each part of the message is split into", {}, possible_swaths}};

}  // namespace

Program swath_program(Node& self, const SwathSchedule& schedule, NodeId root, std::span<const BlockId> blocks) {
  for (const Phase& phase : schedule.phases()) {
    for (Step step = 0; step < phase.end - phase.begin; ++step) {
      if (self.rank() == 0) self.phase(name_of(phase.stage));
      for (std::size_t j = 0; j < schedule.parts().size(); ++j) send({self, schedule, j, root, blocks}, phase, step);
      co_await self.step();
    }
  }
}

const Algorithm swath{
    .name = "swath",
    .collective = Collective::broadcast,
    .source = "ours: scatter, spread over classes of rows, gather",
    .shapes = "torus of any dimension, any h up to the shortest ring; one ring: h = 1 or n",
    .steps = "L3(h) + L3(rows of a class, and one) + (k-1) L3(max n_d) + floor(w/2), w = max ceil(n_d / floor(n_d/h)), L3 = ceil(log3)",
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = swath_also_requires,
    .plan = swath_plan,
};

}  // namespace torus::broadcast
