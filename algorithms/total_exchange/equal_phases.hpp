/// Which of the N/n exchanges along each dimension carries which class, where all dimensions have the same extent n: two ways for all to go
/// on without a pause.
#pragma once

#include <cstddef>
#include <cstdint>

#include <torus/topology.hpp>

namespace torus::exchange {

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

}  // namespace torus::exchange
