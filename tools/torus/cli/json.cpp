#include "tools/torus/cli/json.hpp"

#include <nlohmann/json.hpp>

namespace torus::command {
namespace {

nlohmann::ordered_json& json_of(void* node) noexcept { return *static_cast<nlohmann::ordered_json*>(node); }

}  // namespace

struct Json::Value {
  nlohmann::ordered_json json;
};

Json::Json(Value value) : value_{std::make_unique<Value>(std::move(value))} {}
Json::Json() : Json(Value{}) {}
Json::Json(bool value) : Json(Value{value}) {}
Json::Json(double value) : Json(Value{value}) {}
Json::Json(std::string_view text) : Json(Value{text}) {}
Json Json::whole(std::int64_t value) { return Json(Value{value}); }
Json Json::whole(std::uint64_t value) { return Json(Value{value}); }
Json Json::array() { return Json(Value{nlohmann::ordered_json::array()}); }
Json Json::object() { return Json(Value{nlohmann::ordered_json::object()}); }
Json::Json(std::initializer_list<Member> members) : Json(Value{nlohmann::ordered_json::object()}) {
  for (const auto& [key, value] : members) value_->json[std::string(key)] = value.value_->json;
}
Json::Json(const Json& other) : Json(Value{other.value_->json}) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_.swap(other.value_);
  return *this;
}
Json::~Json() = default;

Json Json::parse(const std::string& text) {
  Value value{nlohmann::ordered_json::parse(text, nullptr, false)};
  return value.json.is_discarded() ? Json() : Json(std::move(value));
}

Json::Place Json::operator[](std::string_view key) { return Place(&value_->json[std::string(key)]); }
void Json::update(const Json& members) { value_->json.update(members.value_->json); }
void Json::push_back(Json element) { value_->json.push_back(std::move(element.value_->json)); }
Json::Place Json::back() { return Place(&value_->json.back()); }
std::size_t Json::size() const { return value_->json.size(); }

Json Json::at(std::string_view key) const {
  const auto member = value_->json.find(std::string(key));
  return member == value_->json.end() ? Json() : Json(Value{*member});
}

Json Json::at(std::size_t element) const {
  return value_->json.is_array() && element < size() ? Json(Value{value_->json[element]}) : Json();
}

bool Json::is_null() const { return value_->json.is_null(); }
bool Json::is_object() const { return value_->json.is_object(); }

std::optional<double> Json::number() const { return value_->json.is_number() ? std::optional(value_->json.get<double>()) : std::nullopt; }

std::optional<std::string> Json::text() const {
  return value_->json.is_string() ? std::optional(value_->json.get<std::string>()) : std::nullopt;
}

bool operator==(const Json& a, const Json& b) { return a.value_->json == b.value_->json; }

std::string Json::cell() const { return is_null() ? "" : text() ? *text() : dump(); }

std::vector<std::pair<std::string, std::string>> Json::cells() const {
  std::vector<std::pair<std::string, std::string>> cells;
  for (const auto& [key, value] : value_->json.items()) {
    if (!value.is_structured()) cells.emplace_back(key, Json(Value{value}).cell());
  }
  return cells;
}

std::string Json::dump() const { return value_->json.dump(); }
std::string Json::dump_replacing() const { return value_->json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

Json::Place& Json::Place::operator=(Json value) {
  json_of(node_) = std::move(value.value_->json);
  return *this;
}
Json::Place Json::Place::operator[](std::string_view key) { return Place(&json_of(node_)[std::string(key)]); }
void Json::Place::push_back(Json element) { json_of(node_).push_back(std::move(element.value_->json)); }
Json::Place Json::Place::back() { return Place(&json_of(node_).back()); }
std::size_t Json::Place::size() const { return json_of(node_).size(); }

}  // namespace torus::command
