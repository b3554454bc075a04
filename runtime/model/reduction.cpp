#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <torus/error.hpp>
#include <torus/reduction.hpp>

namespace torus {
namespace {

constexpr std::array<std::pair<Operator, std::string_view>, 4> operators{{
    {Operator::sum, "sum"},
    {Operator::min, "min"},
    {Operator::max, "max"},
    {Operator::exclusive_or, "xor"},
}};
constexpr std::array<std::pair<ElementType, std::string_view>, 10> types{{
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
    all += (all.empty() ? "" : word == names.back().second ? " or " : ", ") + std::string(word);
  }
  throw InputError(std::string(what) + " '" + std::string(text) + "': it must be " + all);
}

}  // namespace

Bytes size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::u8:
    case ElementType::i8: return 1;
    case ElementType::u16:
    case ElementType::i16: return 2;
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
Operator parse_operator(std::string_view text) { return value_in(operators, text, "operator"); }
ElementType parse_element_type(std::string_view text) { return value_in(types, text, "type"); }

void check_reduction(const Reduction& reduction, NodeId nodes, Bytes bytes) {
  const std::string type(name(reduction.type));
  if (reduction.op == Operator::exclusive_or && is_float(reduction.type)) {
    throw InputError("operator xor of " + type + ": it takes integers; " + (reduction.type == ElementType::f32 ? "u32" : "u64") +
                     " would do");
  }
  if (const Bytes size = size_of(reduction.type); bytes % size != 0) {
    throw InputError("bytes " + std::to_string(bytes) + ": a vector of " + type + " has whole elements of " + std::to_string(size) +
                     " bytes; " + std::to_string((bytes / size + 1) * size) + " would do");
  }
  if (reduction.op == Operator::sum && reduction.type == ElementType::f32 && nodes > NodeId{1} << 24U) {
    throw InputError("type f32: the sum of " + std::to_string(nodes) +
                     " contributions is exact in any order for at most 16777216 nodes; f64 would do");
  }
}

}  // namespace torus
