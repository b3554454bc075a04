#include "algorithms/broadcast/synthesis/ordered_step.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::broadcast {
namespace {

constexpr std::uint32_t none = ~0U;

}  // namespace

OrderedStep::OrderedStep(const Topology& topology, std::int32_t ports) : topology_{topology}, ports_{ports} {
  const std::vector<Dimension> linked = linked_dimensions(topology);
  channels_ = 2 * std::max<std::size_t>(linked.size(), 1);
  if (!linked.empty()) last_ = linked.back();
  rows_ = topology.extent(last_);
  ring_ = topology.wiring(last_) == Wiring::ring;
  role_.resize(topology.nodes());
  up_.resize(topology.nodes());
  down_.resize(topology.nodes());
  index_.resize(topology.nodes());
}

std::size_t OrderedStep::solve(std::span<const NodeId> senders, std::span<const NodeId> targets) {
  std::fill(role_.begin(), role_.end(), Role::none);
  targets_.assign(targets.begin(), targets.end());
  for (const NodeId node : senders) role_[node] = Role::sender;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    role_[targets_[i]] = Role::target;
    index_[targets_[i]] = i;
  }
  for (NodeId first = 0; first < topology_.nodes(); first += static_cast<NodeId>(rows_)) mark_gaps(first);
  find_pairs(senders);
  sort_pairs();
  greedy_start();
  while (find_levels()) {
    for (std::uint32_t i = 0; i < targets_.size(); ++i) {
      if (taken_[i] == none) augment(i);
    }
  }
  return targets_.size() - static_cast<std::size_t>(std::count(taken_.begin(), taken_.end(), none));
}

/// The next sender or target of each node of a cell, both ways.
void OrderedStep::mark_gaps(NodeId first) {
  const auto sweep = [&](std::vector<NodeId>& next, std::int32_t way) {
    NodeId met = none;
    for (std::int32_t turn = 0; turn < (ring_ ? 2 : 1); ++turn) {
      for (std::int32_t i = 0; i < rows_; ++i) {
        const NodeId node = first + static_cast<NodeId>(way > 0 ? rows_ - 1 - i : i);
        next[node] = met == none ? node : met;
        if (role_[node] != Role::none) met = node;
      }
    }
  };
  sweep(up_, +1);
  sweep(down_, -1);
}

void OrderedStep::find_pairs(std::span<const NodeId> senders) {
  messages_.clear();
  found_.clear();
  for (const NodeId sender : senders) {
    for (const std::int32_t way : {+1, -1}) {
      const auto message = static_cast<std::uint32_t>(messages_.size());
      messages_.push_back({sender, last_});
      const NodeId next = way > 0 ? up_[sender] : down_[sender];
      if (next != sender && role_[next] == Role::target) found_.push_back({index_[next], {message, way * gap(sender, next, way), 0}});
    }
    for (Dimension d = 0; d < last_; ++d) {
      if (topology_.extent(d) == 1) continue;
      for (const std::int32_t way : {+1, -1}) {
        const auto message = static_cast<std::uint32_t>(messages_.size());
        messages_.push_back({sender, d});
        std::optional<NodeId> at = sender;
        for (std::int32_t hops = 1; hops < topology_.extent(d); ++hops) {
          at = topology_.neighbour(*at, d, way);
          if (!at || role_[*at] == Role::sender) break;
          offer(message, *at, way * hops);
        }
      }
    }
  }
}

/// The targets that a message reaches which comes to a node along another dimension: the node itself, and those at the ends of its gap.
void OrderedStep::offer(std::uint32_t message, NodeId at, std::int32_t hops) {
  if (role_[at] == Role::target) found_.push_back({index_[at], {message, hops, 0}});
  const NodeId up = up_[at], down = down_[at];
  const bool to_up = up != at && role_[up] == Role::target, to_down = down != at && role_[down] == Role::target;
  const std::int32_t hops_up = gap(at, up, +1), hops_down = gap(at, down, -1);
  const bool alone = up == down;  // it ends the gap both ways: the shorter way will do
  if (to_up && !(alone && hops_down < hops_up)) found_.push_back({index_[up], {message, hops, hops_up}});
  if (to_down && !(alone && hops_up <= hops_down)) found_.push_back({index_[down], {message, hops, -hops_down}});
}

/// Hops from one node of a cell to another in one direction.
std::int32_t OrderedStep::gap(NodeId from, NodeId to, std::int32_t way) const {
  const std::int32_t up = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(from);
  const std::int32_t hops = way > 0 ? up : -up;
  return hops < 0 ? hops + rows_ : hops;
}

/// By target, each target's in the order of the messages.
void OrderedStep::sort_pairs() {
  first_.assign(targets_.size() + 1, 0);
  for (const auto& [target, pair] : found_) ++first_[target + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  next_.assign(first_.begin(), first_.end() - 1);
  pairs_.resize(found_.size());
  for (const auto& [target, pair] : found_) pairs_[next_[target]++] = pair;
  looks_ += found_.size();
}

void OrderedStep::greedy_start() {
  taken_.assign(targets_.size(), none);
  served_.assign(messages_.size(), none);
  sent_.assign(messages_.size() / channels_, 0);
  for (const auto& [target, pair] : found_) {
    if (taken_[target] != none || served_[pair.message] != none || !has_port(pair.message)) continue;
    for (std::uint32_t i = first_[target];; ++i) {
      if (pairs_[i].message != pair.message) continue;
      taken_[target] = i;
      break;
    }
    served_[pair.message] = target;
    ++sent_by_sender_of(pair.message);
  }
}

/// Levels of the targets by alternating paths from those without a message; false if none of the paths ends at a free message.
bool OrderedStep::find_levels() {
  level_.assign(targets_.size(), none);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) {
    next_[i] = first_[i];
    if (taken_[i] != none) continue;
    level_[i] = 0;
    queue.push_back(i);
  }
  bool ends = false;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::uint32_t target = queue[head];
    for (std::uint32_t i = first_[target]; i < first_[target + 1]; ++i) {
      ++looks_;
      const std::uint32_t message = pairs_[i].message;
      const auto pass_on = [&](std::uint32_t other) {
        if (other == none || level_[other] != none) return;
        level_[other] = level_[target] + 1;
        queue.push_back(other);
      };
      if (served_[message] != none) {
        pass_on(served_[message]);
      } else if (has_port(message)) {
        ends = true;
      } else {
        for (const std::uint32_t other : served_by_sender_of(message)) pass_on(other);
      }
    }
  }
  return ends;
}

bool OrderedStep::augment(std::uint32_t target) {
  for (std::uint32_t& i = next_[target]; i < first_[target + 1]; ++i) {
    ++looks_;
    const std::uint32_t message = pairs_[i].message;
    const auto freed = [&](std::uint32_t& served) {  // its target finds another message
      if (served == none || level_[served] != level_[target] + 1 || !augment(served)) return false;
      --sent_by_sender_of(message);
      served = none;
      return true;
    };
    if (served_[message] != none) {
      if (!freed(served_[message])) continue;
    } else if (!has_port(message)) {
      const std::span<std::uint32_t> sent = served_by_sender_of(message);
      if (std::none_of(sent.begin(), sent.end(), freed)) continue;
    }
    served_[message] = target;
    ++sent_by_sender_of(message);
    taken_[target] = i;
    return true;
  }
  level_[target] = none;
  return false;
}

std::vector<NodeId> OrderedStep::unserved() const {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (taken_[i] == none) nodes.push_back(targets_[i]);
  }
  return nodes;
}

std::vector<Circuit> OrderedStep::messages() const {
  std::vector<Circuit> all;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (taken_[i] == none) continue;
    const Pair& pair = pairs_[taken_[i]];
    const auto [sender, dimension] = messages_[pair.message];
    Circuit circuit{sender, targets_[i], {{dimension, pair.hops}}};
    if (pair.cell_hops != 0) circuit.route.push_back({last_, pair.cell_hops});
    all.push_back(std::move(circuit));
  }
  return all;
}

namespace {

/// The dimensions along which messages pass between cells.
struct Grid {
  Grid(const Topology& topology, Dimension last) {
    const auto rows = static_cast<NodeId>(topology.extent(last));
    cells = topology.nodes() / rows;
    for (const Dimension d : linked_dimensions(topology)) {
      if (d < last)
        dimensions.push_back({static_cast<std::size_t>(topology.extent(d)), topology.stride(d) / rows, topology.wiring(d) == Wiring::line});
    }
  }

  struct Along {
    std::size_t extent, stride;
    bool line;

    std::size_t place(std::size_t cell) const { return cell / stride % extent; }
    std::size_t first_of_line(std::size_t cell) const { return cell - place(cell) * stride; }
  };
  std::size_t cells;
  std::vector<Along> dimensions;
};

/// The messages between cells that one step has left.
class Supply {
 public:
  /// `ports_left`: by cell, the ports that it has not used; empty: there are as many as channels.
  Supply(const Grid& grid, std::span<const std::int32_t> senders, double reserve, std::vector<std::int64_t> ports_left)
      : grid_{grid}, ports_left_{std::move(ports_left)} {
    for (const Grid::Along& along : grid.dimensions) {
      Left left{std::vector<std::int64_t>(grid.cells, 0), {}, {}};
      if (along.line) left.up.assign(senders.begin(), senders.end());
      left.down = left.up;
      for (std::size_t cell = 0; cell < grid.cells; ++cell) {
        const std::size_t at = along.place(cell);
        const bool one_way = along.line && (at == 0 || at == along.extent - 1);
        left.on_line[along.first_of_line(cell)] += (one_way ? 1L : 2L) * senders[cell];
      }
      for (std::int64_t& messages : left.on_line) messages -= static_cast<std::int64_t>(static_cast<double>(messages) * reserve);
      left_.push_back(std::move(left));
    }
  }

  std::span<const std::int64_t> ports_left() const noexcept { return ports_left_; }

  /// Takes a message to a cell, along the dimension that has most left; false if there is none.
  bool take(std::size_t cell) {
    std::vector<std::size_t> richest(left_.size());
    std::iota(richest.begin(), richest.end(), std::size_t{0});
    const auto left = [&](std::size_t d) { return left_[d].on_line[grid_.dimensions[d].first_of_line(cell)]; };
    std::stable_sort(richest.begin(), richest.end(), [&](std::size_t a, std::size_t b) { return left(a) > left(b); });
    return std::any_of(richest.begin(), richest.end(), [&](std::size_t d) { return take(cell, d); });
  }

 private:
  struct Left {
    std::vector<std::int64_t> on_line;   // by the line's first cell
    std::vector<std::int32_t> up, down;  // by cell, where the ends of a line tell the directions apart
  };

  bool take(std::size_t cell, std::size_t d) {
    const Grid::Along& along = grid_.dimensions[d];
    std::int64_t& messages = left_[d].on_line[along.first_of_line(cell)];
    if (messages < 1) return false;
    if (!ports_left_.empty() && !along.line) {
      std::size_t richest = along.first_of_line(cell);
      for (std::size_t i = 0, other = richest; i < along.extent; ++i, other += along.stride) {
        if (ports_left_[other] > ports_left_[richest]) richest = other;
      }
      if (ports_left_[richest] == 0) return false;
      --ports_left_[richest];
    }
    if (along.line && !take_from_nearest(cell, d)) return false;
    --messages;
    return true;
  }

  /// On a line: takes the message from the nearest cell that can still send here; false if there is none.
  bool take_from_nearest(std::size_t cell, std::size_t d) {
    const auto [extent, stride, line] = grid_.dimensions[d];
    const std::size_t at = grid_.dimensions[d].place(cell);
    const auto take_from = [&](std::vector<std::int32_t>& left, std::size_t sender) {
      if (left[sender] == 0 || (!ports_left_.empty() && ports_left_[sender] == 0)) return false;
      --left[sender];
      if (!ports_left_.empty()) --ports_left_[sender];
      return true;
    };
    for (std::size_t hops = 1; hops < extent; ++hops) {
      if (hops <= at && take_from(left_[d].up, cell - hops * stride)) return true;
      if (at + hops < extent && take_from(left_[d].down, cell + hops * stride)) return true;
    }
    return false;
  }

  const Grid& grid_;
  std::vector<Left> left_;  // by dimension
  std::vector<std::int64_t> ports_left_;
};

/// The nodes that a broadcast among N has informed after some of its steps if all of them grow alike.
std::int64_t pace(NodeId nodes, std::uint32_t after, std::uint32_t steps) {
  return static_cast<std::int64_t>(std::ceil(std::pow(static_cast<double>(nodes), static_cast<double>(after) / steps) - 1e-9));
}

/// Lets cells grow by the ports that they have left, a node each in turn, until so many nodes are informed.
template <class Grown>
void grow(std::span<const std::int64_t> ports_left, std::span<const std::uint64_t> order, Grown grown, std::int64_t informed,
          std::vector<std::int32_t>& after) {
  std::vector<std::size_t> cells(after.size());
  std::iota(cells.begin(), cells.end(), std::size_t{0});
  std::stable_sort(cells.begin(), cells.end(), [&](std::size_t a, std::size_t b) { return order[a] < order[b]; });
  const std::vector<std::int32_t> first = after;
  informed -= std::accumulate(after.begin(), after.end(), std::int64_t{0});
  const auto grows = [&](std::size_t cell) { return after[cell] < grown(cell) && after[cell] - first[cell] < ports_left[cell]; };
  while (informed > 0 && (std::erase_if(cells, [&](std::size_t cell) { return !grows(cell); }), !cells.empty())) {
    for (const std::size_t cell : cells) {
      if (informed-- > 0) ++after[cell];
    }
  }
}

}  // namespace

std::optional<CellCounts> cell_counts(const Topology& topology, std::int32_t ports, Dimension last, NodeId root, std::uint32_t steps,
                                      double reserve, std::int32_t idle, std::span<const std::uint64_t> order) {
  const Grid grid(topology, last);
  const std::int64_t rows = topology.extent(last), most = 1 + std::min(ports, 2);  // of a node, in its cell
  const bool few = static_cast<std::size_t>(ports) < 2 * (grid.dimensions.size() + 1);
  CellCounts counts(1, std::vector<std::int32_t>(grid.cells, 0));
  const std::size_t root_cell = root / static_cast<std::size_t>(rows);
  counts[0][root_cell] = 1;
  for (std::uint32_t t = 0; t < steps; ++t) {
    std::int64_t later = 1;  // what a node grows to by itself in the steps that follow
    for (std::uint32_t i = t + 1; i < steps; ++i) later = std::min(later * most, rows);
    const std::vector<std::int32_t>& before = counts.back();
    std::vector<std::int32_t> after(grid.cells);
    std::vector<std::int64_t> ports_left;
    const auto grown = [&](std::size_t cell) { return std::min(rows, most * before[cell] - (cell == root_cell ? idle : 0)); };
    for (std::size_t cell = 0; cell < grid.cells; ++cell) {
      const std::int64_t enough = few ? std::max<std::int64_t>(before[cell], ceil_div(rows, later)) : rows;
      after[cell] = static_cast<std::int32_t>(std::min(grown(cell), enough));
      if (few) ports_left.push_back(std::int64_t{ports} * before[cell] - (after[cell] - before[cell]));
    }
    Supply supply(grid, before, reserve, std::move(ports_left));
    const auto promise = [&](std::size_t cell) { return std::min(rows, after[cell] * later); };
    const auto poorer = [&](std::size_t a, std::size_t b) { return std::pair(promise(a), order[a]) > std::pair(promise(b), order[b]); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(poorer)> waiting(poorer);
    for (std::size_t cell = 0; cell < grid.cells; ++cell) {
      if (promise(cell) < rows) waiting.push(cell);
    }
    while (!waiting.empty()) {
      const std::size_t cell = waiting.top();
      waiting.pop();
      if (!supply.take(cell)) continue;  // no informed node can reach it
      ++after[cell];
      if (promise(cell) < rows) waiting.push(cell);
    }
    const std::int64_t informed = reserve > 0 ? pace(topology.nodes(), t + 1, steps) : topology.nodes();
    if (few) grow(supply.ports_left(), order, grown, informed, after);
    counts.push_back(std::move(after));
  }
  for (const std::int32_t count : counts.back()) {
    if (count < rows) return std::nullopt;
  }
  return counts;
}

}  // namespace torus::broadcast
