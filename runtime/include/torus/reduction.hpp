/// Reductions: how the nodes' contributions to a vector are combined.
#pragma once

#include <cstdint>
#include <string_view>

#include <torus/machine.hpp>

namespace torus {

enum class Operator : std::uint8_t { sum, min, max, exclusive_or };
enum class ElementType : std::uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f32, f64 };

/// The operator and the type of the elements. Integers wrap. Floating-point contributions are small whole numbers, so that their sums are
/// exact in any order.
struct Reduction {
  Operator op = Operator::sum;
  ElementType type = ElementType::f32;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// Bytes of an element.
Bytes size_of(ElementType type) noexcept;
constexpr bool is_float(ElementType type) noexcept { return type == ElementType::f32 || type == ElementType::f64; }

std::string_view name(Operator op) noexcept;       ///< "sum", "min", "max", "xor"
std::string_view name(ElementType type) noexcept;  ///< "u8", .., "f64"
/// Throw InputError on other words.
Operator parse_operator(std::string_view text);
ElementType parse_element_type(std::string_view text);

/// Throws InputError if the elements have no such operator, if the sum of all contributions would not be exact, or if the vector is no
/// whole number of elements.
void check_reduction(const Reduction& reduction, NodeId nodes, Bytes bytes);

}  // namespace torus
