// SPDX-License-Identifier: MIT
#include "runtime/trace_reader.hpp"

#include "runtime/detail/digest.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>

#include "runtime/error.hpp"

namespace torus {
namespace {

using Json = nlohmann::json;

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
constexpr std::size_t longest_line = std::size_t{1} << 30;

/// The lines of a plain or compressed file.
class Lines {
 public:
  explicit Lines(const std::string& path) : name_{path == "-" ? "standard input" : path} {
    const int descriptor = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      throw InputError("trace '" + path + "': it cannot be read (" + std::strerror(errno) + "); name a file that `torus run --trace` wrote");
    }
    file_ = gzdopen(descriptor, "rb");
    if (file_ == nullptr) {
      ::close(descriptor);
      throw RunError("trace '" + path + "': no memory to read it");
    }
    gzbuffer(file_, static_cast<unsigned>(chunk_bytes));
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { gzclose(file_); }

  /// The next line without its end; none at the end of the file. Valid until the next call.
  std::optional<std::string_view> next() {
    std::size_t searched = first_;
    while (true) {
      const std::size_t end = std::string_view(buffer_).find('\n', searched);
      if (end != std::string_view::npos) {
        const std::string_view line = std::string_view(buffer_).substr(first_, end - first_);
        first_ = end + 1;
        ++number_;
        return line;
      }
      searched = buffer_.size();
      if (ended_) break;
      if (searched - first_ > longest_line) {
        ++number_;
        refuse("it is longer than 1 GiB; end each message with a line feed");
      }
      searched -= first_;
      buffer_.erase(0, first_);
      first_ = 0;
      more();
    }
    if (first_ == buffer_.size()) return std::nullopt;
    const std::string_view line = std::string_view(buffer_).substr(first_);
    first_ = buffer_.size();
    ++number_;
    return line;
  }

  std::uint64_t number() const noexcept { return number_; }
  [[noreturn]] void refuse(const std::string& why) const { 
    throw InputError("trace " + name_ + " line " + std::to_string(std::max<std::uint64_t>(number_, 1)) + ": " + why);
  }

 private:
  void more() {
    const std::size_t filled = buffer_.size();
    buffer_.resize(filled + chunk_bytes);
    const int read = gzread(file_, buffer_.data() + filled, static_cast<unsigned>(chunk_bytes));
    buffer_.resize(filled + static_cast<std::size_t>(std::max(read, 0)));
    int error = Z_OK;
    const char* const words = gzerror(file_, &error);
    if (read < 0 || error == Z_BUF_ERROR || error == Z_DATA_ERROR) {
      ++number_;
      if (error == Z_BUF_ERROR) refuse("the compressed file ends too early; write it again");
      refuse(error == Z_ERRNO ? std::string("reading failed (") + std::strerror(errno) + "); name a trace file"
                              : std::string("the compressed file is damaged (") + words + "); write it again");
    }
    ended_ = read == 0;
  }

  std::string name_;
  gzFile file_ = nullptr;
  std::string buffer_;
  std::size_t first_ = 0;
  bool ended_ = false;
  std::uint64_t number_ = 0;
};

/// Fills a TraceMessage from the events of the parser, so that no tree is built for a line.
class MessageHandler : public nlohmann::json_sax<Json> {
 public:
  MessageHandler(TraceMessage& message, const Topology& topology) : message_{message}, topology_{topology} {
    message_.path.clear();
    message_.blocks.clear();
  }

  /// What is wrong with the line; empty if nothing is.
  std::string why;

  bool complete() {
    for (const Key k : {Key::step, Key::src, Key::dst, Key::path, Key::bytes, Key::blocks}) {
      if (!seen(k)) return wrong(std::string("'") + words(k) + "' is missing; a message has step, src, dst, path, bytes and blocks");
    }
    return true;
  }

  bool null() override { return other("null"); }
  bool boolean(bool value) override { return other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override {
    if (unknown()) return true;
    if (key_ == Key::path && depth_ == 3) return leg_value(value);
    return wrong(std::string("'") + words(key_) + "' is " + std::to_string(value) + "; it must not be negative");
  }
  bool number_unsigned(std::uint64_t value) override {
    if (unknown()) return true;
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
      case Key::path:
        if (depth_ != 3) return misplaced();
        return leg_value(static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max())));
      case Key::none: break;
    }
    return true;
  }
  bool number_float(double, const std::string& text) override { return other(text); }
  bool string(std::string& text) override { return other("\"" + text + "\""); }
  bool binary(Json::binary_t&) override { return other("binary"); }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == 1) return true;
    return unknown() || misplaced();
  }
  bool key(std::string& text) override {
    if (depth_ != 1) return true;
    key_ = Key::none;
    for (const Key k : {Key::step, Key::src, Key::dst, Key::path, Key::bytes, Key::blocks}) {
      if (text == words(k) || (k == Key::blocks && text == "items")) key_ = k;
    }
    if (key_ == Key::none) return true;
    if (seen(key_)) return wrong("'" + text + "' stands there twice; give it once");
    seen_ |= 1U << static_cast<unsigned>(key_);
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++depth_;
    if (depth_ == 1) return wrong("it is a list; a message is an object {\"step\":..}");
    if (unknown() || (depth_ == 2 && (key_ == Key::blocks || key_ == Key::path))) return true;
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
  enum class Key : unsigned { none, step, src, dst, path, bytes, blocks };

  static const char* words(Key key) noexcept {
    switch (key) {
      case Key::step: return "step";
      case Key::src: return "src";
      case Key::dst: return "dst";
      case Key::path: return "path";
      case Key::bytes: return "bytes";
      case Key::blocks: return "blocks";
      case Key::none: return "";
    }
    return "";
  }
  bool seen(Key key) const noexcept { return (seen_ >> static_cast<unsigned>(key) & 1U) != 0; }
  /// Inside a value that the format does not know, which is passed over.
  bool unknown() const noexcept { return key_ == Key::none && depth_ >= 1; }

  bool wrong(std::string text) {
    if (why.empty()) why = std::move(text);
    return false;
  }
  bool misplaced() {
    return wrong(std::string("'") + words(key_) + "' must be " +
                 (key_ == Key::path     ? "a list of [dimension, hops]"
                  : key_ == Key::blocks ? "a list of block ids"
                                        : "a whole number"));
  }
  bool other(const std::string& text) {
    if (unknown()) return true;
    if (depth_ == 0) return wrong("it is " + text.substr(0, 40) + "; a message is an object {\"step\":..}");
    return wrong(std::string("'") + words(key_) + "' holds " + text.substr(0, 40) + "; it must hold whole numbers");
  }
  bool rank(std::uint64_t value, std::uint64_t greatest, std::uint32_t& into) {
    if (value > greatest) {
      return wrong(std::string("'") + words(key_) + "' is " + std::to_string(value) + "; it must be 0 to " + std::to_string(greatest));
    }
    into = static_cast<std::uint32_t>(value);
    return true;
  }
  bool leg_value(std::int64_t value) {
    if (leg_values_ == 0) {
      if (value < 0 || value >= topology_.dimensions()) {
        return wrong("the path names dimension " + std::to_string(value) + "; it must be 0 to " + std::to_string(topology_.dimensions() - 1));
      }
      message_.path.push_back({static_cast<Dimension>(value), 0});
    } else if (leg_values_ == 1) {
      // One less than the type's own range, so that a sign can be turned.
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
      if (value < -most || value > most) return wrong("the path has a leg of " + std::to_string(value) + " hops; no dimension is that long");
      message_.path.back().hops = static_cast<std::int32_t>(value);
    }
    ++leg_values_;
    return true;
  }

  TraceMessage& message_;
  const Topology& topology_;
  Key key_ = Key::none;
  unsigned seen_ = 0;
  int depth_ = 0;
  int leg_values_ = 0;
};

/// Reads the header's object; `lines` says where it stands when it is wrong.
class HeaderParser {
 public:
  HeaderParser(const Lines& lines, std::string_view line) : lines_{lines} {
    json_ = Json::parse(line.begin(), line.end(), nullptr, false);
    if (json_.is_discarded()) lines_.refuse("the header is no JSON; the first line must be {\"format\":\"torus-trace\",\"version\":1,..}");
    if (!json_.is_object()) lines_.refuse("the header is no JSON object; the first line must be {\"format\":\"torus-trace\",\"version\":1,..}");
  }

  TraceHeader header() {
    if (word("format", "") != "torus-trace") lines_.refuse("the header's 'format' must be \"torus-trace\"");
    if (whole("version", 0, std::numeric_limits<std::uint64_t>::max()) != 1) lines_.refuse("the header's 'version' must be 1");
    TraceHeader header{machine(), word("collective", ""), {}, 1, 0, {}, 0};
    const Topology& topology = header.machine.topology;
    static constexpr std::string_view collectives[] = {"broadcast", "multinode-broadcast", "total-exchange", "scatter", "gather", "allgather"};
    if (std::find(std::begin(collectives), std::end(collectives), header.collective) == std::end(collectives)) {
      lines_.refuse("the header's 'collective' is '" + header.collective +
                    "'; it must be broadcast, multinode-broadcast, total-exchange, scatter, gather or allgather");
    }
    if (json_.contains("sources")) {
      for (const std::uint64_t source : list("sources", topology.nodes() - 1)) header.sources.push_back(static_cast<NodeId>(source));
      std::sort(header.sources.begin(), header.sources.end());
      if (std::adjacent_find(header.sources.begin(), header.sources.end()) != header.sources.end()) {
        lines_.refuse("the header's 'sources' name a node twice; name each once");
      }
    } else {
      header.sources.resize(topology.nodes());
      std::iota(header.sources.begin(), header.sources.end(), 0);
    }
    const bool rooted = header.collective == "scatter" || header.collective == "gather";
    if (rooted && header.sources.size() != 1) lines_.refuse("the header's 'sources' must name one root for a " + header.collective);
    header.segments = json_.contains("segments") ? static_cast<std::uint32_t>(whole("segments", 1, std::numeric_limits<std::int32_t>::max())) : 1;
    header.block_bytes = json_.contains("block_bytes") ? whole("block_bytes", 0, std::numeric_limits<std::uint64_t>::max()) : 0;
    header.algorithm = word("algorithm", "unknown");
    header.seed = json_.contains("seed") ? whole("seed", 0, std::numeric_limits<std::uint64_t>::max()) : 0;
    return header;
  }

 private:
  Machine machine() {
    try {
      const std::vector<std::uint64_t> extents = list("shape", std::numeric_limits<std::int32_t>::max());
      std::vector<DimensionShape> shape;
      for (const std::uint64_t n : extents) shape.push_back({static_cast<std::int32_t>(n), Wiring::ring});
      if (json_.contains("wrap")) read_wrap(shape);
      Topology topology(std::move(shape));
      // A node cannot use more ports than it has channels: more are as good as all.
      const std::uint64_t ports = std::min<std::uint64_t>(whole("ports", 1, std::numeric_limits<std::uint64_t>::max()),
                                                          static_cast<std::uint64_t>(topology.max_ports()));
      std::vector<Dimension> routing;
      if (json_.contains("routing")) {
        for (const std::uint64_t d : list("routing", max_dimensions)) routing.push_back(static_cast<Dimension>(d));
      }
      return Machine(std::move(topology), static_cast<int>(ports), parse_switching(word("switching", "")),
                     parse_contention(word("contention", "forbid")), std::move(routing));
    } catch (const InputError& error) {
      if (std::string_view(error.what()).find(" line 1: ") != std::string_view::npos) throw;
      lines_.refuse(std::string("the header's ") + error.what());
    }
  }

  void read_wrap(std::vector<DimensionShape>& shape) {
    const Json& wrap = json_["wrap"];
    if (!wrap.is_array() || wrap.size() != shape.size()) lines_.refuse("the header's 'wrap' must be a list with an entry for each dimension");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (wrap[d].is_boolean()) shape[d].wiring = wrap[d].get<bool>() ? Wiring::ring : Wiring::line;
      else if (wrap[d] == "complete") shape[d].wiring = Wiring::complete;
      else lines_.refuse("the header's 'wrap' must hold true, false or \"complete\"");
    }
  }

  std::string word(const char* key, const char* otherwise) {
    if (!json_.contains(key)) return otherwise;
    if (!json_[key].is_string()) lines_.refuse(std::string("the header's '") + key + "' must be a string");
    return json_[key].get<std::string>();
  }
  std::uint64_t whole(const char* key, std::uint64_t least, std::uint64_t most) {
    if (!json_.contains(key)) lines_.refuse(std::string("the header's '") + key + "' is missing; it must be a whole number");
    if (!json_[key].is_number_unsigned() || json_[key].get<std::uint64_t>() < least || json_[key].get<std::uint64_t>() > most) {
      lines_.refuse(std::string("the header's '") + key + "' must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return json_[key].get<std::uint64_t>();
  }
  std::vector<std::uint64_t> list(const char* key, std::uint64_t most) {
    const bool there = json_.contains(key) && json_[key].is_array();
    std::vector<std::uint64_t> values;
    if (there) {
      for (const Json& value : json_[key]) {
        if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most) values.push_back(value.get<std::uint64_t>());
      }
    }
    if (!there || values.size() != json_[key].size()) {
      lines_.refuse(std::string("the header's '") + key + "' must be a list of whole numbers from 0 to " + std::to_string(most));
    }
    return values;
  }

  const Lines& lines_;
  Json json_;
};

}  // namespace

class TraceReader::Source {
 public:
  explicit Source(const std::string& path) : lines{path}, header{read_header()} {}

  Lines lines;
  TraceHeader header;

 private:
  TraceHeader read_header() {
    const auto line = lines.next();
    if (!line) lines.refuse("the file is empty; its first line must be {\"format\":\"torus-trace\",\"version\":1,..}");
    return HeaderParser(lines, *line).header();
  }
};

TraceReader::TraceReader(const std::string& path) : source_{std::make_unique<Source>(path)} {}
TraceReader::~TraceReader() = default;

const TraceHeader& TraceReader::header() const noexcept { return source_->header; }
std::uint64_t TraceReader::line() const noexcept { return source_->lines.number(); }

bool TraceReader::next(TraceMessage& message) {
  const auto line = source_->lines.next();
  if (!line) return false;
  MessageHandler handler(message, source_->header.machine.topology);
  if (!Json::sax_parse(line->begin(), line->end(), &handler) || !handler.complete()) source_->lines.refuse(handler.why);
  return true;
}

std::uint64_t message_digest(const TraceMessage& message) {
  const auto legs = static_cast<std::size_t>(std::count_if(message.path.begin(), message.path.end(), [](const Leg& leg) { return leg.hops != 0; }));
  std::vector<std::uint64_t> image(2 + message.blocks.size() + legs);
  const std::uint32_t first[2] = {message.step, message.source};
  std::memcpy(image.data(), first, 8);
  image[1] = message.bytes;
  std::copy(message.blocks.begin(), message.blocks.end(), image.begin() + 2);
  std::size_t at = 2 + message.blocks.size();
  for (const Leg& leg : message.path) {
    if (leg.hops != 0) std::memcpy(&image[at++], &leg, sizeof leg);
  }
  return detail::digest_of_image(image.data(), message.blocks.size(), legs);
}

}  // namespace torus
