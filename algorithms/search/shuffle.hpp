/// A random order that is the same on every platform, as that of std::shuffle need not be.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace torus {

template <class T>
void shuffle(std::vector<T>& order, std::mt19937_64& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace torus
