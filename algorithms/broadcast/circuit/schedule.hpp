/// A broadcast under circuit switching as a list of steps, each a rule by which an informed node finds its own circuits.
///
/// A rule is a function of the node's *place* (its coordinates relative to the root's, 0..n_d-1 each) and of tables that follow from shape
/// and ports alone. Every node can compute its rows of the tables; the plan computes the tables once and all nodes read them. Only the
/// root's rank must travel: one header word in every message but those of the last step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/received.hpp"

namespace torus::broadcast {

/// Takes the routes of one node's messages.
using RouteSink = std::function<void(RouteView)>;

/// What the informed nodes do in one step.
class StepRule {
 public:
  virtual ~StepRule() = default;
  /// Passes on the routes of the messages that the informed node at `place` sends.
  virtual void routes(const Coordinates& place, const RouteSink& send) const = 0;
  /// Memory of the rule's tables.
  virtual Bytes table_bytes() const { return 0; }
};

class CircuitSchedule {
 public:
  /// The phase is a literal.
  void add(const char* phase, std::unique_ptr<const StepRule> rule) { steps_.push_back({phase, std::move(rule)}); }

  /// Another rule for a step that is there, in its phase.
  void replace(std::size_t step, std::unique_ptr<const StepRule> rule) { steps_[step].rule = std::move(rule); }

  std::uint64_t steps() const noexcept { return steps_.size(); }
  const StepRule& rule(std::size_t step) const { return *steps_[step].rule; }
  const char* phase(std::size_t step) const { return steps_[step].phase; }

 private:
  struct Scheduled {
    const char* phase;
    std::unique_ptr<const StepRule> rule;
  };
  std::vector<Scheduled> steps_;
};

/// The program of a node: sleeps until it is informed, then follows the rules. The schedule must outlive the run.
Program follow_schedule(Node& self, const CircuitSchedule& schedule);

/// The plan that follows a schedule.
Plan schedule_plan(const Request& request, std::shared_ptr<const CircuitSchedule> schedule, std::string formula);

/// A message of one step.
struct Circuit {
  NodeId from;
  NodeId to;
  std::vector<Leg> route;
};

/// A step whose circuits are in a table, by place, where no pattern covers all cases. Every node can compute its row.
/// The table may be that of a smaller torus of which the machine is a cover. Places are then taken modulo the table's extents, and circuits
/// that share no channel there share none in the machine.
class TableStep : public StepRule {
 public:
  /// `shape`: the table's extents; each divides the machine's. Circuits are between nodes of that shape.
  TableStep(const Topology& shape, std::span<const Circuit> circuits);

  void routes(const Coordinates& place, const RouteSink& send) const override;
  Bytes table_bytes() const override { return first_.size() * sizeof(std::uint32_t) + routes_.bytes(); }

 private:
  Coordinates extents_;
  std::vector<std::uint32_t> first_;  // by rank in the table's shape: its first route; those of the next rank follow
  RowTable<Leg> routes_;
};

/// The schedule that does in each step what its circuits say, all of one phase. A step without circuits is none. The phase is a literal.
std::shared_ptr<const CircuitSchedule> table_schedule(const Topology& shape, const char* phase,
                                                      std::span<const std::vector<Circuit>> steps);

/// Moves all nodes of the messages so that `origin` becomes node 0, across borders where a dimension is a line.
void move_to_node_0(const Topology& topology, NodeId origin, std::vector<std::vector<Circuit>>& steps);

}  // namespace torus::broadcast
