#include <cstring>
#include <type_traits>

#include "runtime/model/contribution.hpp"
#include "runtime/model/floats.hpp"

namespace torus::detail {
namespace {

/// The combiner of elements T by F, a function of two of them. Itself the function that is called: g++ 12 forgets __restrict of functions
/// that it puts into others, and would make no vector instructions.
template <class T, class F>
void combine(std::byte* __restrict into, const std::byte* __restrict from, Bytes bytes) noexcept {
  // Read and written as bytes: what a slot holds is known here only. g++ 12 makes vector instructions of it, as its object files show, but
  // for minima, maxima and products of 64-bit integers, which SSE2 does not have.
  const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    a = F{}(a, b);
    std::memcpy(into + i * sizeof(T), &a, sizeof(T));
  }
}

template <Operator op>
struct Arithmetic {
  template <class T>
  T operator()(T a, T b) const noexcept {
    // Products of 16 bits would overflow an int.
    using Wide = typename std::conditional_t<std::is_floating_point_v<T>, std::type_identity<T>, std::common_type<T, unsigned>>::type;
    if constexpr (op == Operator::sum) return static_cast<T>(a + b);
    if constexpr (op == Operator::prod) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    if constexpr (op == Operator::min) return b < a ? b : a;
    if constexpr (op == Operator::max) return a < b ? b : a;
    if constexpr (op == Operator::exclusive_or) return static_cast<T>(a ^ b);
    if constexpr (op == Operator::bitwise_and) return static_cast<T>(a & b);
    if constexpr (op == Operator::bitwise_or) return static_cast<T>(a | b);
  }
};

template <class T>
Combiner combiner_for(Operator op) noexcept {
  // Sums and products wrap: of signed integers too, so that they are computed without a sign.
  using Wrapping = typename std::conditional_t<std::is_floating_point_v<T>, std::type_identity<T>, std::make_unsigned<T>>::type;
  switch (op) {
    case Operator::average:
    case Operator::sum: return combine<Wrapping, Arithmetic<Operator::sum>>;
    case Operator::prod: return combine<Wrapping, Arithmetic<Operator::prod>>;
    case Operator::min: return combine<T, Arithmetic<Operator::min>>;
    case Operator::max: return combine<T, Arithmetic<Operator::max>>;
    default: break;
  }
  if constexpr (!std::is_floating_point_v<T>) {
    if (op == Operator::exclusive_or) return combine<Wrapping, Arithmetic<Operator::exclusive_or>>;
    if (op == Operator::bitwise_and) return combine<Wrapping, Arithmetic<Operator::bitwise_and>>;
    if (op == Operator::bitwise_or) return combine<Wrapping, Arithmetic<Operator::bitwise_or>>;
  }
  return nullptr;
}

/// Sums and products of the short formats. Those of f32 have more than twice their digits, so that rounding twice gives what rounding once
/// would.
template <class F, Operator op>
struct InF32 {
  std::uint16_t operator()(std::uint16_t a, std::uint16_t b) const noexcept {
    return from_float<F>(Arithmetic<op>{}(to_float<F>(a), to_float<F>(b)));
  }
};

/// Minima and maxima by the order of the numbers' bits: -0 is below +0, and denormals are kept.
template <class F, Operator op, bool with_nans>
struct Ordered {
  using Signed = typename F::SignedBits;
  static constexpr auto magnitude = static_cast<Signed>(F::magnitude);

  /// Ascending as integers; the same change leads back.
  static Signed key(Signed x) noexcept { return static_cast<Signed>(x ^ ((x >> (8 * sizeof(x) - 1)) & magnitude)); }

  Signed operator()(Signed a, Signed b) const noexcept {
    const Signed found = key(Arithmetic<op>{}(key(a), key(b)));
    if constexpr (!with_nans) return found;
    const auto larger = Arithmetic<Operator::max>{}(static_cast<Signed>(a & magnitude), static_cast<Signed>(b & magnitude));
    return larger > static_cast<Signed>(F::infinity) ? static_cast<Signed>(F::quiet_nan) : found;
  }
};

template <class F, bool with_nans>
Combiner ordered(Operator op) noexcept {
  if (op == Operator::min) return combine<typename F::SignedBits, Ordered<F, Operator::min, with_nans>>;
  return combine<typename F::SignedBits, Ordered<F, Operator::max, with_nans>>;
}

template <class F>
Combiner combiner_for_short(Operator op) noexcept {
  if (adds_up(op)) return combine<std::uint16_t, InF32<F, Operator::sum>>;
  if (op == Operator::prod) return combine<std::uint16_t, InF32<F, Operator::prod>>;
  return ordered<F, false>(op);
}

/// The divider of elements T by F, a function of an element and a number.
template <class T, class F>
void divide(std::byte* elements, Bytes bytes, NodeId by) noexcept {
  for (std::byte* at = elements; at != elements + bytes; at += sizeof(T)) {
    T value;
    std::memcpy(&value, at, sizeof value);
    value = F{}(value, by);
    std::memcpy(at, &value, sizeof value);
  }
}

/// In 64 bits: the divisor may be no number of the type.
template <class T>
struct Quotient {
  using Wide = typename std::conditional_t<
      std::is_floating_point_v<T>, std::type_identity<double>,
      std::conditional_t<std::is_signed_v<T>, std::type_identity<std::int64_t>, std::type_identity<std::uint64_t>>>::type;
  T operator()(T value, NodeId by) const noexcept { return static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(by)); }
};

template <class F>
struct ShortQuotient {
  std::uint16_t operator()(std::uint16_t value, NodeId by) const noexcept {
    return from_float<F>(Quotient<float>{}(to_float<F>(value), by));
  }
};

template <class T>
constexpr Divider divider = divide<T, Quotient<T>>;

/// Special values meet min and max alone.
Combiner special_combiner(const Reduction& reduction) noexcept {
  switch (reduction.type) {
    case ElementType::f32: return ordered<Binary32, true>(reduction.op);
    case ElementType::f64: return ordered<Binary64, true>(reduction.op);
    case ElementType::bf16: return ordered<BFloat16, true>(reduction.op);
    default: return ordered<Binary16, true>(reduction.op);
  }
}

}  // namespace

Combiner combiner_of(const Reduction& reduction) noexcept {
  if (reduction.values == Values::special) return special_combiner(reduction);
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
    case ElementType::bf16: return combiner_for_short<BFloat16>(reduction.op);
    case ElementType::f16: return combiner_for_short<Binary16>(reduction.op);
  }
  return nullptr;
}

Divider divider_of(const Reduction& reduction) noexcept {
  if (reduction.op != Operator::average) return nullptr;
  switch (reduction.type) {
    case ElementType::u8: return divider<std::uint8_t>;
    case ElementType::u16: return divider<std::uint16_t>;
    case ElementType::u32: return divider<std::uint32_t>;
    case ElementType::u64: return divider<std::uint64_t>;
    case ElementType::i8: return divider<std::int8_t>;
    case ElementType::i16: return divider<std::int16_t>;
    case ElementType::i32: return divider<std::int32_t>;
    case ElementType::i64: return divider<std::int64_t>;
    case ElementType::f32: return divider<float>;
    case ElementType::f64: return divider<double>;
    case ElementType::bf16: return divide<std::uint16_t, ShortQuotient<BFloat16>>;
    case ElementType::f16: return divide<std::uint16_t, ShortQuotient<Binary16>>;
  }
  return nullptr;
}

}  // namespace torus::detail
