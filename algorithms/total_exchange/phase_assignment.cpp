#include "algorithms/total_exchange/phase_assignment.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "algorithms/common/shapes.hpp"
#include "algorithms/total_exchange/phases.hpp"
#include "runtime/base/words.hpp"

namespace torus::total_exchange {
namespace {

constexpr std::uint32_t unmatched = 0xffffffffU;

/// Looks for a path from a free x to a free partner, breadth first, along which to change partners.
class Augmenter {
 public:
  Augmenter(const std::vector<std::uint32_t>& preferred, const std::function<bool(std::uint32_t, std::uint32_t)>& allowed)
      : preferred_{preferred}, allowed_{allowed}, partner_(preferred.size(), unmatched), of_partner_(preferred.size(), unmatched) {}

  bool match(std::uint32_t free) {
    const auto n = static_cast<std::uint32_t>(preferred_.size());
    std::vector<std::uint32_t> reached_from(n, unmatched);  // partner -> the x that reached it
    std::vector<std::uint32_t> queue{free};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::uint32_t x = queue[head];
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t y = preferred_[x] + i < n ? preferred_[x] + i : preferred_[x] + i - n;
        if (reached_from[y] != unmatched || !allowed_(x, y)) continue;
        reached_from[y] = x;
        if (of_partner_[y] == unmatched) {
          change(free, y, reached_from);
          return true;
        }
        queue.push_back(of_partner_[y]);
      }
    }
    return false;
  }

  const std::vector<std::uint32_t>& partners() const noexcept { return partner_; }

 private:
  void change(std::uint32_t free, std::uint32_t y, const std::vector<std::uint32_t>& reached_from) {
    while (true) {
      const std::uint32_t x = reached_from[y];
      const std::uint32_t left = partner_[x];
      partner_[x] = y;
      of_partner_[y] = x;
      if (x == free) return;
      y = left;
    }
  }

  const std::vector<std::uint32_t>& preferred_;
  const std::function<bool(std::uint32_t, std::uint32_t)>& allowed_;
  std::vector<std::uint32_t> partner_;     // of x
  std::vector<std::uint32_t> of_partner_;  // x of a partner
};

}  // namespace

std::optional<std::vector<std::uint32_t>> perfect_matching(const std::vector<std::uint32_t>& preferred,
                                                           const std::function<bool(std::uint32_t, std::uint32_t)>& allowed) {
  Augmenter augmenter(preferred, allowed);
  for (std::uint32_t x = 0; x < preferred.size(); ++x) {
    if (!augmenter.match(x)) return std::nullopt;
  }
  return augmenter.partners();
}

namespace {

/// `dimensions` dimensions of extent n, the class a number in the base n.
std::uint32_t halving_phase_of(std::uint32_t n, std::size_t dimensions, std::uint32_t delta, std::size_t i) {
  if (dimensions == 1) return 0;
  const std::size_t half = dimensions / 2;
  std::uint32_t m = 1;
  for (std::size_t j = 0; j < half; ++j) m *= n;
  const std::uint32_t f = delta / m;
  const std::uint32_t e = delta % m;
  const std::uint32_t carried = f == 0 ? m - 1 : (f + m - 1 - e) % (m - 1);  // round by the second half, counted from 0
  if (i >= half) return carried * (m / n) + halving_phase_of(n, half, e, i - half);
  const std::uint32_t round = e == 0 ? 0 : carried + 1;
  return round * (m / n) + halving_phase_of(n, half, f, i);
}

constexpr std::uint64_t scattered(std::uint64_t x) noexcept { return detail::mixed(x + detail::mixed_step); }

/// What to order the classes by; the same for two classes: a tie.
std::vector<std::uint64_t> keys(const Topology& topology, std::uint32_t attempt) {
  std::vector<std::uint64_t> key(topology.nodes());
  if (attempt >= 2) {
    for (NodeId delta = 0; delta < key.size(); ++delta) key[delta] = scattered((std::uint64_t{attempt - 2} << 32U) + delta);
    return key;
  }
  std::uint64_t unit = 1;
  for (const DimensionShape& dimension : topology.shape()) unit = std::lcm(unit, static_cast<std::uint64_t>(dimension.extent));
  for (NodeId delta = 0; delta < key.size(); ++delta) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      key[delta] += static_cast<std::uint64_t>(topology.coordinate(delta, d)) * (unit / static_cast<std::uint64_t>(topology.extent(d)));
    }
    key[delta] %= unit;
  }
  return key;
}

/// The dimensions with links, as positions in linked_dimensions(), extents ascending.
std::vector<std::size_t> ascending_extents(const Topology& topology) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  std::vector<std::size_t> order(dimensions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return topology.extent(dimensions[a]) < topology.extent(dimensions[b]); });
  return order;
}

/// The classes in the order of the attempt.
std::vector<NodeId> order_of_classes(const Topology& topology, std::uint32_t attempt) {
  const std::vector<std::uint64_t> key = keys(topology, attempt);
  std::vector<std::uint64_t> tie(topology.nodes());  // the rank if the dimensions were sorted
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  for (const std::size_t i : ascending_extents(topology)) {
    const Dimension d = dimensions[i];
    for (NodeId delta = 0; delta < tie.size(); ++delta) {
      tie[delta] = tie[delta] * static_cast<std::uint64_t>(topology.extent(d)) + static_cast<std::uint64_t>(topology.coordinate(delta, d));
    }
  }
  std::vector<NodeId> order(topology.nodes());
  std::iota(order.begin(), order.end(), NodeId{0});
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return std::pair(key[a], tie[a]) < std::pair(key[b], tie[b]); });
  return order;
}

/// The classes of each offset, numbered.
ExchangeAssignment assign_by_rank(const Topology& topology, std::uint32_t attempt) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  const std::vector<std::size_t> ascending = ascending_extents(topology);
  const std::vector<NodeId> order = order_of_classes(topology, attempt);
  ExchangeAssignment assignment(dimensions.size(), std::vector<std::uint32_t>(topology.nodes()));
  for (std::size_t position = 0; position < ascending.size(); ++position) {
    const std::size_t i = ascending[position];
    const auto extent = static_cast<std::uint32_t>(topology.extent(dimensions[i]));
    const std::uint32_t exchanges = topology.nodes() / extent;
    const auto first = static_cast<std::uint32_t>(position * exchanges / ascending.size());
    std::vector<std::uint32_t> next(extent, first);  // by offset
    for (const NodeId delta : order) {
      assignment[i][delta] = next[static_cast<std::size_t>(topology.coordinate(delta, dimensions[i]))]++ % exchanges;
    }
  }
  return assignment;
}

/// Changes an assignment so that no class is in two dimensions at once. False if it got stuck.
bool match_dimension_by_dimension(const Topology& topology, ExchangeAssignment& assignment) {
  struct Interval {
    std::uint64_t from, to;
  };
  std::vector<std::vector<Interval>> busy(topology.nodes());  // by class
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  std::vector<Exchanges> exchanges;
  for (const Dimension d : dimensions) exchanges.emplace_back(topology, d);
  std::vector<std::size_t> longest_first(dimensions.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::size_t a, std::size_t b) { return exchanges[a].duration > exchanges[b].duration; });

  for (const std::size_t i : longest_first) {
    std::vector<std::vector<NodeId>> classes(static_cast<std::size_t>(topology.extent(dimensions[i])));  // by offset
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      classes[static_cast<std::size_t>(topology.coordinate(delta, dimensions[i]))].push_back(delta);
    }
    for (std::size_t offset = 1; offset < classes.size(); ++offset) {
      const std::vector<NodeId>& alike = classes[offset];
      std::vector<std::uint32_t> preferred;
      for (const NodeId delta : alike) preferred.push_back(assignment[i][delta]);
      const auto free = [&](std::uint32_t c, std::uint32_t f) {
        const std::uint64_t from = exchanges[i].start(f);
        const std::uint64_t to = from + exchanges[i].duration;
        const std::vector<Interval>& intervals = busy[alike[c]];
        return std::all_of(intervals.begin(), intervals.end(), [&](const Interval& b) { return b.to <= from || to <= b.from; });
      };
      const auto matching = perfect_matching(preferred, free);
      if (!matching) return false;
      for (std::size_t c = 0; c < alike.size(); ++c) {
        const std::uint32_t f = (*matching)[c];
        assignment[i][alike[c]] = f;
        busy[alike[c]].push_back({exchanges[i].start(f), exchanges[i].start(f) + exchanges[i].duration});
      }
    }
  }
  return true;
}

}  // namespace

std::uint32_t halving_phase(const Topology& topology, NodeId delta, std::size_t i) {
  // Dimensions of extent 1 add nothing to a rank: delta is a number in the base n.
  return halving_phase_of(static_cast<std::uint32_t>(largest_extent(topology)), linked_dimensions(topology).size(), delta, i);
}

std::uint32_t closed_form_phase(const Topology& topology, NodeId delta, std::size_t i) {
  std::vector<std::int32_t> p;
  for (const Dimension d : linked_dimensions(topology)) p.push_back(topology.coordinate(delta, d));
  const std::int32_t along_first = p[0];
  const std::int32_t along = p[i];
  if (i >= 1) p[i] += along_first;
  if (i >= 2) p[i - 1] += along;
  const std::int32_t n = largest_extent(topology);
  std::uint32_t phase = 0;
  for (std::size_t j = 1; j < p.size(); ++j) phase = phase * static_cast<std::uint32_t>(n) + static_cast<std::uint32_t>(p[j] % n);
  return phase;
}

std::optional<ExchangeAssignment> assign_exchanges(const Topology& topology, std::uint32_t attempt) {
  ExchangeAssignment assignment = assign_by_rank(topology, attempt);
  if (attempt > 0 && !match_dimension_by_dimension(topology, assignment)) return std::nullopt;
  return assignment;
}

std::optional<ExchangeAssignment> assign_exchanges_legally(const Topology& topology, std::uint32_t most_attempts) {
  for (std::uint32_t attempt = 0; attempt < most_attempts; ++attempt) {
    std::optional<ExchangeAssignment> assignment = assign_exchanges(topology, attempt);
    if (!assignment) continue;
    const auto exchange_of = [&assignment](NodeId delta, std::size_t i) { return (*assignment)[i][delta]; };
    if (one_dimension_at_a_time(topology, exchange_of)) return assignment;
  }
  return std::nullopt;
}

}  // namespace torus::total_exchange
