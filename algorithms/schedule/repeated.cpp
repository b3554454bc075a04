#include "algorithms/schedule/repeated.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include <torus/error.hpp>
#include <torus/node.hpp>

#include "algorithms/common/integers.hpp"

namespace torus {

RepeatedSchedule::RepeatedSchedule(const Machine& machine, Schedule first, Step period, BlockId stride, BlockId apart)
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

  std::map<std::pair<Step, std::size_t>, BlocksByPeriod> channels, work;
  const auto add = [&](auto& rows, const Schedule::Send& s, std::size_t of, std::uint32_t blocks) {
    const auto frame = static_cast<std::uint32_t>(s.step / period_);
    BlocksByPeriod& row = rows[{s.step % period_, of}];
    if (row.empty() || row.back().first != frame) row.emplace_back(frame, 0);
    row.back().second += blocks;
  };
  std::map<std::pair<Step, std::size_t>, double> byte_s;
  const Topology& topology = machine.topology;
  const auto slots = static_cast<std::size_t>(topology.channel_slots());
  for (const Schedule::Send& s : all) {
    const Leg leg = first_.route(s)[0];
    const std::size_t channel = s.from * slots + static_cast<std::size_t>(topology.slot(leg.dimension, leg.hops));
    add(channels, s, channel, s.blocks);
    if (!machine.cost.one_speed()) byte_s[{s.step % period_, channel}] = machine.byte_s(s.from, leg.dimension, leg.hops);
  }
  // Step by step: first all is sent, then it arrives.
  std::vector<const Schedule::Send*> by_step(all.size());
  std::transform(all.begin(), all.end(), by_step.begin(), [](const Schedule::Send& s) { return &s; });
  std::stable_sort(by_step.begin(), by_step.end(), [](const auto* a, const auto* b) { return a->step < b->step; });
  const BlockId lanes = std::max<BlockId>(1, stride);
  std::vector<std::uint8_t> held(std::size_t{first_.nodes()} * lanes, 1);  // registers that hold something, a bit each, by node and lane
  const auto held_of = [&](NodeId node, BlockId id) -> std::uint8_t& { return held[std::size_t{node} * lanes + id % lanes]; };
  const BlockId register_size = apart > 0 ? apart : stride;
  for (auto s = by_step.begin(); s != by_step.end();) {
    const auto arrives = std::find_if(s, by_step.end(), [step = (*s)->step](const auto* later) { return later->step != step; });
    for (auto sent = s; sent != arrives; ++sent) {
      if ((*sent)->manner != Manner::combine || register_size == 0) continue;
      for (const BlockId id : first_.blocks(**sent)) {
        if (id >= register_size) held_of((*sent)->from, id) &= static_cast<std::uint8_t>(~(1U << id / register_size));
      }
    }
    for (; s != arrives; ++s) {
      if ((*s)->manner != Manner::combine && (*s)->manner != Manner::share) continue;
      std::uint32_t combined = 0;
      for (const BlockId id : first_.blocks(**s)) {
        std::uint8_t& here = held_of((*s)->to, id);
        combined += static_cast<std::uint32_t>(std::popcount(static_cast<unsigned>(here & (*s)->registers)));
        here |= (*s)->registers;
      }
      if (combined > 0) add(work, **s, (*s)->to, combined);
    }
  }
  byte_s_.resize(byte_s.empty() ? 0 : period);
  for (const auto& [key, seconds] : byte_s) byte_s_[key.first].push_back(seconds);
  for (auto& [key, row] : channels) {
    together_ = together_ || row.size() > 1;
    channels_[key.first].push_back(std::move(row));
  }
  for (auto& [key, row] : work) work_[key.first].push_back(std::move(row));
}

/// In period j after the start the rounds j - rounds + 1 .. j are under way, each in a different period of its own. Once all periods of a
/// round are under way at the same time, nothing changes until the last round has begun.
RepeatedSchedule::Most RepeatedSchedule::most(const std::vector<std::vector<BlocksByPeriod>>& rows,
                                              const std::vector<std::vector<double>>* weights, std::uint32_t rounds) const {
  const std::size_t window = std::min<std::size_t>(rounds, frames_);
  Most sum;
  std::vector<Most> most(frames_ + window - 1);
  for (std::size_t remainder = 0; remainder < rows.size(); ++remainder) {
    std::fill(most.begin(), most.end(), Most{});
    for (std::size_t i = 0; i < rows[remainder].size(); ++i) {
      const BlocksByPeriod& row = rows[remainder][i];
      const double weight = weights != nullptr ? (*weights)[remainder][i] : 0;
      std::uint64_t blocks = 0;
      auto begins = row.begin(), ends = row.begin();
      for (std::size_t j = row.front().first; j < row.back().first + window; ++j) {
        if (begins != row.end() && begins->first == j) blocks += (begins++)->second;
        if (ends->first + window == j) blocks -= (ends++)->second;
        most[j].blocks = std::max(most[j].blocks, blocks);
        most[j].weighted = std::max(most[j].weighted, static_cast<double>(blocks) * weight);
      }
    }
    const auto add = [&](const Most& step, std::uint64_t times) {
      sum.blocks += times * step.blocks;
      sum.weighted += static_cast<double>(times) * step.weighted;
    };
    for (const Most& step : most) add(step, 1);
    add(most[frames_ - 1], rounds - window);
  }
  return sum;
}

RepeatedSchedule::Loads RepeatedSchedule::loads(std::uint32_t rounds) const {
  std::vector<std::vector<bool>> busy(period_);
  for (Step r = 0; r < period_; ++r) {
    busy[r].resize(frames_);
    for (const BlocksByPeriod& row : channels_[r]) {
      for (const auto& [frame, blocks] : row) busy[r][frame] = true;
    }
  }
  const Most channel = most(channels_, byte_s_.empty() ? nullptr : &byte_s_, rounds);
  Loads loads{.channel = channel.blocks, .combined = most(work_, nullptr, rounds).blocks, .channel_byte_s = channel.weighted};
  const std::size_t window = std::min<std::size_t>(rounds, frames_);
  for (const std::vector<bool>& row : busy) {
    for (std::size_t j = 0; j < frames_ + window - 1; ++j) {
      const std::size_t from = j + 1 < window ? 0 : j + 1 - window, to = std::min(j + 1, frames_);
      const auto end = row.begin() + static_cast<std::ptrdiff_t>(to);
      const bool sends = std::find(row.begin() + static_cast<std::ptrdiff_t>(from), end, true) != end;
      loads.busy += sends ? (j == frames_ - 1 ? rounds - window + 1 : 1) : 0;
    }
  }
  return loads;
}

/// Calls f(send, what to add to its blocks' ids) for all that a node sends in a step.
template <class F>
void RepeatedSchedule::each_due(NodeId node, Step step, std::uint32_t rounds, F&& f) const {
  const std::size_t at = index(node, step);
  for (std::size_t i = start_[at]; i < start_[at + 1]; ++i) {
    const Schedule::Send& s = first_.sends()[sends_[i]];
    if (s.step > step || (step - s.step) / period_ >= rounds) continue;
    f(s, (step - s.step) / period_ * stride_);
  }
}

/// What rounds send by one channel in one step, as one message.
void RepeatedSchedule::send_together(Node& self, Step step, std::uint32_t rounds) const {
  struct Message {
    const Schedule::Send* send;
    std::vector<BlockId> blocks;
  };
  std::vector<Message> messages;
  each_due(self.rank(), step, rounds, [&](const Schedule::Send& s, BlockId ahead) {
    const Leg leg = first_.route(s)[0];
    auto message =
        std::find_if(messages.begin(), messages.end(), [&](const Message& other) { return first_.route(*other.send)[0] == leg; });
    if (message == messages.end()) message = messages.insert(message, {&s, {}});
    TORUS_ASSERT(message->send->manner == s.manner);
    for (const BlockId id : first_.blocks(s)) message->blocks.push_back(id + ahead);
  });
  for (const Message& message : messages)
    torus::send(self, first_.route(*message.send), message.blocks, message.send->manner, message.send->registers);
}

void RepeatedSchedule::send_due(Node& self, Step step, std::uint32_t rounds) const {
  if (together_) return send_together(self, step, rounds);
  std::vector<BlockId> later;
  each_due(self.rank(), step, rounds, [&](const Schedule::Send& s, BlockId ahead) {
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
  });
}

Step RepeatedSchedule::end_of(NodeId node, std::uint32_t rounds) const noexcept {
  const auto own = first_.of(node);
  return own.empty() ? 0 : own.back().step + period_ * (rounds - 1) + 1;
}

Bytes RepeatedSchedule::table_bytes() const noexcept {
  constexpr Bytes of_allocator = 16;  // beside what is asked for
  Bytes rows = 0;
  for (const auto* table : {&channels_, &work_}) {
    for (const std::vector<BlocksByPeriod>& remainder : *table) {
      rows += remainder.capacity() * sizeof(BlocksByPeriod);
      for (const BlocksByPeriod& row : remainder) rows += row.capacity() * sizeof(BlocksByPeriod::value_type) + of_allocator;
    }
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
