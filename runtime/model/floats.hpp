/// The floating-point formats of elements: their bits, and conversions between the two short ones and f32 as IEEE 754 has them: to the
/// nearest, ties to even, with denormals, infinities and quiet NaNs. Without branches, so that loops over them become vector instructions.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace torus::detail {

/// A binary format: sign, exponent, mantissa, from the highest bit down.
template <class UnsignedBits, int mantissa_bits>
struct Format {
  using Bits = UnsignedBits;
  using SignedBits = std::make_signed_t<Bits>;
  static constexpr int mantissa = mantissa_bits;
  static constexpr int bias = (1 << (std::numeric_limits<Bits>::digits - 2 - mantissa)) - 1;
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (std::numeric_limits<Bits>::digits - 1));
  static constexpr Bits magnitude = static_cast<Bits>(~sign);
  static constexpr Bits fraction = static_cast<Bits>((Bits{1} << mantissa) - 1);
  static constexpr Bits infinity = static_cast<Bits>(magnitude & ~fraction);
  static constexpr Bits quiet_nan = static_cast<Bits>(infinity | Bits{1} << (mantissa - 1));
  static constexpr Bits one = static_cast<Bits>(static_cast<Bits>(bias) << mantissa);
};
using BFloat16 = Format<std::uint16_t, 7>;
using Binary16 = Format<std::uint16_t, 10>;
using Binary32 = Format<std::uint32_t, 23>;
using Binary64 = Format<std::uint64_t, 52>;

template <class F>
float to_float(std::uint16_t bits) noexcept;
template <class F>
std::uint16_t from_float(float value) noexcept;

template <>
inline float to_float<BFloat16>(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

template <>
inline std::uint16_t from_float<BFloat16>(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U;
  const std::uint32_t nan = bits >> 16U | 0x40U;
  const auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffffU);  // signed: SSE2 compares no others
  return static_cast<std::uint16_t>(magnitude > 0x7f800000 ? nan : rounded);
}

/// All bits where a < b, for numbers below 2^31. With it a choice needs no branch: g++ 12 makes no vector instructions where a
/// floating-point operation depends on one.
constexpr std::uint32_t mask_below(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(a - b) >> 31);
}
constexpr std::uint32_t chosen(std::uint32_t mask, std::uint32_t if_set, std::uint32_t otherwise) noexcept {
  return (if_set & mask) | (otherwise & ~mask);
}

template <>
inline float to_float<Binary16>(std::uint16_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t magnitude = (bits & 0x7fffU) << 13U;
  const std::uint32_t infinite = ~mask_below(magnitude, 0x0f800000U);
  const std::uint32_t normal = magnitude + (std::uint32_t{127 - 15} << 23U) + (infinite & std::uint32_t{127 - 15} << 23U);
  // With the exponent of the least normal number in front, and without it again.
  constexpr std::uint32_t least = std::uint32_t{113} << 23U;
  const auto denormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude | least) - std::bit_cast<float>(least));
  return std::bit_cast<float>(sign | chosen(mask_below(magnitude, 0x00800000U), denormal, normal));
}

template <>
inline std::uint16_t from_float<Binary16>(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  // A carry out of the mantissa goes into the exponent: up to infinity, as it should.
  const std::uint32_t normal = (magnitude - (std::uint32_t{127 - 15} << 23U) + 0xfffU + (magnitude >> 13U & 1U)) >> 13U;
  // The processor rounds: the last place of the sum is that of the denormals.
  constexpr std::uint32_t magic = std::uint32_t{127 - 15 + 23 - 10 + 1} << 23U;
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(magic)) - magic;
  const std::uint32_t nan = 0x7e00U | (magnitude >> 13U & 0x3ffU);
  const std::uint32_t finite = chosen(mask_below(magnitude, std::uint32_t{113} << 23U), denormal, normal);
  const std::uint32_t large = chosen(mask_below(0x7f800000U, magnitude), nan, 0x7c00U);
  return static_cast<std::uint16_t>(sign | chosen(mask_below(magnitude, std::uint32_t{143} << 23U), finite, large));
}

template <class F>
double to_double(typename F::Bits bits) noexcept {
  if constexpr (sizeof(bits) == 2) return static_cast<double>(to_float<F>(bits));
  if constexpr (sizeof(bits) == 4) return static_cast<double>(std::bit_cast<float>(bits));
  if constexpr (sizeof(bits) == 8) return std::bit_cast<double>(bits);
}

}  // namespace torus::detail
