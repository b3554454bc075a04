/// Whether simulated annealing takes a change: always one that leaves no more nodes unserved, else the less likely the more it leaves.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>

namespace torus::broadcast {

inline bool anneal(std::size_t unserved_before, std::size_t unserved_after, std::mt19937_64& random) {
  constexpr double temperature = 0.35;  // unserved nodes
  constexpr std::uint64_t certain = 1U << 30U;
  if (unserved_after <= unserved_before) return true;
  const auto worse = static_cast<double>(unserved_after - unserved_before);
  return static_cast<double>(random() % certain) < std::exp(-worse / temperature) * static_cast<double>(certain);
}

}  // namespace torus::broadcast
