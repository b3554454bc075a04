/// A network that carries nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <torus/node.hpp>

namespace torus::detail {

/// What is sent goes nowhere, and nodes hold nothing. Where frames come from is for others to say.
class SilentNetwork : public Network {
 public:
  void send(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool) final {}
  void send_partials(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool, std::uint8_t) final {}
  void send_block(Node&, Dimension, std::int32_t, BlockId) final {}
  void forward_block(Node&, Dimension, std::int32_t, BlockId) final {}
  bool holds(const Node&, BlockId) final { return false; }
  std::span<const BlockId> blocks(const Node&) final { return {}; }
  std::span<std::byte> bytes(const Node&, BlockId) final { return {}; }
  void release(Node&, BlockId) final {}
  void enter_phase(const Node&, const char*) final {}

 protected:
  ~SilentNetwork() = default;
};

}  // namespace torus::detail
