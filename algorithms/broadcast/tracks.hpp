/// The routes of the broadcasts on square tori: the legs by which a holder of a segment reaches its children in other supernodes. No two
/// messages of a step share a channel.
///
/// A broadcast on Z_n^k has k stages. In stage i, with d = k-i+1, place c of the line that is split is a set of nodes, a supernode. A
/// route of offset a, by any track or row, leads from a holder of supernode c to a node of supernode c+a. Dimensions are numbered 1..k
/// here, as in the papers. The sign of every leg is part of the proof.
#pragma once

#include <cstdint>
#include <span>

#include <torus/machine.hpp>
#include <torus/route.hpp>

namespace torus::broadcast {

/// Circuit switching: track 1..k of stage 1..k. Every track of a stage moves by a(e_1+e_d) modulo the span of the earlier stages.
///
///     stage i < k:  A   = (1,a)(d,a)
///                   B   = (d,a)(1,a)
///                   C_m = (m,-a)(d,a), m = d+1..k
///                   E_j = (j,s)(1,a)(d,a)(j,-s), s = sign of a, j = 2..d-1
///     stage k:      (1,a)
///                   (m,-a), m = 2..k
///
/// All hop counts are multiplied by `scale`.
/// Source   Wang, Tseng, Ni & Sheu, sections 3, 4 and 5; stage 1 with detours (E) reconstructed.
Route circuit_track(std::int32_t k, std::int32_t stage, std::int32_t track, std::int32_t offset, std::int32_t scale = 1);

/// Wormhole switching: row 1..k of stage 1..k, dimensions ascending in the given routing order. Aligned rows come first:
/// those that end in line with the source's subgroup.
///
///     stage 1 (k>=2):   (1,a)(k,a);   (j,a)(k,a), j = 2..k-1;   (k,a)
///     stage 1 < i < k:  (j,a)(k,-a), j = d..2;   (1,a);   (m,-a), m = d+1..k
///     stage k:          (1,a);   (m,-a), m = 2..k
///
/// `order`: the machine's routing; the paper's dimension j is order[j-1].   Source  Wang & Tseng, sections 3 and 4.
Route wormhole_row(std::span<const Dimension> order, std::int32_t stage, std::int32_t row, std::int32_t offset);

/// The same for a stage 1 <= i < k that uses only aligned rows: one in stage 1, two in the others, (d,a)(k,-a) and (1,a)(d,a).
Route aligned_wormhole_row(std::span<const Dimension> order, std::int32_t stage, std::int32_t row, std::int32_t offset);

}  // namespace torus::broadcast
