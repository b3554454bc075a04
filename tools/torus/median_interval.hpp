/// How sure the median of repeated times is.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace torus::command {

/// The 95 % confidence interval of the median by order statistics: of n values in order, the k-th smallest and the k-th largest, with the
/// largest k for which both enclose the median with a probability of 95 % or more. It assumes nothing about the distribution, only
/// independent values. None of fewer than 6 values: their min and max enclose it with less.
std::optional<std::pair<double, double>> median_interval(std::vector<double> values);

}  // namespace torus::command
