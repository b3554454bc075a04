/// Sums and products of contributions without rounding, and how far from them any order of rounded combinations may lead.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <torus/reduction.hpp>

namespace torus::detail {

/// The exact results of some elements of a vector, where rounds(reduction): sums, also those of averages, in whole multiples of the last
/// place of the smallest contribution, products in long double.
class Exact {
 public:
  /// An element that no order of combining leads to.
  struct Wrong {
    std::size_t element;
    double got;
    double exact;
  };

  Exact() = default;
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  virtual ~Exact() = default;

  /// Combines the elements of one more node's contribution.
  virtual void add(const std::byte* contribution) = 0;
  /// Compares a node's result of `count` elements from `first` on. Any order of n contributions x leads to an error of at most
  /// ((1 + u)^(n-1) - 1) sum |x|, where u is half a unit in the last place of 1 [Higham: Accuracy and Stability of Numerical Algorithms,
  /// 4.2]; of a product, in place of the sum, its size; of an average, with n for n - 1, divided by n. error_ulp becomes the largest error
  /// so far, in units of the last place of the exact result, or of the smallest contribution to a sum where that is larger.
  virtual std::optional<Wrong> first_wrong(const std::byte* held, std::size_t first, std::size_t count, double& error_ulp) const = 0;
};

/// Exact results of `elements` elements, to which nothing is added yet. rounds(reduction) must hold.
std::unique_ptr<Exact> exact_results(const Reduction& reduction, std::size_t elements);

}  // namespace torus::detail
