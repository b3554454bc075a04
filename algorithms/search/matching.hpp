/// Perfect matchings of bipartite graphs, by augmenting paths (Kuhn: The Hungarian method for the assignment problem, 1955).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace torus {

/// A partner below n for each of 0..n-1, all different, such that allowed(x, partner); std::nullopt if there is no such choice. Each x
/// tries its partners from preferred[x] upwards, then from 0. Cost: O(n^2) where most preferences hold, O(n^3) at worst.
std::optional<std::vector<std::uint32_t>> perfect_matching(const std::vector<std::uint32_t>& preferred,
                                                           const std::function<bool(std::uint32_t x, std::uint32_t partner)>& allowed);

}  // namespace torus
