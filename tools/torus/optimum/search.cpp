#include "tools/torus/optimum/search.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include <torus/bounds.hpp>
#include <torus/error.hpp>

#include "algorithms/bounds/growth.hpp"

namespace torus::command {
namespace {

using optimum::Model;
using optimum::Question;
using optimum::Transfer;

/// So many steps above the bound are tried.
constexpr Step most_steps_above = 8;

/// Nodes one of which every root looks like: ends of lines may be exchanged, and rings turned.
std::vector<NodeId> telling_roots(const Topology& topology) {
  std::vector<NodeId> roots;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    bool tells = topology.living(node);
    for (Dimension d = 0; tells && topology.whole() && d < topology.dimensions(); ++d) {
      const std::int32_t at = topology.coordinate(node, d), last = topology.extent(d) - 1;
      tells = topology.wiring(d) == Wiring::line ? at <= last - at : at == 0;
    }
    if (tells) roots.push_back(node);
  }
  return roots;
}

class Search {
 public:
  Search(const Machine& machine, const SolverLimit& limit, const Extras& extras)
      : machine_{machine}, limit_{limit}, extras_{extras}, transfers_{optimum::transfers_of(machine)} {}

  Optimum run() {
    Optimum optimum;
    Fewest& broadcast = optimum.broadcast;
    bool first = true;
    for (const NodeId root : telling_roots(machine_.topology)) {
      Fewest of = from(bounds_of(Collective::broadcast, {root}));
      raise(of, {.origins = {root}}, broadcast.at_most.value_or(0));
      if (first || of.at_least > broadcast.at_least) {
        broadcast.at_least = of.at_least;
        broadcast.reason = std::move(of.reason);
        broadcast.impossible = std::move(of.impossible);
      }
      if (first || (broadcast.at_most && (!of.at_most || *of.at_most > *broadcast.at_most))) {
        broadcast.at_most = of.at_most;
        broadcast.steps = std::move(of.steps);
        broadcast.root = root;
      }
      first = false;
    }
    const std::vector<NodeId> nodes = living_ranks(machine_.topology);
    Fewest& gossip = optimum.gossip;
    gossip = from(bounds_of(Collective::multinode_broadcast, nodes));
    if (broadcast.at_least > gossip.at_least) {
      gossip.at_least = broadcast.at_least;
      gossip.reason = "a broadcast from one node";
    }
    raise(gossip, {.origins = nodes}, 0);
    if (gossip.at_most && (!broadcast.at_most || *gossip.at_most < *broadcast.at_most))  // a gossip is a broadcast from each node
      attain(broadcast, *gossip.at_most, gossip.steps);
    return optimum;
  }

 private:
  Bounds bounds_of(Collective collective, std::vector<NodeId> sources) const {
    Request request;
    request.collective = collective;
    request.sources = std::move(sources);
    request.bytes = 1;
    return lower_bounds(machine_, request);
  }
  static Fewest from(const Bounds& bounds) { return {.at_least = bounds.steps, .reason = bounds.steps_reason}; }

  Solved ask(const Model& model, bool proof) const { return solve(model.formula(), limit_, proof); }

  /// Asks of more and more steps until so many suffice: at least of `from` where another root needs those anyway.
  void raise(Fewest& fewest, Question question, std::uint64_t from) {
    bool decided = true;
    const bool gossip = question.origins.size() > 1;
    const std::uint64_t last = std::max(fewest.at_least, from) + most_steps_above;
    for (std::uint64_t steps = std::max(fewest.at_least, from); steps <= last; ++steps) {
      question.steps = static_cast<Step>(steps);
      if (gossip && attained_alike(fewest, question)) return;
      const Model model(machine_, transfers_, question);
      Solved solved = ask(model, extras_.proof);
      if (solved.satisfiable == true) {
        attain(fewest, steps, model.steps(solved.values));
        if (gossip && extras_.once) attain_once(fewest, question);
        return;
      }
      decided = decided && solved.satisfiable == false;
      if (!decided) continue;
      fewest.at_least = steps + 1;
      fewest.reason = fmt::format("{} steps are impossible, by the solver", steps);
      if (extras_.proof) fewest.impossible = Impossible{question.steps, model.formula(), std::move(solved.proof)};
    }
  }

  /// Whether steps in which all nodes do the same suffice: fast to see.
  bool attained_alike(Fewest& fewest, Question question) {
    if (!optimum::invariant(machine_.topology)) return false;
    question.invariant = true;
    if (attain_once(fewest, question)) return true;
    const Model model(machine_, transfers_, question);
    const Solved solved = ask(model, false);
    if (solved.satisfiable != true) return false;
    attain(fewest, question.steps, model.steps(solved.values));
    if (extras_.once) attain_once(fewest, {.steps = question.steps, .origins = question.origins});
    return true;
  }

  /// Whether so many steps suffice where nobody hears of anybody twice.
  bool attain_once(Fewest& fewest, Question question) {
    question.once = true;
    const Model model(machine_, transfers_, question);
    const Solved solved = ask(model, false);
    fewest.once = solved.satisfiable == true;
    if (fewest.once) attain(fewest, question.steps, model.steps(solved.values));
    return fewest.once;
  }

  static void attain(Fewest& fewest, std::uint64_t steps, optimum::Steps found) {
    fewest.at_most = steps;
    fewest.steps = std::move(found);
  }

  const Machine& machine_;
  const SolverLimit& limit_;
  const Extras& extras_;
  std::vector<Transfer> transfers_;
};

}  // namespace

Optimum fewest_steps(const Machine& machine, const SolverLimit& limit, const Extras& extras) {
  return Search(machine, limit, extras).run();
}

}  // namespace torus::command
