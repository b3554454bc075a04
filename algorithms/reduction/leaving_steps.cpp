#include "algorithms/reduction/leaving_steps.hpp"

#include <algorithm>

namespace torus::reduction {
namespace {

/// The steps taken of a class are its first.
struct Matching {
  Matching(std::vector<LeavingNode>& all, Step most, std::size_t classes) : nodes{all}, steps{most}, taken(classes), wanted(classes) {}

  /// The last step in which a node may leave.
  std::size_t last(std::size_t node) const { return steps - static_cast<std::size_t>(nodes[node].distance); }
  /// Puts a node in place of whoever has the step.
  void put(std::size_t node, SpreadClass c, std::size_t step) {
    if (step == taken[c].size()) taken[c].push_back(0);
    taken[c][step] = node;
    nodes[node].in = c;
    nodes[node].step = static_cast<Step>(step);
  }
  /// Finds a step for a node, breadth first; others may have to change to other classes. False if there is none.
  bool place(std::size_t node) {
    for (std::vector<std::size_t>& each : wanted) each.clear();
    std::vector<std::size_t> moving{node};
    for (std::size_t at = 0; at < moving.size(); ++at) {
      std::size_t mover = moving[at];
      std::vector<SpreadClass> by_size = nodes[mover].classes;
      std::stable_sort(by_size.begin(), by_size.end(), [&](SpreadClass a, SpreadClass b) { return taken[a].size() < taken[b].size(); });
      for (SpreadClass c : by_size) {
        std::size_t step = taken[c].size();
        if (step > last(mover)) {  // full: whoever has a step that would do may move
          for (std::size_t t = wanted[c].size(); t <= last(mover); ++t) {
            wanted[c].push_back(mover);
            moving.push_back(taken[c][t]);
          }
          continue;
        }
        while (true) {
          const SpreadClass before = nodes[mover].in;
          const std::size_t step_before = nodes[mover].step;
          put(mover, c, step);
          if (mover == node) return true;
          c = before;
          step = step_before;
          mover = wanted[c][step];
        }
      }
    }
    return false;
  }

  std::vector<LeavingNode>& nodes;
  std::size_t steps;
  std::vector<std::vector<std::size_t>> taken;   // by class and step: the node
  std::vector<std::vector<std::size_t>> wanted;  // by class and step: the node that would take it
};

}  // namespace

bool match_leaving_steps(std::vector<LeavingNode>& nodes, Step steps, std::size_t classes) {
  Matching matching(nodes, steps, classes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!matching.place(i)) return false;
  }
  return true;
}

}  // namespace torus::reduction
