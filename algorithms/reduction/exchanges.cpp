#include "algorithms/reduction/exchanges.hpp"

#include <algorithm>
#include <cstdlib>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/reduction/exchange_halves.hpp"

namespace torus::reduction {
namespace {

using Hops = std::vector<std::int32_t>;

std::int32_t power(std::int32_t base, std::int32_t exponent) {
  std::int32_t out = 1;
  for (; exponent > 0; --exponent) out *= base;
  return out;
}

std::int32_t rounds(std::int32_t base, std::int32_t n) {
  return static_cast<std::int32_t>(ceil_log(static_cast<std::uint64_t>(base), static_cast<std::uint64_t>(n)));
}

/// The shorter way round; the sign decides a tie.
std::int32_t shorter(std::int32_t hops, std::int32_t n) {
  const std::int32_t rest = hops % n;
  if (2 * std::abs(rest) <= n) return rest;
  return rest > 0 ? rest - n : rest + n;
}

/// The antipode by + from everywhere: the mirrored parts go by -.
Hops halving_peers(std::int32_t n, std::int32_t round, std::int32_t place) {
  const std::int32_t distance = power(2, round);
  return {(place & distance) == 0 || 2 * distance == n ? distance : -distance};
}

Hops swing_peers(std::int32_t n, std::int32_t round, std::int32_t place) {
  const std::int32_t rho = (1 - power(-2, round + 1)) / 3;
  return {shorter(place % 2 == 0 ? rho : -rho, n)};
}

Hops tripling_peers(std::int32_t n, std::int32_t round, std::int32_t) {
  const std::int32_t all = rounds(3, n);
  const std::int32_t distance = round + 1 < all ? power(3, round) : (n - power(3, all - 1) + 1) / 2;
  return {distance, -distance};
}

Plan plan(const Machine& machine, const Request& request, std::int32_t base, LineExchange::Peers peers, const char* formula) {
  const Topology& topology = machine.topology;
  std::vector<LineExchange> lines;
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    const std::int32_t period = peers == halving_peers ? n : peers == swing_peers ? 2 : 1;
    lines.emplace_back(n, rounds(base, n), period, peers);
  }
  return plan_halves(machine, request, std::make_shared<const ExchangeHalves>(topology, std::move(lines)), formula);
}

Plan plan_halving(const Machine& machine, const Request& request) { return plan(machine, request, 2, halving_peers, "sum log2 n"); }
Plan plan_swing(const Machine& machine, const Request& request) { return plan(machine, request, 2, swing_peers, "sum ceil(log2 n)"); }
Plan plan_tripling(const Machine& machine, const Request& request) { return plan(machine, request, 3, tripling_peers, "sum ceil(log3 n)"); }

/// Of the tables while they are made: a bit a round beside each entry.
Bytes halving_bytes(const Machine& machine) {
  Bytes sum = 0;
  for (const DimensionShape& line : machine.topology.shape()) {
    const auto n = static_cast<Bytes>(line.extent);
    sum += n * n * (2 + ceil_log(2, n) / 8 + 1);
  }
  return sum;
}

constexpr NativeMachine native{.switching = Switching::wormhole, .contention = Contention::share};

constexpr Requirements needs(std::int32_t overlaps_from) {
  return {.shape = Requirements::Shape::torus,
          .switching = Switching::wormhole,
          .ports = Requirements::all_ports,
          .shared_channels = true,
          .overlaps_from = overlaps_from};
}

constexpr Requirements halving_needs() {
  Requirements out = needs(3);
  out.powers_of_two = true;
  return out;
}

constexpr Requirements swing_needs() {
  Requirements out = needs(3);
  out.multiples_of = 2;
  return out;
}

constexpr Algorithm entry(std::string_view name, Collective collective, std::string_view source, std::string_view shapes,
                          std::string_view steps, Requirements requirements, Plan (*plan)(const Machine&, const Request&),
                          Bytes (*planning)(const Machine&) = nullptr) {
  return {.name = name,
          .collective = collective,
          .source = source,
          .shapes = shapes,
          .steps = steps,
          .native = native,
          .needs = requirements,
          .plan = plan,
          .planning_bytes = planning};
}

constexpr auto scatter = Collective::reduce_scatter, both = Collective::allreduce, gather = Collective::multinode_broadcast;
constexpr std::string_view rabenseifner = "Rabenseifner (2004), on tori nearest first", de_sensi = "De Sensi et al., Swing (2024)",
                           trivance = "after Juerss & Schmid, Trivance (2026)";
constexpr std::string_view powers = "torus, sides 2^p", even = "torus, even sides", tori = "torus";

}  // namespace

const Algorithm halving_reduce_scatter =
    entry("halving", scatter, rabenseifner, powers, "sum log2 n", halving_needs(), plan_halving, halving_bytes);
const Algorithm halving_allreduce =
    entry("halving", both, rabenseifner, powers, "2 x sum log2 n", halving_needs(), plan_halving, halving_bytes);
const Algorithm halving_all_gather =
    entry("halving", gather, rabenseifner, powers, "sum log2 n", halving_needs(), plan_halving, halving_bytes);
const Algorithm swing_reduce_scatter = entry("swing", scatter, de_sensi, even, "sum ceil(log2 n)", swing_needs(), plan_swing);
const Algorithm swing_allreduce = entry("swing", both, de_sensi, even, "2 x sum ceil(log2 n)", swing_needs(), plan_swing);
const Algorithm swing_all_gather = entry("swing", gather, de_sensi, even, "sum ceil(log2 n)", swing_needs(), plan_swing);
const Algorithm tripling_reduce_scatter = entry("tripling", scatter, trivance, tori, "sum ceil(log3 n)", needs(4), plan_tripling);
const Algorithm tripling_allreduce = entry("tripling", both, trivance, tori, "2 x sum ceil(log3 n)", needs(4), plan_tripling);
const Algorithm tripling_all_gather = entry("tripling", gather, trivance, tori, "sum ceil(log3 n)", needs(4), plan_tripling);

}  // namespace torus::reduction
