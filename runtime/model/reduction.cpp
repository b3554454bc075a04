#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <torus/error.hpp>
#include <torus/reduction.hpp>

namespace torus {
namespace {

constexpr std::array<std::pair<Operator, std::string_view>, 8> operators{{
    {Operator::sum, "sum"},
    {Operator::min, "min"},
    {Operator::max, "max"},
    {Operator::exclusive_or, "xor"},
    {Operator::prod, "prod"},
    {Operator::bitwise_and, "and"},
    {Operator::bitwise_or, "or"},
    {Operator::average, "avg"},
}};
constexpr std::array<std::pair<Values, std::string_view>, 3> all_values{{
    {Values::small, "small"},
    {Values::real, "real"},
    {Values::special, "special"},
}};
constexpr std::array<std::pair<ElementType, std::string_view>, 12> types{{
    {ElementType::u8, "u8"},
    {ElementType::u16, "u16"},
    {ElementType::u32, "u32"},
    {ElementType::u64, "u64"},
    {ElementType::i8, "i8"},
    {ElementType::i16, "i16"},
    {ElementType::i32, "i32"},
    {ElementType::i64, "i64"},
    {ElementType::f32, "f32"},
    {ElementType::f64, "f64"},
    {ElementType::bf16, "bf16"},
    {ElementType::f16, "f16"},
}};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) noexcept {
  const auto at = std::find_if(names.begin(), names.end(), [value](const auto& each) { return each.first == value; });
  return at == names.end() ? std::string_view{} : at->second;
}

template <class Names>
auto value_in(const Names& names, std::string_view text, const char* what) {
  std::string all;
  for (const auto& [value, word] : names) {
    if (word == text) return value;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  throw InputError(std::string(what) + " '" + std::string(text) + "': it must be " + all);
}

/// The most nodes whose small contributions add up exactly in any order.
NodeId most_exact(ElementType type) noexcept {
  switch (type) {
    case ElementType::bf16: return 1U << 8U;
    case ElementType::f16: return 1U << 11U;
    case ElementType::f32: return 1U << 24U;
    default: return std::numeric_limits<NodeId>::max();
  }
}

const char* integer_like(ElementType type) noexcept { return size_of(type) == 2 ? "u16" : size_of(type) == 4 ? "u32" : "u64"; }

}  // namespace

Bytes size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8: return 1;
    case ElementType::u16:
    case ElementType::i16:
    case ElementType::bf16:
    case ElementType::f16: return 2;
    case ElementType::u32:
    case ElementType::i32:
    case ElementType::f32: return 4;
    case ElementType::u64:
    case ElementType::i64:
    case ElementType::f64: return 8;
  }
  return 1;
}

std::string_view name(Operator op) noexcept { return name_in(operators, op); }
std::string_view name(ElementType type) noexcept { return name_in(types, type); }
std::string_view name(Values values) noexcept { return name_in(all_values, values); }
Operator parse_operator(std::string_view text) { return value_in(operators, text, "operator"); }
ElementType parse_element_type(std::string_view text) { return value_in(types, text, "type"); }
Values parse_values(std::string_view text) { return value_in(all_values, text, "values"); }

void check_reduction(const Reduction& reduction, NodeId nodes, Bytes bytes) {
  const std::string type(name(reduction.type)), op(name(reduction.op));
  const bool chooses = reduction.op == Operator::min || reduction.op == Operator::max;
  if (is_bitwise(reduction.op) && is_float(reduction.type))
    throw InputError("operator " + op + " of " + type + ": it takes integers; " + integer_like(reduction.type) + " would do");
  if (reduction.values != Values::small && !is_float(reduction.type)) {
    const bool of_floats = !is_bitwise(reduction.op) && (reduction.values != Values::special || chooses);
    throw InputError("values " + std::string(name(reduction.values)) + " of " + type + ": they are floating-point numbers; " +
                     (!of_floats                     ? "values small"
                      : size_of(reduction.type) == 8 ? "f64"
                                                     : "f32") +
                     " would do");
  }
  if (reduction.values == Values::special && !chooses)
    throw InputError("values special with operator " + op + ": they are for min and max; values real would do");
  if (const Bytes size = size_of(reduction.type); bytes % size != 0) {
    const Bytes below = bytes / size * size, above = below + size;
    throw InputError("bytes " + std::to_string(bytes) + ": a vector of " + type + " has whole elements of " + std::to_string(size) +
                     " bytes; " + std::to_string(above >> 63U == 0 ? above : below) + " would do");
  }
  if (const NodeId most = most_exact(reduction.type);
      adds_up(reduction.op) && reduction.values == Values::small && is_float(reduction.type) && nodes > most) {
    throw InputError("type " + type + ": the sum of " + std::to_string(nodes) + " contributions is exact in any order for at most " +
                     std::to_string(most) + " nodes; " + (reduction.type == ElementType::f32 ? "f64" : "f32, or values real,") +
                     " would do");
  }
}

}  // namespace torus
