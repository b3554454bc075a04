#include "runtime/model/contribution.hpp"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <xxhash.h>

#include "runtime/base/words.hpp"
#include "runtime/model/floats.hpp"

namespace torus::detail {
namespace {

std::uint64_t stream_key(std::uint64_t seed, NodeId node) noexcept {
  const std::uint64_t image[2] = {node, 0x636f6e7472696275U};
  return XXH64(image, sizeof image, seed);
}

/// Bytes [first, first + bytes.size()) of a node's stream, of words that `change` has changed.
template <class Change>
void fill_stream(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t first, Change&& change) noexcept {
  if (bytes.empty()) return;  // there may be no address either
  std::byte* to = bytes.data();
  std::byte* const end = to + bytes.size();
  const auto part = [&](std::size_t count) {
    const std::uint64_t w = change(stream_word(key, first / 8)) >> (8 * (first % 8));
    std::memcpy(to, &w, count);
    to += count;
    first += count;
  };
  if (first % 8 != 0) part(std::min<std::size_t>(8 - first % 8, static_cast<std::size_t>(end - to)));
  for (; end - to >= 8; to += 8, first += 8) {
    const std::uint64_t w = change(stream_word(key, first / 8));
    std::memcpy(to, &w, sizeof w);
  }
  if (to != end) part(static_cast<std::size_t>(end - to));
}

/// Integers. Random ones would leave nothing of many factors, or of many operands of `and` and `or`: factors are odd, and in about one
/// node a bit is 0 for `and`, and 1 for `or`.
void fill_integers(std::span<std::byte> bytes, const Reduction& reduction, NodeId nodes, std::uint64_t key, std::uint64_t first) noexcept {
  first *= size_of(reduction.type);
  const auto doublings = static_cast<int>(std::bit_width(std::max<NodeId>(nodes, 2) - 1));
  const auto mostly_ones = [doublings](std::uint64_t w) {
    std::uint64_t ones = w;
    for (int i = 1; i < doublings; ++i) ones |= std::rotl(w, 11 * i);
    return ones;
  };
  switch (reduction.op) {
    case Operator::prod: {
      const std::uint64_t ones = ~std::uint64_t{0} / (~std::uint64_t{0} >> (64 - 8 * size_of(reduction.type)));  // in each element
      return fill_stream(bytes, key, first, [ones](std::uint64_t w) { return w | ones; });
    }
    case Operator::bitwise_and: return fill_stream(bytes, key, first, mostly_ones);
    case Operator::bitwise_or: return fill_stream(bytes, key, first, [&](std::uint64_t w) { return ~mostly_ones(w); });
    default: return fill_stream(bytes, key, first, [](std::uint64_t w) { return w; });
  }
}

/// Whole numbers 0 .. most < 256, each from a byte of the stream: a word of it makes eight. make: the element of a number.
template <class Bits, class Make>
void fill_whole(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t first, std::uint64_t most, Make&& make) noexcept {
  constexpr std::uint64_t lanes = 0x00ff00ff00ff00ffU;  // bytes of 16 bits each: a product with 256 fits
  const auto numbers = [factor = most + 1](std::uint64_t word) {
    return ((word & lanes) * factor >> 8U & lanes) | ((word >> 8U & lanes) * factor & ~lanes);
  };
  std::array<std::uint64_t, 8> words;  // in memory, from where a vector of bytes is loaded at once
  std::byte* to = bytes.data();
  const std::uint64_t end = first + bytes.size() / sizeof(Bits);
  while (first < end) {
    const std::uint64_t skipped = first % 8, count = std::min(8 * words.size() - skipped, end - first);
    for (std::uint64_t i = 0; 8 * i < skipped + count; ++i) words[i] = numbers(stream_word(key, first / 8 + i));
    const auto* const number = reinterpret_cast<const std::uint8_t*>(words.data()) + skipped;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Bits value = make(std::int32_t{number[i]});  // signed: SSE2 converts no others
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
    to += count * sizeof(Bits);
    first += count;
  }
}

/// The greatest contribution such that the sum of all is a whole number below 2^digits.
std::uint64_t most_of(const Reduction& reduction, NodeId nodes, unsigned digits) noexcept {
  if (!adds_up(reduction.op)) return 255;
  return std::min<std::uint64_t>(255, (std::uint64_t{1} << digits) / std::max<NodeId>(nodes, 1));
}

/// Elements of which each follows from a word of its own.
template <class F, class Make>
void fill_each(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t first, Make&& make) noexcept {
  for (std::byte* to = bytes.data(); to != bytes.data() + bytes.size(); to += sizeof(typename F::Bits), ++first) {
    const auto value = static_cast<typename F::Bits>(make(stream_word(key, first), first));
    std::memcpy(to, &value, sizeof value);
  }
}

template <class F>
typename F::Bits random_sign(std::uint64_t word) noexcept {
  return static_cast<typename F::Bits>((word >> 63U) != 0 ? F::sign : 0);
}

/// Factors from 1/2 to 2, few enough for every product of some of them to be a normal number; the others are 1. All of both signs. Small
/// ones are 1/2 and 2.
template <class F>
void fill_factors(std::span<std::byte> bytes, const Reduction& reduction, NodeId nodes, std::uint64_t key, NodeId node,
                  std::uint64_t first) noexcept {
  using Bits = typename F::Bits;
  constexpr auto most = static_cast<NodeId>(F::bias - 2);
  const std::uint64_t pitch = (std::uint64_t{nodes} + most - 1) / most;
  fill_each<F>(bytes, key, first, [&](std::uint64_t word, std::uint64_t element) {
    const Bits sign = random_sign<F>(word);
    if ((node + element) % pitch != 0) return static_cast<Bits>(sign | F::one);
    const bool low = (word >> 62U & 1U) != 0;
    constexpr Bits place = static_cast<Bits>(Bits{1} << F::mantissa);
    if (reduction.values == Values::small) return static_cast<Bits>(sign | (low ? F::one - place : F::one + place));
    return static_cast<Bits>(sign | (low ? F::one - place : F::one) | (static_cast<Bits>(word) & F::fraction));
  });
}

/// Numbers of both signs, 2^-8 to 1, with all bits of the mantissa.
template <class F>
void fill_real(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t first) noexcept {
  using Bits = typename F::Bits;
  fill_each<F>(bytes, key, first, [](std::uint64_t word, std::uint64_t) {
    const auto exponent = static_cast<Bits>(static_cast<Bits>(F::bias + real_exponent) + static_cast<Bits>(word >> 60U & 7U));
    return static_cast<Bits>(random_sign<F>(word) | static_cast<Bits>(exponent << F::mantissa) | (static_cast<Bits>(word) & F::fraction));
  });
}

/// By the number of the element: zeros and denormals; zeros alone; finite numbers and infinities; and these with a NaN at about one node.
template <class F>
void fill_special(std::span<std::byte> bytes, NodeId nodes, std::uint64_t key, std::uint64_t first) noexcept {
  using Bits = typename F::Bits;
  fill_each<F>(bytes, key, first, [nodes](std::uint64_t word, std::uint64_t element) {
    const Bits sign = random_sign<F>(word);
    const auto fraction = static_cast<Bits>(word & F::fraction);
    const std::uint64_t choice = word >> 60U & 7U;
    switch (element % 4) {
      case 0: return static_cast<Bits>(sign | (choice < 2 ? Bits{0} : fraction));
      case 1: return sign;
      case 2: break;
      default:
        if ((word >> 32U) % std::max<NodeId>(nodes, 1) == 0) return static_cast<Bits>(sign | F::infinity | fraction | Bits{1});
    }
    if (choice == 0) return static_cast<Bits>(sign | F::infinity);
    return static_cast<Bits>(sign | static_cast<Bits>((word >> 52U) % (F::infinity >> F::mantissa) << F::mantissa) | fraction);
  });
}

template <class F, class Make>
void fill_floats(std::span<std::byte> bytes, const Reduction& reduction, NodeId nodes, std::uint64_t key, NodeId node, std::uint64_t first,
                 Make&& make) noexcept {
  if (reduction.op == Operator::prod) return fill_factors<F>(bytes, reduction, nodes, key, node, first);
  switch (reduction.values) {
    case Values::small: return fill_whole<typename F::Bits>(bytes, key, first, most_of(reduction, nodes, F::mantissa + 1), make);
    case Values::real: return fill_real<F>(bytes, key, first);
    case Values::special: return fill_special<F>(bytes, nodes, key, first);
  }
}

}  // namespace

void fill_contribution(std::span<std::byte> bytes, const Reduction& reduction, NodeId nodes, std::uint64_t seed, NodeId node,
                       std::uint64_t first) noexcept {
  const std::uint64_t key = stream_key(seed, node);
  switch (reduction.type) {
    case ElementType::f32:
      return fill_floats<Binary32>(bytes, reduction, nodes, key, node, first,
                                   [](std::int32_t value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); });
    case ElementType::f64:
      return fill_floats<Binary64>(bytes, reduction, nodes, key, node, first,
                                   [](std::int32_t value) { return std::bit_cast<std::uint64_t>(static_cast<double>(value)); });
    case ElementType::bf16:
      return fill_floats<BFloat16>(bytes, reduction, nodes, key, node, first,
                                   [](std::int32_t value) { return from_float<BFloat16>(static_cast<float>(value)); });
    case ElementType::f16:
      return fill_floats<Binary16>(bytes, reduction, nodes, key, node, first,
                                   [](std::int32_t value) { return from_float<Binary16>(static_cast<float>(value)); });
    default: return fill_integers(bytes, reduction, nodes, key, first);
  }
}

std::uint64_t contributor_key(std::uint64_t seed, NodeId node) noexcept {
  const std::uint64_t image[2] = {node, 0x7369676e61747572U};
  return XXH64(image, sizeof image, seed);
}

}  // namespace torus::detail
