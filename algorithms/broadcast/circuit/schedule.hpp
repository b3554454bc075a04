/// A broadcast under circuit switching as a list of steps, each a rule by which an informed node finds its own circuits.
///
/// A rule is a function of the node's *place* (its coordinates relative to the root's, 0..n_d-1 each) and of tables that follow from shape
/// and ports alone. Every node can compute its rows of the tables; the plan computes the tables once and all nodes read them. Only the
/// root's rank must travel: one header word in every message but those of the last step.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

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
Plan schedule_plan(const Request& request, CircuitSchedule schedule, std::string formula);

}  // namespace torus::broadcast
