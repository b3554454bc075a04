// The short floating-point formats: every number of them, against what their definitions say.
#include "runtime/model/floats.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::detail;

namespace {

/// The value of finite bits, by the definition of a format.
template <class F>
double value_of(std::uint16_t bits) {
  const int exponent = (bits & F::magnitude) >> F::mantissa, fraction = bits & F::fraction;
  const int digits = exponent == 0 ? fraction : fraction + (1 << F::mantissa);
  const double size = std::ldexp(digits, std::max(exponent, 1) - F::bias - F::mantissa);
  return (bits & F::sign) != 0 ? -size : size;
}

/// The bits of the number next to `value`, by bisection of those of its sign; of two, the even one. Past the largest number by half a place
/// or more: infinity.
template <class F>
std::uint16_t nearest(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? F::sign : 0);
  const double size = std::abs(value);
  const double largest = value_of<F>(F::infinity - 1), beyond = 2 * largest - value_of<F>(F::infinity - 2);
  if (size >= (largest + beyond) / 2) return static_cast<std::uint16_t>(sign | F::infinity);
  std::uint16_t below = 0, above = F::infinity;  // value_of(below) <= size
  while (above - below > 1) {
    const auto middle = static_cast<std::uint16_t>((below + above) / 2);
    (value_of<F>(middle) <= size ? below : above) = middle;
  }
  const double low = value_of<F>(below), high = above == F::infinity ? beyond : value_of<F>(above);
  const bool up = size - low > high - size || (size - low == high - size && below % 2 == 1);
  return static_cast<std::uint16_t>(sign | (up ? above : below));
}

template <class F>
void check_format() {
  for (std::uint32_t all = 0; all < 0x10000; ++all) {
    const auto bits = static_cast<std::uint16_t>(all);
    const auto magnitude = static_cast<std::uint16_t>(bits & F::magnitude);
    const float value = to_float<F>(bits);
    CAPTURE(bits, value);
    REQUIRE(std::signbit(value) == ((bits & F::sign) != 0));
    if (magnitude > F::infinity) {
      REQUIRE(std::isnan(value));
      REQUIRE(from_float<F>(value) == (bits | F::quiet_nan));
      continue;
    }
    REQUIRE((magnitude == F::infinity ? std::isinf(value) : static_cast<double>(value) == value_of<F>(bits)));
    REQUIRE(from_float<F>(value) == bits);
  }
}

template <class F>
void check_rounding(std::mt19937_64& random) {
  for (int turn = 0; turn < 40'000; ++turn) {
    auto bits = static_cast<std::uint32_t>(random());
    if (turn % 2 == 0) {  // near the middle of two numbers, of a size that the format has
      const auto between = static_cast<std::uint16_t>(random() % F::infinity);
      const double middle = (value_of<F>(between) + value_of<F>(static_cast<std::uint16_t>(between == 0 ? 1 : between - 1))) / 2;
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(middle)) + static_cast<std::uint32_t>(random() % 3) - 1;
    }
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    CAPTURE(turn, bits, value);
    REQUIRE(from_float<F>(value) == nearest<F>(static_cast<double>(value)));
  }
}

}  // namespace

TEST_CASE("every bf16 and f16 becomes the f32 of its value, and comes back", "[unit]") {
  check_format<BFloat16>();
  check_format<Binary16>();
}

TEST_CASE("an f32 becomes the nearest bf16 and f16, the even one of two", "[unit]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  check_rounding<BFloat16>(random);
  check_rounding<Binary16>(random);
  CHECK(from_float<Binary16>(65519.0F) == 0x7bff);
  CHECK(from_float<Binary16>(65520.0F) == 0x7c00);
  CHECK(from_float<Binary16>(-65520.0F) == 0xfc00);
  CHECK(from_float<Binary16>(0x1p-25F) == 0);
  CHECK(from_float<Binary16>(0x1.002p-25F) == 1);
  CHECK(from_float<BFloat16>(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(from_float<BFloat16>(-std::numeric_limits<float>::infinity()) == 0xff80);
}
