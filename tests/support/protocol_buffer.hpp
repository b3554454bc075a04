/// Protocol buffers, read by the rules of their encoding alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace torus::support {

/// A number, or bytes: of a number the bytes are empty.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string bytes;
};

inline std::vector<Field> fields_of(const std::string& message) {
  std::vector<Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == message.size() || shift == 70) throw std::runtime_error("a number that does not end");
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const std::uint64_t tag = varint();
    Field field{tag >> 3U, 0, {}};
    REQUIRE(((tag & 7U) == 0 || (tag & 7U) == 2));
    if ((tag & 7U) == 0) {
      field.value = varint();
    } else {
      const std::uint64_t length = varint();
      REQUIRE(length <= message.size() - at);
      field.bytes = message.substr(at, length);
      at += length;
    }
    fields.push_back(field);
  }
  return fields;
}

inline std::optional<Field> field_of(const std::vector<Field>& fields, std::uint64_t number) {
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.number == number; });
  return at == fields.end() ? std::nullopt : std::optional(*at);
}

}  // namespace torus::support
