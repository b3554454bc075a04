#include "algorithms/reduction/star_choice.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace torus::reduction {
namespace {

constexpr std::size_t most_packings = 2;

double time(const Machine& machine, const Request& request, double pieces, double steps, double channel) {
  return machine.cost.steps(steps, channel * static_cast<double>(request.bytes) / pieces, 0);
}

}  // namespace

Stars Stars::choose(const Machine& machine, const Request& request, PlanCache& cache) {
  const double nodes = machine.topology.nodes(),
               base = std::log(std::max(2.0, 1.0 + std::min(machine.ports, machine.topology.max_ports())));
  struct Promising {
    WindowClasses windows;
    double about, least;  // time
  };
  std::vector<Promising> promising;
  const auto of = [&](const WindowClasses& windows, double tree) {
    return time(machine, request, windows.classes(), 2.0 * static_cast<double>(windows.rounds().size()) + tree,
                2.0 * static_cast<double>(windows.channel()) + tree);
  };
  for (std::uint32_t w = 1; w <= std::min<std::uint64_t>(most_pieces, machine.topology.nodes()); ++w) {
    if (request.parameters.whole("pieces") != 0 && request.parameters.whole("pieces") != w) continue;
    auto windows = WindowClasses::find(machine, w);
    if (!windows) continue;
    const double members = std::log(nodes / w) / base;  // the least levels of a tree
    const double least = of(*windows, std::max(0.0, 2 * std::ceil(members - 1e-9) - 1));
    const double about = of(*windows, 1.25 * std::log(nodes) / base + members);  // what packings have needed
    promising.push_back({std::move(*windows), about, least});
  }
  std::stable_sort(promising.begin(), promising.end(), [](const Promising& a, const Promising& b) { return a.about < b.about; });
  if (promising.size() > most_packings) promising.erase(promising.begin() + most_packings, promising.end());
  std::optional<Stars> best;
  double shortest = 0;
  for (Promising& one : promising) {
    if (best && one.least >= shortest) continue;
    Stars tried{std::move(one.windows), {}};
    tried.trees = *cache.of<StarTrees::pack>(machine, tried.windows.sublattice());
    const double needs = of(tried.windows, static_cast<double>(tried.trees.steps()));
    if (best && needs >= shortest) continue;
    best = std::move(tried);
    shortest = needs;
  }
  return std::move(*best);
}

}  // namespace torus::reduction
