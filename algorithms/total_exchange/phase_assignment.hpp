/// Which of the N/n_i exchanges along each dimension carries which class, so that no class is in two dimensions at once: closed forms where
/// all dimensions have the same extent n, a search elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <torus/topology.hpp>

namespace torus::total_exchange {

/// The paper's, for 2^j dimensions with links: algorithm A3 on G = H x H, H in turn a product of half as many. With M = |H| and class
/// (f, e), f along the first half: the second half carries it in round r with pi_r(e) = f, pi_r(e) = ((e + r - 2) mod (M - 1)) + 1, and in
/// round M if f = 0; the first half in the round after that, and in round 1 if e = 0. In each round, one exchange of H side by side in both
/// halves.
/// Source  Dimakopoulos & Dimopoulos, A theory for total exchange in multidimensional interconnection networks: algorithm A3.
std::uint32_t halving_phase(const Topology& topology, NodeId delta, std::size_t i);

/// A closed form for any number k of dimensions with links. Phases are vectors (p_1 .. p_(k-1)) modulo n; class delta travels
/// along dimension i in phase
///     (delta_1 .. delta_(k-1)) + delta_i e_(i-1) + delta_0 e_i    (the first term of the sum for i >= 2, neither for i = 0).
/// Each phase and dimension carries each offset once: for fixed delta_i, the map from the rest to phases is a bijection.
/// No class is in two dimensions i < j, delta_i and delta_j not 0, at once: for i >= 1 component j differs by delta_0, or else the
/// difference is delta_i e_(i-1) - delta_j e_(j-1); for i = 0 the difference contains delta_j e_(j-1) or delta_0 e_j.
/// Source  this project.
std::uint32_t closed_form_phase(const Topology& topology, NodeId delta, std::size_t i);

/// For each dimension that has links, for each class its exchange: assignment[i][delta].
using ExchangeAssignment = std::vector<std::vector<std::uint32_t>>;

/// Where extents differ. The classes are put in order by how far they go altogether, sum of delta_j / n_j modulo 1. Along dimension i
/// (extents ascending) those of one offset are numbered in this order, from a start of its own for each dimension. A class may then be in
/// two dimensions at once. If so, the dimensions are taken one after the other, those with the longest exchanges first, and the classes of
/// each offset are matched with exchanges that keep them out of two at once, as near to their rank as possible. If even that fails, the
/// classes are put in another order, pseudo-random but always the same.
/// Attempt 0: by rank, which the caller checks by one_dimension_at_a_time(). From 1: by matching, none if that fails; from 2: with a
/// pseudo-random order.
///
/// Source  this project.
std::optional<ExchangeAssignment> assign_exchanges(const Topology& topology, std::uint32_t attempt);

/// The first attempt that keeps every class out of two dimensions at once; none if `most_attempts` fail.
std::optional<ExchangeAssignment> assign_exchanges_legally(const Topology& topology, std::uint32_t most_attempts);

/// Perfect matchings of bipartite graphs, by augmenting paths (Kuhn: The Hungarian method for the assignment problem, 1955).
///
/// A partner below n for each of 0..n-1, all different, such that allowed(x, partner); std::nullopt if there is no such choice. Each x
/// tries its partners from preferred[x] upwards, then from 0. Cost: O(n^2) where most preferences hold, O(n^3) at worst.
std::optional<std::vector<std::uint32_t>> perfect_matching(const std::vector<std::uint32_t>& preferred,
                                                           const std::function<bool(std::uint32_t x, std::uint32_t partner)>& allowed);

}  // namespace torus::total_exchange
