/// JSON as the command writes it: objects in the order in which members are set. nlohmann's library does the work, behind this header.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace torus::command {

/// A JSON value. A default one is null.
class Json {
 public:
  using Member = std::pair<std::string_view, Json>;
  class Place;

  Json();
  Json(bool value);
  Json(double value);
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  template <std::integral T>
  Json(T value) : Json(whole(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(value))) {}
  template <class T>
  Json(const std::vector<T>& list) : Json(array()) {
    for (const T& element : list) push_back(element);
  }
  /// An object.
  Json(std::initializer_list<Member> members);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json array();
  static Json object();
  /// Null where the text is no JSON.
  static Json parse(const std::string& text);

  /// A member to be set: null becomes an object. Valid until the next member is added.
  Place operator[](std::string_view key);
  /// Sets the members of another object.
  void update(const Json& members);
  void push_back(Json element);
  Place back();
  std::size_t size() const;

  /// A copy of a member, or of an element of an array; null where there is none.
  Json at(std::string_view key) const;
  Json at(std::size_t element) const;
  bool is_null() const;
  bool is_object() const;
  std::optional<double> number() const;     ///< none: it is no number
  std::optional<std::string> text() const;  ///< none: it is no string
  friend bool operator==(const Json& a, const Json& b);

  /// A scalar as a cell of CSV: a string without quotes, and nothing for null.
  std::string cell() const;
  /// The scalar members of an object, by name, as cells.
  std::vector<std::pair<std::string, std::string>> cells() const;
  /// One line. Throws where a string is not UTF-8.
  std::string dump() const;
  /// The same, with U+FFFD for what is not UTF-8.
  std::string dump_replacing() const;

 private:
  struct Value;
  explicit Json(Value value);
  static Json whole(std::int64_t value);
  static Json whole(std::uint64_t value);

  std::unique_ptr<Value> value_;
};

/// A member of an object that is being built.
class Json::Place {
 public:
  Place& operator=(Json value);
  Place operator[](std::string_view key);
  /// Null becomes an array.
  void push_back(Json element);
  Place back();
  std::size_t size() const;

 private:
  friend class Json;
  explicit Place(void* node) noexcept : node_{node} {}
  void* node_;  // nlohmann::ordered_json
};

}  // namespace torus::command
