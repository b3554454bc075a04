/// Bundles (blocks that travel together) and the arithmetic of windows that every phase uses.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <torus/node.hpp>

namespace torus::multinode_broadcast {

/// Blocks that a phase handles as one. The blocks' bytes lie with the node; a bundle only names them, in an order that may matter.
using Bundle = std::vector<BlockId>;

/// What travels: blocks, or control words in their place, one for each.
enum class Cargo : std::uint8_t { blocks, words };

/// The ids that a message brings.
inline std::span<const BlockId> brought(const Message& message, Cargo cargo) noexcept {
  return cargo == Cargo::words ? std::span<const BlockId>(message.header()) : std::span<const BlockId>(message.blocks());
}
inline void append(Bundle& bundle, const Message& message, Cargo cargo = Cargo::blocks) {
  const std::span<const BlockId> ids = brought(message, cargo);
  bundle.insert(bundle.end(), ids.begin(), ids.end());
}

/// Appends `count` consecutive ids.
inline void append(Bundle& bundle, BlockId first, std::uint32_t count) {
  bundle.resize(bundle.size() + count);
  std::iota(bundle.end() - count, bundle.end(), first);
}

/// Sends a bundle unless it is empty. Receivers treat no message as an empty bundle.
inline void send_bundle(Node& self, RouteView route, std::span<const BlockId> bundle, Cargo cargo = Cargo::blocks) {
  if (bundle.empty()) return;
  if (cargo == Cargo::words)
    self.send(route, {}, bundle);
  else
    self.send(route, bundle);
}
inline void send_bundle(Node& self, std::initializer_list<Leg> route, std::span<const BlockId> bundle, Cargo cargo = Cargo::blocks) {
  send_bundle(self, RouteView{route.begin(), route.size()}, bundle, cargo);
}

/// window(n), see common/integers.hpp.
constexpr std::int32_t window_low(std::int32_t n) noexcept { return -((n - 1) / 2); }
constexpr std::int32_t window_high(std::int32_t n) noexcept { return n / 2; }

constexpr std::int32_t sign(std::int32_t x) noexcept { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace torus::multinode_broadcast
