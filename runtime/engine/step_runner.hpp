/// Shares the active nodes of a step out among the workers and runs them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torus/engine.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/fabric.hpp"
#include "runtime/engine/worker.hpp"
#include "runtime/engine/workers/active_set.hpp"

namespace torus::detail {

/// Makes this thread run nodes for a worker until the end of a scope. Then restores what it ran before: a program may run an engine of its
/// own.
class WorkerScope {
 public:
  explicit WorkerScope(Worker& w) noexcept { running.worker = &w; }
  WorkerScope(const WorkerScope&) = delete;
  WorkerScope& operator=(const WorkerScope&) = delete;
  ~WorkerScope() { running = before_; }

 private:
  const Running before_ = running;
};

/// Runs the steps of an engine.
///
/// Each worker has a share of the active nodes, the same in every step while all nodes are active. When its share is done, it takes batches
/// of other workers' shares. The result does not depend on which worker runs a node.
class StepRunner {
 public:
  /// The options need not outlive this; all else must.
  StepRunner(const Machine& machine, const Placement& placement, const RunOptions& options, Fabric& fabric, Executor& executor,
             Region<Node>& nodes);

  /// Forgets the last run.
  void begin_run() noexcept { last_payload_ = 0; }
  /// Runs all active nodes once. expected: how many there are, or a few more.
  void run_step(std::uint64_t expected);
  /// Takes the payload bytes of this step, from which those of the next are estimated.
  void carried(Bytes payload);

 private:
  /// A step as it is shared out: items are nodes, or groups of nodes.
  struct Items {
    bool by_node = false;
    std::uint64_t count = 0;
    std::uint64_t max_batch = 1;
  };

  Items items_of_step(std::uint64_t expected);
  void run_alone(const Items& items);
  void run_shared(const Items& items, unsigned called);
  double estimated_ns(std::uint64_t nodes) const;
  void run_items(bool by_node, std::uint64_t from, std::uint64_t to, Worker& w);
  std::span<NodeId> take_nodes(std::span<const ActiveSet::Group> groups, std::vector<NodeId>& room);
  void run_nodes(std::span<const NodeId> nodes, Worker& w);

  const Machine& machine_;
  const Placement& placement_;
  const std::uint64_t seed_;
  const bool shuffled_;
  const Bytes cache_;
  Fabric& fabric_;
  Executor& executor_;
  Region<Node>& nodes_;
  Bytes last_payload_ = 0;                // of the previous step
  std::vector<ActiveSet::Group> groups_;  // of this step
  std::span<NodeId> single_nodes_;        // of this step, if it is shared out by node
  std::vector<NodeId> room_for_nodes_;
};

}  // namespace torus::detail
