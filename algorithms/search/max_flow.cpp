#include "algorithms/search/max_flow.hpp"

#include <algorithm>
#include <limits>

namespace torus {

std::size_t MaxFlow::add(std::size_t from, std::size_t to) {
  const std::size_t arc = arcs_.size();
  arcs_.push_back({to, 0});
  arcs_.push_back({from, 0});
  arcs_of_[from].push_back(arc);
  arcs_of_[to].push_back(arc + 1);
  return arc;
}

bool MaxFlow::find_levels(std::size_t source, std::size_t sink) {
  level_.assign(arcs_of_.size(), -1);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::size_t node = queue_[head];
    for (const std::size_t arc : arcs_of_[node]) {
      const auto& [to, left] = arcs_[arc];
      if (left == 0 || level_[to] >= 0) continue;
      level_[to] = level_[node] + 1;
      queue_.push_back(to);
    }
  }
  return level_[sink] >= 0;
}

std::int64_t MaxFlow::push(std::size_t node, std::size_t sink, std::int64_t most) {
  if (node == sink) return most;
  std::int64_t sent = 0;
  for (std::size_t& i = next_[node]; i < arcs_of_[node].size(); ++i) {
    const std::size_t arc = arcs_of_[node][i];
    if (arcs_[arc].left > 0 && level_[arcs_[arc].to] == level_[node] + 1) {
      const std::int64_t passed = push(arcs_[arc].to, sink, std::min(most - sent, arcs_[arc].left));
      arcs_[arc].left -= passed;
      arcs_[arc ^ 1U].left += passed;
      sent += passed;
      if (sent == most) return sent;  // this arc may have more to give
    }
  }
  return sent;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  std::int64_t flow = 0;
  while (find_levels(source, sink)) {
    next_.assign(arcs_of_.size(), 0);
    flow += push(source, sink, std::numeric_limits<std::int64_t>::max());
  }
  return flow;
}

}  // namespace torus
