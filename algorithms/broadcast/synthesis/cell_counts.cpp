#include "algorithms/broadcast/synthesis/cell_counts.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "algorithms/common/linked_dimensions.hpp"

namespace torus::broadcast {
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
  Supply(const Grid& grid, std::span<const std::int32_t> senders, double reserve) : grid_{grid} {
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
    if (along.line) {
      std::int32_t* sender = nearest_sender(cell, d);
      if (sender == nullptr) return false;
      --*sender;
    }
    --messages;
    return true;
  }

  /// On a line: what the nearest cell that can still send here has left.
  std::int32_t* nearest_sender(std::size_t cell, std::size_t d) {
    const auto [extent, stride, line] = grid_.dimensions[d];
    const std::size_t at = grid_.dimensions[d].place(cell);
    for (std::size_t hops = 1; hops < extent; ++hops) {
      if (hops <= at && left_[d].up[cell - hops * stride] > 0) return &left_[d].up[cell - hops * stride];
      if (at + hops < extent && left_[d].down[cell + hops * stride] > 0) return &left_[d].down[cell + hops * stride];
    }
    return nullptr;
  }

  const Grid& grid_;
  std::vector<Left> left_;  // by dimension
};

}  // namespace

std::optional<CellCounts> cell_counts(const Topology& topology, Dimension last, NodeId root, std::uint32_t steps, double reserve,
                                      std::int32_t idle, std::span<const std::uint64_t> order) {
  const Grid grid(topology, last);
  const std::int64_t rows = topology.extent(last);
  CellCounts counts(1, std::vector<std::int32_t>(grid.cells, 0));
  const std::size_t root_cell = root / static_cast<std::size_t>(rows);
  counts[0][root_cell] = 1;
  for (std::uint32_t t = 0; t < steps; ++t) {
    std::int64_t later = 1;  // what a node grows to by itself in the steps that follow
    for (std::uint32_t i = t + 1; i < steps; ++i) later = std::min(later * 3, rows);
    const std::vector<std::int32_t>& before = counts.back();
    std::vector<std::int32_t> after(grid.cells);
    Supply supply(grid, before, reserve);
    for (std::size_t cell = 0; cell < grid.cells; ++cell)
      after[cell] = static_cast<std::int32_t>(std::min(rows, 3 * std::int64_t{before[cell]} - (cell == root_cell ? idle : 0)));
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
    counts.push_back(std::move(after));
  }
  for (const std::int32_t count : counts.back()) {
    if (count < rows) return std::nullopt;
  }
  return counts;
}

}  // namespace torus::broadcast
