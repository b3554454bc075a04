/// The total exchanges of one block a message: complete, legal and in as many steps as the papers' formulas say, which are written out here
/// once more, from the shapes alone.
#include "tests/support/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

std::uint64_t nodes_of(const DimensionShape& dimension) { return static_cast<std::uint64_t>(dimension.extent); }

/// One exchange along one dimension.
std::uint64_t one_port(const DimensionShape& dimension) {
  const std::uint64_t n = nodes_of(dimension);
  if (dimension.wiring == Wiring::complete) return n - 1;
  return dimension.wiring == Wiring::ring ? n * n / 4 : (n * n - 1) / 2;
}
std::uint64_t all_port(const DimensionShape& dimension) {
  const std::uint64_t n = nodes_of(dimension);
  if (dimension.wiring == Wiring::complete) return std::min<std::uint64_t>(n - 1, 1);
  return dimension.wiring == Wiring::ring ? (n * n / 4 + 1) / 2 : n * n / 4;
}

std::uint64_t a2_steps(const Topology& topology) {
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) steps += topology.nodes() / nodes_of(dimension) * one_port(dimension);
  return steps;
}
std::uint64_t phases_steps(const Topology& topology) {
  std::uint64_t steps = 0;
  for (const DimensionShape& dimension : topology.shape()) {
    steps = std::max(steps, topology.nodes() / nodes_of(dimension) * all_port(dimension));
  }
  return steps;
}
std::uint64_t power(std::uint64_t base, std::uint64_t exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }
/// n^(k-1) T_1, of the dimensions that are any.
std::uint64_t a3_steps(const Topology& topology) {
  std::uint64_t k = 0;
  DimensionShape like{1, Wiring::ring};
  for (const DimensionShape& dimension : topology.shape()) {
    if (dimension.extent == 1) continue;
    like = dimension;
    ++k;
  }
  return k == 0 ? 0 : power(nodes_of(like), k - 1) * all_port(like);
}
/// What the middle cuts and the farthest nodes demand of any machine with all ports, in steps.
std::uint64_t lower_bound(const Topology& topology) {
  std::uint64_t steps = static_cast<std::uint64_t>(topology.diameter());
  for (const DimensionShape& dimension : topology.shape()) {
    const std::uint64_t n = nodes_of(dimension);
    const std::uint64_t near = n / 2 * (topology.nodes() / n);
    const std::uint64_t far = topology.nodes() - near;
    const std::uint64_t links_of_line = dimension.wiring == Wiring::complete ? (n / 2) * (n - n / 2)
                                        : dimension.wiring == Wiring::ring   ? 2
                                                                             : 1;
    const std::uint64_t links = links_of_line * (topology.nodes() / n);
    if (n > 1) steps = std::max(steps, (near * far + links - 1) / links);
  }
  return steps;
}

std::uint64_t sum_of_distances(const Topology& topology) {
  std::uint64_t sum = 0;
  for (NodeId a = 0; a < topology.nodes(); ++a) {
    for (NodeId b = 0; b < topology.nodes(); ++b) sum += static_cast<std::uint64_t>(topology.distance(a, b));
  }
  return sum;
}

void check_steps(const Topology& topology, std::string_view name, std::uint64_t steps) {
  const std::string shape = topology.text();
  CAPTURE(name, shape);
  const RunResult result = exchange_on(topology, name);
  CHECK(result.steps == steps);
  CHECK(result.busy_steps == steps);
  CHECK(result.messages == result.blocks_delivered);
  CHECK(result.messages == result.hops);
  CHECK(result.hops == sum_of_distances(topology));  // every block goes a shortest way
}

bool applies(std::string_view name, const Topology& topology) {
  const Algorithm& algorithm = exchange_named(name);
  return !refuses(algorithm, native_machine(algorithm, topology), exchange_of(1));
}

/// Every algorithm that applies.
void check_all(const Topology& topology) {
  check_steps(topology, "a2", a2_steps(topology));
  check_steps(topology, "phases", phases_steps(topology));
  if (applies("a3", topology)) check_steps(topology, "a3", a3_steps(topology));
  if (applies("open-shop", topology)) check_steps(topology, "open-shop", lower_bound(topology));
}

/// Calls f with all lists of k numbers in least..most.
template <class F>
void for_all_lists(std::size_t k, std::int32_t least, std::int32_t most, F f) {
  std::vector<std::int32_t> list(k, least);
  for (std::size_t i = 0; i < k;) {
    f(list);
    for (i = 0; i < k && list[i] == most; ++i) list[i] = least;
    if (i < k) ++list[i];
  }
}

Topology shape_of(const std::vector<std::int32_t>& extents, const std::vector<std::int32_t>& wirings) {
  std::vector<DimensionShape> shape;
  for (std::size_t i = 0; i < extents.size(); ++i) shape.push_back({extents[i], static_cast<Wiring>(wirings[i])});
  return Topology(shape);
}

/// All shapes of k extents in least..most, every mixture of wirings.
void check_shapes(std::size_t k, std::int32_t least, std::int32_t most) {
  support::Share share(4, 3);
  for_all_lists(k, least, most, [&](const std::vector<std::int32_t>& extents) {
    if (!share.takes_turn()) return;
    for_all_lists(k, 0, 2, [&](const std::vector<std::int32_t>& wirings) { check_all(shape_of(extents, wirings)); });
  });
}

}  // namespace

TEST_CASE("one dimension is exchanged in the fewest steps, whatever its wiring and its extent", "[conformance]") {
  for (std::int32_t n = 1; n <= 24; ++n) {
    for (const Wiring wiring : {Wiring::ring, Wiring::line, Wiring::complete}) check_all(Topology({{n, wiring}}));
  }
}

TEST_CASE("two dimensions of extents 1 to 8 and any wiring are exchanged as the formulas say", "[conformance]") { check_shapes(2, 1, 8); }

TEST_CASE("three dimensions of extents 1 to 5 and any wiring are exchanged as the formulas say", "[conformance]") { check_shapes(3, 1, 5); }

TEST_CASE("four dimensions of extents 2 and 3 and any wiring are exchanged as the formulas say", "[conformance]") { check_shapes(4, 2, 3); }

TEST_CASE("cubes of up to seven dimensions are exchanged as the formulas say", "[conformance]") {
  for (int k = 1; k <= 7; ++k) {
    check_all(Topology::parse("2^" + std::to_string(k)));
    check_all(Topology::parse("hypercube:" + std::to_string(k)));
  }
  check_all(Topology::parse("3^5"));
}

TEST_CASE("extents that are awkward for one of the constructions are exchanged as the formulas say", "[conformance]") {
  // Ties that do not divide by class (10x7x3, 14x3), rings whose exchange rounds up (6x6, 10x10), orders that need a second try (2x2x5,
  // 2x3x2x5).
  for (const char* shape :
       {"10x7x3", "14x3", "6x6", "10x10", "2x2x5", "2x3x2x5", "12x12", "9x7", "2x11", "18x5", "mesh:10x3", "7x7m", "16x16"}) {
    check_all(Topology::parse(shape));
  }
}
