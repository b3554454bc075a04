// One search that shares its state throughout, hence one file: what to keep before each step, and what to try when a matching falls short.
#include "algorithms/broadcast/synthesis/ordered_synthesizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "algorithms/broadcast/circuit/schedule.hpp"
#include "algorithms/broadcast/synthesis/search.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::broadcast {
namespace {

constexpr std::array reserves{0.2, 0.1, 0.05, 0.0};
constexpr std::uint64_t lattices = 8, spreads = 16;  // of the latter the rest are random
constexpr int rounds = 8;
constexpr std::uint64_t whole_phase = 1U << 20U;  // the distance between two members

/// Changes that a repair tries. One serves a node more at best, as a rule: what leaves more than this unserved is beyond repair.
std::uint64_t matching_repairs(const Topology& topology) { return std::clamp<std::uint64_t>(1'000'000 / topology.nodes(), 10, 1000); }

/// The shape of the cells: each is one node.
Topology shape_of_cells(const Topology& topology, Dimension last) {
  std::vector<DimensionShape> shape(topology.shape().begin(), topology.shape().end());
  shape[static_cast<std::size_t>(last)].extent = 1;
  return Topology(std::move(shape));
}

}  // namespace

OrderedSynthesizer::OrderedSynthesizer(const Topology& topology, std::int32_t ports, NodeId root)
    : topology_{topology},
      ports_{ports},
      root_{root},
      step_{topology, ports},
      rows_{static_cast<std::size_t>(topology.extent(step_.last()))},
      cells_{shape_of_cells(topology, step_.last())},
      origin_{root} {}

std::uint64_t OrderedSynthesizer::most_looks(const Topology& topology) { return 100'000'000 + 300 * std::uint64_t{topology.nodes()}; }

std::optional<std::vector<std::vector<Circuit>>> OrderedSynthesizer::broadcast_in(std::uint32_t steps) {
  messages_.assign(steps, {});
  if (steps == 0) return topology_.nodes() == 1 ? std::optional{std::move(messages_)} : std::nullopt;
  last_look_ = looks() + most_looks(topology_);
  beyond_repair_ = is_torus(topology_);
  constexpr int all_ways = 2;  // rounds that differ in more than what is drawn
  for (int round = 0; round < rounds && !gives_up() && !(round >= all_ways && beyond_repair_); ++round) {
    for (const double reserve : reserves) {
      const auto found = counts(steps, reserve, idle_at_root(round), round % 2 == 0);
      if (found && place(*found)) {
        move_to_node_0(topology_, origin_, messages_);
        return std::move(messages_);
      }
      if (gives_up()) break;
    }
  }
  return std::nullopt;
}

/// A broadcast along one dimension from the root. A ring is a line that has the root in its middle.
OrderedSynthesizer::LineBroadcast OrderedSynthesizer::along(Dimension d) const {
  const std::int32_t n = topology_.extent(d);
  const std::int32_t at = topology_.wiring(d) == Wiring::ring ? n / 2 : topology_.coordinate(root_, d);
  return {at, line_broadcast(Topology({{n, Wiring::line}}), std::min(ports_, 2), static_cast<NodeId>(at))};
}

std::uint64_t OrderedSynthesizer::line_steps() const {
  std::uint64_t steps = 0;
  for (const Dimension d : linked_dimensions(topology_)) steps += along(d).steps.size();
  return steps;
}

std::vector<std::vector<Circuit>> OrderedSynthesizer::line_by_line() const {
  std::vector<std::vector<Circuit>> steps;
  std::vector<NodeId> informed{root_};
  for (const Dimension d : linked_dimensions(topology_)) {
    const LineBroadcast line = along(d);
    const auto node = [&](NodeId base, NodeId place) {
      return *topology_.neighbour(base, d, static_cast<std::int32_t>(place) - line.root);
    };
    for (const std::vector<Circuit>& circuits : line.steps) {
      steps.emplace_back();
      for (const Circuit& circuit : circuits) {
        const std::int32_t hops = static_cast<std::int32_t>(circuit.to) - static_cast<std::int32_t>(circuit.from);
        for (const NodeId base : informed) steps.back().push_back({node(base, circuit.from), node(base, circuit.to), {{d, hops}}});
      }
    }
    std::vector<NodeId> lines;
    for (const NodeId base : informed) {
      for (std::int32_t place = 0; place < topology_.extent(d); ++place) lines.push_back(node(base, static_cast<NodeId>(place)));
    }
    informed = std::move(lines);
  }
  move_to_node_0(topology_, root_, steps);
  return steps;
}

/// The end of a line has no neighbour on its other side. Within a line this is tried too, since the root may stand near an end.
std::int32_t OrderedSynthesizer::idle_at_root(int round) const {
  if (topology_.wiring(step_.last()) != Wiring::line) return 0;
  const std::size_t row = root_ % rows_;
  return row == 0 || row == rows_ - 1 || round / 2 % 2 == 1 ? 1 : 0;
}

/// The cells that are informed first are spread evenly over the machine, or drawn.
std::optional<CellCounts> OrderedSynthesizer::counts(std::uint32_t steps, double reserve, std::int32_t idle, bool spread_cells) {
  std::vector<std::uint64_t> order(cells_.nodes());
  for (std::uint64_t& value : order) value = random_() >> 1U;
  const auto first = cell_counts(topology_, ports_, step_.last(), root_, steps, reserve, idle, order);
  if (!first || !spread_cells) return first;
  return cell_counts(topology_, ports_, step_.last(), root_, steps, reserve, idle, spread_order(*first));
}

/// The cells informed before a step are chosen evenly among those informed after it, backwards from all: as many as `counts` has.
std::vector<std::uint64_t> OrderedSynthesizer::spread_order(const CellCounts& counts) {
  const auto root = static_cast<NodeId>(root_ / rows_);
  std::vector<NodeId> after(cells_.nodes());
  std::iota(after.begin(), after.end(), NodeId{0});
  std::vector<std::uint64_t> order(cells_.nodes());
  for (std::size_t step = counts.size() - 1; step-- > 0;) {
    const auto count = cells_.nodes() - static_cast<std::size_t>(std::count(counts[step].begin(), counts[step].end(), 0));
    const Coordinates shift = random_shift(cells_, random_);
    const std::vector<NodeId> before =
        with_node(cells_, count < after.size() ? balanced_partition(cells_, after, count, shift) : after, root);
    for (const NodeId cell : after) {
      if (!std::binary_search(before.begin(), before.end(), cell)) order[cell] = (step + 1) << 32U | (random_() >> 33U);
    }
    after = before;
  }
  return order;
}

bool OrderedSynthesizer::place(const CellCounts& counts) {
  Cells after(counts.front().size());
  for (std::vector<std::int32_t>& cell : after) {
    for (std::size_t row = 0; row < rows_; ++row) cell.push_back(static_cast<std::int32_t>(row));
  }
  for (auto step = static_cast<std::uint32_t>(counts.size() - 2); step > 0; --step) {
    if (!choose(step, counts[step], after)) return false;
  }
  return find_origin(after, root_ / rows_);
}

/// Replaces `after` by the nodes informed before the step.
bool OrderedSynthesizer::choose(std::uint32_t step, const std::vector<std::int32_t>& counts, Cells& after) {
  Cells best;
  std::size_t least = ~std::size_t{0};
  const std::uint64_t repairs = matching_repairs(topology_);
  for (std::uint64_t attempt = 0; attempt < (least > repairs && is_torus(topology_) ? lattices : spreads) && least > 0 && !gives_up();
       ++attempt) {
    Cells before = spread(after, counts, phases(attempt));
    const std::size_t left = unserved(before, after);
    if (left >= least) continue;
    least = left;
    best = std::move(before);
    if (left == 0) messages_[step] = step_.messages();
  }
  if (least > repairs) return false;
  if (least > 0) {
    beyond_repair_ = false;
    if (!repair(best, after)) return false;
    messages_[step] = step_.messages();
  }
  after = std::move(best);
  return true;
}

bool OrderedSynthesizer::find_origin(const Cells& after, std::size_t root_cell) {
  for (const std::int32_t row : after[root_cell]) {
    const NodeId origin = static_cast<NodeId>(root_cell * rows_) + static_cast<NodeId>(row);
    if (!is_torus(topology_) && origin != root_) continue;
    Cells before(after.size());
    before[root_cell] = {row};
    if (unserved(before, after) > 0) continue;
    messages_[0] = step_.messages();
    origin_ = origin;
    return true;
  }
  return false;
}

/// By cell, where in the distance between two members the first one stands, in parts of whole_phase.
std::vector<std::uint64_t> OrderedSynthesizer::phases(std::uint64_t attempt) {
  const std::size_t cells = topology_.nodes() / rows_;
  std::vector<std::uint64_t> all(cells);
  if (attempt >= lattices) {
    for (std::uint64_t& phase : all) phase = below(whole_phase);
    return all;
  }
  // The perfect code of a torus, x + 2y mod 5 or x + 2y + 3z mod 7, bent to the extents; then that of the golden ratio.
  const int code = 2 * static_cast<int>(linked_dimensions(topology_).size()) + 1;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    double sum = 0;
    int j = 1 + static_cast<int>(attempt % 4);
    for (Dimension d = step_.last() - 1; d >= 0; --d) {
      const int n = topology_.extent(d);
      if (n == 1) continue;
      ++j;
      const double turns = static_cast<double>(n * (j % code == 0 ? 1 : j % code)) / code;
      const double whole = topology_.wiring(d) == Wiring::line ? turns : attempt < 4 ? std::floor(turns + 0.5) : std::ceil(turns);
      sum += whole / n * topology_.coordinate(static_cast<NodeId>(cell * rows_), d);
    }
    all[cell] = static_cast<std::uint64_t>(sum * whole_phase) % whole_phase;
  }
  return all;
}

OrderedSynthesizer::Cells OrderedSynthesizer::spread(const Cells& after, const std::vector<std::int32_t>& counts,
                                                     const std::vector<std::uint64_t>& phases) const {
  const auto evenly = [](std::span<const std::int32_t> rows, std::size_t count, std::uint64_t phase, std::vector<std::int32_t>& chosen) {
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(rows[(i * whole_phase + phase) * rows.size() / (count * whole_phase)]);
  };
  Cells before(after.size());
  for (std::size_t cell = 0; cell < after.size(); ++cell) {
    const std::vector<std::int32_t>& rows = after[cell];
    const auto count = static_cast<std::size_t>(counts[cell]);
    if (is_torus(topology_) || cell != root_ / rows_) {
      evenly(rows, count, phases[cell], before[cell]);
      continue;
    }
    // The root is one of them, and has its share on both sides.
    const auto root =
        static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), static_cast<std::int32_t>(root_ % rows_)) - rows.begin());
    const std::size_t above = rows.size() - 1 - root, others = count - 1;
    std::size_t below = rows.size() == 1 ? 0 : (2 * others * root + rows.size() - 1) / (2 * (rows.size() - 1));
    if (others > 1) below = std::clamp(below, std::min<std::size_t>(root, 1), others - std::min<std::size_t>(above, 1));
    below = std::clamp(below, others - std::min(others, above), std::min(others, root));
    const std::span<const std::int32_t> all(rows);
    evenly(all.first(root), below, phases[cell], before[cell]);
    before[cell].push_back(rows[root]);
    evenly(all.subspan(root + 1), others - below, phases[cell], before[cell]);
  }
  return before;
}

std::vector<NodeId> OrderedSynthesizer::nodes(const Cells& cells) const {
  std::vector<NodeId> all;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (const std::int32_t row : cells[cell]) all.push_back(static_cast<NodeId>(cell * rows_) + static_cast<NodeId>(row));
  }
  return all;
}

std::size_t OrderedSynthesizer::unserved(const Cells& before, const Cells& after) {
  const std::vector<NodeId> senders = nodes(before), informed = nodes(after);
  std::vector<NodeId> targets;
  std::set_difference(informed.begin(), informed.end(), senders.begin(), senders.end(), std::back_inserter(targets));
  ++matchings_;
  return targets.size() - step_.solve(senders, targets);
}

/// Simulated annealing on the number of unserved nodes: near one of them, a member moves within its cell.
bool OrderedSynthesizer::repair(Cells& before, const Cells& after) {
  std::size_t left = unserved(before, after);
  std::vector<NodeId> missing = step_.unserved();
  for (std::uint64_t i = 0; i < matching_repairs(topology_) && !gives_up(); ++i) {
    Cells changed = before;
    if (!move_member(changed, after, missing[below(missing.size())])) continue;
    const std::size_t now = unserved(changed, after);
    if (!anneal(left, now, random_)) continue;
    before = std::move(changed);
    left = now;
    if (left == 0) return true;
    missing = step_.unserved();
  }
  return false;
}

/// Moves the member of a cell at or beside an unserved node to another place of that cell, near the node.
bool OrderedSynthesizer::move_member(Cells& before, const Cells& after, NodeId unserved) {
  NodeId at = unserved;
  const auto d = static_cast<Dimension>(below(static_cast<std::uint64_t>(step_.last()) + 1));
  if (d < step_.last() && topology_.extent(d) > 1) {
    const auto hops = static_cast<std::int32_t>(1 + below(2));
    at = topology_.neighbour(at, d, below(2) == 0 ? hops : -hops).value_or(at);
  }
  std::vector<std::int32_t>& rows = before[at / rows_];
  if (rows.empty()) return false;
  const auto row = static_cast<std::int32_t>(at % rows_);
  // One of the two members around the row.
  const auto above = static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
  const std::size_t member = (above + rows.size() - below(2)) % rows.size();
  if (!is_torus(topology_) && at / rows_ == root_ / rows_ && rows[member] == static_cast<std::int32_t>(root_ % rows_)) return false;
  // To the row itself or by one or two places among those informed after the step.
  const std::vector<std::int32_t>& places = after[at / rows_];
  const auto here = static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), rows[member]) - places.begin());
  const std::size_t by = 1 + below(2);
  std::int32_t to = places[(here + (below(2) == 0 ? by : places.size() * 2 - by)) % places.size()];
  if (below(3) == 0 && std::binary_search(places.begin(), places.end(), row)) to = row;
  if (std::binary_search(rows.begin(), rows.end(), to)) return false;
  rows[member] = to;
  std::sort(rows.begin(), rows.end());
  return true;
}

}  // namespace torus::broadcast
