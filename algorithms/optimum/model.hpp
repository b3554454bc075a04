/// The question whether a few steps suffice, as a formula.
///
/// A step is a set of transfers: messages that go from one node to another over free channels, at most `ports` from a node and at most
/// `ports` to one. A message carries as many blocks as its sender likes, so that all that matters is who has heard of whom. A list of steps
/// in which every node hears of every other is a *gossip*; where all hear of one root it is a broadcast.
#pragma once

#include <cstdint>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>

#include "algorithms/optimum/formula.hpp"

namespace torus::optimum {

/// A message that a machine can take in a step.
struct Transfer {
  NodeId from, to;
  Route route;
  std::vector<std::uint64_t> channels;  ///< that it crosses: node x slots + slot
};

/// All of them: under packet switching the hops; under wormhole switching the shortest routes in the machine's order of dimensions, each
/// way round where both are equally long, and on a machine with dead parts all that go round no ring. Throws InputError under circuit
/// switching or on shared channels.
std::vector<Transfer> transfers_of(const Machine& machine);

/// The transfers of each step.
using Steps = std::vector<std::vector<Transfer>>;

struct Question {
  Step steps = 0;
  std::vector<NodeId> origins;  ///< of whom all are to hear
  bool invariant = false;       ///< only steps in which all nodes do the same: see invariant()
  bool once = false;            ///< nobody hears of anybody twice: a message may be added to what its receiver has
};

/// Whether all nodes are alike, so that a step may be the same transfer from each of them: no lines, nothing dead.
bool invariant(const Topology& topology) noexcept;

class Model {
 public:
  /// Every node hears of every origin within the steps. Of an invariant gossip one origin says all.
  Model(const Machine& machine, const std::vector<Transfer>& transfers, const Question& question);

  const Formula& formula() const noexcept { return formula_; }
  /// The steps of an assignment, which has a value for each variable and one before them.
  Steps steps(const std::vector<bool>& values) const;

 private:
  void limit(const Machine& machine, Step step);
  void hear(Step step, NodeId node, const std::vector<Literal>& before, Literal after, bool once);

  const std::vector<Transfer>& transfers_;
  std::vector<std::vector<std::size_t>> into_;  // transfers by receiver
  std::vector<std::vector<Literal>> taken_;     // by step and transfer
  Formula formula_;
};

}  // namespace torus::optimum
