#include "tools/torus/setting/notation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>
#include <utility>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"

namespace torus::command {
namespace {

/// Prefixes of sizes and rates. A prefix alone is binary, as benchmarks of MPI and NCCL have it; with B, as SI has it, decimal.
struct Prefix {
  char letter;
  double binary, decimal;
};
constexpr std::array<Prefix, 6> prefixes{
    {{'K', 0x1p10, 1e3}, {'M', 0x1p20, 1e6}, {'G', 0x1p30, 1e9}, {'T', 0x1p40, 1e12}, {'P', 0x1p50, 1e15}, {'E', 0x1p60, 1e18}}};

const Prefix* prefix_of(std::string_view unit) noexcept {
  if (unit.empty()) return nullptr;
  const char letter = unit[0] == 'k' ? 'K' : unit[0];
  const auto* const at = std::find_if(prefixes.begin(), prefixes.end(), [letter](const Prefix& p) { return p.letter == letter; });
  return at == prefixes.end() ? nullptr : at;
}

/// A number, and what stands behind it.
struct Quantity {
  double value;
  std::string_view digits, unit;
};
std::optional<Quantity> quantity_of(std::string_view text) noexcept {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Not inf and nan, which from_chars reads too.
  if (error != std::errc{} || text.find_first_of("0123456789") != 0) return std::nullopt;
  const auto length = static_cast<std::size_t>(end - text.data());
  return Quantity{value, text.substr(0, length), text.substr(length)};
}

/// Bytes in a unit of sizes; 0 if it is none.
double bytes_in(std::string_view unit) noexcept {
  if (unit.empty() || unit == "B") return 1;
  const Prefix* const prefix = prefix_of(unit);
  if (prefix == nullptr) return 0;
  const std::string_view rest = unit.substr(1);
  return rest.empty() || rest == "iB" ? prefix->binary : rest == "B" ? prefix->decimal : 0;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Distance between words in insertions, deletions, replacements and swaps of neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// The most sizes of a range by steps: a typing mistake in the step must not fill the memory.
constexpr Bytes most_sizes = 1U << 16U;

/// `A:B`, `A:B:xF` or `A:B:+S`.
std::vector<Bytes> size_range(std::string_view option, std::string_view text) {
  const auto parts = split(text, ':');
  const auto refuse = [&](std::string_view rule) {
    throw InputError(fmt::format("{} '{}': {}; for instance 1KiB:16MiB, 1KiB:16MiB:x2 or 1KiB:16KiB:+1KiB", option, text, rule));
  };
  if (parts.size() > 3) refuse("a range of sizes has two ends and at most a factor or a step");
  const Bytes first = parse_bytes(option, parts[0]);
  const Bytes last = parse_bytes(option, parts[1]);
  if (first < 1 || first >= last) refuse("a range of sizes goes up, from 1 or more");
  std::uint64_t factor = 4;
  Bytes step = 0;
  if (parts.size() == 3 && parts[2].starts_with('+')) {
    factor = 1;
    step = parse_bytes(option, parts[2].substr(1));
    if (step < 1) refuse("the step of a range is 1 or more");
    if ((last - first) / step >= most_sizes) refuse("a range by steps has at most 65536 sizes");
  } else if (parts.size() == 3) {
    if (!parts[2].starts_with('x')) refuse("a range goes on by x and a whole number, or by + and a size");
    factor = whole_number(parts[2].substr(1)).value_or(0);
    if (factor < 2 || factor > 1U << 20U) refuse("the factor of a range is a whole number from 2 to 1048576");
  }
  std::vector<Bytes> sizes;
  for (Bytes size = first; size < last; size = size * factor + step) {
    sizes.push_back(size);
    if (size > (last - step) / factor) break;
  }
  sizes.push_back(last);
  return sizes;
}

}  // namespace

void refuse(std::string_view option, std::string_view text, std::string_view rule) {
  throw InputError(fmt::format("{} '{}': {}", option, text, rule));
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> whole_number(std::string_view text) noexcept { return number_of<std::uint64_t>(text); }
std::optional<double> real_number(std::string_view text) noexcept { return number_of<double>(text); }

std::string decimal_comma(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t comma = text.find_first_not_of(digits);
  if (comma == 0 || comma >= text.size() || text[comma] != ',') return "";
  const std::string_view behind = text.substr(comma + 1);
  if (digits.find(behind.substr(0, 1)) == std::string_view::npos || behind.empty() || behind.find(',') != std::string_view::npos) return "";
  return fmt::format("; a decimal has a point: {}.{}", text.substr(0, comma), behind);
}

Bytes parse_bytes(std::string_view option, std::string_view text) {
  if (const auto size = quantity_of(text)) {
    const double unit = bytes_in(size->unit);
    const auto whole = whole_number(size->digits);
    if (unit > 0 && whole && *whole <= std::numeric_limits<std::int64_t>::max() / static_cast<Bytes>(unit))
      return *whole * static_cast<Bytes>(unit);
    const double bytes = size->value * unit;
    if (unit > 0 && !whole && bytes < 0x1p53 && bytes == std::floor(bytes)) return static_cast<Bytes>(bytes);
  }
  refuse(
      option, text,
      "a size is a whole number of bytes below 2^63; for instance 64, 4KiB or 4K (4096), 4KB (4000), 1.5MiB or 1e6" + decimal_comma(text));
}

std::string bytes_option(Bytes bytes) {
  for (auto prefix = prefixes.rbegin(); prefix != prefixes.rend(); ++prefix) {
    const auto size = static_cast<Bytes>(prefix->binary);
    if (bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + prefix->letter + "iB";
  }
  return std::to_string(bytes);
}

std::string bytes_words(Bytes bytes) {
  const std::string text = bytes_option(bytes);
  return text.back() == 'B' ? text : text + (bytes == 1 ? " byte" : " bytes");
}

std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto value = whole_number(text);
  if (value && *value >= min && *value <= max) return *value;
  refuse(option, text,
         fmt::format("it must be a whole number from {} to {}; for instance {}", min, max, std::clamp<std::uint64_t>(1, min, max)));
}

double parse_real(std::string_view option, std::string_view text, double min, double max, std::string_view example) {
  const auto value = real_number(text);
  if (value && *value >= min && *value <= max) return *value;
  refuse(option, text, fmt::format("it must be a number from {} to {}; for instance {}{}", min, max, example, decimal_comma(text)));
}

double parse_seconds(std::string_view option, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> units{
      {{"", ""}, {"s", ""}, {"ms", "e-3"}, {"us", "e-6"}, {"ns", "e-9"}, {"ps", "e-12"}}};
  if (const auto time = quantity_of(text)) {
    for (const auto& [unit, exponent] : units) {
      if (time->unit != unit) continue;
      // As one number: 0.1ns is 1e-10 to the last bit.
      const auto seconds = real_number(std::string(time->digits) + std::string(exponent));
      if (seconds && *seconds <= 1e6) return *seconds;
    }
  }
  refuse(
      option, text,
      "it must be a number of seconds from 0 to 1000000, plain or with ms, us, ns or ps; for instance 1e-6 or 1us" + decimal_comma(text));
}

double parse_byte_time(std::string_view option, std::string_view text) {
  const auto rate = quantity_of(text);
  std::string_view unit = rate ? rate->unit : std::string_view();
  if (unit.ends_with("/s") && rate->value > 0) {
    unit.remove_suffix(2);
    const double bits = unit.ends_with('b') ? 8 : 1;
    const std::string bytes = unit.empty() ? "" : std::string(unit.substr(0, unit.size() - 1)) + "B";
    if (const double in_unit = unit.ends_with('b') || unit.ends_with('B') ? bytes_in(bytes) : 0; in_unit > 0) {
      const double seconds = bits / (rate->value * in_unit);
      if (seconds <= 1e6) return seconds;
    }
  }
  refuse(option, text, "it must be a rate above 0 in bits or bytes a second; for instance 100Gb/s, 12.5GB/s or 1GiB/s");
}

std::vector<Dimension> parse_routing(std::string_view text) {
  std::vector<Dimension> order;
  for (const std::string_view part : split(text, ',')) {
    const auto d = whole_number(part);
    if (!d || *d >= max_dimensions) refuse("--routing", text, "it must name every dimension once, with commas between; for instance 1,0");
    order.push_back(static_cast<Dimension>(*d));
  }
  return order;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  // Not further than the word is long: nothing of it would be left.
  std::size_t min = std::min(word.size(), std::max<std::size_t>(2, word.size() / 3) + 1);
  for (const std::string_view candidate : words) {
    const std::size_t distance = edits(word, candidate);
    if (distance < min) {
      min = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

std::vector<Bytes> parse_sizes(std::string_view option, std::string_view text) {
  std::set<Bytes> sizes;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') == std::string_view::npos) {
      sizes.insert(parse_bytes(option, part));
    } else {
      for (const Bytes size : size_range(option, part)) sizes.insert(size);
    }
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<Topology> parse_shapes(std::string_view text) {
  std::vector<Topology> shapes;
  for (const std::string_view part : split(text, ',')) {
    Topology shape = Topology::parse(part);
    const auto same = [&](const Topology& other) { return other.text() == shape.text(); };
    if (std::none_of(shapes.begin(), shapes.end(), same)) shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<int> parse_port_counts(std::string_view text) {
  std::vector<int> counts;
  for (const std::string_view part : split(text, ',')) {
    const int count = part == "all" ? 0 : static_cast<int>(parse_whole("--ports", part, 1, std::numeric_limits<int>::max()));
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
  }
  return counts;
}

std::vector<int> ports_on(const Topology& shape, std::span<const int> counts) {
  std::vector<int> ports;
  for (int count : counts) {
    if (count == 0) count = static_cast<int>(shape.max_ports());
    if (count <= shape.max_ports() && std::find(ports.begin(), ports.end(), count) == ports.end()) ports.push_back(count);
  }
  return ports;
}

std::string ports_left_out(std::span<const Topology> shapes, std::span<const int> counts) {
  std::string text;
  for (const Topology& shape : shapes) {
    std::vector<int> too_many(counts.begin(), counts.end());
    std::erase_if(too_many, [&](int count) { return count <= shape.max_ports(); });
    if (!too_many.empty())
      text += fmt::format("{}{} on {}, whose nodes have {}", text.empty() ? "--ports: left out " : "; ", fmt::join(too_many, ","),
                          shape.text(), counted(static_cast<std::uint64_t>(shape.max_ports()), "port"));
  }
  return text.empty() ? "" : text + "; all would do\n";
}

}  // namespace torus::command
