/// nlohmann-json for the tests. What they all use of it is compiled once, in json.cpp: it takes longer than most of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

extern template class nlohmann::basic_json<>;

namespace torus::support {

using Json = nlohmann::json;

/// Throws nlohmann::json::parse_error where a text is no JSON.
Json parsed(const std::string& text);

}  // namespace torus::support
