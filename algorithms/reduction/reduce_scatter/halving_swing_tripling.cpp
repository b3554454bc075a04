/// Reduce-scatter, all-reduce and multi-node broadcast by exchanges along the dimensions, over shared channels: `halving`, `swing`,
/// `tripling`.
///
/// An owner's block is cut into 2k parts; part t begins at axis t mod k and goes round robin over the axes that have rounds left. The parts
/// from k on see each ring in the mirror, so that both directions carry as much. The three differ in the peers of a place x in round s:
///   halving    x xor 2^s, the nearest first
///   swing      x + rho for even x, x - rho for odd, rho = (1 - (-2)^(s+1)) / 3: 1, -1, 3, -5, 11
///   tripling   x +- 3^s, in the last of L rounds x +- ceil((n - 3^(L-1)) / 2)
/// An all-reduce then runs the steps backwards, replacing. With `--order negabinary` swing numbers its segments as Bine does: what a part
/// sends in a round is one run of segments, which needs no copy; messages, steps and bytes stay. On a ring of 2^p let h(x) be -x for even x
/// and x for odd in base -2, low p digits. Peers of round s agree in the low s digits of h xor h/2 and differ in the next; so the digits by
/// round, the first the most significant, are the number.
/// Machine  torus, wormhole (packet where no side is above 3, or 2 for halving and swing), all ports, shared channels. halving: sides 2^p;
///          swing: even sides.
/// Steps    for a half: sum of ceil(log2 n_d); tripling: sum of ceil(log3 n_d).
/// Memory   2kN segments a node; tables of n^2 entries a side for halving, of 2n for swing, of n for tripling.
/// Source   Rabenseifner (2004); De Sensi, Bonato, Saam & Hoefler, Swing (2024); De Sensi et al., Bine (2025), for one dimension; Juerss &
///          Schmid, Trivance (2026). The mirrored parts of tripling, and the order on a torus, are this project's.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/reduce_scatter/exchanges.hpp"

namespace torus::reduction::halving_swing_tripling {
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
  const std::int32_t rho = negabinary_ones(round + 1);
  return {shorter(place % 2 == 0 ? rho : -rho, n)};
}

Hops tripling_peers(std::int32_t n, std::int32_t round, std::int32_t) {
  const std::int32_t all = rounds(3, n);
  const std::int32_t distance = round + 1 < all ? power(3, round) : (n - power(3, all - 1) + 1) / 2;
  return {distance, -distance};
}

/// `period`: see LineExchange; 0 stands for the side.
Plan plan(const Machine& machine, const Request& request, std::int32_t base, LineExchange::Peers peers, std::int32_t period,
          const char* formula) {
  const Topology& topology = machine.topology;
  std::vector<LineExchange> lines;
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    lines.emplace_back(n, rounds(base, n), period == 0 ? n : period, peers);
  }
  const bool negabinary = request.parameters.word("order") == "negabinary";
  Plan plan = plan_reversible(machine, request, std::make_shared<const Exchanges>(topology, std::move(lines), negabinary), formula);
  if (negabinary) plan.notes.emplace_back("order", "negabinary");
  return plan;
}

Plan plan_halving(const Machine& machine, const Request& request) { return plan(machine, request, 2, halving_peers, 0, "sum log2 n"); }
Plan plan_swing(const Machine& machine, const Request& request) { return plan(machine, request, 2, swing_peers, 2, "sum ceil(log2 n)"); }
Plan plan_tripling(const Machine& machine, const Request& request) {
  return plan(machine, request, 3, tripling_peers, 1, "sum ceil(log3 n)");
}

/// Only sides of 2^p have an order by rounds.
std::optional<Refusal> refuses_order(const Machine& machine, const Request& request) {
  if (request.parameters.word("order") != "negabinary") return std::nullopt;
  for (const DimensionShape& line : machine.topology.shape()) {
    if ((line.extent & (line.extent - 1)) != 0)
      return Refusal{Refusal::About::shape, machine.topology.text(), "the negabinary order is one of sides 2^p", "8x8"};
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 2> orders{"rank", "negabinary"};
constexpr std::array order{
    Parameter{"order", "which number a segment has: by its owner's rank, or in runs that are sent together", orders}};

/// The tables while they are made: a bit a round beside each entry.
Bytes halving_bytes(const Machine& machine) {
  Bytes sum = 0;
  for (const DimensionShape& line : machine.topology.shape()) {
    const auto n = static_cast<Bytes>(line.extent);
    sum += n * n * (2 + ceil_log(2, n) / 8 + 1);
  }
  return sum;
}

constexpr NativeMachine native{.switching = Switching::wormhole, .contention = Contention::share};

constexpr Requirements needs(std::int32_t overlaps_from, bool powers_of_two = false, std::int32_t multiples_of = 1) {
  return {.shape = Requirements::Shape::torus,
          .powers_of_two = powers_of_two,
          .multiples_of = multiples_of,
          .switching = Switching::wormhole,
          .ports = Requirements::all_ports,
          .shared_channels = true,
          .overlaps_from = overlaps_from};
}

constexpr Algorithm entry(Algorithm variant, Collective collective, std::string_view steps, const Idea& idea) {
  variant.collective = collective;
  if (variant.name == "swing" && collective == Collective::allreduce) {
    variant.source = "De Sensi et al., Swing (2024); the negabinary order: De Sensi et al., Bine (2025)";
    variant.parameters = order;
    variant.also_requires = refuses_order;
  }
  variant.steps = steps;
  variant.idea = idea;
  return variant;
}

constexpr auto scatter = Collective::reduce_scatter, both = Collective::allreduce, gather = Collective::multinode_broadcast;

constexpr Algorithm halving{
    .name = "halving",
    .collective = scatter,
    .source = "Rabenseifner (2004), on tori nearest first",
    .shapes = "torus, sides 2^p",
    .steps = "sum log2 n",
    .idea = {.first = "On each ring neighbours exchange halves of what they hold: each gives away what the other's side will own, and adds "
                      "what it gets.",
             .then = "In each further round the partner is twice as far away and half as much is left, until a node holds its own block "
                     "alone; parts of the blocks take the dimensions in different orders, and as in a mirror.",
             .good = "Most bytes move in the first round, between neighbours, and little goes far, so that few steps do and the shared "
                     "channels are not too full."},
    .native = native,
    .needs = needs(3, true),
    .plan = plan_halving,
    .planning_bytes = halving_bytes};
constexpr Algorithm
    halving_both =
        entry(halving, both, "2 x sum log2 n",
              {.first = "A reduce-scatter: on each ring neighbours exchange halves and add, then nodes twice as far apart exchange "
                        "half as much, until each node has the result of one block.",
               .then = "The same rounds run backwards and gather the results, with the farthest partners first and neighbours last.",
               .good = "Few steps do, hardly a byte could be saved at the nodes, and what goes far is short: good for vectors of middle "
                       "length where channels may be shared."}),
    halving_gather =
        entry(halving, gather, halving.steps,
              {.first = "On each ring nodes that lie half a ring apart exchange their own blocks.",
               .then = "In each further round the partner is half as far away and a node holds twice as much, until neighbours exchange "
                       "halves of all that the ring has; parts take the dimensions in different orders, and as in a mirror.",
               .good = "What goes far is short and what is long goes to a neighbour, so that few steps do and the shared channels are not "
                       "too full."});

constexpr Algorithm swing{.name = "swing",
                          .collective = scatter,
                          .source = "De Sensi et al., Swing (2024)",
                          .shapes = "torus, even sides",
                          .steps = "sum ceil(log2 n)",
                          .idea = {.first = "On each ring a node exchanges half of what it holds with a neighbour and adds what it gets: "
                                            "even places swing forwards, odd ones backwards.",
                                   .then = "The next partners are on alternating sides, at distances 1, 3, 5, 11 and so on, each time with "
                                           "half as much, until a node holds its own block alone.",
                                   .good = "The alternating sides keep the ways shorter than powers of two would be, so that the shared "
                                           "channels carry less; and any even side will do."},
                          .native = native,
                          .needs = needs(3, false, 2),
                          .plan = plan_swing};
constexpr Algorithm swing_both = entry(swing, both, "2 x sum ceil(log2 n)",
                                       {.first = "A reduce-scatter: on each ring partners exchange halves and add, at distances 1, "
                                                 "1, 3, 5, 11 to alternating sides, until each node has the result of one block.",
                                        .then = "The same rounds run backwards and gather the results, the farthest partners first.",
                                        .good = "Few steps do, and partners on alternating sides are nearer than at powers of two, so that "
                                                "the shared channels carry less: good for vectors of middle length and more."}),
                    swing_gather = entry(swing, gather, swing.steps,
                                         {.first = "On each ring partners that lie far apart exchange their own blocks.",
                                          .then = "In each further round the partner is on the other side and about half as far away, and "
                                                  "a node holds twice as much, until neighbours exchange halves of all.",
                                          .good = "Long messages go to near partners, and the alternating sides keep all ways shorter than "
                                                  "powers of two would, so that the shared channels carry less."});

constexpr Algorithm tripling{
    .name = "tripling",
    .collective = scatter,
    .source = "after Juerss & Schmid, Trivance (2026)",
    .shapes = "torus",
    .steps = "sum ceil(log3 n)",
    .idea = {.first = "On each ring a node gives a third of what it holds to each of its two neighbours, and adds what it gets from them.",
             .then = "In each further round the two partners are about three times as far away and a third is left, until a node holds its "
                     "own block alone.",
             .good = "Both directions work in each round, so that the steps go with the logarithm to the base three, not two, on rings of "
                     "any length."},
    .native = native,
    .needs = needs(4),
    .plan = plan_tripling};
constexpr Algorithm
    tripling_both =
        entry(tripling, both, "2 x sum ceil(log3 n)",
              {.first = "A reduce-scatter: on each ring a node gives a third of what it holds to either neighbour and adds what it "
                        "gets, then the same three times as far away, until each node has the result of one block.",
               .then = "The same rounds run backwards and gather the results from both sides, the farthest partners first.",
               .good = "With two partners a round fewer steps do than with one, on rings of any length: good for short and middle vectors "
                       "where channels may be shared."}),
    tripling_gather = entry(
        tripling, gather, tripling.steps,
        {.first = "On each ring a node exchanges its own block with two partners, about a third of the ring away on either side.",
         .then = "In each further round the partners are three times nearer and a node holds three times as much, until neighbours "
                 "exchange thirds of all.",
         .good = "Two partners a round take fewer steps than one, on rings of any length, and long messages go to neighbours alone."});

}  // namespace

extern const Entries entries{halving,      halving_both, halving_gather, swing,          swing_both,
                             swing_gather, tripling,     tripling_both,  tripling_gather};

}  // namespace torus::reduction::halving_swing_tripling
