/// JSON Schema, as much of it as tools/torus.schema.json uses.
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/json.hpp"

namespace torus::support {

/// Holds values against a schema. Throws std::runtime_error where the schema has a keyword that it does not know: it would hold nothing.
class Schema {
 public:
  explicit Schema(Json schema) : root_(std::move(schema)) {}  // in braces it would be the element of a list

  /// What of a value is not as the schema says, a line each; empty: nothing.
  std::vector<std::string> mistakes_of(const Json& value) const {
    std::vector<std::string> found;
    check(root_, value, "", found);
    return found;
  }

 private:
  static bool is_a(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::runtime_error("type " + type);
  }

  const Json& meant(const Json& schema) const {
    if (!schema.contains("$ref")) return schema;
    const std::string to = schema["$ref"], where = "#/$defs/";
    if (schema.size() != 1 || !to.starts_with(where)) throw std::runtime_error("$ref " + to);
    return root_.at("$defs").at(to.substr(where.size()));
  }

  void check(const Json& written, const Json& value, const std::string& at, std::vector<std::string>& found) const {
    const Json& schema = meant(written);
    for (const auto& [keyword, said] : schema.items()) {
      if (keyword == "type") {
        bool fits = false;
        for (const Json& type : said.is_array() ? said : Json::array({said})) fits = fits || is_a(value, type);
        if (!fits) found.push_back(at + ": " + value.dump().substr(0, 60) + " is no " + said.dump());
      } else if (keyword == "const") {
        if (value != said) found.push_back(at + ": " + value.dump().substr(0, 60) + " is not " + said.dump());
      } else if (keyword == "required") {
        for (const Json& name : said) {
          if (value.is_object() && !value.contains(name.get<std::string>())) found.push_back(at + " has no " + name.dump());
        }
      } else if (keyword == "properties" || keyword == "additionalProperties") {
        check_members(schema, value, at, found, keyword == "properties");
      } else if (keyword == "items") {
        for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) check(said, value[i], at + "/" + std::to_string(i), found);
      } else if (keyword == "anyOf") {
        check_any(said, value, at, found);
      } else if (static const std::set<std::string> words{"$schema", "$defs", "title", "description"}; !words.contains(keyword)) {
        throw std::runtime_error("keyword " + keyword);
      }
    }
  }

  /// Those that `properties` names, or the others.
  void check_members(const Json& schema, const Json& value, const std::string& at, std::vector<std::string>& found, bool named) const {
    if (!value.is_object()) return;
    static const Json none = Json::object();
    const Json& properties = schema.contains("properties") ? schema["properties"] : none;
    for (const auto& [name, member] : value.items()) {
      const bool known = properties.contains(name);
      if (known != named) continue;
      const Json& of = known ? properties[name] : schema["additionalProperties"];
      if (of.is_boolean() && !of.get<bool>()) found.push_back(at + " has " + name);
      if (of.is_object()) check(of, member, at + "/" + name, found);
    }
  }

  /// The mistakes against the schema that has fewest, if all have some.
  void check_any(const Json& schemas, const Json& value, const std::string& at, std::vector<std::string>& found) const {
    std::vector<std::string> fewest(1000);
    for (const Json& schema : schemas) {
      std::vector<std::string> mistakes;
      check(schema, value, at, mistakes);
      if (mistakes.size() < fewest.size()) fewest = std::move(mistakes);
    }
    found.insert(found.end(), fewest.begin(), fewest.end());
  }

  const Json root_;
};

}  // namespace torus::support
