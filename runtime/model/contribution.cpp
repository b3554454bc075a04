#include "runtime/model/contribution.hpp"

#define XXH_INLINE_ALL  // the header alone, no library to link
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <xxhash.h>

#include "runtime/base/words.hpp"

namespace torus::detail {
namespace {

std::uint64_t stream_key(std::uint64_t seed, NodeId node) noexcept {
  const std::uint64_t image[2] = {node, 0x636f6e7472696275U};
  return XXH64(image, sizeof image, seed);
}

/// Bytes [first, first + bytes.size()) of a node's stream.
void fill_stream(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t first) noexcept {
  if (bytes.empty()) return;  // there may be no address either
  std::byte* to = bytes.data();
  std::byte* const end = to + bytes.size();
  const auto part = [&](std::size_t count) {
    const std::uint64_t w = stream_word(key, first / 8) >> (8 * (first % 8));
    std::memcpy(to, &w, count);
    to += count;
    first += count;
  };
  if (first % 8 != 0) part(std::min<std::size_t>(8 - first % 8, static_cast<std::size_t>(end - to)));
  for (; end - to >= 8; to += 8, first += 8) {
    const std::uint64_t w = stream_word(key, first / 8);
    std::memcpy(to, &w, sizeof w);
  }
  if (to != end) part(static_cast<std::size_t>(end - to));
}

/// Whole numbers 0 .. most, each from a byte of the stream: a word of it makes eight.
template <class Float>
void fill_floats(std::span<std::byte> bytes, std::uint64_t key, std::uint64_t first, std::uint64_t most) noexcept {
  const auto factor = static_cast<std::uint32_t>(most + 1);
  std::byte* to = bytes.data();
  const auto part = [&](std::uint64_t at, std::size_t begin, std::size_t end) {
    const std::uint64_t word = stream_word(key, at);
    for (std::size_t i = begin; i < end; ++i, to += sizeof(Float)) {
      // Of a signed number: SSE2 converts no others.
      const auto value = static_cast<Float>(static_cast<std::int32_t>((word >> (8 * i) & 0xffU) * factor >> 8U));
      std::memcpy(to, &value, sizeof value);
    }
  };
  const std::uint64_t end = first + bytes.size() / sizeof(Float);
  if (first % 8 != 0) {
    const std::uint64_t next = std::min(end, first / 8 * 8 + 8);
    part(first / 8, first % 8, first % 8 + (next - first));
    first = next;
  }
  for (; end - first >= 8; first += 8) part(first / 8, 0, 8);
  if (first < end) part(first / 8, 0, end - first);
}

/// The greatest contribution such that the sum of all is a whole number below 2^digits.
std::uint64_t most_of(const Reduction& reduction, NodeId nodes, unsigned digits) noexcept {
  if (reduction.op != Operator::sum) return 255;
  return std::min<std::uint64_t>(255, (std::uint64_t{1} << digits) / std::max<NodeId>(nodes, 1));
}

template <class T, Operator op>
void combine(std::byte* __restrict into, const std::byte* __restrict from, Bytes bytes) noexcept {
  // Read and written as bytes: what a slot holds is known here only. g++ 12 makes vector instructions of it, as its object files show, but
  // for minima and maxima of 64-bit integers, which SSE2 does not compare.
  const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    if constexpr (op == Operator::sum) a = static_cast<T>(a + b);
    if constexpr (op == Operator::min) a = b < a ? b : a;
    if constexpr (op == Operator::max) a = a < b ? b : a;
    if constexpr (op == Operator::exclusive_or) a = static_cast<T>(a ^ b);
    std::memcpy(into + i * sizeof(T), &a, sizeof(T));
  }
}

template <class T>
Combiner combiner_for(Operator op) noexcept {
  // Sums wrap: of signed integers too, so that they are computed without a sign.
  using Wrapping = typename std::conditional_t<std::is_floating_point_v<T>, std::type_identity<T>, std::make_unsigned<T>>::type;
  switch (op) {
    case Operator::sum: return combine<Wrapping, Operator::sum>;
    case Operator::min: return combine<T, Operator::min>;
    case Operator::max: return combine<T, Operator::max>;
    case Operator::exclusive_or:
      if constexpr (!std::is_floating_point_v<T>) return combine<Wrapping, Operator::exclusive_or>;
      break;
  }
  return nullptr;
}

}  // namespace

void fill_contribution(std::span<std::byte> bytes, const Reduction& reduction, NodeId nodes, std::uint64_t seed, NodeId node,
                       std::uint64_t first) noexcept {
  const std::uint64_t key = stream_key(seed, node);
  switch (reduction.type) {
    case ElementType::f32: return fill_floats<float>(bytes, key, first, most_of(reduction, nodes, 24));
    case ElementType::f64: return fill_floats<double>(bytes, key, first, most_of(reduction, nodes, 53));
    default: return fill_stream(bytes, key, first * size_of(reduction.type));
  }
}

Combiner combiner_of(const Reduction& reduction) noexcept {
  switch (reduction.type) {
    case ElementType::u8: return combiner_for<std::uint8_t>(reduction.op);
    case ElementType::u16: return combiner_for<std::uint16_t>(reduction.op);
    case ElementType::u32: return combiner_for<std::uint32_t>(reduction.op);
    case ElementType::u64: return combiner_for<std::uint64_t>(reduction.op);
    case ElementType::i8: return combiner_for<std::int8_t>(reduction.op);
    case ElementType::i16: return combiner_for<std::int16_t>(reduction.op);
    case ElementType::i32: return combiner_for<std::int32_t>(reduction.op);
    case ElementType::i64: return combiner_for<std::int64_t>(reduction.op);
    case ElementType::f32: return combiner_for<float>(reduction.op);
    case ElementType::f64: return combiner_for<double>(reduction.op);
  }
  return nullptr;
}

std::uint64_t contributor_key(std::uint64_t seed, NodeId node) noexcept {
  const std::uint64_t image[2] = {node, 0x7369676e61747572U};
  return XXH64(image, sizeof image, seed);
}

}  // namespace torus::detail
