/// A broadcast under circuit switching as a list of steps, each a rule by which an informed node finds its own circuits.
///
/// A rule is a function of the node's *place* (its coordinates relative to the root's, 0..n_d-1 each) and of tables that follow from shape
/// and ports alone. Every node could compute the tables alike; the plan does it once and all nodes read them. What a node must be
/// told is where the root is: one header word in every message but those of the last step.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <torus/node.hpp>
#include <torus/program.hpp>

namespace torus::broadcast {

/// Takes the routes of one node's messages.
using RouteSink = std::function<void(RouteView)>;

/// What the informed nodes do in one step.
class StepRule {
 public:
  virtual ~StepRule() = default;
  /// Gives the routes of the messages that the informed node at `place` sends.
  virtual void routes(const Coordinates& place, const RouteSink& send) const = 0;
  /// Memory of the rule's tables.
  virtual Bytes table_bytes() const = 0;
};

class CircuitSchedule {
 public:
  /// The phase is a literal.
  void add(const char* phase, std::unique_ptr<const StepRule> rule) { steps_.push_back({phase, std::move(rule)}); }

  std::uint64_t steps() const noexcept { return steps_.size(); }
  const StepRule& rule(std::size_t step) const { return *steps_[step].rule; }
  const char* phase(std::size_t step) const { return steps_[step].phase; }
  Bytes table_bytes() const;
  /// Sum over the steps of the most bytes on a channel: a channel carries one message at most, and every step has one.
  double channel_bytes(Bytes message) const noexcept;
  /// Sum over the steps of the hops of the longest circuit, on the topology it was made for. O(nodes) calls of rules.
  std::uint64_t route_hops(const Topology& topology) const;

 private:
  struct Scheduled {
    const char* phase;
    std::unique_ptr<const StepRule> rule;
  };
  std::vector<Scheduled> steps_;
};

/// The program of a node: sleeps until it is informed, then follows the rules. The schedule must outlive the run.
Program follow_schedule(Node& self, const CircuitSchedule& schedule);

}  // namespace torus::broadcast
