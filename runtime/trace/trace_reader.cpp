#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <simdjson.h>
#include <string_view>
#include <utility>

#include <torus/error.hpp>
#include <torus/trace_reader.hpp>

#include "runtime/base/lines.hpp"
#include "runtime/model/digest.hpp"
#include "runtime/trace/trace_header.hpp"

namespace torus {
namespace {

using Json = nlohmann::json;
namespace ondemand = simdjson::ondemand;

enum class Key : unsigned { none, step, src, dst, path, bytes, blocks, combine, release, phase };

const char* words(Key key) noexcept {
  switch (key) {
    case Key::step: return "step";
    case Key::src: return "src";
    case Key::dst: return "dst";
    case Key::path: return "path";
    case Key::bytes: return "bytes";
    case Key::blocks: return "blocks";
    case Key::combine: return "combine";
    case Key::release: return "release";
    case Key::phase: return "phase";
    case Key::none: return "";
  }
  return "";
}

/// is(words): whether the key is written so.
template <class Is>
Key key_that(const Is& is) noexcept {
  for (const Key key : {Key::step, Key::src, Key::dst, Key::path, Key::bytes, Key::blocks, Key::combine, Key::release, Key::phase}) {
    if (is(words(key))) return key;
  }
  return is("items") ? Key::blocks : Key::none;
}

/// Which keys a line has had.
class Seen {
 public:
  /// False if it has been there before.
  bool add(Key key) noexcept {
    const unsigned before = std::exchange(keys_, keys_ | bit(key));
    return before != keys_;
  }
  /// A key that every message has and this line has not.
  Key missing() const noexcept {
    for (const Key key : {Key::step, Key::src, Key::dst, Key::path, Key::bytes, Key::blocks}) {
      if ((keys_ & bit(key)) == 0) return key;
    }
    return Key::none;
  }

 private:
  static unsigned bit(Key key) noexcept { return 1U << static_cast<unsigned>(key); }
  unsigned keys_ = 0;
};

bool blank(std::string_view line) noexcept { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

void clear(TraceMessage& message) {
  message.path.clear();
  message.blocks.clear();
  message.registers = 0;
  message.releases = false;
  message.phase.clear();
}

/// Parses a line that is as most are: known keys, each once, with values of the usual kind. MessageHandler reads all others, or says what
/// is wrong with them.
class UsualLine {
 public:
  explicit UsualLine(const Topology& topology) : topology_{topology} {}

  /// line: with readable bytes behind it, see Lines. False if it is not of that kind; `message` may then hold parts of it.
  bool parse(std::string_view line, TraceMessage& message) {
    clear(message);
    ondemand::document document;
    ondemand::object object;
    if (parser_.iterate(line.data(), line.size(), line.size() + detail::Lines::readable_behind).get(document) != simdjson::SUCCESS)
      return false;
    if (document.get_object().get(object) != simdjson::SUCCESS) return false;
    Seen seen;
    for (auto field : object) {
      ondemand::raw_json_string text;
      ondemand::value value;
      if (field.key().get(text) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) return false;
      const Key key = key_that([&](const char* words) { return text.unsafe_is_equal(words); });
      if (!seen.add(key) || !take(key, value, message)) return false;
    }
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS && seen.missing() == Key::none;
  }

 private:
  bool take(Key key, ondemand::value value, TraceMessage& message) {
    switch (key) {
      case Key::step: return number(value, std::numeric_limits<Step>::max() - 1, message.step);
      case Key::src: return number(value, topology_.nodes() - 1, message.source);
      case Key::dst: return number(value, topology_.nodes() - 1, message.destination);
      case Key::path: return path(value, message.path);
      case Key::bytes: return value.get_uint64().get(message.bytes) == simdjson::SUCCESS;
      case Key::blocks:
        return each_of(value, [&](ondemand::value each) {
          std::uint64_t block = 0;
          if (each.get_uint64().get(block) != simdjson::SUCCESS) return false;
          message.blocks.push_back(block);
          return true;
        });
      case Key::release: return value.get_bool().get(message.releases) == simdjson::SUCCESS;
      case Key::combine: return registers(value, message.registers);
      case Key::phase: {
        std::string_view text;
        if (value.get_string().get(text) != simdjson::SUCCESS) return false;
        message.phase = text;
        return true;
      }
      case Key::none: break;
    }
    return false;
  }
  /// take: of an element; whether it is as most are.
  template <class Take>
  static bool each_of(ondemand::value value, const Take& take) {
    ondemand::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    for (auto each : array) {
      ondemand::value element;
      if (each.get(element) != simdjson::SUCCESS || !take(element)) return false;
    }
    return true;
  }
  static bool number(ondemand::value value, std::uint64_t max, std::uint32_t& into) {
    std::uint64_t number = 0;
    if (value.get_uint64().get(number) != simdjson::SUCCESS || number > max) return false;
    into = static_cast<std::uint32_t>(number);
    return true;
  }
  static bool registers(ondemand::value value, std::uint8_t& registers) {
    bool combines = false;
    if (value.get_bool().get(combines) == simdjson::SUCCESS) {
      registers = combines ? 1 : 0;
      return true;
    }
    return each_of(value, [&](ondemand::value each) {
      std::uint64_t number = 0;
      if (each.get_uint64().get(number) != simdjson::SUCCESS || number > 7 || (unsigned{registers} >> number & 1U) != 0) return false;
      registers |= static_cast<std::uint8_t>(1U << number);
      return true;
    });
  }
  bool path(ondemand::value value, std::vector<Leg>& path) const {
    return each_of(value, [&](ondemand::value leg) {
      std::int64_t values[2] = {};
      std::size_t count = 0;
      const bool whole = each_of(leg, [&](ondemand::value part) {  //
        return count < 2 && part.get_int64().get(values[count++]) == simdjson::SUCCESS;
      });
      const auto [dimension, hops] = values;
      constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
      if (!whole || count != 2 || dimension < 0 || dimension >= topology_.dimensions() || hops < -max || hops > max) return false;
      path.push_back({static_cast<Dimension>(dimension), static_cast<std::int32_t>(hops)});
      return true;
    });
  }

  const Topology& topology_;
  ondemand::parser parser_;
};

/// Fills a TraceMessage from the parser's events, without a JSON tree.
class MessageHandler : public nlohmann::json_sax<Json> {
 public:
  MessageHandler(TraceMessage& message, const Topology& topology) : message_{message}, topology_{topology} { clear(message_); }

  /// The first error in the line; empty if it is well formed.
  std::string why;

  bool complete() {
    const Key missing = seen_.missing();
    if (missing != Key::none)
      return wrong(std::string("'") + words(missing) + "' is missing; a message has step, src, dst, path, bytes and blocks");
    return true;
  }

  bool null() override { return other("null"); }
  bool boolean(bool value) override {
    if (depth_ == 1 && key_ == Key::combine) {
      message_.registers = value ? 1 : 0;
      return true;
    }
    if (depth_ == 1 && key_ == Key::release) {
      message_.releases = value;
      return true;
    }
    return other(value ? "true" : "false");
  }
  bool number_integer(std::int64_t value) override {
    if (key_ == Key::path && depth_ == 3) return leg_value(value);
    if (value == 0 || key_ == Key::phase) return number_unsigned(0);  // JSON's -0
    return wrong(std::string("'") + words(key_) + "' is " + std::to_string(value) + "; it must not be negative");
  }
  bool number_unsigned(std::uint64_t value) override {
    switch (key_) {
      case Key::step: return depth_ == 1 ? rank(value, std::numeric_limits<Step>::max() - 1, message_.step) : misplaced();
      case Key::src: return depth_ == 1 ? rank(value, topology_.nodes() - 1, message_.source) : misplaced();
      case Key::dst: return depth_ == 1 ? rank(value, topology_.nodes() - 1, message_.destination) : misplaced();
      case Key::bytes:
        if (depth_ != 1) return misplaced();
        message_.bytes = value;
        return true;
      case Key::blocks:
        if (depth_ != 2) return misplaced();
        message_.blocks.push_back(value);
        return true;
      case Key::combine:
        if (depth_ != 2 || value > 7 || (unsigned{message_.registers} >> value & 1U) != 0) return misplaced();
        message_.registers |= static_cast<std::uint8_t>(1U << value);
        return true;
      case Key::release: return misplaced();
      case Key::path:
        if (depth_ != 3) return misplaced();
        return leg_value(static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max())));
      case Key::phase: return misplaced();
      case Key::none: break;
    }
    return true;
  }
  bool number_float(double, const std::string& text) override { return other(text); }
  bool string(std::string& text) override {
    if (key_ != Key::phase || depth_ != 1) return other("\"" + text + "\"");
    message_.phase = text;
    return true;
  }
  bool binary(Json::binary_t&) override { return other("binary"); }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 1) return true;
    return misplaced();
  }
  bool key(std::string& text) override {
    if (depth_ != 1) return true;
    key_ = key_that([&](const char* words) { return text == words; });
    if (key_ == Key::none) {
      return wrong("'" + text.substr(0, 40) +
                   "' is not known; a message has step, src, dst, path, bytes and blocks, and may have combine, release and phase");
    }
    if (!seen_.add(key_)) return wrong("'" + text + "' stands there twice; give it once");
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 1) return wrong("it is a list; a message is an object {\"step\":..}");
    if (depth_ == 2 && (key_ == Key::blocks || key_ == Key::path || key_ == Key::combine)) return true;
    if (depth_ == 3 && key_ == Key::path) {
      leg_values_ = 0;
      return true;
    }
    return misplaced();
  }
  bool end_array() override {
    if (key_ == Key::path && depth_ == 3 && leg_values_ != 2) return wrong("a leg of the path must be [dimension, hops]");
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    return wrong("it is no JSON from column " + std::to_string(position) + " on; each line is one object");
  }

 private:
  bool wrong(std::string text) {
    if (why.empty()) why = std::move(text);
    return false;
  }
  bool misplaced() {
    return wrong(std::string("'") + words(key_) + "' must be " +
                 (key_ == Key::path      ? "a list of [dimension, hops]"
                  : key_ == Key::blocks  ? "a list of block ids"
                  : key_ == Key::combine ? "true, or a list of registers, each once, 0 to 7"
                  : key_ == Key::release ? "true or false"
                  : key_ == Key::phase   ? "a string"
                                         : "a whole number"));
  }
  bool other(const std::string& text) {
    if (depth_ == 0) return wrong("it is " + text.substr(0, 40) + "; a message is an object {\"step\":..}");
    if (key_ == Key::phase) return misplaced();
    return wrong(std::string("'") + words(key_) + "' holds " + text.substr(0, 40) + "; it must hold whole numbers");
  }
  bool rank(std::uint64_t value, std::uint64_t max, std::uint32_t& into) {
    if (value > max) {
      return wrong(std::string("'") + words(key_) + "' is " + std::to_string(value) + "; it must be 0 to " + std::to_string(max));
    }
    into = static_cast<std::uint32_t>(value);
    return true;
  }
  bool leg_value(std::int64_t value) {
    if (leg_values_ == 0) {
      if (value < 0 || value >= topology_.dimensions()) {
        return wrong("the path names dimension " + std::to_string(value) + "; it must be 0 to " +
                     std::to_string(topology_.dimensions() - 1));
      }
      message_.path.push_back({static_cast<Dimension>(value), 0});
    } else if (leg_values_ == 1) {
      // Without the type's minimum, whose negative does not fit.
      constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
      if (value < -max || value > max) return wrong("the path has a leg of " + std::to_string(value) + " hops; no dimension is that long");
      message_.path.back().hops = static_cast<std::int32_t>(value);
    }
    ++leg_values_;
    return true;
  }

  TraceMessage& message_;
  const Topology& topology_;
  Key key_ = Key::none;
  Seen seen_;
  int depth_ = 0;
  int leg_values_ = 0;
};

}  // namespace

class TraceReader::Source {
 public:
  explicit Source(const std::string& path) : lines{path, detail::Lines::trace}, header{read_header()}, usual{header.machine.topology} {}

  detail::Lines lines;
  TraceHeader header;
  UsualLine usual;

 private:
  TraceHeader read_header() {
    const auto line = lines.next();
    if (!line) lines.refuse("the file is empty; its first line must be {\"format\":\"torus-trace\",\"version\":1,..}");
    return detail::parse_trace_header(lines, *line);
  }
};

TraceReader::TraceReader(const std::string& path) : source_{std::make_unique<Source>(path)} {}
TraceReader::~TraceReader() = default;

const TraceHeader& TraceReader::header() const noexcept { return source_->header; }
std::uint64_t TraceReader::line() const noexcept { return source_->lines.number(); }
std::uint64_t TraceReader::bytes_read() const noexcept { return source_->lines.bytes_read(); }

void TraceMessage::assign(const Message& message) {
  step = message.step();
  source = message.source();
  destination = message.destination();
  path.assign(message.route().begin(), message.route().end());
  bytes = message.bytes();
  blocks.assign(message.blocks().begin(), message.blocks().end());
  registers = message.registers();
  releases = message.releases();
  phase.clear();
}

bool TraceReader::next(TraceMessage& message) {
  auto line = source_->lines.next();
  const std::uint64_t number = source_->lines.number();
  constexpr std::uint64_t most_blank = 1U << 20U;
  while (line && blank(*line)) {
    if (source_->lines.number() - number > most_blank) source_->lines.refuse("it is blank, as are the 2^20 before it; end the trace here");
    line = source_->lines.next();
  }
  if (!line) return false;
  if (source_->lines.number() > number)
    source_->lines.refuse(number, "it is blank, and messages follow; blank lines may stand at the end alone");
  if (!source_->usual.parse(*line, message)) {
    MessageHandler handler(message, source_->header.machine.topology);
    if (!Json::sax_parse(line->begin(), line->end(), &handler) || !handler.complete()) source_->lines.refuse(handler.why);
  }
  if ((message.registers != 0 || message.releases) && !detail::reduces(source_->header)) {
    source_->lines.refuse(std::string("'") + words(message.registers != 0 ? Key::combine : Key::release) +
                          "' is for reductions, and this is a trace of a " + source_->header.collective);
  }
  return true;
}

std::uint64_t message_digest(const TraceMessage& message) {
  const auto legs =
      static_cast<std::size_t>(std::count_if(message.path.begin(), message.path.end(), [](const Leg& leg) { return leg.hops != 0; }));
  // The image that digest.hpp describes, of 4-byte words.
  const Bytes bytes = message.bytes | Bytes{message.registers} << 56U | Bytes{message.releases} << 55U;
  const std::size_t words = 4 + 2 * legs + message.blocks.size() + message.blocks.size() % 2;
  std::array<std::uint32_t, 64> few;
  std::vector<std::uint32_t> many;
  if (words > few.size()) many.resize(words);
  std::uint32_t* const image = many.empty() ? few.data() : many.data();
  std::uint32_t* end = image;
  const auto push = [&end](std::uint64_t word) { *end++ = static_cast<std::uint32_t>(word); };
  for (const std::uint64_t word : {std::uint64_t{message.step}, std::uint64_t{message.source}, bytes, bytes >> 32U}) push(word);
  for (const Leg& leg : message.path) {
    if (leg.hops == 0) continue;
    push(static_cast<std::uint32_t>(leg.dimension));
    push(static_cast<std::uint32_t>(leg.hops));
  }
  for (const std::uint64_t id : message.blocks) push(id);
  if (message.blocks.size() % 2 == 1) push(0);
  return detail::digest_of_image(image, message.blocks.size(), legs);
}

}  // namespace torus
