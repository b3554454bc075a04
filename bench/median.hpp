/// The middle of measurements that a busy host has pushed about.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace torus::bench {

/// The mean of the two middle ones if they are even in number; 0 of none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace torus::bench
