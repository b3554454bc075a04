// SPDX-License-Identifier: MIT
#include "algorithms/total_exchange/phases.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/total_exchange/equal_phases.hpp"
#include "algorithms/total_exchange/phase_schedule.hpp"
#include "algorithms/total_exchange/requirements.hpp"
#include "runtime/error.hpp"

namespace torus::exchange {
namespace {

/// A permutation of the 64-bit numbers that looks random (Steele, Lea & Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t scattered(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

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

/// The rank of a class in the topology with its dimensions sorted.
NodeId sorted_rank(const Topology& topology, const std::vector<std::size_t>& order, NodeId delta) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  NodeId rank = 0;
  for (const std::size_t i : order) {
    rank = rank * static_cast<NodeId>(topology.extent(dimensions[i])) + static_cast<NodeId>(topology.coordinate(delta, dimensions[i]));
  }
  return rank;
}

bool equal_extents(const Topology& topology) {
  for (const DimensionShape& dimension : topology.shape()) {
    if (dimension.extent != 1 && dimension.extent != largest_extent(topology)) return false;
  }
  return true;
}

std::optional<std::string> refuses(const Machine& machine, const Request&) {
  return first_of(needs_ports("phases", machine, machine.topology.max_ports()), needs_countable_blocks("phases", machine));
}

Plan plan(const Machine& machine, const Request& request) {
  const Topology& topology = machine.topology;
  const std::string formula = "max (N/n_i) T_i";
  if (equal_extents(topology)) {
    return plan_in_phases(machine, request, [&](NodeId delta, std::size_t i) { return closed_form_phase(topology, delta, i); }, formula);
  }
  constexpr std::uint32_t most_attempts = 10000;  // no shape that was tried needed more than 48
  for (std::uint32_t attempt = 0; attempt < most_attempts; ++attempt) {
    const auto table = exchanges_by_rank(topology, attempt);
    const auto exchange_of = [&table](NodeId delta, std::size_t i) { return table[i][delta]; };
    if (!one_dimension_at_a_time(topology, exchange_of)) continue;
    Plan plan = plan_in_phases(machine, request, exchange_of, formula);
    plan.notes.emplace_back("order of classes", std::to_string(attempt));
    return plan;
  }
  throw InputError("shape " + topology.text() + ": phases found no order of the classes in " + std::to_string(most_attempts) +
                   " attempts; --algorithm a2 --ports 1 would do");
}

}  // namespace

std::vector<std::vector<std::uint32_t>> exchanges_by_rank(const Topology& topology, std::uint32_t attempt) {
  const std::vector<Dimension> dimensions = linked_dimensions(topology);
  const std::vector<std::size_t> ascending = ascending_extents(topology);
  const std::vector<std::uint64_t> key = keys(topology, attempt);
  std::vector<NodeId> rank(topology.nodes());
  for (NodeId delta = 0; delta < rank.size(); ++delta) rank[delta] = sorted_rank(topology, ascending, delta);

  std::vector<NodeId> order(topology.nodes());
  std::iota(order.begin(), order.end(), NodeId{0});
  std::sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    if (key[a] != key[b]) return key[a] < key[b];
    return attempt == 1 ? rank[a] > rank[b] : rank[a] < rank[b];
  });

  std::vector<std::vector<std::uint32_t>> table(dimensions.size(), std::vector<std::uint32_t>(topology.nodes()));
  for (std::size_t position = 0; position < ascending.size(); ++position) {
    const std::size_t i = ascending[position];
    const auto extent = static_cast<std::uint32_t>(topology.extent(dimensions[i]));
    const std::uint32_t exchanges = topology.nodes() / extent;
    const auto first = static_cast<std::uint32_t>(position * exchanges / ascending.size());
    std::vector<std::uint32_t> next(extent, first);  // by offset
    for (const NodeId delta : order) {
      table[i][delta] = next[static_cast<std::size_t>(topology.coordinate(delta, dimensions[i]))]++ % exchanges;
    }
  }
  return table;
}

const Algorithm phases{
    .name = "phases",
    .collective = Collective::total_exchange,
    .source = "this project",
    .shapes = "any product of rings, lines and complete graphs",
    .ports = "all",
    .steps = "max (N/n_i) T_i; T_i: ring ceil(floor(n^2/4)/2), line floor(n^2/4), complete 1",
    .native = {.switching = Switching::packet},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::exchange
