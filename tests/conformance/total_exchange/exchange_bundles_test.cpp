/// The total exchanges that combine messages: complete, legal, and in start-ups and bytes what their formulas say. The formulas are written
/// out here once more, from the shapes alone.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "tests/support/exchange.hpp"

using namespace torus;
using namespace torus::support;

namespace {

struct Measured {
  std::uint64_t start_ups = 0;
  std::uint64_t units = 0;  ///< blocks on the busiest channel, summed over the steps
};

/// Runs the algorithm on the machine that it was made for.
Measured measured_on(const Topology& topology, std::string_view name) {
  const RunResult result = exchange_on(topology, name, 1);
  return {result.steps, result.channel_bytes_sum};
}

Topology torus_of(const std::vector<std::int32_t>& sides) {
  std::vector<DimensionShape> shape;
  for (const std::int32_t n : sides) shape.push_back({n, Wiring::ring});
  return Topology(shape);
}

/// All tori of k sides in least..most, appended.
void append_tori(std::vector<Topology>& tori, std::size_t k, std::int32_t least, std::int32_t most) {
  std::vector<std::int32_t> sides(k, least);
  for (std::size_t i = 0; i < k;) {
    tori.push_back(torus_of(sides));
    for (i = 0; i < k && sides[i] == most; ++i) sides[i] = least;
    if (i < k) ++sides[i];
  }
}

std::vector<Topology> tori() {
  std::vector<Topology> tori;
  append_tori(tori, 1, 1, 17);
  append_tori(tori, 2, 1, 8);
  append_tori(tori, 3, 1, 6);
  append_tori(tori, 4, 2, 3);
  for (const char* larger : {"2^5", "2^6", "2^7", "3^5", "8x12", "12x12", "16x16"}) tori.push_back(Topology::parse(larger));
  return tori;
}

/// sum over the dimensions of f(n, N/n).
template <class F>
std::uint64_t sum_over_sides(const Topology& topology, F f) {
  std::uint64_t sum = 0;
  for (const DimensionShape& dimension : topology.shape()) {
    const auto n = static_cast<std::uint64_t>(dimension.extent);
    sum += f(n, topology.nodes() / n);
  }
  return sum;
}

std::uint64_t status(const Topology& topology) {
  return sum_over_sides(topology, [](std::uint64_t n, std::uint64_t lines) { return lines * (n * n / 4); });
}

/// What the middle cuts demand of the busiest channel.
std::uint64_t bisection_bound(const Topology& topology) {
  std::uint64_t most = 0;
  sum_over_sides(topology, [&](std::uint64_t n, std::uint64_t lines) {
    most = std::max(most, (lines * (n * n / 4) + 1) / 2);
    return std::uint64_t{0};
  });
  return most;
}

std::uint64_t dimensions_with_links(const Topology& topology) {
  return sum_over_sides(topology, [](std::uint64_t n, std::uint64_t) { return std::uint64_t{n > 1}; });
}

std::uint64_t largest_side(const Topology& topology) {
  std::uint64_t largest = 1;
  for (const DimensionShape& dimension : topology.shape()) largest = std::max(largest, static_cast<std::uint64_t>(dimension.extent));
  return largest;
}

std::uint64_t bit_length(std::uint64_t value) { return static_cast<std::uint64_t>(std::bit_width(value)); }

using Figures = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

}  // namespace

TEST_CASE("the dimension-wise exchange takes sum (n_i - 1) steps and moves the status of a node over its busiest channels",
          "[conformance]") {
  for (const Topology& topology : tori()) {
    const Measured measured = measured_on(topology, "dimension-wise");
    CHECK(measured.start_ups == sum_over_sides(topology, [](std::uint64_t n, std::uint64_t) { return n - 1; }));
    CHECK(measured.units == status(topology));
  }
}

TEST_CASE("the sequential exchange takes as many steps as the diameter and moves half the status", "[conformance]") {
  for (const Topology& topology : tori()) {
    const Measured measured = measured_on(topology, "sequential");
    CHECK(measured.start_ups == static_cast<std::uint64_t>(topology.diameter()));
    // Ties: half of the classes of a line each way, rounded up, all n/2 hops long.
    CHECK(measured.units == sum_over_sides(topology, [](std::uint64_t n, std::uint64_t lines) {
            const std::uint64_t h = n / 2;
            return n % 2 == 1 ? lines * (h * (h + 1) / 2) : lines * (h * (h - 1) / 2) + h * ((lines + 1) / 2);
          }));
    const bool ties_split = sum_over_sides(topology, [](std::uint64_t n, std::uint64_t lines) { return n % 2 == 0 ? lines % 2 : 0; }) == 0;
    if (ties_split) CHECK(2 * measured.units == status(topology));
  }
}

TEST_CASE("the rotating exchange takes k max floor(n_i/2) steps and meets the bound in bytes where it says so", "[conformance]") {
  const Figures known{{"3x3", {2, 4}},     {"5x5", {4, 16}},     {"6x6", {6, 30}}, {"7x7", {6, 44}},  {"15x15", {14, 424}},
                      {"7x7x7", {9, 297}}, {"8x8x8", {12, 519}}, {"4", {2, 3}},    {"8x8", {8, 64}},  {"16x16", {16, 512}},
                      {"6x6x6", {9, 162}}, {"4x4x4", {6, 36}},   {"5x7", {6, 32}}, {"3x4x5", {6, 36}}};
  std::vector<Topology> all = tori();
  for (const char* larger : {"15x15", "7x7x7", "8x8x8"}) all.push_back(Topology::parse(larger));
  std::size_t known_seen = 0;
  for (const Topology& topology : all) {
    const std::uint64_t k = dimensions_with_links(topology);
    const Measured measured = measured_on(topology, "rotating");
    const std::string shape = topology.text();
    CAPTURE(shape, measured.units, bisection_bound(topology));
    CHECK(measured.start_ups == k * (largest_side(topology) / 2));
    CHECK(measured.units >= bisection_bound(topology));
    const bool divides = k > 0 && sum_over_sides(topology, [k](std::uint64_t n, std::uint64_t lines) {
                                    return std::uint64_t{n > 1 && (n % k != 0 || (n % 2 == 0 && lines % (2 * k) != 0))};
                                  }) == 0;
    if (divides) CHECK(measured.units == bisection_bound(topology));
    if (const auto found = known.find(shape); found != known.end()) {
      ++known_seen;
      CHECK(measured.start_ups == found->second.first);
      CHECK(measured.units == found->second.second);
    }
  }
  CHECK(known_seen == known.size());
}

TEST_CASE("the logarithmic exchange moves no more bytes than hop by hop", "[conformance]") {
  for (const Topology& topology : tori()) {
    const Measured measured = measured_on(topology, "log");
    CHECK(measured.start_ups ==
          sum_over_sides(topology, [](std::uint64_t n, std::uint64_t) { return bit_length(n / 2) + bit_length((n - 1) / 2); }));
    CHECK(measured.units == status(topology));
  }
}

TEST_CASE("the rotating exchange in logarithmic steps", "[conformance]") {
  const Figures known{{"16x16", {8, 512}}};
  std::size_t known_seen = 0;
  for (const Topology& topology : tori()) {
    const Measured measured = measured_on(topology, "log-rotating");
    const std::string shape = topology.text();
    CAPTURE(shape);
    CHECK(measured.start_ups == dimensions_with_links(topology) * bit_length(largest_side(topology) / 2));
    CHECK(measured.units >= bisection_bound(topology));
    if (const auto found = known.find(shape); found != known.end()) {
      ++known_seen;
      CHECK(measured.start_ups == found->second.first);
      CHECK(measured.units == found->second.second);
    }
  }
  CHECK(known_seen == known.size());
}

TEST_CASE("the rotating exchange in base 3 takes ceil(log_3 n) steps a dimension, and few more bytes", "[conformance]") {
  for (const Topology& topology : tori()) {
    const Measured measured = measured_on(topology, "ternary-rotating");
    const std::string shape = topology.text();
    CAPTURE(shape);
    CHECK(measured.start_ups == dimensions_with_links(topology) * ceil_log(3, largest_side(topology)));
    CHECK(measured.units >= bisection_bound(topology));
  }
  for (const auto& [n, most] : std::vector<std::pair<int, double>>{
           {2, 1}, {4, 1.34}, {7, 1}, {8, 1.5}, {9, 1.2}, {16, 1.25}, {27, 1.3}, {32, 1.14}, {64, 1.21}, {81, 1.32}, {128, 1.18}}) {
    CAPTURE(n);
    const Measured measured = measured_on(Topology::parse(std::to_string(n)), "ternary-rotating");
    CHECK(static_cast<double>(measured.units) <= most * std::ceil(n * n / 4 / 2.0) + 1);
  }
}

TEST_CASE("the exchange in bundles takes the diameter on every mix of rings, lines and complete dimensions", "[conformance]") {
  for (const char* shape : {"1",   "2",        "2m",    "7",    "8",        "9m",     "6c",      "1x5",        "2x2",   "2x3m", "4x6",
                            "5x7", "mesh:4x5", "3cx4c", "6x6c", "mesh:8x8", "2x1x6m", "3x4mx5c", "mesh:3x4x5", "4x4x4", "2^6"}) {
    const Topology topology = Topology::parse(shape);
    CAPTURE(shape);
    CHECK(measured_on(topology, "bundles").start_ups == static_cast<std::uint64_t>(topology.diameter()));
  }
  // In step t the fullest channel of a line is the one t hops from its end, with a block for each place behind it.
  CHECK(measured_on(Topology::parse("9m"), "bundles").units == 8 * 9 / 2);
}

TEST_CASE("the exchange in bundles says a limit of its bytes where it has not walked all blocks", "[conformance]") {
  const Machine machine(Topology::parse("mesh:17x256"), all_ports, Switching::packet);
  const Request request = exchange_of(8);
  const Plan plan = make_plan(exchange_named("bundles"), machine, request);
  CHECK_FALSE(plan.bytes_exact);
  CHECK(plan.steps == 16 + 255);
  CHECK(plan.channel_bytes >= lower_bounds(machine, request).channel_bytes);
}

TEST_CASE("the exchange of Bruck et al. takes sum ceil(log2 n_i) steps and N (n_i - 1)/2 blocks a dimension for powers of two",
          "[conformance]") {
  for (const Topology& topology : tori()) {
    const std::string shape = topology.text();
    CAPTURE(shape);
    const Measured measured = measured_on(topology, "bruck");
    CHECK(measured.start_ups == sum_over_sides(topology, [](std::uint64_t n, std::uint64_t) { return bit_length(n - 1); }));
    const std::uint64_t if_powers_of_two =
        sum_over_sides(topology, [](std::uint64_t n, std::uint64_t lines) { return lines * n * (n - 1) / 2; });
    const bool powers_of_two =
        sum_over_sides(topology, [](std::uint64_t n, std::uint64_t) { return std::uint64_t{!std::has_single_bit(n)}; }) == 0;
    CHECK(measured.units <= if_powers_of_two);
    if (powers_of_two) CHECK(measured.units == if_powers_of_two);
    if (shape == "16x16") CHECK(measured.units == 3840);
  }
}

TEST_CASE("the stride exchange takes 2k max floor(n_i/4k) + k(2k-1) steps without sharing a channel", "[conformance]") {
  const Figures known{{"8x8", {10, 192}}, {"16x16", {14, 1024}}, {"12x12", {10, 480}}};
  for (const char* shape : {"2", "4", "6", "10", "4x4", "4x8", "8x8", "8x12", "12x12", "16x16", "6x6x6", "6x12x6", "8x1x8"}) {
    CAPTURE(shape);
    const Topology topology = Topology::parse(shape);
    const std::uint64_t k = dimensions_with_links(topology);
    const Measured measured = measured_on(topology, "stride");
    CHECK(measured.start_ups == 2 * k * (largest_side(topology) / (4 * k)) + k * (2 * k - 1));
    if (const auto found = known.find(shape); found != known.end()) {
      CHECK(measured.start_ups == found->second.first);
      CHECK(measured.units == found->second.second);
    }
  }
}

TEST_CASE("the direct exchange takes N n_max/8 steps in each of which a channel carries at most one block", "[conformance]") {
  for (const char* shape : {"1",    "4",     "8",    "12",    "16",    "20",    "4x4",   "4x8", "8x4",   "8x8",
                            "8x12", "12x12", "4x16", "16x16", "4x4x4", "4x4x8", "8x8x4", "1x8", "4x1x4", "4x4x4x4"}) {
    CAPTURE(shape);
    const Topology topology = Topology::parse(shape);
    const Measured measured = measured_on(topology, "direct");
    const std::uint64_t steps = topology.nodes() == 1         ? 0
                                : largest_side(topology) == 4 ? topology.nodes()
                                                              : topology.nodes() * largest_side(topology) / 8;
    CHECK(measured.start_ups == steps);
    CHECK(measured.units == steps);
  }
}

TEST_CASE("the direct exchange goes by whatever order the machine routes in", "[conformance]") {
  const Algorithm& direct = exchange_named("direct");
  exchange_on(Machine(Topology::parse("8x4"), 1, Switching::wormhole, Contention::forbid, {1, 0}), direct);
  exchange_on(Machine(Topology::parse("4x8x4"), 1, Switching::wormhole, Contention::forbid, {2, 0, 1}), direct);
}
