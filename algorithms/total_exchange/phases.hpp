/// Total exchange over all ports in phases: along each dimension, one exchange after the other, all dimensions at the same time.
///
/// Along dimension i there are P_i = N/n_i exchanges of T_i steps, one for each choice of what the other coordinates of a class may be;
/// exchange f starts in step floor(f T / P_i), T = max P_i T_i. The exchange carries one class for each offset along i. Which, is the
/// algorithm's choice: it must let a class be in one dimension at a time. Each class takes the dimensions in its own order.
///
/// Machine  packet, all ports, any topology.
/// Steps    max over i of (N/n_i) T_i.
/// Header   none.   Memory  O(1) a node; 8 bytes a class and dimension and 8 bytes a step and dimension, shared by all nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/total_exchange/all_port_line.hpp"
#include "algorithms/total_exchange/classes.hpp"

namespace torus::total_exchange {

/// Which exchange along a dimension carries a class that moves along it; the dimension is counted among those that have links. Exchange
/// numbers are 0..N/n_i - 1; classes of one offset along i must have different ones.
using ExchangeOf = std::function<std::uint32_t(NodeId delta, std::size_t i)>;

/// max over i of (N/n_i) T_i.
std::uint64_t phase_steps(const Topology& topology) noexcept;

/// The exchanges along one dimension: how many, how long each, and when it starts.
struct Exchanges {
  Exchanges(const Topology& topology, Dimension d);
  std::uint64_t start(std::uint32_t f) const noexcept { return f * total / number; }

  std::uint32_t number;
  std::uint32_t duration;
  std::uint64_t total;  ///< steps of the whole schedule
};

/// Whether every class would be in one dimension at a time.
bool one_dimension_at_a_time(const Topology& topology, const ExchangeOf& exchange_of);

/// An immutable table that all nodes share.
class PhaseSchedule {
 public:
  /// For an assignment that lets every class be in one dimension at a time.
  PhaseSchedule(const Topology& topology, const ExchangeOf& exchange_of);

  Step steps() const noexcept { return steps_; }
  /// Sends what the node has to send in step t.
  void send(Node& self, Step t) const;
  Bytes table_bytes() const noexcept;

 private:
  /// A dimension that has links.
  struct Axis {
    Dimension dimension;
    std::int32_t extent;
    NodeId stride;
    AllPortLine line;
    std::vector<RelativeBlock> carried;  // by exchange and offset; in this dimension as if at home and staying there
  };
  /// Where the exchanges along an axis are in a step.
  struct ExchangeStep {
    std::uint32_t exchange;
    std::uint32_t step;
  };

  BlockId block(const Node& self, const Axis& axis, std::uint32_t exchange, std::int32_t own, Crossing crossing) const noexcept;

  Step steps_;
  Offsets offsets_;
  std::vector<Axis> axes_;
  std::vector<ExchangeStep> exchange_steps_;  // step by step, by axis
};

/// The plan of an algorithm that goes by such a schedule.
Plan plan_in_phases(const Machine& machine, const Request& request, const ExchangeOf& exchange_of, std::string formula);

}  // namespace torus::total_exchange
