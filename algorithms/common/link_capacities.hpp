/// Channels that differ in speed, as whole capacities: how many segments, all of one size, each passes in a step.
///
/// If the fastest channel, of T_c = t, passes `most` segments, another passes floor(most t / T_c) of them, so that it takes no longer. Slow
/// channels that pass none are not used, unless the living nodes hang together only with them; then each passes one, and a step takes as
/// long as that. Both ways of a link are alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

class LinkCapacities {
 public:
  /// O(channels). The machine must outlive it.
  LinkCapacities(const Machine& machine, std::uint32_t most);

  /// 0: the channel is not used.
  std::uint32_t of(NodeId from, Dimension d, std::int32_t hop) const noexcept {
    if (machine_.cost.one_speed()) return most_;
    const double byte_s = machine_.byte_s(from, d, hop);
    if (byte_s <= fastest_s_) return most_;
    return std::max(least_, static_cast<std::uint32_t>(most_ * fastest_s_ / byte_s * (1 + 1e-9)));
  }
  std::uint32_t most() const noexcept { return most_; }
  /// Sum over the channels of a node.
  std::uint64_t around(NodeId node) const noexcept;
  /// Seconds that a step takes for each byte of a segment, if all channels pass what they can.
  double step_byte_s() const noexcept { return step_byte_s_; }

 private:
  const Machine& machine_;
  std::uint32_t most_, least_ = 0;
  double fastest_s_ = 0, step_byte_s_ = 0;
};

/// Capacities of the fastest channel that are worth a try on a machine: 1, and more where channels differ in speed.
std::vector<std::uint32_t> capacities_to_try(const Machine& machine);

}  // namespace torus
