#include "algorithms/schedule/repeated.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <torus/node.hpp>

#include "algorithms/common/integers.hpp"

namespace torus {

RepeatedSchedule::RepeatedSchedule(const Topology& topology, Schedule first, Step period, BlockId stride)
    : first_{std::move(first)},
      period_{period},
      stride_{stride},
      frames_{ceil_div(std::max<Step>(1, first_.steps()), period)},
      start_(std::size_t{first_.nodes()} * period + 1),
      channels_(period),
      work_(period) {
  const auto all = first_.sends();
  for (const Schedule::Send& s : all) ++start_[index(s.from, s.step) + 1];
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  sends_.resize(all.size());
  std::vector<std::size_t> next = start_;
  for (std::size_t i = 0; i < all.size(); ++i) sends_[next[index(all[i].from, all[i].step)]++] = static_cast<std::uint32_t>(i);

  std::map<std::pair<Step, std::size_t>, Row> channels, work;
  const auto add = [&](auto& rows, const Schedule::Send& s, std::size_t of) {
    Row& row = rows[{s.step % period_, of}];
    row.resize(frames_);
    row[s.step / period_] += s.blocks;
  };
  for (const Schedule::Send& s : all) {
    const Leg leg = first_.route(s)[0];
    const auto slots = static_cast<std::size_t>(topology.channel_slots());
    add(channels, s, s.from * slots + static_cast<std::size_t>(topology.slot(leg.dimension, leg.hops)));
    if (s.manner == Manner::combine || s.manner == Manner::share) add(work, s, s.to);
  }
  for (auto& [key, row] : channels) channels_[key.first].push_back(std::move(row));
  for (auto& [key, row] : work) work_[key.first].push_back(std::move(row));
}

/// In period j after the start the rounds j - rounds + 1 .. j are under way, each in a different period of its own. Once all periods of a
/// round are under way at the same time, nothing changes until the last round has begun.
std::uint64_t RepeatedSchedule::most(const std::vector<std::vector<Row>>& rows, std::uint32_t rounds) const {
  const std::size_t window = std::min<std::size_t>(rounds, frames_);
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> most(frames_ + window - 1);
  for (const std::vector<Row>& remainder : rows) {
    std::fill(most.begin(), most.end(), 0);
    for (const Row& row : remainder) {
      std::uint64_t blocks = 0;
      for (std::size_t j = 0; j < most.size(); ++j) {
        if (j < frames_) blocks += row[j];
        if (j >= window) blocks -= row[j - window];
        most[j] = std::max(most[j], blocks);
      }
    }
    for (const std::uint64_t blocks : most) sum += blocks;
    sum += (rounds - window) * most[frames_ - 1];
  }
  return sum;
}

RepeatedSchedule::Loads RepeatedSchedule::loads(std::uint32_t rounds) const {
  std::vector<std::vector<Row>> busy(period_);
  for (Step r = 0; r < period_; ++r) {
    Row& any = busy[r].emplace_back(frames_);
    for (const Row& row : channels_[r]) {
      for (std::size_t j = 0; j < frames_; ++j) any[j] = std::max(any[j], row[j]);
    }
  }
  Loads loads{.channel = most(channels_, rounds), .combined = most(work_, rounds)};
  const std::size_t window = std::min<std::size_t>(rounds, frames_);
  for (const std::vector<Row>& row : busy) {
    for (std::size_t j = 0; j < frames_ + window - 1; ++j) {
      const std::size_t from = j + 1 < window ? 0 : j + 1 - window, to = std::min(j + 1, frames_);
      const bool sends = std::any_of(row[0].begin() + static_cast<std::ptrdiff_t>(from), row[0].begin() + static_cast<std::ptrdiff_t>(to),
                                     [](std::uint32_t blocks) { return blocks > 0; });
      loads.busy += sends ? (j == frames_ - 1 ? rounds - window + 1 : 1) : 0;
    }
  }
  return loads;
}

void RepeatedSchedule::send_due(Node& self, Step step, std::uint32_t rounds) const {
  const std::size_t at = index(self.rank(), step);
  std::vector<BlockId> later;
  for (std::size_t i = start_[at]; i < start_[at + 1]; ++i) {
    const Schedule::Send& s = first_.sends()[sends_[i]];
    if (s.step > step || (step - s.step) / period_ >= rounds) continue;
    const BlockId ahead = (step - s.step) / period_ * stride_;
    std::span<const BlockId> blocks = first_.blocks(s);
    std::array<BlockId, 1> one{};
    if (blocks.size() == 1) {
      one[0] = blocks[0] + ahead;
      blocks = one;
    } else if (ahead > 0) {
      later.assign(blocks.begin(), blocks.end());
      for (BlockId& id : later) id += ahead;
      blocks = later;
    }
    send(self, first_.route(s), blocks, s.manner, s.registers);
  }
}

Step RepeatedSchedule::end_of(NodeId node, std::uint32_t rounds) const noexcept {
  const auto own = first_.of(node);
  return own.empty() ? 0 : own.back().step + period_ * (rounds - 1) + 1;
}

Bytes RepeatedSchedule::table_bytes() const noexcept {
  Bytes rows = 0;
  for (const auto* table : {&channels_, &work_}) {
    for (const std::vector<Row>& remainder : *table) rows += remainder.size() * (sizeof(Row) + frames_ * sizeof(std::uint32_t));
  }
  return first_.table_bytes() + start_.size() * sizeof(std::size_t) + sends_.size() * sizeof(std::uint32_t) + rows;
}

Program follow(Node& self, const RepeatedSchedule& schedule, std::uint32_t rounds) {
  const Step end = schedule.end_of(self.rank(), rounds);
  for (Step step = 0; step < end; ++step) {
    schedule.send_due(self, step, rounds);
    if (step + 1 < end) co_await self.step();
  }
}

}  // namespace torus
