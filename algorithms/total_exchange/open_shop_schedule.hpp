/// The table of the open shop: what all nodes do in each step. See open_shop.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <torus/node.hpp>

#include "algorithms/total_exchange/all_port_line.hpp"
#include "algorithms/total_exchange/offsets.hpp"

namespace torus::exchange {

/// max(C4, diameter).
std::uint64_t open_shop_steps(const Topology& topology);

/// The table that all nodes share. Immutable.
class OpenShopSchedule {
 public:
  explicit OpenShopSchedule(const Topology& topology);

  Step steps() const noexcept { return steps_; }
  /// Sends what the node has to send in step t.
  void send(Node& self, Step t) const;
  Bytes table_bytes() const noexcept;

 private:
  /// What all nodes do with a class over one of their channels in one step.
  struct Move {
    RelativeBlock block;
    std::int32_t direction;  ///< +1 or -1 on a ring, the offset on a complete dimension, 0 on a line of 2: to the other node
    std::int8_t dimension;
    bool on_line;  ///< no class, but step block.origin of the exchange along the dimension
  };

  std::span<const Move> moves(Step t) const noexcept { return {moves_.data() + first_of_step_[t], moves_.data() + first_of_step_[t + 1]}; }

  void send_on_line(Node& self, const Move& move) const;

  Step steps_;
  Offsets offsets_;
  std::optional<AllPortLine> line_;  // of the dimension whose ties are divided by node
  std::vector<Move> moves_;          // step by step
  std::vector<std::uint32_t> first_of_step_;
};

}  // namespace torus::exchange
