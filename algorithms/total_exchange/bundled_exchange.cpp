#include "algorithms/total_exchange/bundled_exchange.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "algorithms/common/received.hpp"

namespace torus::total_exchange {
namespace {

/// The first move of a stage's bundles. A function of its own, so that the list is freed before the node waits.
void depart(Node& self, const Stage& stage, const Offsets& offsets) {
  std::vector<BlockId> blocks;
  for (const ClassBundle& bundle : stage.bundles) {
    blocks.clear();
    blocks.reserve(bundle.departing.size());
    for (const RelativeBlock& seen : bundle.departing) blocks.push_back(offsets.block(self.rank(), seen));
    self.forward({bundle.leg}, blocks);
  }
}

/// Move `move` of the bundle that the message was part of, for the blocks that have further to go.
void go_on(Node& self, const Stage& stage, std::uint32_t move, const Message& message) {
  for (const ClassBundle& bundle : stage.bundles) {
    if (bundle.leg != message.route().front()) continue;
    if (move < bundle.moving.size()) self.forward({bundle.leg}, message.blocks().first(bundle.moving[move]));
    return;
  }
  unexpected(message, "no bundle of this stage goes by its leg");
}

}  // namespace

Timetable::Timetable(const Topology& topology) : topology_{&topology}, where_(topology.nodes()) {
  for (NodeId delta = 0; delta < topology.nodes(); ++delta) where_[delta] = {0, delta};
}

void Timetable::begin_stage(std::uint32_t moves) {
  if (moves > 0) stages_.push_back({moves, {}});
}

void Timetable::add(Leg leg, std::span<const std::int32_t> moves) {
  const std::int32_t longest = *std::max_element(moves.begin(), moves.end());
  if (longest <= 0) return;

  ClassBundle bundle{leg, {}, std::vector<std::uint32_t>(static_cast<std::size_t>(longest))};
  for (const std::int32_t m : moves) {
    for (std::int32_t t = 0; t < m; ++t) ++bundle.moving[static_cast<std::size_t>(t)];
  }
  // moving[t] classes make more than t moves, so those that make exactly t + 1 stand behind moving[t + 1] others, in the order of classes.
  std::vector<std::uint32_t> place(bundle.moving.begin() + 1, bundle.moving.end());
  place.push_back(0);
  bundle.departing.resize(bundle.moving.front());
  for (NodeId delta = 0; delta < where_.size(); ++delta) {
    if (moves[delta] <= 0) continue;
    RelativeBlock& block = where_[delta];
    bundle.departing[place[static_cast<std::size_t>(moves[delta] - 1)]++] = block;
    const std::int32_t back = -leg.hops * moves[delta];
    block.origin = topology_->neighbour(block.origin, leg.dimension, back).value();
    block.destination = topology_->neighbour(block.destination, leg.dimension, back).value();
  }
  stages_.back().bundles.push_back(std::move(bundle));
}

std::uint64_t Timetable::steps() const noexcept {
  std::uint64_t steps = 0;
  for (const Stage& stage : stages_) steps += stage.moves;
  return steps;
}

Bytes Timetable::table_bytes() const noexcept {
  Bytes bytes = where_.size() * sizeof(RelativeBlock) + stages_.size() * sizeof(Stage);
  for (const Stage& stage : stages_) {
    for (const ClassBundle& bundle : stage.bundles) {
      bytes += sizeof(ClassBundle) + bundle.departing.size() * sizeof(RelativeBlock) + bundle.moving.size() * sizeof(std::uint32_t);
    }
  }
  return bytes;
}

std::uint64_t blocks_on_busiest_channel(std::span<const Timetable> timetables, LongLegs legs) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t stage = 0; stage < timetables.front().stages().size(); ++stage) {
    for (std::uint32_t move = 0; move < timetables.front().stages()[stage].moves; ++move) {
      std::uint64_t most = 0;
      for (const Timetable& timetable : timetables) {
        for (const ClassBundle& bundle : timetable.stages()[stage].bundles) {
          const auto times = static_cast<std::uint64_t>(legs == LongLegs::overlap ? std::abs(bundle.leg.hops) : 1);
          if (move < bundle.moving.size()) most = std::max(most, bundle.moving[move] * times);
        }
      }
      sum += most;
    }
  }
  return sum;
}

Program travel(Node& self, const Timetable& timetable, const Offsets& offsets) {
  for (const Stage& stage : timetable.stages()) {
    depart(self, stage, offsets);
    for (std::uint32_t move = 1; move <= stage.moves; ++move) {
      for (const Message& message : co_await self.step()) go_on(self, stage, move, message);
    }
  }
}

Plan plan_of(Timetable timetable, std::uint64_t steps, std::string formula, Bytes block_bytes) {
  Plan plan;
  plan.steps = steps;
  plan.formula = std::move(formula);
  Offsets offsets(timetable.topology());
  plan.channel_bytes =
      static_cast<double>(blocks_on_busiest_channel({&timetable, 1}, LongLegs::overlap)) * static_cast<double>(block_bytes);
  plan.table_bytes = timetable.table_bytes() + offsets.table_bytes();
  plan.start = [tables = std::make_shared<const std::pair<Timetable, Offsets>>(std::move(timetable), std::move(offsets))](Node& self) {
    return travel(self, tables->first, tables->second);
  };
  return plan;
}

}  // namespace torus::total_exchange
