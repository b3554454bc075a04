#include "algorithms/reduction/stars/window_classes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace torus::reduction::stars {
namespace {

std::vector<Leg> hops_from_a_node(const Topology& topology) {
  std::vector<Leg> hops;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (topology.extent(d) > 1) hops.insert(hops.end(), {{d, +1}, {d, -1}});
  }
  return hops;
}

}  // namespace

/// In a round as many moves as there are ports: those that bring most, and of these what is brought by the emptiest.
bool WindowClasses::gathers(const Topology& topology, int ports) {
  const std::vector<Leg> hops = hops_from_a_node(topology);
  std::vector<std::vector<std::uint32_t>> beyond(hops.size());  // by hop and class
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    for (std::uint32_t c = 0; c < classes_; ++c) {
      Coordinates x = sublattice_.point(c);
      x[static_cast<std::size_t>(hops[hop].dimension)] += hops[hop].hops;
      beyond[hop].push_back(of(x));
    }
  }
  std::vector<bool> held(classes_, false);
  held[0] = true;
  for (std::uint32_t holds = 1; holds < classes_;) {
    std::vector<std::size_t> chosen;
    std::vector<std::uint32_t> ways(classes_, 0);
    while (static_cast<int>(chosen.size()) < std::min<int>(ports, static_cast<int>(hops.size()))) {
      std::size_t best = hops.size();
      std::uint64_t most = 0;
      for (std::size_t hop = 0; hop < hops.size(); ++hop) {
        if (std::find(chosen.begin(), chosen.end(), hop) != chosen.end()) continue;
        std::uint64_t gain = 0;  // what no other brings counts most
        for (std::uint32_t c = 0; c < classes_; ++c)
          gain += held[c] && !held[beyond[hop][c]] ? (ways[beyond[hop][c]] == 0 ? classes_ : 1) : 0;
        if (gain > most) best = hop;
        most = std::max(most, gain);
      }
      if (best == hops.size()) break;
      chosen.push_back(best);
      for (std::uint32_t c = 0; c < classes_; ++c) ways[beyond[best][c]] += held[c] ? 1U : 0U;
    }
    if (chosen.empty()) return false;
    Round round;
    for (const std::size_t hop : chosen) round.push_back({hops[hop], {}});
    std::vector<std::uint32_t> order(classes_);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return ways[a] < ways[b]; });
    const std::vector<bool> before = held;
    for (const std::uint32_t c : order) {
      Pull* emptiest = nullptr;
      for (std::size_t i = 0; i < chosen.size() && !before[c]; ++i) {
        std::uint32_t from = 0;
        while (beyond[chosen[i]][from] != c) ++from;
        if (before[from] && (emptiest == nullptr || round[i].displacements.size() < emptiest->displacements.size())) emptiest = &round[i];
      }
      if (emptiest == nullptr) continue;
      emptiest->displacements.push_back(c);
      held[c] = true;
      ++holds;
    }
    std::erase_if(round, [](const Pull& pull) { return pull.displacements.empty(); });
    rounds_.push_back(std::move(round));
  }
  return true;
}

std::uint64_t WindowClasses::channel(const Round& round) noexcept {
  std::uint64_t most = 0;
  for (const Pull& pull : round) most = std::max<std::uint64_t>(most, pull.displacements.size());
  return most;
}

std::uint64_t WindowClasses::taken(const Round& round) noexcept {
  std::uint64_t sum = 0;
  for (const Pull& pull : round) sum += pull.displacements.size();
  return sum;
}

std::uint64_t WindowClasses::channel() const noexcept {
  std::uint64_t sum = 0;
  for (const Round& round : rounds_) sum += channel(round);
  return sum;
}

std::uint64_t WindowClasses::taken() const noexcept {
  std::uint64_t sum = 0;
  for (const Round& round : rounds_) sum += taken(round);
  return sum;
}

std::optional<WindowClasses> WindowClasses::find(const Machine& machine, std::uint32_t classes) {
  constexpr std::size_t most_sublattices = 8192;  // that are looked at
  constexpr std::size_t work_limit = 400'000;     // for those that fit: classes times hops times dimensions
  std::optional<WindowClasses> best;
  const auto k = static_cast<std::size_t>(machine.topology.dimensions());
  std::size_t tries = std::max<std::size_t>(20, work_limit / (2 * k * k * classes));
  const Sublattice all(k);
  all.each_within(machine.topology, classes, most_sublattices, [&](const Sublattice& tried) {
    WindowClasses candidate(tried, classes);
    if (candidate.gathers(machine.topology, machine.ports)) {
      const auto cost = [](const WindowClasses& c) { return std::pair(c.rounds_.size(), c.channel()); };
      if (!best || cost(candidate) < cost(*best)) best = std::move(candidate);
    }
    return --tries > 0;
  });
  if (!best) return best;
  for (std::uint32_t a = 0; a < classes; ++a) {
    for (std::uint32_t b = 0; b < classes; ++b) {
      Coordinates x = best->sublattice_.point(a);
      const Coordinates y = best->sublattice_.point(b);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
      best->sums_.push_back(best->of(x));
    }
  }
  return best;
}

}  // namespace torus::reduction::stars
