#include "bench/bare_hops.hpp"

#include <array>
#include <cstring>

#include <torus/block.hpp>

#include "bench/host.hpp"

namespace torus::bench {
namespace {

constexpr std::uint64_t seed = 1;

}  // namespace

BareHops::BareHops(const Topology& torus, Executor& executor)
    : torus_{torus}, memory_{places() * bytes}, queues_{torus.nodes() * std::size_t{channels}}, shares_{executor} {
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    fill_block({place(i), bytes}, seed, i);
    new (&queues_[i]) Queue;
    queues_[i].push(Place{i});
  }
  for (NodeId node = 0; node < torus_.nodes(); ++node) movers_.push_back(mover(node));
}

std::size_t BareHops::in_channel(NodeId from, std::uint32_t slot, std::int32_t hops) const noexcept {
  const NodeId to = *torus_.neighbour(from, static_cast<Dimension>(slot / 2), slot % 2 == 0 ? hops : -hops);
  return to * std::size_t{channels} + slot;
}

BareHops::Mover BareHops::mover(NodeId node) {
  Queue* const in = &queues_[node * std::size_t{channels}];
  std::array<Queue*, channels> next;
  for (std::uint32_t slot = 0; slot < channels; ++slot) next[slot] = &queues_[in_channel(node, slot, 1)];
  std::uint32_t spare = torus_.nodes() * channels + node;
  while (true) {
    for (std::uint32_t slot = 0; slot < channels; ++slot) {
      Place came{};
      in[slot].pop(came);
      std::memcpy(place(spare), place(static_cast<std::uint32_t>(came)), bytes);
      next[slot]->push(Place{spare});
      spare = static_cast<std::uint32_t>(came);
    }
    co_await std::suspend_always{};
  }
}

double BareHops::run(Step hops) {
  const double start = wall_s();
  for (Step step = 0; step < hops; ++step) {
    const auto move = [this](std::uint64_t first, std::uint64_t end) {
      for (std::uint64_t node = first; node < end; ++node) movers_[node].handle.resume();
    };
    shares_.each(movers_.size(), move, [] {});
  }
  hops_ += hops;
  return wall_s() - start;
}

bool BareHops::complete() {
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    const auto slot = i % channels;
    const auto round = static_cast<std::uint64_t>(torus_.extent(static_cast<Dimension>(slot / 2)));
    Queue& queue = queues_[in_channel(i / channels, slot, static_cast<std::int32_t>(hops_ % round))];
    if (queue.read_available() != 1 || first_wrong_byte({place(static_cast<std::uint32_t>(queue.front())), bytes}, seed, i)) return false;
  }
  return true;
}

}  // namespace torus::bench
