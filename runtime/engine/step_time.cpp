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

double by_channels(const Machine& machine, std::span<const Message* const> messages) {
  std::vector<std::pair<ChannelName, Bytes>> crossed;
  for (const Message* m : messages)
    each_channel(machine.topology, m->source(), m->route(), [&](const ChannelName& c) { crossed.emplace_back(c, m->bytes()); });
  std::sort(crossed.begin(), crossed.end());
  double most = 0;
  for (auto at = crossed.begin(); at != crossed.end();) {
    const ChannelName channel = at->first;
    Bytes bytes = 0;
    for (; at != crossed.end() && at->first == channel; ++at) bytes += at->second;
    most = std::max(most, static_cast<double>(bytes) * machine.byte_s(channel.from, channel.dimension, channel.hop));
  }
  return most;
}

}  // namespace

double byte_term(const Machine& machine, std::span<const Message* const> messages) {
  return machine.contention == Contention::share || machine.topology.has_slow_links() ? by_channels(machine, messages)
                                                                                      : by_legs(machine, messages);
}

}  // namespace torus::detail
