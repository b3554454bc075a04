#include "runtime/model/exact.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <torus/error.hpp>

#include "runtime/model/contribution.hpp"
#include "runtime/model/floats.hpp"

namespace torus::detail {
namespace {

__extension__ using Wide = __int128;

template <class F>
typename F::Bits bits_at(const std::byte* elements, std::size_t i) noexcept {
  typename F::Bits bits;
  std::memcpy(&bits, elements + i * sizeof bits, sizeof bits);
  return bits;
}

/// What `roundings` roundings add to 1 at most.
template <class F>
double growth(std::uint64_t roundings) noexcept {
  return std::expm1(static_cast<double>(roundings) * std::log1p(std::ldexp(1.0, -F::mantissa - 1)));
}

template <class F>
class ExactSums final : public Exact {
  /// Sums of 2^32 nodes do not overflow: contributions have mantissa + 1 - real_exponent bits.
  using Fixed = std::conditional_t<(F::mantissa < 24), std::int64_t, Wide>;
  static constexpr int unit = real_exponent - F::mantissa;  // of the sums: 2^unit
  static constexpr double most = F::mantissa < 24 ? 0x1p62 : 0x1p126;

 public:
  ExactSums(std::size_t elements, bool averages) : averages_{averages}, sums_(elements), sizes_(elements) {}

  void add(const std::byte* contribution) override {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const auto bits = bits_at<F>(contribution, i);
      const int shift = static_cast<int>((bits & F::magnitude) >> F::mantissa) - (F::bias + real_exponent);
      TORUS_ASSERT(shift >= 0 && shift < 8);
      const Fixed size = static_cast<Fixed>((bits & F::fraction) | (typename F::Bits{1} << F::mantissa)) << shift;
      sizes_[i] += size;
      sums_[i] += (bits & F::sign) != 0 ? -size : size;
    }
    ++count_;
  }

  std::optional<Wrong> first_wrong(const std::byte* held, std::size_t first, std::size_t count, double& error_ulp) const override {
    if (averages_) return first_wrong_average(held, first, count, error_ulp);
    const double allowed = growth<F>(count_ - 1) * (1 + 0x1p-40);
    for (std::size_t i = 0; i < count; ++i) {
      const double got = to_double<F>(bits_at<F>(held, i));
      const double scaled = std::ldexp(got, -unit);
      const Fixed exact = sums_[first + i];
      // Rounded sums of multiples of the unit are multiples of it.
      const bool fits = std::abs(scaled) < most && scaled == std::trunc(scaled);
      const double error = fits ? std::abs(static_cast<double>(static_cast<Fixed>(scaled) - exact)) : 0;
      if (!fits || error > allowed * static_cast<double>(sizes_[first + i]))
        return Wrong{first + i, got, std::ldexp(static_cast<double>(exact), unit)};
      const double size = std::abs(static_cast<double>(exact));
      const double place = size < 1 ? 1 : std::max(1.0, std::ldexp(1.0, std::ilogb(size) - F::mantissa));
      error_ulp = std::max(error_ulp, error / place);
    }
    return std::nullopt;
  }

 private:
  /// The division is one more rounding, in a short type of what f32 has rounded, and may leave a denormal. In units of the sums.
  std::optional<Wrong> first_wrong_average(const std::byte* held, std::size_t first, std::size_t count, double& error_ulp) const {
    const auto by = static_cast<long double>(count_);
    const double allowed = growth<F>(count_) * (1 + 0x1p-40) + (F::mantissa < 23 ? 0x1p-24 : 0x1p-60);
    const long double denormal = std::ldexp(1.0L, 1 - F::bias - F::mantissa - unit);
    for (std::size_t i = 0; i < count; ++i) {
      const double got = to_double<F>(bits_at<F>(held, i));
      const auto exact = static_cast<long double>(sums_[first + i]), sizes = static_cast<long double>(sizes_[first + i]);
      const long double error = std::abs(std::ldexp(static_cast<long double>(got), -unit) * by - exact);
      if (!(error <= allowed * sizes + denormal * by)) return Wrong{first + i, got, static_cast<double>(std::ldexp(exact / by, unit))};
      const long double size = std::abs(exact) / by;
      const long double place = size == 0 ? 0 : std::ldexp(1.0L, std::ilogb(size) - F::mantissa);
      error_ulp = std::max(error_ulp, static_cast<double>(error / by / std::max({1 / by, place, denormal})));
    }
    return std::nullopt;
  }

  const bool averages_;
  std::vector<Fixed> sums_, sizes_;  // sizes_: of the contributions without their signs
  std::uint64_t count_ = 0;
};

template <class F>
class ExactProducts final : public Exact {
 public:
  explicit ExactProducts(std::size_t elements) : products_(elements, 1) {}

  void add(const std::byte* contribution) override {
    for (std::size_t i = 0; i < products_.size(); ++i) products_[i] *= static_cast<long double>(to_double<F>(bits_at<F>(contribution, i)));
    ++count_;
  }

  std::optional<Wrong> first_wrong(const std::byte* held, std::size_t first, std::size_t count, double& error_ulp) const override {
    // Only factors other than 1 round, and there are fewer than the largest exponent.
    const double allowed = growth<F>(std::min<std::uint64_t>(count_ - 1, F::bias)) * (1 + 0x1p-40) + 0x1p-60;
    for (std::size_t i = 0; i < count; ++i) {
      const double got = to_double<F>(bits_at<F>(held, i));
      const long double exact = products_[first + i];
      const auto error = static_cast<double>(std::abs(static_cast<long double>(got) - exact));
      const auto size = static_cast<double>(std::abs(exact));
      if (!(error <= allowed * size)) return Wrong{first + i, got, static_cast<double>(exact)};
      error_ulp = std::max(error_ulp, error / std::ldexp(1.0, std::ilogb(size) - F::mantissa));
    }
    return std::nullopt;
  }

 private:
  std::vector<long double> products_;
  std::uint64_t count_ = 0;
};

template <class F>
std::unique_ptr<Exact> exact_results_in(Operator op, std::size_t elements) {
  if (adds_up(op)) return std::make_unique<ExactSums<F>>(elements, op == Operator::average);
  return std::make_unique<ExactProducts<F>>(elements);
}

}  // namespace

std::unique_ptr<Exact> exact_results(const Reduction& reduction, std::size_t elements) {
  TORUS_ASSERT(rounds(reduction));
  switch (reduction.type) {
    case ElementType::f32: return exact_results_in<Binary32>(reduction.op, elements);
    case ElementType::f64: return exact_results_in<Binary64>(reduction.op, elements);
    case ElementType::bf16: return exact_results_in<BFloat16>(reduction.op, elements);
    default: return exact_results_in<Binary16>(reduction.op, elements);
  }
}

}  // namespace torus::detail
