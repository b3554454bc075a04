#include "runtime/engine/step_time.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/model/channel.hpp"

namespace torus::detail {
namespace {

double by_legs(const Machine& machine, std::span<const Message* const> messages) {
  double most = 0;
  for (const Message* m : messages) {
    for (const Leg& leg : m->route()) {
      if (leg.hops != 0) most = std::max(most, static_cast<double>(m->bytes()) * machine.cost.byte_s_of(leg.dimension));
    }
  }
  return most;
}

double by_channels(const Machine& machine, const Slab& own, std::span<const Message* const> messages) {
  std::vector<std::pair<ChannelName, Bytes>> crossed;
  double most = 0;
  each_channel_load(machine.topology, messages, crossed, [&](const ChannelName& channel, Bytes bytes) {
    if (own.owns(channel.from))
      most = std::max(most, static_cast<double>(bytes) * machine.byte_s(channel.from, channel.dimension, channel.hop));
  });
  return most;
}

}  // namespace

double byte_term(const Machine& machine, const Slab& own, std::span<const Message* const> messages) {
  return machine.contention == Contention::share || machine.topology.has_slow_links() ? by_channels(machine, own, messages)
                                                                                      : by_legs(machine, messages);
}

}  // namespace torus::detail
