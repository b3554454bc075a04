/// Reductions: how the nodes' contributions to a vector are combined. [values.md](../../values.md) says what each operator gives.
#pragma once

#include <cstdint>
#include <string_view>

#include <torus/machine.hpp>

namespace torus {

/// bitwise_and, bitwise_or, exclusive_or: bit by bit, of integers. average: what moves are sums; each node divides its results once, when
/// the run has ended.
enum class Operator : std::uint8_t { sum, min, max, exclusive_or, prod, bitwise_and, bitwise_or, average };
/// f16: IEEE 754 binary16. bf16: the upper half of an f32.
enum class ElementType : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bf16, f16 };

/// What the nodes contribute.
///  small    integers of all bits; floating-point numbers that combine without rounding, so that the result is the same in any order
///  real     floating-point numbers of both signs with all bits of the mantissa: sums and products depend on the order
///  special  NaN, infinities, zeros of both signs and denormals among others: for min and max
enum class Values : std::uint8_t { small, real, special };

/// The operator, the type of the elements, and what is contributed. Integers wrap.
struct Reduction {
  Operator op = Operator::sum;
  ElementType type = ElementType::f32;
  Values values = Values::small;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// Bytes of an element.
Bytes size_of(ElementType type) noexcept;
constexpr bool is_float(ElementType type) noexcept {
  return type == ElementType::f32 || type == ElementType::f64 || type == ElementType::bf16 || type == ElementType::f16;
}
/// Whether the operator takes integers alone.
constexpr bool is_bitwise(Operator op) noexcept {
  return op == Operator::exclusive_or || op == Operator::bitwise_and || op == Operator::bitwise_or;
}
/// Whether contributions are added up.
constexpr bool adds_up(Operator op) noexcept { return op == Operator::sum || op == Operator::average; }
/// Whether the result depends on the order in which contributions are combined.
constexpr bool rounds(const Reduction& reduction) noexcept {
  return reduction.values == Values::real && (adds_up(reduction.op) || reduction.op == Operator::prod);
}

std::string_view name(Operator op) noexcept;       ///< "sum", "min", "max", "xor", "prod", "and", "or", "avg"
std::string_view name(ElementType type) noexcept;  ///< "u8", .., "f16"
std::string_view name(Values values) noexcept;     ///< "small", "real", "special"
/// Throw InputError on other words.
Operator parse_operator(std::string_view text);
ElementType parse_element_type(std::string_view text);
Values parse_values(std::string_view text);

/// Throws InputError if the elements have no such operator or no such values, if the sum of all small contributions would not be exact, or
/// if the vector is no whole number of elements.
void check_reduction(const Reduction& reduction, NodeId nodes, Bytes bytes);

}  // namespace torus
